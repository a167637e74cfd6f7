"""MemorySelector: six sources on one scale, the floor, the persona, and what happens when a source fails."""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from graph.packs import Call
from graph.store import Store
from recall import sources
from recall.config import RECALL_MIN_SCORE
from recall.selector import MemorySelector, SelectionResult, capped
from recall.sources import DEFAULT_SOURCES, PERSONA_TYPES, Asking, Selected, merged

TASK = "Find out why the greenhouse fan trips its breaker"
TRIVIAL = ("what time is it", "hello", "thanks!", "2+2", "how are you", "")
FILL = (
    "Marta prefers the window seat on the early train to Leeds.",
    "Quarterly invoices for the bakery are sent on the second Tuesday.",
    "The telescope mirror was recoated in spring and needs a dust cover.",
    "Our ferry timetable changes after the harbour festival.",
    "Pump station seven uses a backup generator with forty litres of diesel.",
)


@pytest.fixture
def stock(call) -> dict[str, str]:
    """A namespace with something for every source: ids by source."""
    call("memory.remember", items=[{"content": content} for content in FILL])
    call("kg.create", kind="person", content="Rowan Vale")

    def made(**fields: Any) -> str:
        return str(call("kg.create", **fields)["id"])

    return {
        "store": call.note("The greenhouse fan in bay four trips its breaker whenever humidity passes ninety percent."),
        "neurons": made(kind="neuron", content="Ask Ines first.", triggers=["irrigation", "greenhouse fan"], importance=1.0),
        "graphs": call.note("She keeps the spare key under the third pot.", entities=["Rowan Vale"]),
        "abstraction": made(kind="abstraction", content="Greenhouse fans trip their breaker in humid weather."),
        "consolidated": made(kind="knowledge", content="The greenhouse fan is the oldest and trips its breaker."),
        "persona": made(kind="memory", content="I call the greenhouse fan by its name.", memory_type="personality"),
    }


class Patient(MemorySelector):
    """Asks again where a leg was too slow: many new notes have Neo4j plan the statement anew, seconds on a busy machine."""

    def select_for_task(self, *given: Any, **named: Any) -> SelectionResult:
        for _ in range(5):
            result = super().select_for_task(*given, **named)
            if not result.degraded:
                break
        return result


@pytest.fixture
def selector(service, ns) -> MemorySelector:
    runtime = service.dispatcher.runtime
    return Patient(call=Call(space=service.store.within(ns), runtime=runtime, state=runtime.states["context"]))


def by_id(result: SelectionResult) -> dict[str, Selected]:
    return {block.id: block for block in result.blocks}


def asking(selector: MemorySelector, task: str = TASK, types: Any = None) -> Asking:
    return Asking(selector.call, task, types)


def test_the_selection_has_the_fields_of_the_contract(selector, stock):
    result = selector.select_for_task(TASK)
    assert list(inspect.signature(MemorySelector.select_for_task).parameters)[1:] == ["task_description", "types", "budget"]
    assert (result.selected_count, result.abstained) == (len(result.blocks), False)
    assert result.candidates_evaluated >= result.selected_count > 0
    assert all(RECALL_MIN_SCORE <= block.relevance <= 1 and 0 <= block.score <= 1 for block in result.blocks)
    assert [block.score for block in result.blocks] == sorted((block.score for block in result.blocks), reverse=True)


def test_there_are_six_sources_of_one_signature_in_this_order():
    names = [source.__name__ for source in DEFAULT_SOURCES]
    assert names == ["store", "neurons", "graphs", "abstraction", "consolidated", "persona"]
    assert len({str(inspect.signature(source)) for source in DEFAULT_SOURCES}) == 1


def test_each_source_brings_what_it_reads(selector, stock):
    found = by_id(selector.select_for_task(TASK))
    assert found.keys() == {id for name, id in stock.items() if name != "graphs"}
    for name, id in stock.items():
        if name != "graphs":
            assert name in found[id].sources
    walked = by_id(selector.select_for_task("What does Rowan Vale keep"))
    assert walked[stock["graphs"]].sources == ("graphs",)
    assert [step["by"] for step in walked[stock["graphs"]].path] == ["Rowan Vale mentions"]


