"""Answers as text that a model reads: one fact a line, ids in brackets, times as days, memories as quoted data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recall.quoting import quoted

SHORT = 160  # characters of a memory that is only mentioned


def short(text: str, most: int = SHORT) -> str:
    """One line of at most `most` characters, without what could end it or steer a terminal."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def hit(item: Mapping[str, Any]) -> str:
    """A hit of a recall."""
    facts = [f"[{item['id']}]", f"relevance {item['relevance']:.2f}", day(item.get("created_at")), item.get("memory_type")]
    facts += [f"#{short(tag)}" for tag in item.get("tags", ())]
    facts += [f"key {short(item['key'])}"] if item.get("key") else []
    facts += [f"from {short(item['source'])}"] if item.get("source") else []
    facts += [f"SUPERSEDED {day(item.get('superseded_at')) or ''}".strip()] if item.get("superseded") else []
    lines = [" · ".join(str(fact) for fact in facts if fact), quoted(item["content"])]
    lines += [
        f"(found by what it replaced: {short(step['content'])})"
        for step in item.get("path", ())
        if step.get("leg") == "superseded" and step.get("content")
    ]
    return "\n".join(lines)


def layer(item: Mapping[str, Any]) -> str:
    """A member of a chain of supersession."""
    until = f"until {day(item['superseded_at'])}" if item.get("superseded_at") else item.get("state", "")
    facts = [f"[{item['id']}]", f"{day(item.get('created_at')) or '?'} {until}".strip()]
    facts += [f"replaced {', '.join(item['supersedes'])}"] if item.get("supersedes") else []
    return " · ".join(facts) + "\n" + quoted(item.get("content", ""))


def day(time: str | None) -> str | None:
    """The day of a time in ISO 8601."""
    return time[:10] if time else None


def joined(head: str, items: Iterable[str], *notes: str) -> str:
    """A head, the items, and the notes that are not empty."""
    return "\n\n".join([head, *items, *(note for note in notes if note)])
