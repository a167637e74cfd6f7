"""The commands of the brain."""

from __future__ import annotations

import json

import numpy as np
from click.testing import CliRunner

from recall.replay import Labelled
from web.cli import main


def run(*words: str):
    return CliRunner().invoke(main, words, prog_name="palimpsest")


def test_simulate_needs_no_database_and_gives_a_table():
    result = run("brain", "simulate", "--seeds", "1", "--signals", "10")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].startswith("| users ")
    assert len(lines) == 2 + 12
    found = json.loads(run("brain", "simulate", "--seeds", "1", "--signals", "10", "--json").stdout)
    assert [row["users"] for row in found][:2] == ["relevance-minded", "recency-minded"]
    assert set(found[0]) == {"users", "weights", "before", "after", "worst"}


def test_replay_shows_each_profile_before_and_after(monkeypatch):
    features = np.array([(0.9, 0.1, 0.5), (0.8, 0.35, 0.5)])
    serves = [
        Labelled(
            query=f"q{n}",
            profile_id="ops",
            features=features,
            weights=(0.7, 0.2, 0.1),
            signals=[(1, "useful"), (0, "not_useful")],
        )
        for n in range(40)
    ]
    monkeypatch.setattr("recall.replay.read", lambda space, profile: serves if profile is None else [])
    monkeypatch.setattr("recall.service.connect", lambda settings: (None, None, Anywhere()))
    shown = run("brain", "replay").stdout.splitlines()
    assert shown[0].startswith("| profile | queries | signals |")
    assert shown[2].startswith("| ops     | 40      | 80      |")
    assert "0.000 -> 1.000" in shown[2]
    found = json.loads(run("brain", "replay", "--json").stdout)
    assert found["profiles"][0]["before"]["pairs"] == 0
    assert found["profiles"][0]["after"]["pairs"] == 1
    assert run("brain", "replay", "--profile", "nobody").stdout == "No signal in default names a serve yet.\n"


class Anywhere:
    """A store that nothing is asked of."""

    def within(self, ns: str) -> str:
        return ns

    def close(self) -> None:
        pass
