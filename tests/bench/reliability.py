"""Draws how well relevance is calibrated on data that it was not fitted on: `python -m tests.bench.reliability FILE...`.

Two ways for each file: each fifth of its questions by a fit on everything else, and the whole file by a fit without it. The
picture shows the first. LoCoMo never is in a fit.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from graph.settings import Settings
from recall.calibrate import MODES
from recall.calibrate_fit import LABELS, fit_mode
from recall.calibrate_measure import Ranked, expected_error, ranked, reliability
from recall.config import RECALL_MIN_SCORE
from recall.corpora import Corpus, corpora
from recall.embed import embedder

Curve = list[dict[str, float]]
PARTS: Final = 5
NEVER_FITTED: Final = "locomo"


def unseen_questions(measured: Sequence[Corpus], others: Sequence[Corpus], mode: str) -> Curve:
    """Reliability of `measured`, each part of its questions by a calibrator fitted on the other parts and on `others`."""
    rows: list[Ranked] = []
    for part in range(PARTS):
        rest = [with_questions(corpus, part, without=True) for corpus in measured]
        held = [with_questions(corpus, part, without=False) for corpus in measured]
        rows += ranked(held, fit_mode([*others, *rest], mode), mode)
    return reliability(rows)


def with_questions(corpus: Corpus, part: int, *, without: bool) -> Corpus:
    """The corpus with one part of its questions, or with all but that."""
    return replace(corpus, asked=[each for at, each in enumerate(corpus.asked) if (at % PARTS == part) is not without])


def draw(curves: dict[str, dict[str, Curve]], file: Path) -> None:
    """One panel a mode, one line a corpus; the area of a dot is the weight of its bin."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(curves), figsize=(4.2 * len(curves), 4.4), sharey=True, layout="constrained")
    for panel, (mode, lines) in zip(panels, curves.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
        panel.axvline(RECALL_MIN_SCORE, color="#bb5566", linewidth=1)
        panel.text(RECALL_MIN_SCORE + 0.015, 0.02, "floor", color="#bb5566", fontsize=9)
        for name, curve in lines.items():
            means, trues = ([bin[side] for bin in curve] for side in ("mean", "true"))
            (line,) = panel.plot(means, trues, linewidth=1.6, label=f"{name}: error {expected_error(curve):.3f}")
            panel.scatter(means, trues, [700 * bin["weight"] for bin in curve], color=line.get_color(), alpha=0.5)
        panel.set(title=mode, xlabel="relevance", xlim=(0, 1), ylim=(0, 1))
        panel.legend(loc="upper left", frameon=False, fontsize=9)
    panels[0].set_ylabel("share that is a true match, at even odds")
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="labelled corpora, in the form of recall/labels/written.json")
    parser.add_argument("--out", type=Path, default=Path("docs/reliability.png"))
    args = parser.parse_args()
    settings = Settings.from_environment()
    model = embedder(settings.embedder, settings)
    read = [corpus for file in (LABELS, *args.files) for corpus in corpora(file, model)]
    curves: dict[str, dict[str, Curve]] = {mode: {} for mode in MODES}
    for mode in MODES:
        for group in dict.fromkeys(corpus.group for corpus in read if corpus.group != LABELS.stem):
            measured = [corpus for corpus in read if corpus.group == group]
            others = [corpus for corpus in read if corpus.group not in (group, NEVER_FITTED)]
            whole = curve = reliability(ranked(measured, fit_mode(others, mode), mode))
            if group != NEVER_FITTED:
                curve = unseen_questions(measured, others, mode)
            curves[mode][group] = curve
            errors = f"{expected_error(curve):.3f}, and with the corpus left out {expected_error(whole):.3f}"
            print(f"{mode:8} {group:10} expected calibration error {errors}", flush=True)
    draw(curves, args.out)


if __name__ == "__main__":
    main()
