"""The tables of facts, as documents and as the relations between them.

    >>> sample = read()
    >>> sample.document("rfc7230").sentence
    'RFC 7230: Hypertext Transfer Protocol (HTTP/1.1): Message Syntax and Routing. June 2014. Status: Proposed Standard.'

`PROVENANCE.md` says where the tables come from. The sentences are composed here; nothing of the documents' own text is used.
"""

from __future__ import annotations

import csv
import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
RFCS, PEPS = "rfcs.tsv", "peps.tsv"
MONTHS = (  # strptime's depend on the locale
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_LITERAL = re.compile(r"``(.+?)``")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, kw_only=True)
class Document:
    """One RFC or PEP: a row of a table. `date` is as the index writes it; the last three are a PEP's and may be empty."""

    series: str
    number: int
    title: str
    date: str
    status: str
    type: str = ""
    topic: str = ""
    python_version: str = ""

    @property
    def key(self) -> str:
        """`rfc7230`."""
        return f"{self.series.lower()}{self.number}"

    @property
    def created_at(self) -> dt.datetime | None:
        """The date at midnight UTC: the first of the month or year where no more is known, None where nothing is."""
        return read_date(self.date)

    @property
    def sentence(self) -> str:
        """What is remembered of it, and searched."""
        created = self.created_at
        parts = [
            f"{self.series} {self.number}: {self.title}",
            f"{MONTHS[created.month - 1]} {created.year}" if created else "",
            f"Status: {self.status}" if self.status else "",
            f"Type: {self.type}" if self.type else "",
            f"Topic: {self.topic}" if self.topic else "",
            f"Python version: {self.python_version}" if self.python_version else "",
        ]
        return " ".join(part if part[-1] in ".!?" else f"{part}." for part in parts if part)

    @property
    def tags(self) -> list[str]:
        """`["pep", "standards-track", "typing"]`."""
        words = [self.series, self.type, *self.topic.split(",")]
        return [re.sub(r"\W+", "-", word.strip().lower()) for word in words if word.strip()]

    @property
    def properties(self) -> dict[str, Any]:
        """The facts that the table has of it, without empty ones."""
        names = ("series", "number", "title", "date", "status", "type", "topic", "python_version")
        return {name: value for name in names if (value := getattr(self, name))}


@dataclass(frozen=True)
class Edge:
    """`source` and `target` are keys of documents; with `supersedes` the source is the newer."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True, kw_only=True)
class Sample:
    """All that the tables say. `left_out` counts the claims that became no edge, by reason."""

    documents: tuple[Document, ...]
    edges: tuple[Edge, ...]
    left_out: Mapping[str, int]

    def document(self, key: str) -> Document:
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[str, Document]:
        return {document.key: document for document in self.documents}


def read(folder: Path = FOLDER) -> Sample:
    """The sample of the tables in `folder`: documents by series and number, edges by relation.

    Two claims of one pair are one edge. Left out are claims about a document that no table has (`unknown`), of a document
    about itself (`self`), those that would close a circle (`cycle`; the claims read before it stay), and an update of
    what is superseded by the same document (`superseded`), which says no more than that.
    """
    rfcs, peps = _rows(folder / RFCS), _rows(folder / PEPS)
    documents = tuple(sorted(map(_rfc, rfcs), key=_number)) + tuple(sorted(map(_pep, peps), key=_number))
    claims = [
        *_claims(rfcs, "RFC", "rfc", "obsoletes", "supersedes"),
        *_claims(peps, "PEP", "pep", "replaces", "supersedes"),
        *(
            Edge(claim.target, claim.source, claim.relation)
            for claim in _claims(peps, "PEP", "pep", "superseded_by", "supersedes")
        ),
        *_claims(rfcs, "RFC", "rfc", "updates", "annotates"),
        *_claims(peps, "PEP", "pep", "requires", "depends_on"),
    ]
    edges, left_out = sound(claims, {document.key for document in documents})
    return Sample(documents=documents, edges=tuple(edges), left_out=left_out)


def sound(claims: Iterable[Edge], known: set[str]) -> tuple[list[Edge], Counter[str]]:
    """The claims that can be edges, each once, and how many can't, by reason (see `read`)."""
    edges: dict[Edge, None] = {}
    ahead: dict[str, dict[str, list[str]]] = {}
    left_out: Counter[str] = Counter()
    for claim in claims:
        reached = ahead.setdefault(claim.relation, {})
        if claim in edges:
            continue
        if not {claim.source, claim.target} <= known:
            left_out["unknown"] += 1
        elif claim.source == claim.target:
            left_out["self"] += 1
        elif claim.relation == "annotates" and Edge(claim.source, claim.target, "supersedes") in edges:
            left_out["superseded"] += 1
        elif _leads(reached, claim.target, claim.source):
            left_out["cycle"] += 1
        else:
            edges[claim] = None
            reached.setdefault(claim.source, []).append(claim.target)
    return list(edges), left_out


