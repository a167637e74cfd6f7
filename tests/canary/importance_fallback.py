"""Importance brings nothing in: neither a neuron whose triggers the task does not hit, nor a salient note."""

from __future__ import annotations

from tests.canary.stock import TASK, build, fill, ids, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    fill(call)
    neuron = call("kg.create", kind="neuron", content="Ask Ines first.", triggers=["greenhouse fan"], importance=1.0)["id"]
    vital = call("kg.create", kind="memory", content="Never run the kiln unattended.", salience=1.0, decay_factor=0)["id"]
    for task in ("Translate a sonnet into Latin", "hello", "Ask Ines first thing about the ferry"):
        found = ids(build(call, start(call, task)))
        assert neuron not in found, f"{task!r} brought a neuron that it does not trigger"
        assert vital not in found, f"{task!r} brought a note for its salience"
    assert neuron in ids(build(call, start(call, TASK))), "what its trigger says still comes"
