"""The training run for Java's start-up cache; the run itself (a minute) is not repeated here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock

from graph import aot, java


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What a training run in `tmp_path` would have recorded."""
    targets: list[Path] = []
    monkeypatch.setattr(aot, "classpath", lambda coordinates, cache: [])
    monkeypatch.setattr(aot, "_record", lambda target, cache: targets.append(target))
    monkeypatch.setattr(os, "nice", lambda step: None, raising=False)
    return targets


def test_a_missing_startup_cache_is_recorded_and_a_broken_off_run_is_cleared_away(
    tmp_path: Path, recorded: list[Path]
) -> None:
    left_over = tmp_path / "aot" / "training-x" / "home"
    left_over.mkdir(parents=True)
    aot.train(tmp_path)
    assert recorded == [java.startup_cache(tmp_path, [])]
    assert not left_over.exists()


def test_a_startup_cache_that_is_there_is_kept(tmp_path: Path, recorded: list[Path]) -> None:
    target = java.startup_cache(tmp_path, [])
    target.parent.mkdir(parents=True)
    target.touch()
    aot.train(tmp_path)
    assert recorded == []


def test_one_run_at_a_time(tmp_path: Path, recorded: list[Path]) -> None:
    (tmp_path / "aot").mkdir()
    with FileLock(tmp_path / "aot" / "training.lock"):
        aot.train(tmp_path)
    assert recorded == []


def test_another_jar_or_another_time_of_it_asks_for_another_startup_cache(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.touch()
    before = java.startup_cache(tmp_path, [jar])
    os.utime(jar, (1, 1))
    assert java.startup_cache(tmp_path, [jar]) != before
    assert java.startup_cache(tmp_path, []) != before
