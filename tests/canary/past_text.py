"""Recall is keyed on the active task alone: what was said before brings nothing in, and comes labelled as past."""

from __future__ import annotations

from recall.quoting import PAST_TASK
from tests.canary.stock import FACT, TASK, build, fill, ids, memories, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    fact = fill(call)
    past = start(call, TASK, conversation="c")
    call("context.task_turn", task_id=past, role="user", text=FACT)
    assert fact in ids(build(call, past))
    call("context.task_complete", task_id=past)
    built = build(call, start(call, "Translate a sonnet into Latin", conversation="c"))
    assert memories(built) == [], "past text brought memories in"
    (history,) = [block for block in built["blocks"] if block["name"] == "history"]
    lines = history["text"].splitlines()
    assert lines[lines.index(f"> {FACT}") - 1] == PAST_TASK, "a past turn is not labelled"
