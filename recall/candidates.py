"""Stage 2: everything that may answer the query, by one statement in one round trip.

The only stage that reads Neo4j. A leg that fails or is too slow is left out and named in `degraded`; the others answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.errors import StatementFailed, StoreError, StoreTimeout
from graph.ontology import MEMORY_TYPES, UNTYPED
from graph.records import ALWAYS_TS, UNKNOWN_TS, tag_token, time_key, timestamp
from graph.slots import Slot
from graph.store import Space, vector
from recall.config import RecallConfig, candidate_count, old_candidate_count
from recall.hits import Pool, Query, RecallRequest
from recall.index import any_of, unpacked
from recall.text import lucene, name_key, names

log = logging.getLogger(__name__)
COLUMNS = (
    *("contents", "clipped", "kinds_found", "types_found", "saliences", "decays"),
    *("created", "superseded", "tags", "keys", "sources", "follows"),
)
ROWS = ("hit_ids", "note_ids", "vias", "terms", "vectors", "passages", *COLUMNS)
STATEMENT = "recall.candidates"
LEGS = (("vector", "vector"), ("text", "text"), ("old_vector", "superseded"), ("old_text", "superseded"), ("walk", "walk"))


@dataclass(frozen=True)
class Moment:
    """The time that a recall looks from, in microseconds: `now` for ages and expiry, `at` for what was current."""

    now: int
    at: int

    @classmethod
    def of(cls, request: RecallRequest) -> Moment:
        if request.as_of is None:
            return cls(now=time.time_ns() // 1000, at=ALWAYS_TS)
        asked = timestamp(request.as_of)
        return cls(now=asked, at=asked)


def candidates(
    space: Space,
    query: Query,
    request: RecallRequest,
    config: RecallConfig,
    *,
    kinds: Sequence[str],
    left_s: Callable[[float], float],
) -> Pool:
    """The pool for `query`.

    kinds: every registered kind.  left_s: seconds that a statement may take, given the most it should.  Raises StoreError.
    """
    asked = [parameters(space.ns, query, request, config, kinds)]
    if request.as_of is not None:
        asked = _of_the_past(asked[0], parameters(space.ns, query, request, config, kinds, since=Moment.of(request).at + 1))

    def read(params: Mapping[str, Any]) -> Mapping[str, Any]:
        return space.one(statement(query.slot), timeout_s=left_s(config.leg_timeout_s), **params) or {}

    try:
        return _pool(query, [read(each) for each in asked], ())
    except (StatementFailed, StoreTimeout) as error:
        log.warning("recall: all legs in one failed, trying each alone: %s", error)
        left_s(config.leg_timeout_s)  # raises where the request has no time left
        return _leg_by_leg(query, asked, read)


def _of_the_past(ever: dict[str, Any], then: dict[str, Any]) -> list[dict[str, Any]]:
    """What was current then, and apart from it what was superseded by then, whose words lead to what had replaced it.

    Asked in one, a long history would take all the places among the candidates of the superseded layer.
    """
    return [then, ever | {"k": 1, "ask": ever["ask"] | {"names": []}}]


def statement(slot: Slot) -> str:
    """Name of the statement that searches the vectors of a slot."""
    return f"{STATEMENT}{slot.suffix}"


def _leg_by_leg(
    query: Query, asked: Sequence[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Pool:
    off = {"near": False, "lucene": "", "names": []}
    legs = {"vector": "near", "text": "lucene", "walk": "names"}
    asked_legs = {leg for leg, switch in legs.items() if asked[0]["ask"][switch]}
    rows: list[Mapping[str, Any]] = []
    degraded = []
    failure: StoreError | None = None
    for leg, switch in legs.items():
        if leg not in asked_legs:
            continue
        alone = [{**params, "ask": {**params["ask"], **off, switch: params["ask"][switch]}} for params in asked]
        try:
            rows += [read(each) for each in alone]
        except (StatementFailed, StoreTimeout) as error:
            log.warning("recall: the %s leg is left out: %s", leg, error)
            degraded.append(leg)
            failure = error
    if failure and not {"vector", "text"} & (asked_legs - set(degraded)):  # nothing was searched: no empty answer
        raise failure
    return _pool(query, rows, tuple(degraded))


def parameters(
    ns: str, query: Query, request: RecallRequest, config: RecallConfig, kinds: Sequence[str], *, since: int = UNKNOWN_TS
) -> dict[str, Any]:
    """Parameters of `recall.candidates`, but for the namespace. since: only what was not superseded before counts."""
    moment = Moment.of(request)
    k = candidate_count(request.limit)
    types = [*request.memory_type, UNTYPED] if request.memory_type else [*MEMORY_TYPES, UNTYPED]
    wants_text = request.fusion != "vector_only"
    words = lucene(query.terms) if wants_text else ""
    filters = lucene_filters(ns, request, moment)
    if since != UNKNOWN_TS:
        filters += f" +superseded_key:[{time_key(since)} TO *]^0"
    past = request.as_of is not None or request.include_superseded
    return {
        "embedding": vector(np.zeros(1, np.float32) if query.embedding is None else query.embedding),
        "k": k,
        "k_old": k if past else old_candidate_count(request.limit, config.old_candidates),
        "ask": {
            "near": query.embedding is not None,
            "lucene": f"{filters} +terms:({words})" if words else "",
            "tagged": filters if request.tags else "",
            "at": moment.at,
            "now": moment.now,
            "since": since,
            "types": types,
            "kinds": list(request.kind) if request.kind else list(kinds),
            "names": entity_names(query, request) if wants_text else [],
            "strong": config.strong_hits,
            "history": request.include_superseded,
            "clip": config.clip_characters,
        },
    }


def lucene_filters(ns: str, request: RecallRequest, moment: Moment) -> str:
    """The clauses that every hit must meet, none of which counts for its score."""
    clauses = [f'+ns:"{ns}"^0', f"+expires_key:{{{time_key(moment.now)} TO *]^0"]
    if request.memory_type:
        clauses.append(f"+type_key:({' '.join([*request.memory_type, UNTYPED])})^0")
    if request.kind:
        clauses.append(any_of("kind", request.kind))
    if request.as_of is not None:
        clauses.append(f"+created_key:[* TO {time_key(moment.at)}]^0")
    clauses += [f"+tag_key:{tag_token(tag)}^0" for tag in request.tags]
    return " ".join(clauses)


def entity_names(query: Query, request: RecallRequest) -> list[str]:
    """Names to start the walk from: the caller's, else what in the query may be one."""
    if request.entity_names is not None:
        return [name_key(name) for name in request.entity_names]
    return names(query.text)


