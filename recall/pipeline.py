"""memory.recall: the stages in order. Each is a function of its inputs; only the candidates stage reads Neo4j."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graph.errors import StoreTimeout
from graph.fields import shown_time
from graph.ontology import RECALLABLE, UNTYPED
from graph.packs import Answer, Call
from graph.records import UNKNOWN_TS, moment_of
from graph.tracing import span
from recall.background import Background
from recall.backgrounds import Backgrounds
from recall.calibrate import Calibration
from recall.candidates import Moment, candidates
from recall.config import RecallConfig, ScoringConfig
from recall.embed import Embedder, QueryCache
from recall.evidence import NAMES
from recall.fuse import fuse
from recall.gate import abstention, gate
from recall.hits import Hit, Pool, Query, RecallRequest
from recall.models import Models
from recall.rerank import rerank
from recall.score import score
from recall.serve import diversified, fitted
from recall.serves import Recorder, record
from recall.serving import Means, no_means, served_by, stamped
from recall.text import meaningless, query_terms
from recall.warm import COLD_S, Warmer

NEAR_FLOOR = 20  # candidates below the floor that `explain` shows
SCORED = 4  # times the limit: how many, the most relevant, are scored; what is far behind comes in by nothing else


@dataclass(frozen=True, kw_only=True)
class Recaller:
    """The memory pack's state: what recall works with, made once."""

    models: Models
    calibration: Calibration
    backgrounds: Backgrounds
    warmer: Warmer
    serves: Recorder
    queries: QueryCache = field(default_factory=QueryCache)
    config: RecallConfig = field(default_factory=RecallConfig)

    @property
    def embedder(self) -> Embedder:
        return self.models.primary.embedder


@dataclass
class Clock:
    """Milliseconds a stage."""

    took_ms: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with span(f"recall {name}"):
                yield
        finally:
            self.took_ms[name] = round((time.perf_counter() - started) * 1000, 3)


def recall(call: Call, request: RecallRequest) -> Answer:
    """Finds what answers a query and is current, or says that nothing does."""
    state: Recaller = call.state
    limit_s = request.deadline_s or state.config.deadline_s
    call = _until(call, limit_s)
    clock = Clock()
    with clock.stage("embed"):
        query = embed(request, state)
    if query.meaningless:
        return Answer(_answer(request, [], clock, reason="meaningless_query"))
    with clock.stage("candidates"):
        pool = searched(call, query, request, state)
    with clock.stage("fuse"):
        pool = fuse(pool, request.fusion, state.config)
    with clock.stage("score"):
        serving = served_by(call, request, state, pool.brain)
        scoring = request.config.over(serving.scoring)
        background = state.backgrounds.of(call.space, pool.background, query)
        means = Means(call, serving, state)
        hits = ranked(pool, query, request, state, scoring, background, means=means)
    with clock.stage("serve"):
        passed = gate(hits, request.floor)
        ordered = diversified(passed, pool, state.config)[: request.limit]
        _whole(call, request, ordered)
        served = fitted(ordered, request.token_budget)
    reason = None
    if not passed:
        reason = abstention(pool.evaluated)
    elif not served.hits:
        reason = "token_budget"
    answer = _answer(request, served.hits, clock, reason=reason, pool=pool, truncated=served.truncated)
    if not passed and len(pool):
        answer["best_score"] = float(pool.relevance.max())
    if request.explain:
        answer["near_floor"] = _stopped(hits, served.hits, pool)
    serve = record(request, served.hits, serving, scoring, ns=call.space.ns, actor=request.actor or call.actor)
    state.serves.keep(call.space.ns, serve)
    return Answer(stamped(answer, serve, serving, means))


def searched(call: Call, query: Query, request: RecallRequest, state: Recaller) -> Pool:
    """Stage 2. Where a leg went past its limit the statement may not be planned yet, which is then seen to.

    Where all did, because Neo4j was still planning, or was making an index, they are asked once more.
    """
    kinds = [kind for kind, label in call.runtime.kinds.items() if label in RECALLABLE]

    def asked() -> Pool:
        return candidates(call.space, query, request, state.config, kinds=kinds, left_s=call.left_s)

    state.warmer.wait(query.slot, call.left_s(COLD_S))
    try:
        pool = asked()
    except StoreTimeout:
        if not state.warmer.renewed(call.left_s(COLD_S)):
            raise
        pool = asked()
    if pool.degraded:
        state.warmer.again()
    return pool


