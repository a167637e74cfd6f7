"""Another namespace is never served, neither its memories nor its tasks."""

from __future__ import annotations

from graph.errors import NotFound
from tests.canary.stock import TASK, build, fill, ids, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    other = call.within(f"{call.ns}.other")
    theirs = fill(other)
    other("kg.create", kind="neuron", content="Ask Ines first.", triggers=["greenhouse fan"])
    call.note("The ferry of pier nine sails with the tide.")
    task = start(call, TASK)
    found = ids(build(call, task))
    assert found == set(), f"{len(found)} memories of another namespace were served"
    assert theirs in ids(build(other, start(other, TASK)))
    try:
        build(other, task)
    except NotFound:
        return
    raise AssertionError("a task of another namespace was served")
