"""Each canary is alive, dies of the fault that it watches for, and is run by `.ci/run`."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recall import candidates, sources
from recall.broker import ContextBroker
from recall.hits import RecallRequest
from recall.tasks import TaskRepository

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
NOT_CANARIES = {"__init__", "__main__", "stock", "test_canaries"}
CANARIES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_CANARIES)
Patch = pytest.MonkeyPatch


def checked(name: str) -> Callable[[Any], None]:
    found: Callable[[Any], None] = importlib.import_module(f"tests.canary.{name}").check
    return found


def registered(script: str) -> set[str]:
    """Canaries that a script runs, each by its name."""
    named: set[str] = set()
    for words in re.findall(r"^[^#\n]*-m tests\.canary((?:[ \t]+\w+)+)[ \t]*$", script.replace("\\\n", " "), re.MULTILINE):
        named |= set(words.split())
    return named


@pytest.mark.parametrize("name", CANARIES)
def test_a_canary_is_alive(name, call):
    checked(name)(call)


def importance_fallback(patch: Patch) -> None:
    """A neuron that the task does not trigger comes for its importance after all."""
    real = sources.overlap
    patch.setattr(sources, "overlap", lambda *given: max(real(*given), 0.8))


def floor_lowered(patch: Patch) -> None:
    patch.setattr(sources, "RECALL_MIN_SCORE", 0.0)


def budget_ignored(patch: Patch) -> None:
    def everything(self: ContextBroker, blocks: Any, window: int, budget: int) -> Any:
        return sorted(blocks, key=lambda block: -block.priority), []

    patch.setattr(ContextBroker, "_admit", everything)


def task_evicted(patch: Patch) -> None:
    """The active task is let go like any other block that does not fit."""

    def smallest_first(self: ContextBroker, blocks: Any, window: int, budget: int) -> Any:
        kept: list[Any] = []
        for block in sorted(blocks, key=lambda block: block.tokens):
            if sum(one.tokens for one in kept) + block.tokens <= window:
                kept.append(block)
        return kept, []

    patch.setattr(ContextBroker, "_admit", smallest_first)


def past_text_in_the_query(patch: Patch) -> None:
    real = TaskRepository.state

    def with_the_past(self: TaskRepository, task_id: str) -> Any:
        state = real(self, task_id)
        past = [turn.text for task in state.past for turn in task.turns] + [task.description for task in state.past]
        return replace(state, description=" ".join([state.description, *past]))

    patch.setattr(TaskRepository, "state", with_the_past)


def suppression_off(patch: Patch) -> None:
    patch.setattr(sources, "RecallRequest", partial(RecallRequest, include_superseded=True))


def namespace_left_out(patch: Patch) -> None:
    real = candidates.lucene_filters
    patch.setattr(candidates, "lucene_filters", lambda ns, *given: real(ns, *given).replace(f'+ns:"{ns}"^0', "").strip())


MUTATIONS = [
    ("importance_fallback", importance_fallback),
    ("importance_fallback", floor_lowered),
    ("trivial_task", floor_lowered),
    ("memory_budget", budget_ignored),
    ("task_state", budget_ignored),
    ("task_state", task_evicted),
    ("past_text", past_text_in_the_query),
    ("superseded", suppression_off),
    ("other_namespace", namespace_left_out),
]


@pytest.mark.parametrize(("name", "mutate"), MUTATIONS, ids=lambda value: getattr(value, "__name__", value))
def test_a_canary_dies_of_the_fault_that_it_watches_for(name, mutate, call):
    with pytest.MonkeyPatch.context() as patch:
        mutate(patch)
        with pytest.raises(AssertionError):
            checked(name)(call)
    checked(name)(call.within(f"{call.ns}.sound"))


def test_every_canary_has_been_seen_to_die():
    assert {name for name, _ in MUTATIONS} == set(CANARIES)


def test_every_canary_is_registered_in_ci():
    assert registered((ROOT / ".ci" / "run").read_text("utf-8")) == set(CANARIES)


def test_a_canary_that_is_not_registered_is_found():
    assert registered("make test\n.venv/bin/python -m tests.canary a \\\n  b c\n") == {"a", "b", "c"}
    assert registered("# .venv/bin/python -m tests.canary a\necho b\n") == set()


def test_canaries_boot_by_themselves_without_a_model_or_a_network(tmp_path):
    """As `.ci/run` starts them: a process of its own, a temporary home, and settings that would lead elsewhere."""
    environment = os.environ | {"NEO4J_URI": "bolt://192.0.2.1:7687", "NEO4J_PASSWORD": "x", "TMPDIR": str(tmp_path)}
    environment |= {"PALIMPSEST_EMBEDDER": "e5-small-v2", "PALIMPSEST_HOME": str(tmp_path / "not-this")}
    command = [sys.executable, "-m", "tests.canary", "trivial_task"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout) == (0, "canary trivial_task: alive\n"), done.stderr
    assert list(tmp_path.iterdir()) == []
