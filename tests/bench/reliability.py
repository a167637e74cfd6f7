"""Draws how well relevance is calibrated on data that it was not fitted on: `python -m tests.bench.reliability FILE...`.

Each file is left out of the fit that it is measured with; LoCoMo never is in one.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graph.settings import Settings
from recall.calibrate import MODES
from recall.calibrate_fit import LABELS, fit_mode
from recall.calibrate_measure import figures, reliability
from recall.config import RECALL_MIN_SCORE
from recall.corpora import Corpus, corpora
from recall.embed import embedder


def unseen(measured: Sequence[Corpus], read: Sequence[Corpus], mode: str) -> tuple[list[dict[str, float]], float]:
    """Reliability curve and expected calibration error of `measured`, by a calibrator that has not seen its group."""
    group = measured[0].group
    calibrator = fit_mode([corpus for corpus in read if corpus.group not in (group, "locomo")], mode)
    return reliability(measured, calibrator, mode), figures(measured, calibrator, mode)["ECE"]


def draw(curves: dict[str, dict[str, tuple[list[dict[str, float]], float]]], file: Path) -> None:
    """One panel a mode, one line a corpus; the area of a dot is the weight of its bin."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(curves), figsize=(4.2 * len(curves), 4.4), sharey=True, layout="constrained")
    for panel, (mode, lines) in zip(panels, curves.items(), strict=True):
        panel.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
        panel.axvline(RECALL_MIN_SCORE, color="#bb5566", linewidth=1)
        panel.text(RECALL_MIN_SCORE + 0.015, 0.02, "floor", color="#bb5566", fontsize=9)
        for name, (curve, error) in lines.items():
            means, trues = ([bin[side] for bin in curve] for side in ("mean", "true"))
            (line,) = panel.plot(means, trues, linewidth=1.6, label=f"{name}: error {error:.3f}")
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
    curves: dict[str, dict[str, Any]] = {mode: {} for mode in MODES}
    for mode in MODES:
        for group in dict.fromkeys(corpus.group for corpus in read if corpus.group != LABELS.stem):
            curves[mode][group] = unseen([corpus for corpus in read if corpus.group == group], read, mode)
            print(f"{mode:8} {group:10} expected calibration error {curves[mode][group][1]:.3f}", flush=True)
    draw(curves, args.out)


if __name__ == "__main__":
    main()