def test_the_store_is_typed_and_takes_what_has_no_type(selector, call, stock):
    untyped = call("kg.create", kind="memory", content="The greenhouse fan trips its breaker at noon.")["id"]
    semantic = call.note("The greenhouse fan has a breaker of ten amperes.", memory_type="semantic")
    found = {block.id for block in sources.store(asking(selector, types=["semantic"]))}
    assert {untyped, semantic} <= found
    assert stock["store"] not in found
    assert stock["store"] in {block.id for block in sources.store(asking(selector))}
    typed = selector.select_for_task(TASK, types=["semantic"])
    assert {block.memory_type for block in typed.blocks} <= {"semantic", None, *PERSONA_TYPES}


def test_the_store_s_gate_is_the_recall_gate_with_the_same_constant(selector, call, stock):
    recalled = [hit for hit in call("memory.recall", query=TASK)["results"] if hit["kind"] == "memory"]
    assert {hit["id"] for hit in recalled} == {block.id for block in sources.store(asking(selector))}
    relevance = {hit["id"]: hit["relevance"] for hit in recalled}
    for block in sources.store(asking(selector)):
        assert block.relevance == pytest.approx(relevance[block.id])


def test_a_neuron_comes_when_the_task_hits_a_trigger_and_not_for_its_content_or_importance(selector, stock, call):
    assert by_id(selector.select_for_task("Repair the irrigation of bay two"))[stock["neurons"]].sources == ("neurons",)
    for task in ("Ask Ines first", "Write a sonnet about submarine cables", *TRIVIAL):
        assert stock["neurons"] not in by_id(selector.select_for_task(task)), task
    call("kg.create", kind="neuron", content="Everything matters.", triggers=["time", "hello"], importance=1.0)
    for task in TRIVIAL:
        assert selector.select_for_task(task).blocks == (), task


def test_half_a_trigger_is_no_hit(selector, stock):
    assert stock["neurons"] not in by_id(selector.select_for_task("Paint the greenhouse door"))
    assert stock["neurons"] in by_id(selector.select_for_task("Paint the fans of the greenhouse"))  # by their stems


def test_an_abstraction_is_gated_by_its_calibrated_relevance(selector, stock):
    assert [block.id for block in sources.abstraction(asking(selector))] == [stock["abstraction"]]
    assert sources.abstraction(asking(selector, "Order a telescope mirror")) == []


def test_a_knowledge_item_is_gated_like_all_and_has_no_flat_relevance(selector, stock):
    (close,) = sources.consolidated(asking(selector))
    (far,) = sources.consolidated(asking(selector, "Which breaker is the oldest"))
    assert close.id == far.id == stock["consolidated"]
    assert len({round(close.relevance, 6), round(far.relevance, 6), 0.8}) == 3
    assert sources.consolidated(asking(selector, "Order a telescope mirror")) == []


def test_the_walk_is_gated_too_and_reads_only(selector, stock, monkeypatch):
    monkeypatch.setattr(Store, "write", refused)
    monkeypatch.setattr(Store, "auto", refused)
    assert [block.id for block in sources.graphs(asking(selector, "What does Rowan Vale keep"))] == [stock["graphs"]]
    assert sources.graphs(asking(selector, "What time is it, Rowan")) == []


def refused(*_: Any, **__: Any) -> None:
    raise AssertionError("a source wrote")


def test_the_persona_is_a_second_typed_query_keyed_on_the_task(selector, stock, monkeypatch):
    asked: list[Any] = []
    seen = Asking._seen

    def watched(self: Asking, request: Any) -> Any:
        asked.append(request)
        return seen(self, request)

    monkeypatch.setattr(Asking, "_seen", watched)
    selector.select_for_task(TASK, types=["semantic"])
    (persona,) = [request for request in asked if request.memory_type == PERSONA_TYPES]
    assert persona.query == TASK
    assert {request.query for request in asked} == {TASK}


