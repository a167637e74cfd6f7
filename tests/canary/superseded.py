"""What was superseded is never served; its words lead to what replaced it."""

from __future__ import annotations

from tests.canary.stock import TASK, build, fill, ids, start
from tests.conftest import Caller


def check(call: Caller) -> None:
    old = fill(call)
    middle = call.note("No, at eighty percent.", supersedes=[old])
    new = call.note("No, at seventy percent now.", supersedes=[middle])
    found = ids(build(call, start(call, TASK)))
    assert not found & {old, middle}, "a superseded memory was served"
    assert new in found, "the words of the old memory did not lead to the new one"
    call("kg.delete", id=new)
    assert ids(build(call, start(call, TASK))) >= {middle}, "what a deleted memory had replaced is current again"
