"""Relevance: the probability that a candidate is a true match, at even odds against noise.

Noise is, in equal parts, (a) the best candidates that a store offers for queries it can't answer and (b) the candidates of
answerable queries that are not matches. Each half has its own monotone model, which gives the likelihood ratio of a match
against that half: `answerable` asks whether the store answers the query at all, `match` whether it is this candidate. By
Bayes' rule relevance = 1 / (1 + (1/ratio_a + 1/ratio_b) / 2): a candidate has to stand against both. It grows strictly
with its evidence, so it also orders.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recall.background import Background
from recall.config import RECALL_MIN_SCORE
from recall.embed import UNREAD_SHARE, is_multilingual
from recall.evidence import NAMES, Candidates, Floats, gathered
from recall.hits import Pool, Query
from recall.links import linked
from recall.text import non_ascii_letter_share

VERSION: Final = 1
MODES: Final = ("hybrid", "dense", "lexical")
FILE: Final = Path(__file__).with_name("calibration.json")
AT_FLOOR: Final = -math.log(2 * (1 / RECALL_MIN_SCORE - 1))  # log ratio at the floor, where the other ratio is beyond doubt
# Where caution begins, below the floor, and ends, above what it lowers to the floor; in multiples of itself.
FADES: Final = (0.12, 0.25)


@dataclass(frozen=True, slots=True)
class Odds:
    """A logistic model: log likelihood ratio = intercept + weights . evidence, weights in the order of `NAMES`.

    caution: nats above the floor that a ratio must have to reach it. What lies between is told as just below the floor;
    everything else keeps its calibration.
    """

    intercept: float
    weights: Floats
    caution: float = 0.0

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Odds:
        """Read from {"intercept", "weights": {evidence: weight}, "caution"}. Raises ValueError for unknown evidence."""
        unknown = sorted(set(stored["weights"]) - set(NAMES))
        if unknown:
            raise ValueError(f"calibration weighs unknown evidence: {', '.join(unknown)}")
        weights = np.array([float(stored["weights"].get(name, 0.0)) for name in NAMES])
        return cls(float(stored["intercept"]), weights, float(stored.get("caution", 0.0)))

    def log_ratio(self, values: Floats) -> Floats:
        """Log likelihood ratio of rows of evidence, (n, len(NAMES)) -> (n,); it grows strictly with what speaks for one."""
        ratio = np.clip(values @ self.weights + self.intercept, -40.0, 40.0)
        if not self.caution:
            return ratio
        begins, ends = AT_FLOOR - FADES[0] * self.caution, AT_FLOOR + (1 + FADES[1]) * self.caution
        lowered = np.interp(ratio, [begins, AT_FLOOR + self.caution, ends], [begins, AT_FLOOR, ends])
        return np.where((begins < ratio) & (ratio < ends), lowered, ratio)


@dataclass(frozen=True, slots=True)
class Calibrator:
    """answerable: against noise (a).  match: against noise (b)."""

    answerable: Odds
    match: Odds

    def probability(self, values: Floats) -> Floats:
        """Relevance of rows of evidence, (n, len(NAMES)) -> (n,) in (0, 1)."""
        against = np.exp(-self.answerable.log_ratio(values)) + np.exp(-self.match.log_ratio(values))
        return np.asarray(1 / (1 + against / 2))


@dataclass(frozen=True)
class Calibration:
    """A calibrator for each mode: words and vectors, vectors alone, words alone."""

    modes: Mapping[str, Calibrator]

    @classmethod
    def load(cls, file: Path = FILE) -> Calibration:
        """Raises ValueError for a file of another version or with a mode missing."""
        stored = json.loads(file.read_text(encoding="utf-8"))
        if stored.get("version") != VERSION or set(stored["modes"]) != set(MODES):
            raise ValueError(f"{file}: not a calibration of version {VERSION} with the modes {', '.join(MODES)}")
        return cls({
            mode: Calibrator(Odds.of(odds["answerable"]), Odds.of(odds["match"])) for mode, odds in stored["modes"].items()
        })  # fmt: skip

    def relevance(
        self, pool: Pool, query: Query, background: Background | None = None, *, words: bool = True
    ) -> NDArray[np.float64]:
        """Relevance of each row of `pool`, (n,). Without a background the shipped one serves.

        words: whether the query's words count; without them only vectors do.
        """
        return self.explained(pool, query, background, words=words)[0]

    def explained(
        self, pool: Pool, query: Query, background: Background | None = None, *, words: bool = True
    ) -> tuple[NDArray[np.float64], Floats]:
        """Relevance, and the evidence that it rests on: (n, len(NAMES)) in the order of `evidence.NAMES`.

        Words alone count for a query in a script that the model does not read, and for a model that was not calibrated
        (`Background.far` is None).
        """
        background = background or Background.shipped()
        embedding = query.embedding
        if words and (background.far is None or _unread(query.text, background.model)):
            embedding = None
        rows = _rows(pool)
        found = gathered(rows, query.terms, embedding, background, words=words)
        calibrator = self._mode(found.has_words, embedding is not None)
        first = calibrator.match.log_ratio(found.values)
        asked = query.terms if words else None
        found.values[:, NAMES.index("linked")] = linked(rows, found.values, first, asked, background)
        relevance = calibrator.probability(found.values)
        if embedding is not None and found.has_words and not found.has_meaning.all():
            unseen = ~found.has_meaning
            relevance[unseen] = self.modes["lexical"].probability(found.values[unseen])
        return relevance, found.values

    def _mode(self, has_words: bool, has_meaning: bool) -> Calibrator:
        return self.modes["lexical" if not has_meaning else "hybrid" if has_words else "dense"]


def _unread(text: str, model: str) -> bool:
    """Whether the model does not understand the script of `text`: its vectors would tell scripts apart, not matters."""
    return not is_multilingual(model) and non_ascii_letter_share(text) > UNREAD_SHARE


def _rows(pool: Pool) -> Candidates:
    follows = pool.columns.get("follows") or [()] * len(pool)
    contents = pool.columns.get("contents") or [""] * len(pool)
    return Candidates(
        note_ids=pool.note_ids,
        terms=pool.terms,
        vectors=pool.vectors,
        follows=follows,
        contents=[passage or content for passage, content in zip(pool.passages, contents, strict=True)],
    )


@cache
def shipped() -> Calibration:
    """The calibration that comes with the package."""
    return Calibration.load()
