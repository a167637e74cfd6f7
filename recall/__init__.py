"""The thinking: texts, recall, learning, contexts. And the three ways in for Python: `Memory`, `Client`, `AsyncClient`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recall.client import AsyncClient, Client
    from recall.python import Memory

__all__ = ["AsyncClient", "Client", "Memory"]
_WHERE = {"AsyncClient": "recall.client", "Client": "recall.client", "Memory": "recall.python"}


def __getattr__(name: str) -> Any:
    """Loaded when it is first asked for: a client needs nothing of what a memory does."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)
