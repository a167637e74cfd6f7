"""Measures what `background.json` says of an embedding model, on labelled corpora.

    python -m recall.background_fit MODEL [LABELS.json ..]

prints the model's entry. Each kind of corpus (the part of its name before the dash) weighs the same. The centre and the
drift of general text, the spread of its cosines, and `far`: mean and standard deviation of the best cosine that a store
has for a question it can't answer.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.settings import Settings
from recall.background import centred, spread
from recall.calibrate_fit import LABELS
from recall.corpora import Corpus, corpora
from recall.embed import Embedder, embedder


def shape(files: Sequence[Path], model: Embedder) -> dict[str, Any]:
    """`spread`, `centre`, `drift` and `far` of a model, as the file holds them."""
    kinds: dict[str, list[Corpus]] = defaultdict(list)
    for file in files:
        for corpus in corpora(file, model):
            kinds[corpus.name.partition("-")[0]].append(corpus)
    vectors = [np.concatenate([corpus.vectors for corpus in several]) for several in kinds.values()]
    centre = np.mean([mine.mean(axis=0) for mine in vectors], axis=0).astype(np.float32)
    units = [centred(mine, centre) for mine in vectors]
    drift = np.mean([mine.mean(axis=0) for mine in units], axis=0)
    best = [_best_unanswered(several) for several in kinds.values()]
    far = np.mean([mine.mean() for mine in best]), np.sqrt(np.mean([mine.var() for mine in best]))
    return {
        "spread": round(float(np.median([spread(mine) for mine in units])), 4),  # copies among `pairs` would pull a mean up
        "centre": _packed(centre),
        "drift": _packed(drift),
        "far": [round(float(value), 4) for value in far],
    }


def _best_unanswered(several: Sequence[Corpus]) -> NDArray[np.float64]:
    asked = [(corpus, each) for corpus in several for each in corpus.asked if not each.answerable]
    return np.array([float((corpus.vectors @ each.embedding).max()) for corpus, each in asked])


def _packed(values: NDArray[Any]) -> str:
    return base64.b64encode(values.astype("<f2").tobytes()).decode()


if __name__ == "__main__":
    name, *given = sys.argv[1:]
    found = shape([Path(file) for file in given] or [LABELS], embedder(name, Settings.from_environment()))
    print(json.dumps({name: found}))