@pytest.mark.parametrize("types", [None, ["semantic"], ["procedural", "associative"]])
def test_the_persona_is_always_asked(selector, stock, types):
    result = selector.select_for_task(TASK, types=types)
    assert "persona" in by_id(result)[stock["persona"]].sources
    assert result.types_queried == (*(types or ()), "self", "personality")


def test_no_number_of_notes_crowds_the_persona_out(selector, stock, call):
    call("memory.remember", items=[{"content": f"The greenhouse fan trips its breaker, entry {n}."} for n in range(150)])
    result = selector.select_for_task(TASK, budget=300)
    assert stock["persona"] in by_id(result)
    assert sum(block.tokens for block in result.blocks) <= 300


def test_results_are_merged_and_each_memory_comes_once(selector, stock):
    result = selector.select_for_task(TASK)
    assert len(by_id(result)) == len(result.blocks)
    assert by_id(result)[stock["persona"]].sources == ("store", "persona")


def test_what_two_sources_found_has_the_better_relevance():
    one = selected("a", relevance=0.5, score=0.4, sources=("store",))
    other = selected("a", relevance=0.9, score=0.7, sources=("persona",))
    (both,) = merged([[one], [other]])
    assert (both.sources, both.relevance, both.score) == (("store", "persona"), 0.9, 0.7)


def selected(id: str, *, tokens: int = 10, score: float = 0.5, **fields: Any) -> Selected:
    made: dict[str, Any] = {"sources": ("store",), "kind": "memory", "content": f"content of {id}", "relevance": 0.5}
    return Selected(id=id, tokens=tokens, score=score, **made | fields)


@pytest.mark.parametrize("name", [source.__name__ for source in DEFAULT_SOURCES])
def test_a_source_that_raises_is_skipped_and_logged_and_nothing_takes_its_place(selector, stock, name, caplog):
    def broken(asking: Asking) -> list[Selected]:
        raise RuntimeError("out of order")

    broken.__name__ = name
    mixed = tuple(broken if source.__name__ == name else source for source in DEFAULT_SOURCES)
    whole = selector.select_for_task(TASK)
    with caplog.at_level(logging.WARNING):
        result = MemorySelector(call=selector.call, sources=mixed).select_for_task(TASK)
    assert result.degraded == (name,)
    assert {block.id for block in result.blocks} == {block.id for block in whole.blocks if set(block.sources) - {name}}
    assert f"without {name}: RuntimeError: out of order" in caplog.text


def test_a_source_that_is_slow_is_skipped_and_logged(selector, stock, caplog):
    release = threading.Event()

    def slow(asking: Asking) -> list[Selected]:
        release.wait(20)
        return [selected("late")]

    patient = MemorySelector(call=selector.call, sources=(*DEFAULT_SOURCES, slow), source_s=1.0)
    started = time.monotonic()
    with caplog.at_level(logging.WARNING):
        result = patient.select_for_task(TASK)
    assert time.monotonic() - started < 5
    release.set()
    assert result.degraded == ("slow",)
    assert stock["store"] in by_id(result)
    assert "late" not in by_id(result)
    assert "without slow: no answer in 1 s" in caplog.text


def test_when_every_source_fails_the_selection_says_so(selector):
    def broken(asking: Asking) -> list[Selected]:
        raise RuntimeError("out of order")

    result = MemorySelector(call=selector.call, sources=(broken,)).select_for_task(TASK)
    assert (result.blocks, result.abstained, result.reason, result.degraded) == ((), True, "degraded", ("broken",))


def test_the_selector_never_writes(selector, stock, by_hand, monkeypatch):
    def counted() -> list[Mapping[str, Any]]:
        return by_hand(
            "MATCH (n {ns: $ns}) RETURN count(n) AS nodes, sum(COUNT { (n)-->() }) AS edges, "
            "sum(size(keys(n))) AS properties, sum(n.salience) AS salience"
        )

    before = counted()
    monkeypatch.setattr(Store, "write", refused)
    monkeypatch.setattr(Store, "auto", refused)
    result = selector.select_for_task(TASK)
    assert (result.abstained, result.degraded) == (False, ())
    assert counted() == before


