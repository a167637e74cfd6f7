"""The sample graph, exported and imported into an empty home, answers as it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recall.exporting import export
from recall.importing import Importer
from recall.index import Indexer
from recall.service import Service, open_service
from seeds.facts import FOLDER, PEPS, RFCS, read
from seeds.loader import load_sample
from tests.conftest import Caller

ROWS = 900
AT = "2030-01-01T00:00:00Z"  # what is asked at the same time has the same ages


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped tables, as far as `ROWS` of each; relations to what is further on are left out."""
    folder = tmp_path_factory.mktemp("tables")
    for name in (RFCS, PEPS):
        lines = (FOLDER / name).read_text("utf-8").splitlines(keepends=True)
        (folder / name).write_text("".join(lines[: ROWS + 1] if name == PEPS else [lines[0], *lines[-ROWS:]]), "utf-8")
    return folder


@pytest.fixture(scope="module")
def homes(service: Service, tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Caller]]:
    """The namespace that was loaded, and the same one in a home that was empty; nothing else is in either."""
    folder = tmp_path_factory.mktemp("moved")
    first = open_service(replace(service.settings, home=folder / "first"))
    load_sample(first, tables=tables, ns="sample-moves")
    written = next(row["written"] for row in first.store.rows("schema.namespaces") if row["name"] == "sample-moves")
    first.dispatcher.runtime.states["memory"].backgrounds.measure("sample-moves", written)  # not while it is being asked
    file = folder / "sample.jsonl"
    export(first.store, file, namespaces=["sample-moves"])
    other = open_service(replace(service.settings, home=folder / "home"))
    Importer(other.store, other.models, Indexer(other.models)).run(file)
    yield [Caller(one.dispatcher, "sample-moves") for one in (first, other)]
    other.close()
    first.close()


def told(answer: dict[str, Any]) -> Any:
    """What an answer says. Scores may differ in their last digits: Lucene still counts words of what has left an index."""
    names = (
        "id",
        "content",
        "memory_type",
        "salience",
        "effective_salience",
        "temporal",
        "created_at",
        "superseded_at",
        "key",
    )
    hits = [[hit.get(name) for name in names] for hit in answer["results"]]
    return hits, answer["abstained"], answer["reason"], answer["truncated"], answer["degraded"]


def test_recalls_give_identical_answers(homes: list[Caller], tables: Path) -> None:
    documents = read(tables).documents
    titles = [document.sentence for document in documents[:: len(documents) // 40]]
    asked: list[dict[str, Any]] = [{"query": title} for title in titles]
    asked += [{"query": " ".join(title.split()[2:6]), "include_superseded": True} for title in titles[:10]]
    asked += [{"query": title, "fusion": fusion} for title in titles[:5] for fusion in ("rrf", "union", "vector_only")]
    asked += [{"query": "what time is it"}, {"query": "who maintains packaging metadata", "explain": True}]
    served = 0
    for body in asked:
        answers = [call("memory.recall", **{"as_of": AT} | body) for call in homes]
        assert told(answers[0]) == told(answers[1]), body
        relevances = [[hit["relevance"] for hit in answer["results"]] for answer in answers]
        assert relevances[0] == pytest.approx(relevances[1], abs=0.005)
        served += len(answers[0]["results"])
    assert served >= len(titles)


def test_histories_and_neighbourhoods_are_identical(homes: list[Caller]) -> None:
    documents = homes[0]("kg.list", kind="document", limit=300)["results"][::15]
    for document in documents:
        for verb in ("kg.history", "kg.neighbors", "kg.get"):
            answers = [call(verb, id=document["id"]) for call in homes]
            assert answers[0] == answers[1]