def _until(call: Call, limit_s: float) -> Call:
    deadline = time.monotonic() + limit_s
    if call.deadline is not None and call.deadline < deadline:
        return call
    return call.until(deadline)


def embed(request: RecallRequest, state: Recaller) -> Query:
    """Stage 1: the query's words and its vector, by the model that reads it; none where only words are asked for."""
    if meaningless(request.query):
        return Query(text=request.query, terms=query_terms(""), embedding=None, meaningless=True)
    terms = query_terms(request.query)
    model = state.models.asked(request.query, state.config.scoring.multilingual_model)
    wanted = request.fusion != "keyword_only"
    embedding = state.queries.vector(model.embedder, request.query) if wanted else None
    return Query(text=request.query, terms=terms, embedding=embedding, model=model.embedder.name, slot=model.slot)


def ranked(
    pool: Pool,
    query: Query,
    request: RecallRequest,
    state: Recaller,
    scoring: ScoringConfig,
    background: Background,
    *,
    means: Callable[[Sequence[str]], Mapping[str, float]] = no_means,
) -> Sequence[Hit]:
    """Stages 4 and 5: candidates as hits, each with its relevance, its features and its score.

    What lies below the floor is made a hit only where somebody asked to see it.  means: of what feedback says about hits.
    """
    if not len(pool):
        return []
    words = request.fusion != "vector_only"
    pool.relevance, pool.evidence = state.calibration.explained(pool, query, background, words=words)
    hits = collapsed(pool) if request.explain else collapsed(pool, request.floor, most=max(SCORED * request.limit, 40))
    now = Moment.of(request).now
    rerank(hits, pool, scoring)
    return score(hits, scoring, now=now, entity_means=means([hit.id for hit in hits]))


def collapsed(pool: Pool, least: float = 0.0, most: int | None = None) -> list[Hit]:
    """One hit a note whose relevance is at least `least`; with `most`, of the so many that are most relevant.

    Passages and superseded notes give a note the best of their evidence; its path names the ways to it.
    """
    rows: dict[str, list[int]] = {}
    for row in np.lexsort((-pool.fused, -pool.relevance)).tolist():  # what speaks best for a note comes first
        rows.setdefault(pool.note_ids[row], []).append(row)
    best = itertools.islice(rows.values(), most)
    return [_hit(pool, mine) for mine in best if pool.relevance[mine[0]] >= least]


def _hit(pool: Pool, rows: Sequence[int]) -> Hit:
    """The hit of a note from its rows, the one that speaks best for it first."""
    row, columns = rows[0], pool.columns
    stored_type = columns["types_found"][row]
    return Hit(
        id=pool.note_ids[row],
        kind=columns["kinds_found"][row],
        content=columns["contents"][row],
        clipped=columns["clipped"][row],
        memory_type=None if stored_type == UNTYPED else stored_type,
        salience=columns["saliences"][row],
        decay_factor=columns["decays"][row],
        created_ts=columns["created"][row],
        superseded_ts=columns["superseded"][row],
        tags=columns["tags"][row],
        key=columns["keys"][row] or None,
        source=columns["sources"][row] or None,
        sources=sorted(set().union(*(pool.legs[row] for row in rows))),
        path=_path(pool, rows),
        passage=next((pool.passages[row] for row in rows if pool.passages[row] and not pool.vias[row]), None),
        row=row,
        own_row=next((row for row in rows if not pool.vias[row]), -1),
        relevance=float(pool.relevance[row]),
        fused=float(pool.fused[row]),
    )


