"""What a recall carries from stage to stage: the query, the pool of candidates, and the hit."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.slots import FIRST, Slot
from recall.config import RECALL_MIN_SCORE, Knobs
from recall.text import QueryTerms

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Query:
    """A query as the stages need it.

    embedding: (d,) unit vector, or None where no vector leg is asked.  model: who made it.  slot: where its like are.
    """

    text: str
    terms: QueryTerms
    embedding: NDArray[np.float32] | None
    meaningless: bool = False
    model: str = ""
    slot: Slot = FIRST


@dataclass(frozen=True, kw_only=True)
class RecallRequest:
    """A recall, validated whole. as_of: what was current then; ages are measured from it."""

    query: str
    limit: int = 10
    memory_type: Sequence[str] | None = None
    kind: Sequence[str] | None = None
    tags: Sequence[str] = ()
    min_score: float | None = None
    as_of: dt.datetime | None = None
    include_superseded: bool = False
    fusion: str = "weighted"
    config: Knobs = field(default_factory=Knobs)
    profile: str | None = None
    actor: str | None = None
    consumer: str | None = None
    entity_names: Sequence[str] | None = None
    token_budget: int = 4000
    full_content: bool = True
    explain: bool = False
    deadline_s: float | None = None

    @property
    def floor(self) -> float:
        return RECALL_MIN_SCORE if self.min_score is None else self.min_score


@dataclass(kw_only=True)
class Pool:
    """Candidate rows as columns of one length; a row is an indexed text and the live note it stands for.

    hit_ids: the indexed node (a note, a passage, a superseded note).  note_ids: the note that is served for it.
    vias: the superseded note that led there, or "".  cosine: in [-1, 1], NaN without vectors.  bm25: 0 where the text leg
    did not find it.  vectors: (n, d) unit rows, zeros where there is none.  evaluated: candidates of all legs.
    """

    hit_ids: list[str]
    note_ids: list[str]
    vias: list[str]
    cosine: Floats
    bm25: Floats
    vectors: NDArray[np.float32]
    terms: list[str]
    legs: list[frozenset[str]]
    paths: list[str]
    passages: list[str]
    columns: dict[str, list[Any]]
    evaluated: int
    degraded: tuple[str, ...] = ()
    background: int = 0
    brain: int = 0  # version of what the namespace has learned
    fused: Floats = field(default_factory=lambda: np.zeros(0))
    relevance: Floats = field(default_factory=lambda: np.zeros(0))
    evidence: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def follows(self) -> list[list[str]]:
        """Ids of the notes before and after each row's note."""
        return self.columns["follows"]

    def __len__(self) -> int:
        return len(self.hit_ids)


@dataclass(slots=True, kw_only=True)
class Hit:
    """A candidate note with its score, its reasons and its path. Times are microseconds since 1970."""

    id: str
    kind: str
    content: str
    clipped: bool
    memory_type: str | None
    salience: float
    decay_factor: float
    created_ts: int
    superseded_ts: int
    tags: list[str]
    key: str | None
    source: str | None
    sources: list[str]
    path: list[dict[str, Any]]
    passage: str | None
    row: int  # in the pool: the evidence that speaks best for the note
    own_row: int  # in the pool: the note itself, -1 where only an old note led to it
    relevance: float
    fused: float
    text_match: float = 0.0
    vector_match: float = 0.0
    graph: float = 0.0
    effective_salience: float = 0.0
    temporal: float = 0.0
    score: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    cut: bool = False
    stopped: str | None = None
