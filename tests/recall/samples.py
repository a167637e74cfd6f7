"""Pools and hits made by hand, for the stages that are functions of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graph.records import NEVER_TS
from recall.candidates import COLUMNS
from recall.hits import Hit, Pool

DAY_TS = 86_400_000_000
NOW_TS = 20_000 * DAY_TS


def hit(id: str = "a", *, row: int = 0, relevance: float = 0.5, age_days: float = 0.0, **fields: Any) -> Hit:
    """A hit that is `age_days` old at NOW_TS."""
    made: dict[str, Any] = {
        "kind": "memory",
        "content": f"content of {id}",
        "clipped": False,
        "memory_type": None,
        "salience": 0.5,
        "decay_factor": 0.0,
        "created_ts": NOW_TS - round(age_days * DAY_TS),
        "superseded_ts": NEVER_TS,
        "tags": [],
        "key": None,
        "source": None,
        "sources": ["vector"],
        "path": [],
        "passage": None,
        "fused": 0.0,
        "own_row": row,
    }
    return Hit(id=id, row=row, relevance=relevance, **made | fields)


def pool(
    cosine: Sequence[float | None] = (),
    bm25: Sequence[float] | None = None,
    *,
    vectors: Sequence[Sequence[float]] | None = None,
    follows: Sequence[Sequence[str]] | None = None,
    **fields: Any,
) -> Pool:
    """A pool whose rows are the notes `a`, `b`, `c`...; a cosine of None stands for no vector."""
    n = len(cosine)
    ids = [chr(ord("a") + row) for row in range(n)]
    columns: dict[str, list[Any]] = {name: [None] * n for name in COLUMNS}
    columns["follows"] = [list(ids) for ids in follows or [()] * n]
    made: dict[str, Any] = {
        "hit_ids": ids,
        "note_ids": ids,
        "vias": [""] * n,
        "cosine": np.array([np.nan if value is None else value for value in cosine], dtype=np.float64),
        "bm25": np.array(bm25 if bm25 is not None else [0.0] * n, dtype=np.float64),
        "vectors": np.array(vectors if vectors is not None else np.zeros((n, 2)), dtype=np.float32),
        "terms": [""] * n,
        "legs": [frozenset({"vector"})] * n,
        "paths": [""] * n,
        "passages": [""] * n,
        "columns": columns,
        "evaluated": n,
    }
    return Pool(**made | fields)
