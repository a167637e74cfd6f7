"""Answers within a number of tokens: whole items as long as they fit, then one cut, and what was left out is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from recall.tokens import count, cut

DEFAULT, LEAST, MOST = 2_000, 200, 16_000
FRAME = 120  # tokens kept for what stands around the items
LEAST_CUT = 24  # tokens of an item's text below which it is left out
ELLIPSIS = "…"
Item = dict[str, Any]
Shown = Callable[[Mapping[str, Any]], str]


def fitted(items: Sequence[Item], shown: Shown, tokens: int, text: str = "content") -> tuple[list[Item | None], str]:
    """The items that fit, as text and as JSON alike, and a sentence on what does not ("" if all do).

    shown: an item as text.  text: the field that may be cut; `cut` says that it was.  An item that does not fit is None.
    """
    left = tokens - FRAME
    found: list[Item | None] = []
    for item in items:
        fitting = item if _cost(item, shown) <= left else _shortened(item, shown, left, text)
        found.append(fitting)
        left -= _cost(fitting, shown) if fitting else 0
    missing = sum(item is None for item in found)
    shortened = sum(bool(item) and item != items[n] for n, item in enumerate(found))
    return found, _note(missing, shortened, tokens)


def _note(missing: int, shortened: int, tokens: int) -> str:
    parts = [f"{missing} left out"] if missing else []
    parts += [f"{shortened} cut"] if shortened else []
    return f"{' and '.join(parts)} to stay within {tokens:,} tokens; a larger max_tokens shows more." if parts else ""


def _cost(item: Mapping[str, Any], shown: Shown) -> int:
    return max(count(shown(item)), count(orjson.dumps(item).decode())) + 2


def _shortened(item: Item, shown: Shown, room: int, text: str) -> Item | None:
    size = room - _cost(item | {text: "", "cut": True}, shown)
    while size >= LEAST_CUT:
        shorter = item | {text: cut(item[text], size).rstrip() + ELLIPSIS, "cut": True}
        over = _cost(shorter, shown) - room
        if over <= 0:
            return shorter
        size -= over
    return None
