"""Fits a calibration from labelled corpora (`palimpsest calibrate`).

A match is told from each half of the noise by a logistic model whose weights may only have the sign that evidence has, so
that relevance is monotone. LoCoMo is never among the corpora that are fitted on; with `--measure` it is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from graph.errors import ValidationFailed
from recall.calibrate import MODES, VERSION, Calibrator, Odds
from recall.calibrate_measure import evidence_of, figures, ranked, reliability, set_links
from recall.corpora import Corpus, corpora
from recall.embed import Embedder
from recall.evidence import NAMES, Floats

LABELS: Final = Path(__file__).with_name("labels") / "written.json"
QUERYS: Final = (
    *("best_closeness", "best_coverage", "best_information", "best_both", "side_by_side", "unknown"),
    *("matter", "stop_words", "size"),
)
UNUSED: Final = {"hybrid": "best_coverage", "dense": "best_both", "lexical": "best_both"}  # one of the two says it all
AGAINST: Final = ("meaning_behind", "coverage_behind", "unknown", "crowd_meaning", "crowd_coverage", "stop_words", "size")
# Share of each group of corpora in either model: passages of two hops teach little about which turn of a talk is meant.
SHARES: Final = {"answerable": {"rfcs": 0.7, "musique": 1.0}, "match": {"rfcs": 0.7, "musique": 0.3}}
WRITTEN_SHARE: Final = 2.0
PENALTY: Final = {"answerable": 1e-4, "match": 1e-3}
# What relevance leans to the safe side by, in nats: a false memory costs more than a missing one.
CAUTION: Final = {"hybrid": 2.0, "dense": 1.5, "lexical": 1.5}
FROM_UNANSWERABLE, FROM_ANSWERABLE = 2, 20  # best rows that are noise (a), and noise (b)
Rows = tuple[Floats, Floats]  # evidence, and the weight of each row


def plain_order(values: Floats) -> NDArray[np.intp]:
    """Rows by a sum that needs no fitting, best first; it says which rows are noise worth learning from."""
    weights = {"meaning": 1.0, "coverage": 2.0, "words": 3.0}
    score = np.sum([weight * values[:, NAMES.index(name)] for name, weight in weights.items()], axis=0)
    return np.argsort(-score, kind="stable")


def labelled(sets: Sequence[tuple[Corpus, list[Floats]]], shares: Mapping[str, float]) -> dict[str, Rows]:
    """Rows that match ("true"), noise (a) ("answerable") and noise (b) ("match"), each weighing 1 in total."""
    written = sum(corpus.group not in shares for corpus, _ in sets)
    kept: dict[str, list[tuple[Floats, float]]] = {"true": [], "answerable": [], "match": []}
    for corpus, values in sets:
        share = shares.get(corpus.group, WRITTEN_SHARE / max(written, 1))
        answerable = sum(asked.answerable for asked in corpus.asked)
        for asked, mine in zip(corpus.asked, values, strict=True):
            order = plain_order(mine)
            _, first = np.unique(asked.notes[order], return_index=True)
            rows = order[np.sort(first)]
            true = np.isin(asked.notes[rows], list(asked.relevant))
            if asked.answerable:
                noise = rows[~true][:FROM_ANSWERABLE]
                kept["true"] += [(mine[row], share / answerable / len(asked.relevant)) for row in rows[true]]
                kept["match"] += [(mine[row], share / answerable / len(noise)) for row in noise]
            else:
                noise = rows[:FROM_UNANSWERABLE]
                unanswerable = len(corpus.asked) - answerable
                kept["answerable"] += [(mine[row], share / unanswerable / len(noise)) for row in noise]
    return {name: _stacked(rows) for name, rows in kept.items()}


def _stacked(rows: list[tuple[Floats, float]]) -> Rows:
    weights = np.array([weight for _, weight in rows])
    return np.array([values for values, _ in rows]), weights / weights.sum()


def fitted(true: Rows, noise: Rows, used: Sequence[str], penalty: float) -> Odds:
    """The logistic model of `true` against `noise` at even odds, with the signs that evidence must have."""
    values = np.concatenate([true[0], noise[0]])
    target = np.repeat([1.0, 0.0], [len(true[1]), len(noise[1])])
    weights = np.concatenate([true[1], noise[1]]) / 2
    mean = weights @ values
    scale = np.sqrt(weights @ (values - mean) ** 2) + 1e-6
    normal = (values - mean) / scale

    def loss(theta: Floats) -> tuple[float, Floats]:
        odds = normal @ theta[:-1] + theta[-1]
        slip = weights * (1 / (1 + np.exp(-odds)) - target)
        cost = float(weights @ (np.logaddexp(0, odds) - target * odds)) + penalty * float(theta[:-1] @ theta[:-1])
        return cost, np.append(normal.T @ slip + 2 * penalty * theta[:-1], slip.sum())

    bounds = [((None, 0) if name in AGAINST else (0, None)) if name in used else (0, 0) for name in NAMES]
    theta = minimize(loss, np.zeros(len(NAMES) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x
    found = theta[:-1] / scale
    return Odds(float(theta[-1] - found @ mean), found)


def fit_mode(read: Sequence[Corpus], mode: str) -> Calibrator:
    """The calibrator of one mode. The second hop needs an order to start from, so `match` is fitted three times."""
    known = [corpus for corpus in read if mode != "dense" or not corpus.name.startswith("lang")]
    sets = [(corpus, [evidence_of(corpus, asked, mode) for asked in corpus.asked]) for corpus in known]
    rows = labelled(sets, SHARES["answerable"])
    querys = [name for name in QUERYS if name != UNUSED[mode]]
    answerable = fitted(rows["true"], rows["answerable"], querys, PENALTY["answerable"])
    own = [name for name in NAMES if name not in QUERYS]
    for again in range(1 if mode == "dense" else 3):
        rows = labelled(sets, SHARES["match"])
        used = own if again else [name for name in own if name != "linked"]
        match = fitted(rows["true"], rows["match"], used, PENALTY["match"])
        with_links(sets, match, mode)
    return Calibrator(replace(answerable, caution=CAUTION[mode]), match)


def with_links(sets: Sequence[tuple[Corpus, list[Floats]]], match: Odds, mode: str) -> None:
    """Sets the evidence `linked` of all rows by the order that `match` gives them."""
    for corpus, values in sets:
        for asked, mine in zip(corpus.asked, values, strict=True):
            set_links(corpus, asked, mine, match, mode)


def stored(odds: Odds) -> dict[str, Any]:
    weights = {name: round(float(w), 4) for name, w in zip(NAMES, odds.weights, strict=True) if abs(w) >= 1e-4}
    return {"intercept": round(odds.intercept, 4), "weights": weights, "caution": odds.caution}


def fit(
    files: Sequence[Path], model: Embedder, *, measure: Sequence[Path] = (), shipped: bool = True
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A calibration fitted on labelled corpora, as its file holds it, and the figures of each corpus and mode.

    files: in the form of `recall/labels/written.json`.  shipped: whether the labels that ship are fitted on as well.
    measure: corpora that are only measured.  Raises ValidationFailed for LoCoMo among `files`, and for a file of other form.
    """
    if any("locomo" in file.name.casefold() for file in files):
        raise ValidationFailed.of("files", "LoCoMo is for measuring only; its licence allows no more")
    used = [*((LABELS,) if shipped else ()), *files]
    read = [corpus for file in used for corpus in _read(file, model)]
    if not read:
        raise ValidationFailed.of("files", "name at least one file of labels")
    measured = [corpus for file in measure for corpus in _read(file, model)]
    modes = {mode: fit_mode(read, mode) for mode in MODES}
    groups = sorted({corpus.group for corpus in [*read, *measured]})
    rows = [
        {"mode": mode, "corpus": group}
        | figures([corpus for corpus in [*read, *measured] if corpus.group == group], modes[mode], mode)
        for mode in MODES
        for group in groups
    ]
    found = {mode: {"answerable": stored(each.answerable), "match": stored(each.match)} for mode, each in modes.items()}
    provenance = {"labels": "recall/labels/PROVENANCE.md" if shipped else None, "corpora": [file.name for file in files]}
    report = {mode: reliability(ranked(read, modes[mode], mode)) for mode in MODES}
    content = {"version": VERSION, "model": model.name, "fitted_on": provenance, "modes": found, "reliability": report}
    return content, rows


def _read(file: Path, model: Embedder) -> list[Corpus]:
    try:
        return list(corpora(file, model))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValidationFailed.of("files", f"{file}: holds no labelled corpora: {error!r}") from error
