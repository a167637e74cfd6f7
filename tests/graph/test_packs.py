"""Packs: their order, what stops the start, and a pack that somebody else installs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from marshmallow import fields

from graph.errors import NotFound, PackError, StoreTimeout, ValidationFailed
from graph.fields import Request, Response, Text, Whole
from graph.kg import pack as kg
from graph.packs import GROUP, Answer, Call, Dispatcher, Pack, Runtime, Verb, installed, ordered, validated


class Echo(Request):
    word = Text(most=10, required=True)
    times = Whole(low=1, high=3)


class Echoed(Response):
    word = fields.String()


def verb(name: str, handler: Any = None, **more: Any) -> Verb:
    def answered(call: Call, request: Any) -> Answer:
        """Says it back.

        Not this line.
        """
        return Answer({"word": request["word"], "beside": 1})

    return Verb(name=name, illocution="assertive", request=Echo(), response=Echoed(), handler=handler or answered, **more)


def pack(name: str, *requires: str, verbs: tuple[Verb, ...] = (), **more: Any) -> Pack:
    return Pack(name=name, requires=requires, verbs=verbs, **more)


def names(packs: list[Pack]) -> list[str]:
    return [one.name for one in packs]


def test_each_pack_comes_after_those_it_requires():
    assert names(ordered([pack("context", "memory"), pack("memory", "kg"), pack("kg")])) == ["kg", "memory", "context"]


def test_the_order_does_not_hang_on_the_order_of_finding():
    packs = [pack("kg"), pack("brain", "kg"), pack("memory", "kg"), pack("context", "memory", "brain")]
    assert names(ordered(packs)) == names(ordered(packs[::-1]))


def test_a_missing_pack_stops_the_start():
    with pytest.raises(PackError, match="pack context requires memory, which is not installed"):
        ordered([pack("context", "memory", "kg"), pack("kg")])


def test_a_circle_stops_the_start_and_is_shown():
    with pytest.raises(PackError, match=r"in a circle: (\w) -> \w -> \w -> \1$"):
        ordered([pack("a", "b"), pack("b", "c"), pack("c", "a")])


def test_two_packs_of_one_name_stop_the_start():
    with pytest.raises(PackError, match="two packs are named kg"):
        ordered([pack("kg"), pack("kg")])


@pytest.mark.parametrize("name", ["other.go", "go", "mine.Go", "mine.", "mine.go.on", "mine.2go", "mine.go-on"])
def test_a_wrong_verb_name_stops_the_start(name):
    with pytest.raises(PackError, match="pack mine: a verb can't be named"):
        ordered([pack("mine", verbs=(verb(name),))])


def test_a_verb_that_is_named_twice_stops_the_start():
    with pytest.raises(PackError, match=r"pack mine: two verbs are named mine\.go"):
        ordered([pack("mine", verbs=(verb("mine.go"), verb("mine.go")))])


def runtime(store: Any = None) -> Runtime:
    return Runtime(store=store, indexer=None)  # type: ignore[arg-type]


def test_packs_open_in_order_and_close_in_reverse():
    seen: list[str] = []

    def tracked(name: str, *requires: str) -> Pack:
        return pack(
            name,
            *requires,
            open=lambda _: seen.append(f"open {name}") or name,
            close=lambda state: seen.append(f"close {state}"),
        )

    dispatcher = Dispatcher(runtime(), [tracked("b", "a"), tracked("a")])
    dispatcher.close()
    assert seen == ["open a", "open b", "close b", "close a"]


def test_what_was_opened_is_closed_when_a_later_pack_can_not_be():
    closed: list[str] = []

    def broken(_: Runtime) -> None:
        raise PackError("no")

    with pytest.raises(PackError, match="no"):
        Dispatcher(runtime(), [pack("a", open=lambda _: "a", close=closed.append), pack("b", "a", open=broken)])
    assert closed == ["a"]


@pytest.fixture
def dispatcher(store) -> Dispatcher:
    shown, hidden = verb("mine.echo"), verb("mine.aside", visibility="subhandler")
    return Dispatcher(runtime(store), [pack("mine", verbs=(shown, hidden))])


def test_a_subhandler_is_called_by_name_and_never_listed(dispatcher):
    assert [one.name for one in dispatcher.verbs()] == ["mine.echo"]
    assert [one.name for one in dispatcher.every()] == ["mine.aside", "mine.echo"]
    assert dispatcher.call("mine.aside", {"word": "x"}).body == {"word": "x"}


def test_an_answer_holds_what_its_schema_names_and_nothing_beside(dispatcher):
    assert dispatcher.call("mine.echo", {"word": "hello"}).body == {"word": "hello"}
    assert dispatcher.find("mine.echo").summary == "Says it back."


def test_an_unknown_verb_is_not_found(dispatcher):
    with pytest.raises(NotFound, match=r"no verb mine\.shout"):
        dispatcher.call("mine.shout", {})


@pytest.mark.parametrize("ns", ["", "a b", "ä", "x" * 129, "a/b", "a\n"])
def test_a_namespace_is_of_few_characters(dispatcher, ns):
    with pytest.raises(ValidationFailed, match="1 to 128 of"):
        dispatcher.call("mine.echo", {"word": "x"}, ns=ns)


def test_all_faults_of_a_request_are_reported_by_their_fields():
    with pytest.raises(ValidationFailed) as error:
        validated(Echo(), {"times": 9, "shout": True})
    assert {fault["field"]: fault["message"] for fault in error.value.errors} == {
        "times": "must be from 1 to 3",
        "word": "Missing data for required field.",
        "shout": "unknown field",
    }


@pytest.mark.parametrize("body", [None, [], "word", 3])
def test_a_body_that_is_no_object_is_refused(body):
    with pytest.raises(ValidationFailed, match="must be a JSON object"):
        validated(Echo(), body)


def test_a_deadline_shortens_what_a_statement_may_take_and_then_raises(store):
    left: list[float] = []

    def measure(call: Call, request: Any) -> Answer:
        left.append(call.left_s(2.0))
        left.append(call.left_s(1000.0))
        with pytest.raises(StoreTimeout):
            call.until(time.monotonic() - 1).left_s(2.0)
        return Answer({"word": "ok"})

    dispatcher = Dispatcher(runtime(store), [pack("mine", verbs=(verb("mine.measure", measure),))])
    dispatcher.call("mine.measure", {"word": "x"}, deadline_s=5)
    assert left[0] == 2.0
    assert 0 < left[1] <= 5


THIRD_PARTY = """
from marshmallow import Schema, fields
from graph.packs import Answer, Pack, Verb

