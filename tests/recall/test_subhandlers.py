"""Each stage by its own name: the same code as memory.recall, and rows that pass from one to the next."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from graph.errors import ValidationFailed
from recall.config import FUSIONS
from recall.embed import Hashing
from tests.conftest import Caller

BACKUP = "The backup job of the orders database runs every night at two"
ASKED = "when does the backup job of the orders database run"


def stored(call: Any) -> tuple[str, str]:
    old = call.note(BACKUP, created_at="2024-01-01T00:00:00Z")
    new = call.note("No, at four now", supersedes=[old], created_at="2025-01-01T00:00:00Z")
    other = call.note("Ada waters the orders of lilies at night", tags=["garden"], key="lilies", source="wiki")
    return new, other


@pytest.fixture
def notes(call) -> tuple[str, str]:
    return stored(call)


@pytest.fixture(scope="module")
def kept(service) -> list[dict[str, Any]]:
    call = Caller(service.dispatcher, f"test-{uuid.uuid4().hex[:12]}")
    stored(call)
    return call("memory.recall_candidates", query=ASKED)["candidates"]


@pytest.fixture
def rows(kept) -> list[dict[str, Any]]:
    """Rows that a test may change; a stage takes them in any namespace."""
    return [dict(row) for row in kept]


def test_they_are_served_by_name_and_listed_nowhere(service):
    names = {f"memory.recall_{stage}" for stage in ("embed", "candidates", "fuse", "rerank", "score")}
    assert {verb.name for verb in service.dispatcher.every() if verb.visibility == "subhandler"} >= names
    assert not names & {verb.name for verb in service.dispatcher.verbs()}
    assert {service.dispatcher.find(name).illocution for name in names} == {"assertive"}


def test_embed_gives_the_words_and_the_vector(call):
    answer = call("memory.recall_embed", query="The backup-job runs")
    assert (answer["model"], answer["meaningless"]) == ("hashing", False)
    assert {"backup-job", "backup", "job"} <= set(answer["terms"])
    assert "the" not in answer["terms"]
    assert answer["embedding"] == pytest.approx(Hashing().queries(["The backup-job runs"])[0].tolist())
    assert call("memory.recall_embed", query="x", fusion="keyword_only")["embedding"] is None


def test_a_query_without_meaning_has_no_vector_and_no_candidates(call):
    assert call("memory.recall_embed", query="!!!") == {
        "query": "!!!",
        "meaningless": True,
        "terms": [],
        "model": "hashing",
        "embedding": None,
    }
    assert call("memory.recall_candidates", query="!!!") == {"candidates": [], "evaluated": 0, "degraded": []}


def test_candidates_are_rows_with_their_legs_and_scores(call, notes):
    new, other = notes
    answer = call("memory.recall_candidates", query=ASKED)
    assert answer["degraded"] == []
    by_note = {row["note_ids"]: row for row in answer["candidates"] if row["vias"]}
    assert list(by_note) == [new]
    (row,) = [row for row in answer["candidates"] if row["note_ids"] == other]
    assert (row["keys"], row["sources"], row["tags"], row["legs"]) == ("lilies", "wiki", ["garden"], ["text", "vector"])
    assert row["bm25"] > 0
    assert -1 <= row["cosine"] <= 1


@pytest.mark.parametrize("fusion", FUSIONS)
def test_fuse_gives_each_row_its_value(call, rows, fusion):
    fused = call("memory.recall_fuse", candidates=rows, fusion=fusion)["candidates"]
    assert [row["hit_ids"] for row in fused] == [row["hit_ids"] for row in rows]
    assert max(row["fused"] for row in fused) == pytest.approx(1.0, abs=0.5)
    assert all(0 <= row["fused"] <= 1.01 for row in fused)
    assert {row["fused"] for row in rows} == {0.0}


@pytest.mark.parametrize("fusion", FUSIONS)
def test_stage_after_stage_comes_to_what_recall_comes_to(call, notes, fusion):
    rows = call("memory.recall_candidates", query=ASKED, fusion=fusion)["candidates"]
    fused = call("memory.recall_fuse", candidates=rows, fusion=fusion)["candidates"]
    config = {"salience_weight": 0.5}
    answer = call("memory.recall_score", query=ASKED, candidates=fused, fusion=fusion, config=config)
    whole = call("memory.recall", query=ASKED, fusion=fusion, config=config, min_score=0, explain=True)["results"]
    assert [hit["id"] for hit in answer["results"]] == [hit["id"] for hit in whole]
    for staged, hit in zip(answer["results"], whole, strict=True):
        assert staged["relevance"] == pytest.approx(hit["relevance"], abs=0.01)
        assert staged["breakdown"]["fused"] == pytest.approx(hit["breakdown"]["fused"], abs=1e-6)
        assert (staged["path"], staged["content"]) == (hit["path"], hit["content"])
    assert answer["passed"] == sum(hit["relevance"] >= 0.42 for hit in answer["results"])


def test_rerank_takes_the_weights_of_features(call, rows):
    weights = {"text_match": 1.0, "vector_match": 1.0}
    hits = call("memory.recall_rerank", query=ASKED, candidates=rows, config={"reranker_weights": weights})["results"]
    for hit in hits:
        assert hit["breakdown"]["parts"] == {name: pytest.approx(value / 2) for name, value in hit["features"].items()}
        assert set(hit["features"]) == set(weights)
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


def test_ages_are_measured_from_as_of(call, rows):
    hits = call("memory.recall_score", query=ASKED, candidates=rows, as_of="2025-01-31T00:00:00Z")["results"]
    (hit,) = [hit for hit in hits if hit["content"] == "No, at four now"]
    assert hit["temporal"] == pytest.approx(0.5)


def test_no_rows_give_no_hits(call):
    assert call("memory.recall_fuse", candidates=[]) == {"candidates": [], "evaluated": 0, "degraded": []}
    assert call("memory.recall_score", query=ASKED, candidates=[]) == {"results": [], "passed": 0}


@pytest.mark.parametrize("query", ["!!!", "", "x" * 2000])
def test_any_query_can_be_scored_against_rows(call, rows, query):
    assert call("memory.recall_score", query=query, candidates=rows)["passed"] == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hit_ids", 7),
        ("note_ids", None),
        ("vias", ["a"]),
        ("terms", None),
        ("contents", 1),
        ("clipped", "no"),
        ("types_found", "vague"),
        ("saliences", "high"),
        ("saliences", 2.0),
        ("decays", -1),
        ("created", 1.5),
        ("created", 2**63 - 1),
        ("superseded", 2**63 - 2),
        ("superseded", -(2**62)),
        ("tags", "a"),
        ("follows", [1]),
        ("cosine", "near"),
        ("cosine", float("nan")),
        ("bm25", float("inf")),
        ("bm25", None),
        ("legs", ["luck"]),
        ("vector", "not base 64!"),
        ("vector", "AAAA"),
        ("fused", 7),
        ("background", -1),
        ("more", 1),
    ],
)
@pytest.mark.parametrize("stage", ["fuse", "score"])
def test_a_row_that_is_none_is_refused(call, rows, stage, field, value):
    rows[0] = rows[0] | {field: value}
    fields = {"query": ASKED} if stage == "score" else {}
    with pytest.raises(ValidationFailed) as error:
        call(f"memory.recall_{stage}", candidates=rows, **fields)
    assert error.value.details["errors"][0]["field"].startswith("candidates")


@pytest.mark.parametrize("field", ["hit_ids", "terms", "vector", "created", "legs"])
def test_a_row_that_lacks_a_field_is_refused(call, rows, field):
    del rows[0][field]
    with pytest.raises(ValidationFailed) as error:
        call("memory.recall_fuse", candidates=rows)
    assert error.value.details["errors"] == [
        {"field": f"candidates.0.{field}", "message": "Missing data for required field."}
    ]


def test_vectors_of_another_model_are_refused(call, rows):
    for row in rows:
        row["vector"] = "AAAA"
    with pytest.raises(ValidationFailed, match="must be of 384 bytes, as hashing makes them"):
        call("memory.recall_score", query=ASKED, candidates=rows)
    assert call("memory.recall_score", query=ASKED, candidates=rows, fusion="keyword_only")["results"]
    assert call("memory.recall_fuse", candidates=rows)["evaluated"] == len(rows)