def _pool(query: Query, rows: Sequence[Mapping[str, Any]], degraded: tuple[str, ...]) -> Pool:
    """The rows of one or several answers as one pool; the same row of two answers counts once."""
    columns: dict[str, list[Any]] = {name: [] for name in ROWS}
    scores: dict[str, dict[str, float]] = {leg: {} for leg, _ in LEGS}
    paths: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for row in rows:
        for leg in ("vector", "text", "old_vector", "old_text"):
            scores[leg].update(zip(row.get(f"{leg}_ids", ()), row.get(f"{leg}_scores", ()), strict=True))
        scores["walk"].update(dict.fromkeys(row.get("walk_ids", ()), 1.0))
        paths.update(zip(row.get("walk_ids", ()), row.get("walk_paths", ()), strict=True))
        pairs = list(zip(row.get("hit_ids", ()), row.get("note_ids", ()), strict=True))
        keep = [n for n, pair in enumerate(pairs) if pair not in seen]
        seen.update(pairs)
        for name in ROWS:
            values = row.get(name, ())
            columns[name] += values if len(keep) == len(values) else [values[n] for n in keep]
    ids = columns["hit_ids"]
    vectors = unpacked(columns["vectors"], 0 if query.embedding is None else len(query.embedding))
    return Pool(
        hit_ids=ids,
        note_ids=columns["note_ids"],
        vias=columns["vias"],
        cosine=_cosines(query, ids, vectors, scores["vector"] | scores["old_vector"]),
        bm25=np.array([scores["text"].get(id) or scores["old_text"].get(id, 0.0) for id in ids], dtype=np.float64),
        vectors=vectors,
        terms=columns["terms"],
        legs=[frozenset(name for leg, name in LEGS if id in scores[leg]) for id in ids],
        paths=[paths.get(id, "") for id in ids],
        passages=columns["passages"],
        columns={name: columns[name] for name in COLUMNS},
        evaluated=len(set().union(*scores.values())),
        degraded=degraded,
        background=max((row.get("background", 0) for row in rows), default=0),
        brain=max((row.get("brain", 0) for row in rows), default=0),
    )


def _cosines(query: Query, ids: list[str], vectors: Any, scores: Mapping[str, float]) -> Any:
    """Neo4j scores (1 + cosine) / 2; what the vector leg did not find has its cosine from the packed vector."""
    if query.embedding is None:
        return np.full(len(ids), np.nan)
    found = vectors @ query.embedding
    found[~vectors.any(axis=1)] = np.nan
    exact = np.array([scores.get(id, np.nan) for id in ids], dtype=np.float64)
    return np.where(np.isnan(exact), found, 2 * exact - 1)