def test_the_selector_caps_its_own_list(selector, stock):
    whole = selector.select_for_task(TASK)
    total = sum(block.tokens for block in whole.blocks)
    for budget in (1, 8, 12, 20, 40, total - 1, total):
        result = selector.select_for_task(TASK, budget=budget)
        assert sum(block.tokens for block in result.blocks) <= budget
        assert result.selected_count == len(result.blocks)
    assert selector.select_for_task(TASK, budget=1).reason == "token_budget"
    assert not selector.select_for_task(TASK, budget=1).abstained


def test_the_persona_has_a_share_of_its_own_and_the_first_is_cut_to_fit():
    notes = [selected(f"n{n}", tokens=30, score=0.9 - n / 100) for n in range(10)]
    mine = [selected(f"p{n}", tokens=20, score=0.3, memory_type="self") for n in range(3)]
    kept = capped([*notes, *mine], 100)
    assert [one.id for one in kept] == ["n0", "n1", "p0", "p1"]
    (cut,) = capped([selected("long", tokens=2000, content="word " * 2000)], 100)
    assert cut.cut
    assert cut.tokens <= 100


def test_of_a_long_note_the_matching_passage_is_taken(selector, stock, call, service, monkeypatch):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 64)
    filler = " ".join(f"Sentence {n} tells of the heron and the reeds by the weir." for n in range(60))
    id = call.note(f"{filler} The lock gate jams when the sluice is iced. {filler}")
    block = by_id(selector.select_for_task("lock gate jams sluice iced"))[id]
    assert "lock gate jams" in block.content
    assert len(block.content) < 1000
    assert block.cut


@pytest.mark.parametrize("task", TRIVIAL)
def test_a_trivial_task_selects_nothing_and_says_why(selector, stock, task):
    result = selector.select_for_task(task)
    assert (result.blocks, result.selected_count, result.abstained) == ((), 0, True)
    assert result.reason in ("below_floor", "meaningless_query")


def test_an_empty_store_and_no_match_are_told_apart(selector, call):
    assert selector.select_for_task(TASK).reason == "no_candidates"
    call.note("Marta prefers the window seat.")
    assert selector.select_for_task("quantum chromodynamics lattice spacing").reason == "below_floor"


def test_a_superseded_memory_is_not_selected_and_its_words_lead_to_the_new_one(selector, stock, call):
    new = call.note("No, at eighty percent now.", supersedes=[stock["store"]])
    found = by_id(selector.select_for_task(TASK))
    assert stock["store"] not in found
    assert [step["leg"] for step in found[new].path] == ["superseded"]


def test_another_namespace_is_never_read(selector, stock, call):
    other = call.within(f"{call.ns}.other")
    theirs = other.note("The greenhouse fan trips its breaker in the other house.")
    assert theirs not in by_id(selector.select_for_task(TASK))
    assert other("context.select", task_description=TASK)["blocks"][0]["id"] == theirs


def test_the_six_sources_take_three_round_trips(selector, stock, monkeypatch):
    asked: list[str] = []
    read: Callable[..., Any] = Store.rows

    def watched(self: Store, name: str, /, **params: Any) -> Any:
        asked.append(name)
        return read(self, name, **params)

    monkeypatch.setattr(Store, "rows", watched)
    selector.select_for_task("Order a telescope mirror")
    assert asked.count("recall.candidates") == 3
    assert set(asked) <= {"recall.candidates", "recall.triggers"}


def test_the_verb_answers_with_the_selection(call, stock):
    answer = call("context.select", task_description=TASK, types=["semantic"], budget=500)
    assert answer.keys() == {
        "blocks", "candidates_evaluated", "selected_count", "abstained", "reason", "types_queried", "degraded",
    }  # fmt: skip
    assert answer["types_queried"] == ["semantic", "self", "personality"]
    assert answer["blocks"][0].keys() >= {"id", "sources", "kind", "content", "tokens", "relevance", "score", "memory_type"}
