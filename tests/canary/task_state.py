"""The active task is supreme: it is whole in every context, first, even where it is larger than the window."""

from __future__ import annotations

from tests.canary.stock import TASK, build, fill, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    fill(call)
    past = start(call, "Repaint the boat shed", conversation="c")
    call("context.task_turn", task_id=past, role="user", text="Use the grey paint. " * 50)
    call("context.task_complete", task_id=past)
    task = start(call, f"{TASK}. {'Be thorough about it. ' * 300}", conversation="c")
    call("context.task_turn", task_id=task, role="user", text="Start with bay four.")
    for window in (1, 100, 1000, 2000, 100_000):
        built = build(call, task, window)
        assert built["blocks"], f"window {window}: the task is gone"
        first = built["blocks"][0]
        assert (first["name"], first["priority"]) == ("user", 100), f"window {window}: the task is not first"
        assert f"{'Be thorough about it. ' * 300}" in first["text"], f"window {window}: the task was cut"
        assert "Start with bay four." in first["text"]
        others = built["tokens"] - first["tokens"]
        assert others == 0 or built["tokens"] <= window, f"window {window}: {others} tokens beside a task that fills it"
        assert all(drop["name"] != "user" for drop in built["dropped"])
