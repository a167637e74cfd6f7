"""The loader on a real Neo4j, with a slice of the tables.

Needs the fixture `service`: a `recall.service.Service` on a managed Neo4j with its schema applied and its packs open. Each
test has a namespace of its own, so the service may be shared.
"""

import uuid
from pathlib import Path

import pytest

from seeds import loader
from seeds.facts import FOLDER, PEPS, RFCS
from seeds.loader import load_sample

RFC_NUMBERS = {2068, 2145, 2616, 2617, 2817, 2818, *range(7230, 7236)}
PEP_NUMBERS = {241, 314, 345, 426, 566, 245, 246, 443, 3124, 440, 508, 518}
NOTES, EDGES = 24, 26


@pytest.fixture
def ns() -> str:
    return f"sample-{uuid.uuid4().hex}"


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """The shipped tables, cut down to a few chains."""
    for name, numbers in ((RFCS, RFC_NUMBERS), (PEPS, PEP_NUMBERS)):
        head, *rows = (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [row for row in rows if int(row.partition("\t")[0]) in numbers]
        (tmp_path / name).write_text(head + "".join(kept), encoding="utf-8")
    return tmp_path


def stored(service, ns: str, kind: str = "document") -> list[dict]:
    found, more = [], {}
    while True:
        page = service.dispatcher.call("kg.list", {"kind": kind, "limit": 7, **more}, ns=ns).body
        found += page["results"]
        if not page.get("next_cursor"):
            return found
        more = {"cursor": page["next_cursor"]}


def by_key(service, ns: str) -> dict[str, dict]:
    return {node["key"]: node for node in stored(service, ns)}


def test_documents_and_relations_are_stored(service, tables, ns):
    summary = load_sample(service, tables=tables, ns=ns)
    assert (summary.notes, summary.edges, summary.already_loaded) == (NOTES, EDGES, False)
    notes = by_key(service, ns)
    assert len(stored(service, ns)) == len(notes) == NOTES
    newest = notes["rfc7230"]
    assert newest["content"].startswith("RFC 7230: Hypertext Transfer Protocol (HTTP/1.1): Message Syntax")
    assert newest["created_at"] == "2014-06-01T00:00:00Z"
    assert newest["memory_type"] == "semantic"
    assert newest["tags"] == ["rfc"]
    assert newest["properties"]["status"] == "Proposed Standard"


def test_what_was_written_over_is_superseded_since_its_heir_and_stays_legible(service, tables, ns):
    load_sample(service, tables=tables, ns=ns)
    notes = by_key(service, ns)
    states = {key: notes[key]["state"] for key in ("rfc2068", "rfc2616", "rfc7230", "rfc7235", "pep345", "pep566")}
    assert states == {
        **dict.fromkeys(("rfc2068", "rfc2616", "pep345"), "superseded"),
        **dict.fromkeys(("rfc7230", "rfc7235", "pep566"), "current"),
    }
    assert notes["rfc2068"]["superseded_at"] == "1999-06-01T00:00:00Z"
    chain = service.dispatcher.call("kg.history", {"id": notes["rfc7230"]["id"]}, ns=ns).body["results"]
    keys = [node["key"] for node in chain]
    assert keys.index("rfc2068") < keys.index("rfc2616") < keys.index("rfc7230")


def test_a_second_load_finds_the_marker_and_does_nothing(service, tables, ns):
    load_sample(service, tables=tables, ns=ns)
    calls = []
    summary = load_sample(service, lambda done, total: calls.append(done), tables=tables, ns=ns)
    assert (summary.notes, summary.edges, summary.already_loaded) == (NOTES, EDGES, True)
    assert calls == []
    assert len(stored(service, ns)) == NOTES
    assert len(stored(service, ns, loader.MARKER_KIND)) == 1


@pytest.mark.parametrize("batches", [1, 3, 5, 6, 11])
def test_a_load_that_was_cut_off_is_completed_without_doubling(service, tables, ns, batches, monkeypatch):
    monkeypatch.setattr(loader, "BATCH", 5)
    reports = []

    def cut_off(done: int, total: int) -> None:
        reports.append(done)
        if len(reports) == batches:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_sample(service, cut_off, tables=tables, ns=ns)
    assert load_sample(service, tables=tables, ns=ns).already_loaded is False
    notes = by_key(service, ns)
    assert len(stored(service, ns)) == len(notes) == NOTES
    assert notes["rfc2616"]["state"] == "superseded"
    assert load_sample(service, tables=tables, ns=ns).already_loaded is True


def test_progress_rises_to_the_total(service, tables, ns, monkeypatch):
    monkeypatch.setattr(loader, "BATCH", 5)
    reports = []
    load_sample(service, lambda done, total: reports.append((done, total)), tables=tables, ns=ns)
    assert reports == sorted(reports)
    assert reports[-1] == (NOTES + EDGES, NOTES + EDGES)


def test_newer_tables_are_told_under_the_same_notes(service, tables, ns):
    load_sample(service, tables=tables, ns=ns)
    before = by_key(service, ns)
    table = tables / RFCS
    table.write_text(table.read_text(encoding="utf-8").replace("Proposed Standard", "Internet Standard"), encoding="utf-8")
    assert load_sample(service, tables=tables, ns=ns).already_loaded is False
    after = by_key(service, ns)
    assert {key: node["id"] for key, node in after.items()} == {key: node["id"] for key, node in before.items()}
    assert after["rfc7230"]["content"].endswith("Status: Internet Standard.")
    assert after["rfc7230"]["properties"]["status"] == "Internet Standard"
    assert load_sample(service, tables=tables, ns=ns).already_loaded is True
