"""Tasks and turns: status is the authority, one task of a conversation is active, turns follow one another."""

from __future__ import annotations

import threading
import uuid

import pytest

from graph.errors import Conflict, NotFound, TaskActive, ValidationFailed
from tests.conftest import Caller


def start(call: Caller, description: str = "Repaint the boat shed", **fields) -> str:
    return str(call("context.task_start", description=description, **fields)["id"])


def test_a_task_starts_as_the_active_one_of_its_conversation(call, by_hand):
    answer = call.answer("context.task_start", description="Repaint the boat shed", conversation="c1")
    assert answer.created
    assert answer.body.keys() == {"id", "conversation", "status"}
    (row,) = by_hand("MATCH (t:Task {ns: $ns}) RETURN t.id AS id, t.status AS status, t.description AS description")
    assert row == {"id": answer.body["id"], "status": "active", "description": "Repaint the boat shed"}


def test_a_second_task_of_the_conversation_is_refused_until_the_first_is_completed(call):
    first = start(call, conversation="c1")
    with pytest.raises(TaskActive) as refused:
        start(call, "Another", conversation="c1")
    assert refused.value.existing_id == first
    other = start(call, "Another", conversation="c2")
    assert call("context.task_complete", task_id=first)["status"] == "completed"
    assert start(call, "Another", conversation="c1") not in (first, other)


def test_a_conversation_of_another_namespace_is_another_conversation(call):
    start(call, conversation="c1")
    start(call.within(f"{call.ns}.other"), conversation="c1")


def test_without_a_conversation_a_task_is_one_of_its_own(call):
    one, other = start(call), start(call)
    assert one != other


def test_of_sixteen_starts_at_once_one_is_active(call, by_hand):
    outcomes: list[str] = []

    def work(n: int) -> None:
        try:
            start(call, f"Task {n}", conversation="busy")
            outcomes.append("started")
        except TaskActive:
            outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused"] * 15 + ["started"]
    assert by_hand("MATCH (t:Task {ns: $ns}) RETURN t.status AS status") == [{"status": "active"}]


def test_turns_follow_one_another(call, by_hand):
    task = start(call)
    said = [("user", "Which paint?"), ("assistant", "The grey one."), ("user", "Fine.")]
    for position, (role, text) in enumerate(said, 1):
        answer = call.answer("context.task_turn", task_id=task, role=role, text=text)
        assert answer.created
        assert (answer.body["task_id"], answer.body["position"]) == (task, position)
    rows = by_hand(
        "MATCH (:Task {ns: $ns})-[:HAS_TURN]->(u:Turn) OPTIONAL MATCH (u)-[:FOLLOWS]->(before:Turn) "
        "RETURN u.role AS role, u.text AS text, before.text AS before ORDER BY u.position"
    )
    assert [(row["role"], row["text"]) for row in rows] == said
    assert [row["before"] for row in rows] == [None, "Which paint?", "The grey one."]


def test_turns_at_once_have_positions_of_their_own(call, by_hand):
    task = start(call)
    threads = [
        threading.Thread(target=lambda n=n: call("context.task_turn", task_id=task, role="user", text=f"Turn {n}"))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = by_hand(
        "MATCH (u:Turn {ns: $ns}) RETURN u.position AS position, COUNT { (u)-[:FOLLOWS]->() } AS before ORDER BY position"
    )
    assert [row["position"] for row in rows] == list(range(1, 13))
    assert [row["before"] for row in rows] == [0] + [1] * 11


def test_a_completed_task_takes_no_turns_and_has_no_context(call):
    task = start(call)
    first = call("context.task_complete", task_id=task)
    assert (first["id"], first["unchanged"]) == (task, False)
    again = call("context.task_complete", task_id=task)
    assert again == first | {"unchanged": True}
    with pytest.raises(Conflict, match="completed"):
        call("context.task_turn", task_id=task, role="user", text="More")
    with pytest.raises(Conflict, match="completed"):
        call("context.build", task_id=task)


def test_a_turn_and_the_completion_at_once_leave_no_turn_behind_the_completion(call, by_hand):
    for _ in range(5):
        task = start(call)
        barrier = threading.Barrier(2)
        refused: list[Exception] = []

        def turn(task: str = task, barrier: threading.Barrier = barrier, refused: list[Exception] = refused) -> None:
            barrier.wait()
            try:
                call("context.task_turn", task_id=task, role="user", text="late")
            except Conflict as error:
                refused.append(error)

        thread = threading.Thread(target=turn)
        thread.start()
        barrier.wait()
        call("context.task_complete", task_id=task)
        thread.join()
        counted = by_hand(
            "MATCH (t:Task {ns: $ns, id: $id}) RETURN t.turns AS turns, COUNT { (t)-->(:Turn) } AS said", id=task
        )
        assert counted == [{"turns": 1 - len(refused), "said": 1 - len(refused)}]


@pytest.mark.parametrize(
    ("verb", "body"),
    [
        ("context.task_turn", {"role": "user", "text": "Hello"}),
        ("context.task_complete", {}),
        ("context.build", {"window": 8000}),
    ],
)
def test_an_unknown_or_foreign_task_is_not_found(call, verb, body):
    foreign = start(call.within(f"{call.ns}.other"))
    for id in (str(uuid.uuid4()), foreign):
        with pytest.raises(NotFound, match="no task") as error:
            call(verb, task_id=id, **body)
        assert error.value.field == "task_id"


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        ("context.task_start", {}, "description"),
        ("context.task_start", {"description": " "}, "description"),
        ("context.task_start", {"description": "x", "conversation": 5}, "conversation"),
        ("context.task_turn", {"task_id": "t", "role": "narrator", "text": "x"}, "role"),
        ("context.task_turn", {"task_id": "t", "role": "user", "text": ""}, "text"),
        ("context.build", {"task_id": "t", "window": 0}, "window"),
        ("context.build", {"task_id": "t", "windows": 8000}, "windows"),
        ("context.select", {"task_description": "x", "types": ["odd"]}, "types.0"),
        ("context.select", {"task_description": "x", "budget": 16_001}, "budget"),
        ("context.trace", {"id": ""}, "id"),
    ],
)
def test_what_is_wrong_is_named(call, verb, body, field):
    with pytest.raises(ValidationFailed) as error:
        call(verb, **body)
    assert [fault["field"] for fault in error.value.errors] == [field]
