"""Consolidation: groups of close notes are told in few words; nothing of the notes themselves changes."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest

from recall.background import Background
from recall.closeness import Note, Pair, Words, close_pairs, together
from recall.digest import Digest, Extractive
from recall.groups import groups
from tests.conftest import Caller

FERRY = (
    "The harbour ferry leaves pier seven at noon on weekdays.",
    "On weekdays the harbour ferry waits at pier seven for the noon train.",
    "Tickets for the harbour ferry are sold at pier seven until noon.",
    "In winter the harbour ferry from pier seven sails at noon only on weekdays.",
)
GREENHOUSE = (
    "The greenhouse fan in bay four trips its breaker when humidity passes ninety percent.",
    "Bay four of the greenhouse has a new fan, and its breaker held through the humidity.",
    "The breaker of the greenhouse fan in bay four was replaced after the humidity alarm.",
)
OTHERS = (
    "Marta prefers the window seat on the early train to Leeds.",
    "Quarterly invoices for the bakery are sent on the second Tuesday.",
    "The telescope mirror was recoated in spring and needs a dust cover.",
    "Pump station six uses a backup generator with forty litres of diesel.",
    "The choir rehearses Verdi in the old town hall on Thursdays.",
    "Rowan's allergy list includes walnuts and shellfish.",
)


@pytest.fixture
def notes(call: Caller) -> dict[str, str]:
    """Ids by content of two groups and of what belongs to none."""
    contents = [*FERRY, *OTHERS, *GREENHOUSE]
    found = call("memory.remember", items=[{"content": content, "salience": 0.4} for content in contents])["results"]
    return dict(zip(contents, (one["id"] for one in found), strict=True))


@pytest.fixture
def drawn(call: Caller, by_hand: Any) -> Any:
    """What consolidation drew and is served: by kind, content and the contents of its sources."""

    def found(kind: str = "knowledge") -> dict[str, set[str]]:
        rows = by_hand(
            "MATCH (n:Recallable {ns: $ns, kind: $kind})-[:DERIVED_FROM]->(s) WHERE n:Current AND n.expires_ts > $now "
            "RETURN n.content AS content, collect(s.content) AS sources",
            kind=kind,
            now=int(dt.datetime.now(dt.UTC).timestamp() * 1e6),
        )
        return {row["content"]: set(row["sources"]) for row in rows}

    return found


def test_groups_of_close_notes_become_knowledge_and_abstractions_with_their_sources(call, notes, drawn):
    found = call("memory.consolidate")
    assert (found["notes"], found["groups"], found["created"], found["unchanged"]) == (13, 2, 2, 0)
    for kind in ("knowledge", "abstraction"):
        assert sorted(drawn(kind).values(), key=len) == [set(GREENHOUSE), set(FERRY)]
    for abstraction, sources in drawn("abstraction").items():
        assert abstraction in sources, "the words are the notes' own"
    for knowledge, sources in drawn().items():
        assert sum(source in knowledge for source in sources) >= 2


def test_a_second_run_changes_nothing(call, notes, by_hand):
    def graph() -> Any:
        return by_hand(
            "MATCH (n {ns: $ns}) OPTIONAL MATCH (n)-[r]->(m) "
            "RETURN elementId(n) AS id, properties(n) AS properties, labels(n) AS labels, collect([type(r), m.id]) AS edges "
            "ORDER BY id"
        )

    call("memory.consolidate")
    before = graph()
    found = call("memory.consolidate")
    assert (found["created"], found["unchanged"], found["superseded"], found["stale"]) == (0, 2, 0, 0)
    assert graph() == before


def test_consolidation_changes_no_note_and_deletes_none(call, notes, by_hand):
    state = "MATCH (n:Note {ns: $ns}) RETURN n.id AS id, properties(n) AS properties, labels(n) AS labels ORDER BY id"
    before = by_hand(state)
    call("memory.consolidate")
    assert by_hand(state) == before


def test_what_is_drawn_is_recalled_with_what_the_notes_have(call, notes):
    call("kg.update", id=notes[FERRY[0]], salience=0.8)
    call("memory.consolidate")
    found = call("memory.recall", query="harbour ferry pier seven noon", kind="knowledge", min_score=0, explain=True)
    (hit,) = [hit for hit in found["results"] if "ferry" in hit["content"]]
    node = call("kg.get", id=hit["id"])
    assert (node["label"], node["memory_type"], node["salience"]) == ("Knowledge", "semantic", 0.8)
    assert node["properties"]["notes"] == 4
    assert "ferry" in node["properties"]["keywords"]


def test_a_superseded_source_takes_what_was_drawn_out_of_recall_at_once_and_it_is_redone(call, notes, drawn):
    call("memory.consolidate")
    (old,) = [content for content in drawn() if "ferry" in content]
    new = "The harbour ferry leaves pier nine at noon on weekdays, no longer pier seven."
    call.note(new, supersedes=[notes[FERRY[0]]])
    assert old not in drawn(), "not even until the next run is anything outdated served"
    assert all("ferry" not in hit["content"] for hit in recalled(call, "harbour ferry pier", kind="knowledge"))
    found = call("memory.consolidate")
    assert (found["created"], found["unchanged"], found["superseded"]) == (1, 1, 2)
    (again,) = [sources for content, sources in drawn().items() if "ferry" in content]
    assert again == {*FERRY[1:], new}
    assert call("memory.consolidate")["created"] == 0


def test_the_old_telling_stays_legible_beneath_the_new(call, notes):
    call("memory.consolidate")
    (old,) = recalled(call, "harbour ferry pier seven", kind="knowledge", limit=1)
    call("kg.delete", id=notes[FERRY[3]])
    call("memory.consolidate")
    (new,) = recalled(call, "harbour ferry pier seven", kind="knowledge", limit=1)
    assert [node["id"] for node in call("kg.history", id=new["id"])["results"]] == [old["id"], new["id"]]


def test_a_deleted_source_takes_what_was_drawn_out_of_recall_at_once_and_it_is_redone(call, notes, drawn):
    call("memory.consolidate")
    receipt = call("kg.delete", id=notes[GREENHOUSE[0]])
    assert len(receipt["derived"]) == 2
    assert all("greenhouse" not in content for content in drawn())
    found = call("memory.consolidate")
    assert (found["groups"], found["created"], found["unchanged"]) == (1, 0, 1), "two notes are no group"
    assert all("greenhouse" not in content for content in drawn())
    call.note(GREENHOUSE[0])
    assert call("memory.consolidate")["created"] == 1
    assert set(GREENHOUSE) in drawn().values()


def test_a_source_that_says_something_else_is_told_anew(call, notes, drawn):
    call("memory.consolidate")
    call("kg.update", id=notes[FERRY[0]], content="The harbour ferry leaves pier nine at noon on weekdays.")
    assert all("ferry" not in content for content in drawn())
    assert call("memory.consolidate")["created"] == 1
    assert "pier nine" in next(content for content in drawn() if "ferry" in content)


def test_a_pruned_source_makes_stale_as_a_deleted_one(call, notes, drawn):
    call("memory.consolidate")
    call("kg.update", id=notes[FERRY[1]], salience=0.05)
    call("memory.prune", min_salience=0.1)
    assert all("ferry" not in content for content in drawn())
    assert call("memory.consolidate")["created"] == 1


def test_a_new_note_joins_its_group_and_the_other_group_stays(call, notes, drawn):
    call("memory.consolidate")
    joined = "The harbour ferry of pier seven carries bicycles at noon on weekdays."
    call.note(joined)
    found = call("memory.consolidate")
    assert (found["created"], found["unchanged"]) == (1, 1)
    assert {*FERRY, joined} in drawn().values()


def test_what_is_drawn_expires_with_the_first_of_its_notes(call, notes, by_hand):
    soon = (dt.datetime.now(dt.UTC) + dt.timedelta(days=3)).isoformat()
    call("kg.update", id=notes[FERRY[2]], expires_at=soon)
    call("memory.consolidate")
    rows = by_hand("MATCH (n:Knowledge {ns: $ns}) RETURN n.content AS content, n.expires_at IS NOT NULL AS expires")
    assert {"ferry" in row["content"]: row["expires"] for row in rows} == {True: True, False: False}


def test_a_dry_run_tells_what_would_be_told(call, notes, drawn):
    found = call("memory.consolidate", dry_run=True)
    assert (found["groups"], found["created"]) == (2, 2)
    assert drawn() == {}


def test_groups_keep_to_their_namespace(call, notes):
    other = call.within(f"{call.ns}-b")
    other.note(FERRY[0])
    other.note(FERRY[1])
    assert call.within(f"{call.ns}-b")("memory.consolidate")["groups"] == 0


def test_tags_are_those_that_all_sources_bear(call, by_hand):
    items = [{"content": text, "tags": ["harbour", f"n{n}"], "source": "log"} for n, text in enumerate(FERRY)]
    call("memory.remember", items=[*items, *({"content": text} for text in OTHERS)])
    call("memory.consolidate")
    (row,) = by_hand("MATCH (n:Knowledge {ns: $ns}) RETURN n.tags AS tags, n.source AS source")
    assert row == {"tags": ["harbour"], "source": "log"}


def test_notes_that_were_recalled_together_form_a_group(call, by_hand, service):
    ids = [call.note(text) for text in OTHERS]
    assert call("memory.consolidate")["groups"] == 0
    for query in OTHERS[:4]:
        call("memory.recall", query=query, min_score=0, limit=20)
    service.dispatcher.runtime.states["memory"].serves.flush()
    by_hand("MATCH (s:Serve {ns: $ns}) SET s.note_ids = [id IN s.note_ids WHERE id IN $ids]", ids=ids[:3])
    assert call("memory.consolidate")["created"] == 1
    (row,) = by_hand("MATCH (n:Knowledge {ns: $ns})-[:DERIVED_FROM]->(s) RETURN collect(s.id) AS ids")
    assert set(row["ids"]) == set(ids[:3])


def test_near_duplicates_are_proposed_and_nothing_is_done_about_them(call, notes):
    older = call.note("The ferry kiosk sells brass tokens at window three.", created_at="2026-01-01T00:00:00Z")
    newer = call.note("The ferry kiosk sells brass tokens at window five.", created_at="2026-02-01T00:00:00Z")
    found = call("memory.consolidate")["proposals"]
    assert [(one["source"], one["target"], one["relation"]) for one in found] == [(newer, older, "supersedes")]
    assert (found[0]["only_newer"], found[0]["only_older"]) == (["five"], ["three"])
    assert call("kg.get", id=older)["state"] == "current"
    assert call("memory.consolidate", proposals=0)["proposals"] == []
    call("kg.link", **{name: found[0][name] for name in ("source", "target", "relation")})
    assert call("memory.consolidate")["proposals"] == []


def test_a_pack_may_bring_a_summariser_of_its_own(call, notes, service, drawn, monkeypatch):
    class Model:
        name = "model-x"

        def digest(self, contents: Any, weight: Any) -> Digest:
            return Digest(knowledge=f"{len(contents)} notes, told by a model.", abstraction=f"In short: {contents[0]}")

    call("memory.consolidate")
    monkeypatch.setattr(service.dispatcher.runtime, "summariser", Model())
    assert call("memory.consolidate")["created"] == 2
    assert set(drawn()) == {"4 notes, told by a model.", "3 notes, told by a model."}


def test_a_hundred_identical_notes_and_a_single_one_give_sensible_answers(call):
    assert call("memory.consolidate") == call("memory.consolidate")
    call.note("The only note.")
    assert call("memory.consolidate")["groups"] == 0
    call("memory.remember", items=[{"content": "The lamp is lit."} for _ in range(100)])
    found = call("memory.consolidate", proposals=10)
    assert len(found["proposals"]) == 10
    assert call("memory.consolidate")["created"] == 0


def test_consolidation_reads_no_more_notes_than_its_limit(call, notes):
    assert call("memory.consolidate", limit=3)["notes"] == 3


def recalled(call: Caller, query: str, **more: Any) -> list[dict[str, Any]]:
    return call("memory.recall", query=query, min_score=0, **more)["results"]


def test_recalls_count_by_pairs_that_they_served_together():
    notes = [made("a", serves=["s1", "s2"]), made("b", serves=["s1", "s2"]), made("c", serves=["s1"])]
    assert together(notes) == {(0, 1): 2}


def made(id: str, **fields: Any) -> Note:
    return Note(**{"id": id, "content": id, "hash": id, "vector": np.zeros(4, np.float32)} | fields)


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "b"]])
def test_without_vectors_or_notes_nothing_is_close(ids):
    notes, background = [made(id) for id in ids], Background.shipped()
    assert close_pairs(notes, Words(notes, background), background) == ([], [])


def test_groups_are_divided_until_they_can_be_read():
    def pair(first: int, second: int, strength: float = 1.0) -> Pair:
        return Pair(first=first, second=second, strength=strength, cosine=1, words=1)

    crowd = [pair(a, b) for a in range(60) for b in range(a + 1, 60)]
    apart = [pair(70, 71), pair(71, 72), pair(80, 81)]
    found = groups([*crowd, *apart])
    assert max(map(len, found)) <= 24
    assert sorted(at for part in found for at in part) == [*range(60), 70, 71, 72]
    assert groups([*crowd, *apart]) == found


def test_the_extractive_digest_quotes_and_says_nothing_twice():
    found = Extractive().digest([FERRY[0], FERRY[0], FERRY[2]], len)
    assert found.knowledge.count("ferry leaves pier seven") == 1
    assert found.abstraction in FERRY
    assert "ferry" in found.keywords
    assert Extractive().digest(["!!!", "???"], len).knowledge == "!!!"
