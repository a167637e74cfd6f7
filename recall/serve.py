"""Stage 7: near duplicates pushed down, the order, the limit, and the token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recall.config import RecallConfig
from recall.hits import Hit, Pool
from recall.tokens import count, cut

COMPARED = 200  # hits that are compared with each other; the largest limit
SMALLEST_CUT = 8  # tokens; a hit that would be cut to less is skipped


def diversified(hits: Sequence[Hit], pool: Pool, config: RecallConfig) -> list[Hit]:
    """`hits` by score, then id; one that nearly repeats a better one loses up to a fixed share of its score.

    After maximal marginal relevance (Carbonell and Goldstein 1998), bounded so that it reorders and never gates.
    """
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.id))
    if len(ordered) < 2 or not pool.vectors.size:
        return ordered
    head = ordered[:COMPARED]
    vectors = pool.vectors[[hit.own_row for hit in head]]
    vectors[[hit.own_row < 0 for hit in head]] = 0  # heirs of one old note are not alike for that
    # Row by row: for the whole matrix BLAS starts threads, and waits for them where all cores are busy.
    alike = np.array([-1.0, *(float((vectors[:row] @ vectors[row]).max()) for row in range(1, len(head)))])
    excess = np.clip((alike - config.near_duplicate) / (1 - config.near_duplicate), 0, 1)
    for hit, share in zip(head, excess, strict=True):
        if share > 0:
            penalty = config.near_duplicate_penalty * float(share) * hit.score
            hit.parts["near_duplicate"] = -penalty
            hit.score -= penalty
    return sorted(ordered, key=lambda hit: (-hit.score, hit.id))


@dataclass(frozen=True)
class Fitted:
    """What the token budget lets through. truncated: something was cut or skipped for it."""

    hits: list[Hit]
    truncated: bool


def fitted(hits: Sequence[Hit], budget: int) -> Fitted:
    """Hits in order while they fit; one too large for what is left is cut if it is the first, else skipped.

    budget: tokens of content, all hits together.  Smaller hits after a skipped one still come.
    """
    if sum(len(hit.content.encode("utf-8", "replace")) for hit in hits) <= budget:  # no token is less than a byte
        return Fitted(list(hits), truncated=False)
    served: list[Hit] = []
    left, truncated = budget, False
    for hit in hits:
        size = count(hit.content)
        if size > left:
            truncated = True
            if served or left < SMALLEST_CUT:
                hit.stopped = "token_budget"
                continue
            hit.content, hit.cut, size = cut(hit.content, left), True, left
        served.append(hit)
        left -= size
    return Fitted(served, truncated)
