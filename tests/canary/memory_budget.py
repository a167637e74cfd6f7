"""Memory keeps within its own budget: an eighth of the window, at most 1,200 tokens; the rest is dropped with the reason."""

from __future__ import annotations

from recall import tokens
from tests.canary.stock import FACT, TASK, build, fill, memories, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    fill(call)
    call("memory.remember", items=[{"content": f"{FACT} Entry {n}. {'The log goes on. ' * 12}"} for n in range(40)])
    item = {"kind": "knowledge", "content": "The greenhouse fan is old and trips its breaker."}
    call("kg.create", items=[item, {"kind": "memory", "content": "I call the greenhouse fan Ada.", "memory_type": "self"}])
    task = start(call, TASK)
    for window in (400, 2000, 8000, 200_000):
        built = build(call, task, window)
        budget = min(1200, window // 8)
        spent = sum(tokens.count(block["text"]) for block in memories(built))
        assert built["memory_budget"] == budget
        assert spent <= budget, f"window {window}: {spent} tokens of memory in a budget of {budget}"
        dropped = [drop for drop in built["dropped"] if drop["reason"] == "memory budget"]
        assert dropped, f"window {window}: nothing is said to be dropped"
        least = min((block["priority"] for block in memories(built)), default=100)
        assert max(drop["priority"] for drop in dropped) <= least, f"window {window}: the lowest did not go first"
