"""Stage 3: one order from the legs' scores. Each strategy gives a value in [0, 1] for every row of the pool."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recall.config import RecallConfig
from recall.hits import Floats, Pool


def fuse(pool: Pool, fusion: str, config: RecallConfig) -> Pool:
    """Sets `pool.fused` by the strategy of that name (see `STRATEGIES`)."""
    pool.fused = STRATEGIES[fusion](pool, config) if len(pool) else np.zeros(0)
    return pool


def _spread(values: Floats) -> Floats:
    """Values from 0 (the least, or not found) to 1 (the best)."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values))
    low, high = known.min(), known.max()
    return np.asarray(np.nan_to_num((values - low) / (high - low) if high > low else (values > 0).astype(float)))


def _weighted(pool: Pool, config: RecallConfig) -> Floats:
    total = config.vector_weight + config.text_weight
    return (config.vector_weight * _spread(pool.cosine) + config.text_weight * _spread(pool.bm25)) / total


def _rrf(pool: Pool, config: RecallConfig) -> Floats:
    """Reciprocal rank fusion (Cormack, Clarke, Buettcher 2009), scaled so that first in both legs is 1."""
    best = 2 / (config.rrf_k + 1)
    return (_reciprocal(pool.cosine, config.rrf_k) + _reciprocal(pool.bm25, config.rrf_k)) / best


def _reciprocal(values: Floats, k: int) -> Floats:
    found = np.isfinite(values) & (values != 0)
    order = np.argsort(-np.where(found, values, -np.inf), kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(1, len(values) + 1)
    return np.where(found, 1 / (k + ranks), 0.0)


def _union(pool: Pool, config: RecallConfig) -> Floats:
    return np.maximum(_spread(pool.cosine), _spread(pool.bm25))


STRATEGIES: dict[str, Callable[[Pool, RecallConfig], Floats]] = {
    "weighted": _weighted,
    "rrf": _rrf,
    "union": _union,
    "vector_only": lambda pool, config: _spread(pool.cosine),
    "keyword_only": lambda pool, config: _spread(pool.bm25),
}
