"""Stage 6: the one floor. What does not clear it is counted and never returned; salience alone brings nothing in."""

from __future__ import annotations

from collections.abc import Sequence

from recall.hits import Hit


def gate(hits: Sequence[Hit], floor: float) -> list[Hit]:
    """Hits whose relevance is at least `floor`; the others are told what stopped them."""
    passed = []
    for hit in hits:
        if hit.relevance >= floor:
            passed.append(hit)
        else:
            hit.stopped = "floor"
    return passed


def abstention(candidates_evaluated: int) -> str:
    """Why nothing is returned."""
    return "below_floor" if candidates_evaluated else "no_candidates"