def read_date(text: str) -> dt.datetime | None:
    """The day that `April 2020`, `1 April 2020`, `05-Jul-2001`, `2001-07-05` or `1969` names, at midnight UTC; else None."""
    words = re.findall(r"[A-Za-z]+|\d+", text)
    year = next((int(word) for word in words if re.fullmatch(r"[12]\d{3}", word)), None)
    if year is None:
        return None
    days = [int(word) for word in words if re.fullmatch(r"\d{1,2}", word)]
    month = next((n for n, name in enumerate(MONTHS, 1) for word in words if word[:3].lower() == name[:3].lower()), None)
    if month is None:
        month, *days = days or [1]
    try:
        return dt.datetime(year, month, days[0] if days else 1, tzinfo=dt.UTC)
    except ValueError:  # a month that the year does not have, or a day that the month does not
        return dt.datetime(year, month if 1 <= month <= 12 else 1, 1, tzinfo=dt.UTC)


def plain(title: str) -> str:
    """A PEP's title without its reStructuredText marks: literals bare, escapes undone.

    >>> plain(r"New methods for easier handling of ``ExceptionGroup``\\ s")
    'New methods for easier handling of ExceptionGroups'
    """
    pieces = _LITERAL.split(title)  # every second one is a literal, in which a backslash stands for itself
    pieces[::2] = [_ESCAPED.sub(lambda found: found[1].strip(), piece) for piece in pieces[::2]]
    return "".join(pieces)


def _rows(path: Path) -> list[dict[str, str]]:
    """Tab-separated, a title with quotes in it quoted as in CSV."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: (cell or "").strip() for name, cell in row.items()} for row in csv.DictReader(file, delimiter="\t")]


def _rfc(row: Mapping[str, str]) -> Document:
    return Document(series="RFC", number=int(row["rfc"]), title=row["title"], date=row["date"], status=row["status"])


def _pep(row: Mapping[str, str]) -> Document:
    return Document(
        series="PEP",
        number=int(row["pep"]),
        title=plain(row["title"]),
        date=row["created"],
        status=row["status"],
        type=row["type"],
        topic=row["topic"],
        python_version=row["python_version"],
    )


def _number(document: Document) -> int:
    return document.number


def _claims(rows: Iterable[Mapping[str, str]], series: str, own: str, others: str, relation: str) -> Iterator[Edge]:
    """What the column `others` of each row says of the row's document: numbers, several of them with blanks between."""
    for row in rows:
        for number in re.findall(r"\d+", row[others]):
            yield Edge(f"{series}{int(row[own])}".lower(), f"{series}{int(number)}".lower(), relation)


def _leads(ahead: Mapping[str, list[str]], start: str, goal: str) -> bool:
    """Whether `goal` can be reached from `start`."""
    seen, waiting = {start}, [start]
    while waiting:
        for node in ahead.get(waiting.pop(), ()):
            if node == goal:
                return True
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return False
