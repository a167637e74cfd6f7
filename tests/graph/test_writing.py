"""Many writers at once: one key one node, one edge one relationship, never a cycle, and a faulty request fails alone."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graph import writing
from graph.errors import Busy, KeyInUse, NotFound, PalimpsestError, StoreError, SupersessionCycle
from graph.mentions import KnownNames
from graph.records import Draft
from graph.writing import Request, Writer, store_together

NOBODY = "01999999-0000-7000-8000-000000000000"


def at_once(*works: Callable[[], Any]) -> list[Any]:
    """What each gives or raises, all started together."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> Any:
        start.wait()
        try:
            return work()
        except PalimpsestError as error:
            return error

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def disagreements(service, ns: str) -> list[str]:
    """Nodes of the namespace whose layer is not what their edges say."""
    found = service.dispatcher.runtime.store.rows("schema.doctor_layers", limit=1000)
    return [row["id"] for row in found if row["ns"] == ns]


@pytest.fixture
def draft(service):
    """Drafts of notes."""
    indexer = service.dispatcher.runtime.indexer

    def made(content: str, **fields: Any) -> Draft:
        return Draft(label="Note", kind="memory", content=content, indexed=indexer.index([content])[0], **fields)

    return made


@pytest.fixture
def writer(store):
    opened = Writer(store)
    yield opened
    opened.close()


def contents(call) -> list[str]:
    return [node["content"] for node in call("kg.list", limit=1000)["results"]]


def test_sixteen_writers_of_one_key_make_one_node(call, by_hand):
    works = [lambda: call.answer("kg.create", kind="memory", content="same", key="k")] * 16
    answers = at_once(*works)
    assert len({answer.body["id"] for answer in answers}) == 1
    assert sum(answer.created for answer in answers) == 1
    assert by_hand("MATCH (n:Note {ns: $ns}) RETURN count(n) AS n") == [{"n": 1}]


def test_of_sixteen_writers_of_one_key_with_different_contents_one_wins(call):
    answers = at_once(*(lambda n=n: call("kg.create", kind="memory", content=f"{n}", key="k") for n in range(16)))
    (won,) = [answer for answer in answers if isinstance(answer, dict)]
    assert {answer.existing_id for answer in answers if isinstance(answer, KeyInUse)} == {won["id"]}
    assert len(contents(call)) == 1


def test_writers_of_several_processes_make_one_node(store, writer, draft, call):
    """Each writer has its own queue, as each process has."""
    writers = [writer, *(Writer(store) for _ in range(3))]
    try:
        for round in range(10):
            works = [lambda w=w: w.store(call.ns, [draft("same", key=f"k{round}")])[0].id for w in writers]  # noqa: B023
            answers = at_once(*works)
            assert len(set(answers)) == 1, answers
    finally:
        for one in writers[1:]:
            one.close()
    assert len(contents(call)) == 10


def test_sixteen_writers_of_one_entity_make_one_node(call, by_hand):
    answers = at_once(*[lambda: call("kg.create", kind="person", content="Marta Olsen")["id"]] * 16)
    assert len(set(answers)) == 1
    assert by_hand("MATCH (n:Entity {ns: $ns}) RETURN count(n) AS n") == [{"n": 1}]


def test_sixteen_writers_of_one_edge_draw_one(call, by_hand):
    a, b = (call("kg.create", kind="memory", content=c)["id"] for c in "ab")
    answers = at_once(*[lambda: call("kg.link", source=a, target=b, relation="supports")] * 16)
    assert sum(answer["created"] for answer in answers) == 1
    assert by_hand("MATCH (:Note {ns: $ns})-[r:SUPPORTS]->() RETURN count(r) AS n") == [{"n": 1}]


