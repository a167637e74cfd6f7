"""Spans around work, for whoever traces: nobody does until `trace_with` is called, and then nothing here knows of a library.

A span is named for its work and has attributes that are names, numbers and truth values; what people wrote is never among
them, and no namespace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

Value = str | int | float | bool


class Span(Protocol):
    """Work that goes on."""

    def set_attribute(self, key: str, value: Value) -> Any: ...


class _Untold:
    """A span that nobody sees."""

    def set_attribute(self, key: str, value: Value) -> None:
        return None


Started = AbstractContextManager[Span]
Tracer = Callable[[str, Mapping[str, Value]], Started]

_NOBODY: Started = nullcontext(_Untold())
_tracer: Tracer | None = None


def trace_with(tracer: Tracer | None) -> None:
    """Has every span from now on started by `tracer`; None ends that. It is the process's, as a tracer is."""
    global _tracer
    _tracer = tracer


def span(name: str, attributes: Mapping[str, Value] | None = None) -> Started:
    """The context in which work of that name goes on. An error that leaves it is the span's."""
    return _NOBODY if _tracer is None else _tracer(name, attributes or {})