def count(call, request):
    '''Counts recipes.'''
    return Answer({"recipes": len(call.space.rows("note.list", kinds=["recipe"], label="", after="", limit=10))})

pack = Pack(
    name="kitchen",
    requires=("kg",),
    kinds=("recipe",),
    verbs=(
        Verb(name="kitchen.count", illocution="assertive", request=Schema(), response=Schema.from_dict(
            {"recipes": fields.Integer()})(), handler=count),
    ),
)
not_a_pack = 7
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a distribution that declares entry points of packs."""

    def installing(entries: str) -> None:
        (tmp_path / "kitchen_pack.py").write_text(THIRD_PARTY)
        info = tmp_path / "kitchen_pack-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kitchen-pack\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entries}\n")
        monkeypatch.syspath_prepend(str(tmp_path))

    yield installing
    sys.modules.pop("kitchen_pack", None)


def test_the_service_serves_the_packs_that_are_installed():
    assert {"kg", "memory"} <= {one.name for one in installed()}


def test_a_third_party_installs_a_pack_and_its_note_kind(install, service, ns):
    install("kitchen = kitchen_pack:pack")
    third = next(one for one in installed() if one.name == "kitchen")
    served = service.dispatcher.runtime
    runtime = Runtime(store=served.store, indexer=served.indexer)
    dispatcher = Dispatcher(runtime, [third, kg])
    try:
        id = dispatcher.call("kg.create", {"kind": "recipe", "content": "Pea soup with mint"}, ns=ns).body["id"]
        assert dispatcher.call("kitchen.count", {}, ns=ns).body == {"recipes": 1}
        node = dispatcher.call("kg.get", {"id": id}, ns=ns).body
        assert (node["label"], node["kind"]) == ("Note", "recipe")
        assert [hit["id"] for hit in dispatcher.call("kg.search", {"query": "mint"}, ns=ns).body["results"]] == [id]
        other = dispatcher.call("kg.create", {"kind": "recipe", "content": "Pea soup without mint"}, ns=ns).body["id"]
        dispatcher.call("kg.link", {"source": other, "target": id, "relation": "supersedes"}, ns=ns)
        assert dispatcher.call("kg.get", {"id": id}, ns=ns).body["state"] == "superseded"
        assert [one.name for one in dispatcher.verbs()][-1] == "kitchen.count"
    finally:
        dispatcher.close()


def test_a_kind_that_no_pack_registers_is_refused(call):
    with pytest.raises(Exception, match="no kind 'recipe'"):
        call("kg.create", kind="recipe", content="Pea soup")


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("broken = kitchen_pack_that_is_not_there:pack", "No module named"),
        ("broken = kitchen_pack:nothing_here", "has no attribute"),
        ("broken = kitchen_pack:not_a_pack", r"is a int, not a graph\.packs\.Pack"),
    ],
)
def test_an_entry_that_can_not_be_loaded_stops_the_start_and_is_named(install, entry, fault):
    install(entry)
    with pytest.raises(PackError, match=rf"pack broken .*{fault}"):
        installed()