def test_an_edge_drawn_from_both_sides_of_a_symmetric_relation_is_one(call, by_hand):
    a, b = (call("kg.create", kind="concept", content=c)["id"] for c in ("Gas", "Wind"))
    ends = [(a, b), (b, a)] * 8
    at_once(*(lambda s=s, t=t: call("kg.link", source=s, target=t, relation="competes_with") for s, t in ends))
    assert by_hand("MATCH (:Entity {ns: $ns})-[r:COMPETES_WITH]->() RETURN count(r) AS n") == [{"n": 1}]


def test_a_cycle_closed_from_both_sides_at_once_never_stands(call, service, by_hand):
    """Four notes in a ring; two threads draw the two edges that would close it between them."""
    items = [{"kind": "memory", "content": f"note {n}"} for n in range(200)]
    ids = [result["id"] for result in call("kg.create", items=items)["results"]]
    for round in range(50):
        a, b, c, d = ids[4 * round : 4 * round + 4]
        call("kg.link", items=[{"source": s, "target": t, "relation": "supersedes"} for s, t in ((a, b), (c, d))])
        answers = at_once(
            lambda b=b, c=c: call("kg.link", source=b, target=c, relation="supersedes"),
            lambda d=d, a=a: call("kg.link", source=d, target=a, relation="supersedes"),
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["SupersessionCycle", "dict"]
        (refused,) = [answer for answer in answers if isinstance(answer, SupersessionCycle)]
        assert len(refused.chain) == 5
    assert by_hand("MATCH (n:Note {ns: $ns})-[:SUPERSEDES]->+(n) RETURN n") == []
    assert disagreements(service, call.ns) == []


def test_eight_successors_at_once_make_a_fork_that_shows_all_heads(call, service):
    old = call.note("The bakery opens at six")
    heads = at_once(*(lambda n=n: call.note(f"The bakery opens at {n} now", supersedes=[old]) for n in range(8)))
    assert sorted(call("kg.get", id=old)["superseded_by"]) == sorted(heads)
    assert sorted(call.found("bakery opens")) == sorted(heads)
    assert disagreements(service, call.ns) == []


def test_both_heads_of_a_fork_deleted_at_once_bring_the_old_note_back(call, service):
    for round in range(12):
        old = call.note(f"old {round}")
        one, two = (call.note(f"{side} {round}", supersedes=[old]) for side in ("left", "right"))
        at_once(lambda one=one: call("kg.delete", id=one), lambda two=two: call("kg.delete", id=two))
        assert call("kg.get", id=old)["state"] == "current", round
    assert disagreements(service, call.ns) == []


def test_a_head_deleted_while_another_is_drawn_leaves_the_labels_right(call, service):
    for round in range(12):
        old, spare = call.note(f"old {round}"), call.note(f"spare {round}")
        head = call.note(f"head {round}", supersedes=[old])
        at_once(
            lambda head=head: call("kg.delete", id=head),
            lambda spare=spare, old=old: call("kg.link", source=spare, target=old, relation="supersedes"),
        )
        assert call("kg.get", id=old)["state"] == "superseded", round
    assert disagreements(service, call.ns) == []


def test_linking_and_unlinking_in_any_order_leaves_the_labels_right(call, service):
    random.seed(7)
    old, *heads = (call.note(f"note {n}") for n in range(5))

    def toggle(head: str) -> None:
        for _ in range(12):
            verb = random.choice(["kg.link", "kg.unlink"])
            try:
                call(verb, source=head, target=old, relation="supersedes")
            except NotFound:
                continue

    assert at_once(*(lambda head=head: toggle(head) for head in heads)) == [None] * 4
    assert disagreements(service, call.ns) == []


def test_a_note_deleted_while_it_is_superseded_never_leaves_an_edge_out(call, by_hand):
    """Either the new note is stored with its edge, or it is refused whole."""
    for round in range(15):
        old = call.note(f"old {round}")
        _, new = at_once(
            lambda old=old: call("kg.delete", id=old),
            lambda old=old, round=round: call.note(f"new {round}", supersedes=[old]),
        )
        assert isinstance(new, str | NotFound)
    edges = "MATCH (n:Note {ns: $ns}) WHERE n.content STARTS WITH 'new' AND NOT (n)-[:SUPERSEDES]->() RETURN n.content AS c"
    assert by_hand(edges) == []


def test_a_faulty_request_among_many_fails_alone(call):
    call.note("held", key="held")
    works = [lambda n=n: call.note(f"good {n}") for n in range(12)]
    works[3:3] = [lambda: call.note("x", supersedes=[NOBODY]), lambda: call.note("x", key="held")]
    answers = at_once(*works)
    assert [type(answer) for answer in answers[3:5]] == [NotFound, KeyInUse]
    assert sum(isinstance(answer, str) for answer in answers) == 12
    assert sorted(contents(call)) == sorted(["held", *(f"good {n}" for n in range(12))])


def test_requests_that_share_a_transaction_have_their_own_outcomes(store, draft, call):
    requests = [
        Request(call.ns, [draft("a", key="k")]),
        Request(call.ns, [draft("stored with nobody"), draft("x", follows=NOBODY, place="items.1.")]),
        Request(call.ns, [draft("a", key="k")]),
        Request(f"{call.ns}.other", [draft("a", key="k")]),
        Request(call.ns, [draft("b", key="k")]),
    ]
    outcomes, counts = store.write(lambda tx: store_together(tx, requests, KnownNames()))
    first, missing, same, foreign, held = outcomes
    assert (same[0].id, same[0].unchanged) == (first[0].id, True)
    assert (missing.field, type(held)) == ("items.1.follows", KeyInUse)
    assert foreign[0].id != first[0].id
    assert counts == {call.ns: (1, 0), f"{call.ns}.other": (1, 0)}
    assert contents(call) == contents(call.within(f"{call.ns}.other")) == ["a"]


def test_a_batch_whose_last_item_fails_stores_nothing_of_it(call, by_hand):
    items = [{"content": f"item {n}", "entities": [f"Name {n}"]} for n in range(30)]
    with pytest.raises(NotFound, match="no node") as error:
        call("memory.remember", items=[*items, {"content": "last", "source_id": NOBODY}])
    assert error.value.field == "items.30.source_id"
    assert by_hand("MATCH (n {ns: $ns}) RETURN n") == []


def test_what_waits_is_written_before_a_writer_closes(store, draft, call):
    opened = Writer(store)
    requests = [Request(call.ns, [draft(f"note {n}")]) for n in range(30)]
    for request in requests:
        opened._queue.put(request)
    opened.close()
    assert all(len(request.result.result(0)) == 1 for request in requests)
    assert len(contents(call)) == 30


class Stuck:
    """A store in which a write waits until it is let go."""

    def __init__(self) -> None:
        self.entered, self.let_go = threading.Event(), threading.Event()

    def write(self, work: Any) -> Any:
        self.entered.set()
        self.let_go.wait(10)
        raise StoreError("let go")


def test_too_many_waiting_writes_are_refused_as_busy(draft, monkeypatch):
    monkeypatch.setattr(writing, "WAITING", 1)
    store = Stuck()
    opened = Writer(store)  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as pool:
        at_work = pool.submit(opened.store, "x", [draft("x")])
        store.entered.wait(10)
        opened._queue.put(waiting := Request("x", [draft("x")]))
        with pytest.raises(Busy, match="too many writes"):
            opened.store("x", [draft("x")])
        store.let_go.set()
        assert isinstance(at_work.exception(), StoreError)
        assert isinstance(waiting.result.exception(10), StoreError)
    opened.close()


def test_an_error_of_the_store_reaches_every_caller_and_the_writer_goes_on(writer, draft, call, monkeypatch):
    def broken(*_: Any) -> None:
        raise StoreError("away")

    with monkeypatch.context() as patch:
        patch.setattr(writer._store, "write", broken)
        for _ in range(2):
            with pytest.raises(StoreError, match="away"):
                writer.store(call.ns, [draft("x")])
    assert writer.store(call.ns, [draft("y")])[0].unchanged is False
    assert contents(call) == ["y"]
