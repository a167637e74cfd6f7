"""JSON as RFC 8259 means it, and a little stricter: what two readers could read differently is refused.

Refused: bytes that are not UTF-8, NaN and Infinity, numbers past a double, whole numbers past 64 bits, a name twice in one
object, NUL, half surrogate pairs, more than `MOST_DEPTH` levels, and anything but an object at the top.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any

from graph.errors import ValidationFailed
from graph.fields import INT64, json_type

MOST_DEPTH = 64
MOST_FAULTS = 20  # reported at once
_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_NESTS = (dict, list)


def loads(data: bytes) -> dict[str, Any]:
    """The object that `data` holds. Raises ValidationFailed, naming the field where there is one."""
    text = _text(data)
    reader = _Reader()
    try:
        value = reader.decoder().decode(text)
    except json.JSONDecodeError as error:
        raise _refused(f"the body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict | _Fault):
        raise _refused(f"the body must be a JSON object, not {json_type(value)}")
    if isinstance(value, dict) and _deeper_than(MOST_DEPTH, value):
        raise _too_deep()
    if reader.faults or _ODD_ESCAPE.search(text):
        faults = list(islice(_faults(value), MOST_FAULTS))
        if faults:
            raise ValidationFailed(faults)
    return value  # type: ignore[return-value]  # a _Fault was raised above


@dataclass(frozen=True)
class _Fault:
    """Stands where the wrong value was, so that it is found by its field. `name` is the doubled one of an object."""

    message: str
    name: str = ""


@dataclass
class _Reader:
    """The decoder's hooks; `faults` counts the _Fault put in."""

    faults: int = 0

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self.pairs, parse_int=self.whole, parse_float=self.number, parse_constant=self.constant
        )

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Fault:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        seen: set[str] = set()
        doubled = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        return self.fault(f"the name {_shown(doubled)} is there twice", _shown(doubled))

    def whole(self, digits: str) -> int | _Fault:
        if len(digits) < 19:
            return int(digits)
        if len(digits) > 20 or not -INT64 <= int(digits) < INT64:
            return self.fault(f"must be a whole number from {-INT64} to {INT64 - 1} (64 bits)")
        return int(digits)

    def number(self, digits: str) -> float | _Fault:
        number = float(digits)
        return number if isfinite(number) else self.fault("must be a number that a 64-bit float can hold")

    def constant(self, name: str) -> _Fault:
        return self.fault(f"must be a finite number; {name} is not JSON")

    def fault(self, message: str, name: str = "") -> _Fault:
        self.faults += 1
        if self.faults > MOST_FAULTS:
            raise _refused(f"more than {MOST_FAULTS} wrong values; one of them: {message}")
        return _Fault(message, name)


def _text(data: bytes) -> str:
    """A byte order mark is let pass, as RFC 8259 allows."""
    if not data.strip():
        raise _refused("the body is empty; it must be a JSON object, such as {}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(f"the body is not UTF-8: {error.reason} at byte {error.start:,}") from None


def _deeper_than(most: int, value: Any) -> bool:
    level = [value]
    for _ in range(most):
        inner = [node.values() if isinstance(node, dict) else node for node in level if node]
        level = [child for children in inner for child in children if isinstance(child, _NESTS)]
        if not level:
            return False
    return True


def _faults(value: Any) -> Iterator[dict[str, str]]:
    """Every wrong value and name inside `value`, in the order of the text."""
    stack = [("", value)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, _Fault):
            yield {"field": _joined(path, value.name), "message": value.message}
        elif isinstance(value, str):
            if message := _odd(value):
                yield {"field": path, "message": f"holds {message}"}
        elif isinstance(value, list):
            stack += [(_joined(path, str(at)), child) for at, child in reversed(list(enumerate(value)))]
        elif isinstance(value, dict):
            yield from (
                {"field": _joined(path, _shown(name)), "message": f"the name holds {message}"}
                for name in value
                if (message := _odd(name))
            )
            stack += [(_joined(path, _shown(name)), child) for name, child in reversed(value.items())]


def _odd(text: str) -> str | None:
    if "\0" in text:
        return "a NUL character"
    return "half a surrogate pair, which is no character" if _HALF_PAIR.search(text) else None


def _shown(name: str) -> str:
    """`name` as an answer can carry it."""
    return name.replace("\0", "\\u0000").encode("utf-8", "backslashreplace").decode()[:200]


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def _refused(message: str) -> ValidationFailed:
    return ValidationFailed.of("", message)


def _too_deep() -> ValidationFailed:
    return _refused(f"the body is nested deeper than {MOST_DEPTH} levels")
