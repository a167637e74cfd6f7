"""The tables that ship, and what is made of odd ones."""

import datetime as dt
import doctest
import re
from collections import Counter
from pathlib import Path

import pytest

from graph.ontology import check
from seeds import facts
from seeds.facts import Document, Edge, plain, read, read_date, sound

RFC_HEAD = "rfc\ttitle\tdate\tstatus\tobsoletes\tupdates\n"
PEP_HEAD = "pep\ttitle\tcreated\tstatus\ttype\ttopic\tpython_version\trequires\treplaces\tsuperseded_by\n"


@pytest.fixture(scope="module")
def sample() -> facts.Sample:
    return read()


def test_every_row_is_a_document_with_its_own_key(sample):
    assert Counter(document.series for document in sample.documents) == {"RFC": 8587, "PEP": 736}
    assert len({document.key for document in sample.documents}) == 9323
    assert len({document.sentence for document in sample.documents}) == 9323


def test_the_relations_are_counted(sample):
    assert Counter(edge.relation for edge in sample.edges) == {"supersedes": 1428, "annotates": 1596, "depends_on": 39}
    assert sample.left_out == {"superseded": 3}


def test_http_is_written_over_from_layer_to_layer(sample):
    for heir in range(7230, 7236):
        assert Edge(f"rfc{heir}", "rfc2616", "supersedes") in sample.edges
    assert Edge("rfc2616", "rfc2068", "supersedes") in sample.edges
    assert not any(edge.target == "rfc7230" and edge.relation == "supersedes" for edge in sample.edges)


def test_a_replacement_counts_whichever_pep_says_so_and_once(sample):
    assert Edge("pep566", "pep345", "supersedes") in sample.edges, "both say so"
    assert Edge("pep621", "pep631", "supersedes") in sample.edges, "only the older says so"
    assert Edge("pep773", "pep397", "supersedes") in sample.edges, "only the newer says so"
    assert len(set(sample.edges)) == len(sample.edges)


def test_no_edge_leads_to_itself_or_to_nowhere_and_no_relation_runs_in_a_circle(sample):
    known = {document.key for document in sample.documents}
    assert all(edge.source != edge.target and {edge.source, edge.target} <= known for edge in sample.edges)
    for relation in ("supersedes", "annotates", "depends_on"):
        assert_no_circle([edge for edge in sample.edges if edge.relation == relation])


def test_the_ontology_allows_every_relation_between_documents(sample):
    for relation in {edge.relation for edge in sample.edges}:
        check(relation, ("Note", "document"), ("Note", "document"))


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        (
            "rfc7230",
            "RFC 7230: Hypertext Transfer Protocol (HTTP/1.1): Message Syntax and Routing. "
            "June 2014. Status: Proposed Standard.",
        ),
        ("rfc2068", "RFC 2068: Hypertext Transfer Protocol -- HTTP/1.1. January 1997. Status: Proposed Standard."),
        ("rfc175", 'RFC 175: Comments on "Socket Conventions Reconsidered". June 1971. Status: Unknown.'),
        ("pep8", "PEP 8: Style Guide for Python Code. July 2001. Status: Active. Type: Process."),
        ("pep401", "PEP 401: BDFL Retirement. April 2009. Status: April Fool! Type: Process."),
        (
            "pep484",
            "PEP 484: Type Hints. September 2014. Status: Final. Type: Standards Track. Topic: Typing. Python version: 3.5.",
        ),
    ],
)
def test_a_document_is_told_in_one_line(sample, key, sentence):
    assert sample.document(key).sentence == sentence


def test_no_sentence_holds_marks_of_a_table_or_of_restructured_text(sample):
    for document in sample.documents:
        assert not re.search(r"``|\"\"|\t|\s\s|[.!?][.]$", document.sentence), document
        assert document.title == document.title.strip() != ""


def test_every_document_has_a_time_in_its_month(sample):
    assert all(document.created_at and document.created_at.tzinfo is dt.UTC for document in sample.documents)
    assert sample.document("rfc7230").created_at == dt.datetime(2014, 6, 1, tzinfo=dt.UTC)
    assert sample.document("pep8").created_at == dt.datetime(2001, 7, 5, tzinfo=dt.UTC)
    assert max(d.created_at for d in sample.documents if d.series == "RFC").strftime("%Y-%m") == "2020-05"
    assert max(d.created_at for d in sample.documents if d.series == "PEP").strftime("%Y-%m") == "2026-08"


def test_tags_name_series_type_and_topics(sample):
    assert sample.document("rfc1").tags == ["rfc"]
    assert sample.document("pep484").tags == ["pep", "standards-track", "typing"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("April 1969", "1969-04-01"),
        ("1 April 2020", "2020-04-01"),
        ("05-Jul-2001", "2001-07-05"),
        ("5-JUL-2001", "2001-07-05"),
        ("2001-07-05", "2001-07-05"),
        ("1969", "1969-01-01"),
        ("31-Feb-2001", "2001-02-01"),
        ("2001-13-40", "2001-01-01"),
        ("sept. 1981", "1981-09-01"),
        ("", None),
        ("someday", None),
    ],
)
def test_odd_dates_give_what_is_known_of_them(text, day):
    found = read_date(text)
    assert (found and found.date().isoformat()) == day


def test_a_document_without_a_date_is_told_without_one():
    document = Document(series="RFC", number=1, title="Why?", date="", status="")
    assert document.created_at is None
    assert document.sentence == "RFC 1: Why?"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        (r"Change the Meaning of ``\x`` Escapes", r"Change the Meaning of \x Escapes"),
        (r"Preserving the order of \*\*kwargs", "Preserving the order of **kwargs"),
        ("Exception Groups and except*", "Exception Groups and except*"),
    ],
)
def test_a_title_loses_its_marks(title, shown):
    assert plain(title) == shown


def test_claims_that_can_be_no_edge_are_counted():
    claims = [
        Edge("a", "b", "supersedes"),
        Edge("b", "c", "supersedes"),
        Edge("a", "b", "supersedes"),
        Edge("c", "a", "supersedes"),
        Edge("a", "a", "supersedes"),
        Edge("a", "z", "supersedes"),
        Edge("a", "b", "annotates"),
        Edge("c", "a", "annotates"),
    ]
    edges, left_out = sound(claims, {"a", "b", "c"})
    assert edges == [claims[0], claims[1], claims[7]]
    assert left_out == {"cycle": 1, "self": 1, "unknown": 1, "superseded": 1}


def test_odd_tables_are_read(tmp_path: Path):
    (tmp_path / "rfcs.tsv").write_text(
        RFC_HEAD + '2\t"A ""b"""\tnone\tUnknown\t0001, 2 99\t\n' + "1\tFirst\tApril 1969\tUnknown\t\t2\n"
    )
    (tmp_path / "peps.tsv").write_text(PEP_HEAD)
    sample = read(tmp_path)
    assert [document.sentence for document in sample.documents] == [
        "RFC 1: First. April 1969. Status: Unknown.",
        'RFC 2: A "b". Status: Unknown.',
    ]
    assert sample.edges == (Edge("rfc2", "rfc1", "supersedes"), Edge("rfc1", "rfc2", "annotates"))
    assert sample.left_out == {"self": 1, "unknown": 1}


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(facts).failed == 0


def assert_no_circle(edges: list[Edge]) -> None:
    """Takes away what nothing leads to, until nothing is left."""
    left = set(edges)
    while left:
        targets = {edge.target for edge in left}
        rest = {edge for edge in left if edge.source in targets}
        assert len(rest) < len(left), f"a circle among {sorted(left, key=str)[:5]}"
        left = rest
