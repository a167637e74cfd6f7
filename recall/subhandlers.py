"""Each stage of recall by its own name, on the same code: what a stage takes and gives, as JSON.

A candidate row travels as an object of the pool's columns, so the answer of one stage is the request of the next.
"""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from marshmallow import ValidationError, fields, validates_schema

from graph.errors import ValidationFailed
from graph.fields import Choice, Flag, Id, Moment, Number, Request, Response, Several, Text, Whole
from graph.kg_schemas import NAME_BYTES
from graph.ontology import MEMORY_TYPES, UNTYPED
from graph.packs import Answer, Call, Verb
from graph.records import NEVER_TS, UNKNOWN_TS
from recall import pipeline
from recall.candidates import COLUMNS, LEGS
from recall.config import FUSIONS, Knobs
from recall.fuse import fuse
from recall.gate import gate
from recall.hits import Pool, RecallRequest
from recall.index import packed, unpacked
from recall.memory_schemas import QUERY_BYTES, KnobsRequest, RecallRequestSchema
from recall.profiles import UNSEEN
from recall.score import features
from recall.serving import Means, served_by

ROW_FIELDS = ("hit_ids", "note_ids", "vias", "terms", "paths", "passages")
MOST_ROWS = 2000
ROW_BYTES = 1 << 24  # of a text in a row: the terms of a note are several times as long as the note
FIRST_TS, LAST_TS = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999


class Row(Request):
    """A candidate as `memory.recall_candidates` gives it."""

    hit_ids = Id(required=True)
    note_ids = Id(required=True)
    vias = Text(most=128, required=True)
    terms = Text(most=ROW_BYTES, required=True)
    paths = Text(most=ROW_BYTES, required=True)
    passages = Text(most=ROW_BYTES, required=True)
    contents = Text(most=ROW_BYTES, required=True)
    clipped = Flag(required=True)
    kinds_found = Text(most=64, required=True)
    types_found = Choice((*MEMORY_TYPES, UNTYPED), required=True)
    saliences = Number(low=0, high=1, required=True)
    decays = Number(low=0, required=True)
    created = Whole(low=FIRST_TS, high=LAST_TS, required=True)
    superseded = Whole(low=UNKNOWN_TS, high=NEVER_TS, required=True)
    tags = Several(Text(most=256), most=64, required=True)
    keys = Text(most=NAME_BYTES, required=True)
    sources = Text(most=NAME_BYTES, required=True)
    follows = Several(Id(), most=MOST_ROWS, required=True)
    cosine = Number(low=-1.01, high=1.01, required=True, allow_none=True)
    bm25 = Number(low=0, required=True)
    legs = Several(Choice(tuple(sorted({name for _, name in LEGS}))), most=len(LEGS), required=True)
    vector = Text(most=ROW_BYTES, required=True)
    fused = Number(low=0, high=1.01, required=True)
    background = Whole(low=0, high=NEVER_TS, required=True)

    @validates_schema
    def _superseded_is_a_time(self, data: dict[str, Any], **_: Any) -> None:
        moment = data.get("superseded", NEVER_TS)
        if not FIRST_TS <= moment <= LAST_TS and moment not in (UNKNOWN_TS, NEVER_TS):
            raise ValidationError("is no time", "superseded")


def rows_of(pool: Pool) -> list[dict[str, Any]]:
    """The pool as JSON rows."""
    return [
        {name: getattr(pool, name)[n] for name in ROW_FIELDS}
        | {name: pool.columns[name][n] for name in COLUMNS}
        | {
            "cosine": None if np.isnan(pool.cosine[n]) else float(pool.cosine[n]),
            "bm25": float(pool.bm25[n]),
            "legs": sorted(pool.legs[n]),
            "vector": base64.b64encode(packed(pool.vectors[n])).decode() if pool.vectors.size else "",
            "fused": float(pool.fused[n]) if len(pool.fused) else 0.0,
            "background": pool.background,
        }
        for n in range(len(pool))
    ]


def pool_of(rows: Sequence[dict[str, Any]]) -> Pool:
    """The pool of rows that are each valid. Raises ValidationError where their vectors are no vectors of one length."""
    try:
        vectors = [base64.b64decode(row["vector"], validate=True) for row in rows]
    except ValueError as error:
        raise ValidationError(f"a vector must be in base 64: {error}", "candidates") from error
    if len({len(vector) for vector in vectors}) > 1:
        raise ValidationError("vectors must be of one length", "candidates")
    return Pool(
        hit_ids=[row["hit_ids"] for row in rows],
        note_ids=[row["note_ids"] for row in rows],
        vias=[row["vias"] for row in rows],
        terms=[row["terms"] for row in rows],
        paths=[row["paths"] for row in rows],
        passages=[row["passages"] for row in rows],
        columns={name: [row[name] for row in rows] for name in COLUMNS},
        cosine=np.array([np.nan if row["cosine"] is None else row["cosine"] for row in rows], dtype=np.float64),
        bm25=np.array([row["bm25"] for row in rows], dtype=np.float64),
        legs=[frozenset(row["legs"]) for row in rows],
        vectors=unpacked(vectors, len(vectors[0]) if vectors else 0),
        fused=np.array([row["fused"] for row in rows], dtype=np.float64),
        evaluated=len(rows),
        background=max((row["background"] for row in rows), default=0),
    )


