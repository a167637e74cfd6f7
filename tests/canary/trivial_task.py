"""A trivial task gets no memories, however many there are and however salient."""

from __future__ import annotations

from tests.canary.stock import TASK, build, fill, ids, memories, start
from tests.conftest import Caller

TRIVIAL = ("what time is it", "hello", "thanks!", "2+2", "how are you", "ok")


def check(call: Caller) -> None:
    fact = fill(call)
    for task in TRIVIAL:
        built = build(call, start(call, task))
        assert memories(built) == [], f"{task!r} brought {len(memories(built))} memories"
        assert built["trace"]["memory_abstained"] is True
        assert built["trace"]["memory_candidates"] > 0, "the store was looked at"
    assert fact in ids(build(call, start(call, TASK))), "a task that is none gets its memory"
