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
from marshmallow import ValidationError, fields

from graph.fields import Choice, Moment, Request, Response, Several, Text
from graph.ontology import RECALLABLE
from graph.packs import Answer, Call, Verb
from recall import pipeline
from recall.candidates import COLUMNS, candidates
from recall.config import FUSIONS, Knobs
from recall.fuse import fuse
from recall.gate import gate
from recall.hits import Pool, RecallRequest
from recall.memory_schemas import QUERY_BYTES, KnobsRequest, RecallRequestSchema

ROW_FIELDS = ("hit_ids", "note_ids", "vias", "terms", "paths", "passages")
MOST_ROWS = 2000


def rows_of(pool: Pool) -> list[dict[str, Any]]:
    """The pool as JSON rows."""
    packed = np.rint(pool.vectors * 127).astype(np.int8)
    return [
        {name: getattr(pool, name)[n] for name in ROW_FIELDS}
        | {name: pool.columns[name][n] for name in COLUMNS}
        | {
            "cosine": None if np.isnan(pool.cosine[n]) else float(pool.cosine[n]),
            "bm25": float(pool.bm25[n]),
            "legs": sorted(pool.legs[n]),
            "vector": base64.b64encode(packed[n].tobytes()).decode(),
            "fused": float(pool.fused[n]) if len(pool.fused) else 0.0,
        }
        for n in range(len(pool))
    ]


def pool_of(rows: Sequence[dict[str, Any]]) -> Pool:
    """The pool of JSON rows. Raises ValidationError where a row is not what `recall_candidates` gave."""
    try:
        vectors = [np.frombuffer(base64.b64decode(row["vector"]), dtype=np.int8).astype(np.float32) / 127 for row in rows]
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
            vectors=np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32),
            fused=np.array([row["fused"] for row in rows], dtype=np.float64),
            evaluated=len(rows),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValidationError(f"must be rows that memory.recall_candidates gave: {error!r}", "candidates") from error


@dataclass(frozen=True, kw_only=True)
class StageRequest:
    """What the later stages take."""

    candidates: Pool
    query: str = ""
    fusion: str = "weighted"
    config: Knobs = field(default_factory=Knobs)
    as_of: dt.datetime | None = None

    def as_recall(self) -> RecallRequest:
        return RecallRequest(query=self.query, fusion=self.fusion, config=self.config, as_of=self.as_of, explain=True)


class Rows(Several):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return pool_of(super()._deserialize(value, attr, data, **kwargs))


class FuseRequest(Request):
    makes = StageRequest
    candidates = Rows(fields.Dict(), most=MOST_ROWS, required=True)
    fusion = Choice(FUSIONS)


class ScoreRequest(FuseRequest):
    query = Text(most=QUERY_BYTES, required=True)
    config = fields.Nested(KnobsRequest)
    as_of = Moment(allow_none=True)


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
    query = pipeline.embed(request, call.state.embedder)
    return Answer(
        {
            "query": query.text,
            "meaningless": query.meaningless,
            "terms": query.terms.terms,
            "model": call.state.embedder.name,
            "embedding": None if query.embedding is None else query.embedding.tolist(),
        }
    )


def recall_candidates(call: Call, request: RecallRequest) -> Answer:
    """Stage 2: the candidates of all legs."""
    state = call.state
    query = pipeline.embed(request, state.embedder)
    if query.meaningless:
        return Answer({"candidates": [], "evaluated": 0, "degraded": []})
    kinds = [kind for kind, label in call.runtime.kinds.items() if label in RECALLABLE]
    pool = candidates(call.space, query, request, state.config, kinds=kinds, left_s=call.left_s)
    return Answer({"candidates": rows_of(pool), "evaluated": pool.evaluated, "degraded": pool.degraded})


def recall_fuse(call: Call, request: StageRequest) -> Answer:
    """Stage 3: candidates with their fused value."""
    pool = fuse(request.candidates, request.fusion, call.state.config)
    return Answer({"candidates": rows_of(pool), "evaluated": len(pool), "degraded": []})


def recall_rerank(call: Call, request: StageRequest) -> Answer:
    """Stage 4: candidates with the features that `reranker_weights` asks for, best first."""
    return recall_score(call, request)


def recall_score(call: Call, request: StageRequest) -> Answer:
    """Stage 5: candidates with relevance and score, best first; `passed` counts those that clear the floor."""
    state = call.state
    asked = request.as_recall()
    query = pipeline.embed(asked, state.embedder)
    hits = pipeline.ranked(request.candidates, query, asked, state, request.config.over(state.config.scoring))
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.id))
    return Answer({"results": [pipeline.shown(hit, asked) for hit in ordered], "passed": len(gate(hits, asked.floor))})


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