@dataclass(frozen=True, kw_only=True)
class StageRequest:
    """What the later stages take."""

    candidates: Pool
    query: str = ""
    fusion: str = "weighted"
    config: Knobs = field(default_factory=Knobs)
    as_of: dt.datetime | None = None
    profile: str | None = None
    actor: str | None = None
    consumer: str | None = None

    def as_recall(self) -> RecallRequest:
        """The recall that these rows belong to."""
        given = {
            name: getattr(self, name) for name in ("query", "fusion", "config", "as_of", "profile", "actor", "consumer")
        }
        return RecallRequest(**given, explain=True)


class Rows(Several):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return pool_of(super()._deserialize(value, attr, data, **kwargs))


class FuseRequest(Request):
    makes = StageRequest
    candidates = Rows(fields.Nested(Row), most=MOST_ROWS, required=True)
    fusion = Choice(FUSIONS)


class ScoreRequest(FuseRequest):
    query = Text(most=QUERY_BYTES, required=True)
    config = fields.Nested(KnobsRequest)
    as_of = Moment(allow_none=True)
    profile = Text(most=128, least=1, allow_none=True)
    actor = Text(most=NAME_BYTES, least=1, allow_none=True)
    consumer = Text(most=128, least=1, allow_none=True)


class EmbedAnswer(Response):
    query = fields.String()
    meaningless = fields.Boolean()
    terms = fields.List(fields.String())
    model = fields.String()
    embedding = fields.List(fields.Float(), allow_none=True)


class RowsAnswer(Response):
    candidates = fields.List(fields.Dict())
    evaluated = fields.Integer()
    degraded = fields.List(fields.String())


class HitsAnswer(Response):
    results = fields.List(fields.Dict())
    passed = fields.Integer()


def recall_embed(call: Call, request: RecallRequest) -> Answer:
    """Stage 1: the query's words and vector."""
    query = pipeline.embed(request, call.state)
    return Answer(
        {
            "query": query.text,
            "meaningless": query.meaningless,
            "terms": query.terms.terms,
            "model": query.model or call.state.embedder.name,
            "embedding": None if query.embedding is None else query.embedding.tolist(),
        }
    )


def recall_candidates(call: Call, request: RecallRequest) -> Answer:
    """Stage 2: the candidates of all legs."""
    state = call.state
    query = pipeline.embed(request, state)
    if query.meaningless:
        return Answer({"candidates": [], "evaluated": 0, "degraded": []})
    pool = pipeline.searched(call, query, request, state)
    return Answer({"candidates": rows_of(pool), "evaluated": pool.evaluated, "degraded": pool.degraded})


def recall_fuse(call: Call, request: StageRequest) -> Answer:
    """Stage 3: candidates with their fused value."""
    pool = fuse(request.candidates, request.fusion, call.state.config)
    return Answer({"candidates": rows_of(pool), "evaluated": len(pool), "degraded": []})


def recall_rerank(call: Call, request: StageRequest) -> Answer:
    """Stage 4: candidates by the weighted mean of the `features` that `reranker_weights` asks for, best first.

    Without weights it is `recall_score`, as the stage is off.
    """
    return _scored(call, request, with_features=True)


def recall_score(call: Call, request: StageRequest) -> Answer:
    """Stage 5: candidates with relevance and score, best first; `passed` counts those that clear the floor."""
    return _scored(call, request)


def _scored(call: Call, request: StageRequest, *, with_features: bool = False) -> Answer:
    state = call.state
    asked = request.as_recall()
    query = pipeline.embed(asked, state)
    serving = served_by(call, asked, state, UNSEEN)
    pool = request.candidates
    if len(pool) and query.embedding is not None and pool.vectors.shape[1] != len(query.embedding):
        size = len(query.embedding)
        raise ValidationFailed.of("candidates", f"vectors must be of {size} bytes, as {query.model} makes them")
    background = state.backgrounds.of(call.space, pool.background, query)
    means = Means(call, serving, state)
    scoring = request.config.over(serving.scoring)
    hits = pipeline.ranked(pool, query, asked, state, scoring, background, means=means)
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.id))
    results = [pipeline.shown(hit, asked, pool) for hit in ordered]
    if with_features:
        for shown, hit in zip(results, ordered, strict=True):
            shown["features"] = features(hit, scoring)
    return Answer({"results": results, "passed": len(gate(hits, asked.floor))})


def _subhandler(name: str, request: Request, response: Response, handler: Any) -> Verb:
    return Verb(
        name=f"memory.{name}",
        illocution="assertive",
        visibility="subhandler",
        request=request,
        response=response,
        handler=handler,
    )


SUBHANDLERS = (
    _subhandler("recall_embed", RecallRequestSchema(), EmbedAnswer(), recall_embed),
    _subhandler("recall_candidates", RecallRequestSchema(), RowsAnswer(), recall_candidates),
    _subhandler("recall_fuse", FuseRequest(), RowsAnswer(), recall_fuse),
    _subhandler("recall_rerank", ScoreRequest(), HitsAnswer(), recall_rerank),
    _subhandler("recall_score", ScoreRequest(), HitsAnswer(), recall_score),
)