def _path(pool: Pool, rows: Sequence[int]) -> list[dict[str, Any]]:
    """How the note was reached other than by its own words: the old note that speaks best for it, the walk."""
    steps: list[dict[str, Any]] = []
    via = next((row for row in rows if pool.vias[row]), None)
    if via is not None:
        steps.append({"leg": "superseded", "id": pool.vias[via], "content": pool.passages[via]})
    if by := next((pool.paths[row] for row in rows if pool.paths[row]), None):
        steps.append({"leg": "walk", "by": by})
    return steps


def _whole(call: Call, request: RecallRequest, hits: Sequence[Hit]) -> None:
    """Reads the rest of contents that came clipped; without `full_content` the passage that matched stands for it."""
    clipped = [hit for hit in hits if hit.clipped]
    if not clipped:
        return
    if not request.full_content:
        for hit in clipped:
            hit.content, hit.cut = hit.passage or hit.content, True
        return
    try:
        rows = call.space.rows("recall.contents", timeout_s=call.left_s(2.0), ids=[hit.id for hit in clipped])
    except StoreTimeout:
        rows = []
    whole = {row["id"]: row["content"] for row in rows}
    for hit in clipped:
        hit.content, hit.cut = whole.get(hit.id, hit.content), hit.id not in whole


def _answer(
    request: RecallRequest,
    hits: Sequence[Hit],
    clock: Clock,
    *,
    reason: str | None,
    pool: Pool | None = None,
    truncated: bool = False,
) -> dict[str, Any]:
    evaluated = pool.evaluated if pool else 0
    answer: dict[str, Any] = {
        "results": [shown(hit, request, pool) for hit in hits],
        "abstained": reason is not None and reason != "token_budget",
        "reason": reason,
        "candidates_evaluated": evaluated,
        "selected_count": len(hits),
        "types_queried": list(request.memory_type or ()),
        "degraded": list(pool.degraded) if pool else [],
        "truncated": truncated,
        "took_ms": clock.took_ms,
    }
    if evaluated:
        answer["irrelevant_rate"] = (evaluated - len(hits)) / evaluated
    return answer


def shown(hit: Hit, request: RecallRequest, pool: Pool | None) -> dict[str, Any]:
    """A hit as callers see it; with `explain` its breakdown."""
    found: dict[str, Any] = {
        "id": hit.id,
        "kind": hit.kind,
        "content": hit.content,
        "score": hit.score,
        "relevance": hit.relevance,
        "salience": hit.salience,
        "effective_salience": hit.effective_salience,
        "temporal": hit.temporal,
        "memory_type": hit.memory_type,
        "created_at": shown_time(moment_of(hit.created_ts)),
        "sources": hit.sources,
        "path": hit.path,
        "tags": hit.tags,
        "key": hit.key,
        "source": hit.source,
    }
    if hit.passage:
        found["passage"] = hit.passage
    if hit.cut:
        found["cut"] = True
    if hit.superseded_ts <= Moment.of(request).at:
        found["superseded"] = True
        if hit.superseded_ts != UNKNOWN_TS:
            found["superseded_at"] = shown_time(moment_of(hit.superseded_ts))
    if request.explain and pool is not None:
        found["breakdown"] = {"parts": hit.parts, "fused": hit.fused, "evidence": _evidence(hit, pool)}
    return found


def _evidence(hit: Hit, pool: Pool) -> dict[str, float]:
    """What speaks for a hit, by the names of `recall.evidence.NAMES`."""
    return dict(zip(NAMES, pool.evidence[hit.row].tolist(), strict=True))


def _stopped(hits: Sequence[Hit], served: Sequence[Hit], pool: Pool) -> list[Mapping[str, Any]]:
    """The candidates nearest to being served, and what stopped each."""
    shown_ids = {hit.id for hit in served}
    rest = sorted((hit for hit in hits if hit.id not in shown_ids), key=lambda hit: (-hit.relevance, hit.id))
    return [
        {
            "id": hit.id,
            "content": hit.content[:200],
            "relevance": hit.relevance,
            "score": hit.score,
            "stopped": hit.stopped or "limit",
            "parts": hit.parts,
            "evidence": _evidence(hit, pool),
            "path": hit.path,
        }
        for hit in rest[:NEAR_FLOOR]
    ]
