"""Labelled corpora offline: the same pools as recall's, and models whose weights have the sign of their evidence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graph.errors import ValidationFailed
from recall.calibrate import Calibration
from recall.calibrate_fit import AGAINST, QUERYS, fit, fit_mode, fitted
from recall.calibrate_measure import figures
from recall.corpora import Corpus, corpora
from recall.embed import Hashing
from recall.evidence import NAMES

NOTES = [
    "The anchor is aft.",
    "No, forward.",
    "The compass needs oil.",
    "Who oils it?",
    "Rope is on the quay.",
    "Lamps are dim.",
]


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    queries = [
        ("where is the anchor", ["n1"]),
        ("compass oil", ["n2"]),
        ("rope quay", ["n4"]),
        ("hello", []),
        ("lunar tides", []),
    ]
    stored = {
        "name": "boat",
        "notes": [{"key": f"n{row}", "content": text} for row, text in enumerate(NOTES)],
        "supersedes": [["n1", "n0"]],
        "follows": [["n3", "n2"]],
        "queries": [{"q": q, "kind": "trivial", "answerable": bool(found), "relevant": found} for q, found in queries],
    }
    file = tmp_path_factory.mktemp("labels") / "boat.json"
    file.write_text(json.dumps([stored]), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def corpus(corpus_file: Path) -> Corpus:
    return next(corpora(corpus_file, Hashing()))


def test_a_superseded_note_stands_for_its_head(corpus: Corpus) -> None:
    asked = corpus.asked[0]
    rows = [row for row, terms in enumerate(asked.pool.terms) if "anchor" in terms.split()]
    assert [asked.pool.note_ids[row] for row in rows] == ["1"]
    assert asked.relevant == {1}
    assert "0" not in asked.pool.note_ids


def test_neighbours_know_each_other(corpus: Corpus) -> None:
    asked = corpus.asked[1]
    row = asked.pool.note_ids.index("2")
    assert asked.pool.follows[row] == ["3"]


def test_a_fitted_weight_never_has_the_wrong_sign() -> None:
    random = np.random.default_rng(5)
    true, noise = random.normal(size=(200, len(NAMES))), random.normal(size=(200, len(NAMES)))
    true[:, NAMES.index("coverage")] += 2
    true[:, NAMES.index("size")] += 2  # speaks for a match here, and may not
    odds = fitted((true, np.full(200, 1 / 200)), (noise, np.full(200, 1 / 200)), NAMES, 1e-3)
    for name, weight in zip(NAMES, odds.weights, strict=True):
        assert weight <= 0 if name in AGAINST else weight >= 0
    assert odds.weights[NAMES.index("coverage")] > 0.5
    assert odds.weights[NAMES.index("size")] == 0


def test_a_mode_is_fitted_and_measured(corpus: Corpus) -> None:
    calibrator = fit_mode([corpus], "lexical")
    assert all(calibrator.match.weights[NAMES.index(name)] == 0 for name in QUERYS)
    found = figures([corpus], calibrator, "lexical")
    assert found["R@5"] == 1
    assert 0 <= found["ECE"] <= 1


def test_a_calibration_fitted_on_own_labels_is_loaded(corpus_file, tmp_path) -> None:
    out = tmp_path / "mine.json"
    content, rows = fit([corpus_file], Hashing(), shipped=False)
    out.write_text(json.dumps(content), encoding="utf-8")
    assert set(Calibration.load(out).modes) == {"hybrid", "dense", "lexical"}
    assert content["fitted_on"] == {"labels": None, "corpora": ["boat.json"]}
    assert [row["corpus"] for row in rows] == ["boat"] * 3


@pytest.mark.parametrize("text", ["{", "[]", '[{"name": "x"}]', "[1]"])
def test_a_file_without_labels_is_refused_by_its_name(text, tmp_path) -> None:
    file = tmp_path / "labels.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationFailed, match="files"):
        fit([file], Hashing(), shipped=False)


def test_locomo_is_never_fitted_on(tmp_path) -> None:
    with pytest.raises(ValidationFailed, match="measuring only"):
        fit([tmp_path / "LoCoMo.json"], Hashing())
