"""Each matter has one owner (`recall/authority_map.json`); nothing else does what is his to do."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from graph.statements import load
from recall.broker import CONTRIBUTORS, ContextBroker
from recall.config import RECALL_MIN_SCORE
from recall.selector import MemorySelector
from recall.tasks import TaskRepository

ROOT = Path(__file__).parents[2]
MODULES = sorted(path for package in ("graph", "recall", "web", "seeds") for path in (ROOT / package).rglob("*.py"))
OWNERS = json.loads((ROOT / "recall" / "authority_map.json").read_text("utf-8"))
RECALLS = {"recall/pipeline.py", "recall/subhandlers.py"}  # recall itself, for whoever asks; it fills no context
SELECTS = {"recall/sources.py", "recall/selector.py"}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def owners_of_calls(source: ast.Module, method: str) -> Iterator[str]:
    """For each call of `method` in a module, what it is called on, as written."""
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            yield ast.unparse(node.func.value)


def imported(source: ast.Module, module: str) -> set[str]:
    """Names that a module takes from another, or the other's own name."""
    found: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and f"{node.module}." == module[: len(node.module or "") + 1]:
            found |= {alias.name for alias in node.names if f"{node.module}.{alias.name}" == module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name == module}
    return found


def strays(sources: dict[str, ast.Module]) -> list[str]:
    """Modules that select memory though it is not theirs to: by the sources, the gate, or a selector of their own."""
    found = []
    for module, source in sources.items():
        if module in RECALLS | SELECTS:
            continue
        if imported(source, "recall.gate") & {"gate"} or imported(source, "recall.pipeline") & {"ranked", "searched"}:
            found.append(f"{module} gates")
        if imported(source, "recall.sources") & {"DEFAULT_SOURCES", "Asking", "merged"}:
            found.append(f"{module} asks sources")
        if module not in ("recall/broker.py", "recall/context.py") and imported(source, "recall.selector") & {
            "MemorySelector"
        }:
            found.append(f"{module} has a selector")
        found += [
            f"{module} selects through {owner}"
            for owner in owners_of_calls(source, "select_for_task")
            if (module, owner) not in {("recall/broker.py", "selector"), ("recall/context.py", "selector")}
        ]
    return found


def test_memory_selection_is_the_broker_s_selector_s():
    assert OWNERS["memory_selection"] == "ContextBroker.memory_selector"
    assert "memory_selector" in ContextBroker.__dataclass_fields__
    assert MemorySelector.__name__ in str(ContextBroker.__dataclass_fields__["memory_selector"].type)


def test_nothing_else_selects_memory():
    assert strays({name(path): tree(path) for path in MODULES}) == []


@pytest.mark.parametrize(
    "stray",
    [
        "from recall.gate import gate",
        "from recall.pipeline import ranked",
        "from recall.sources import DEFAULT_SOURCES",
        "from recall.selector import MemorySelector",
        "def f(broker): return broker.memory_selector.select_for_task('x')",
    ],
)
def test_what_would_select_memory_elsewhere_is_found(stray):
    assert len(strays({"recall/other.py": ast.parse(stray)})) == 1


def test_there_is_one_memory_contributor():
    assert [contributor.name for contributor in CONTRIBUTORS].count("memory") == 1
    makers = [name(path) for path in MODULES if "SelectionResult" in imported(tree(path), "recall.selector")]
    assert makers == ["recall/broker.py"], "one module turns a selection into blocks"


def test_the_verb_selects_through_the_broker_s_selector():
    text = (ROOT / "recall" / "context.py").read_text("utf-8")
    assert "selector = _broker(call).memory_selector" in text
    assert text.count("MemorySelector(") == 1, "made once, for the broker"


def test_tokens_are_counted_by_one_tokeniser():
    assert [name(path) for path in MODULES if "bpe_openai" in path.read_text("utf-8")] == ["recall/tokens.py"]
    assert OWNERS["tokens"] == "recall.tokens"


def test_the_floor_has_one_value():
    assert OWNERS["relevance_floor"] == "recall.config.RECALL_MIN_SCORE"
    assert RECALL_MIN_SCORE == 0.42
    floats = [
        name(path)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and node.value == RECALL_MIN_SCORE
    ]
    assert floats == ["recall/config.py"]


def test_only_one_statement_changes_the_layers():
    assert OWNERS["suppression"] == "note.relabel"
    changing = [
        path.stem
        for path in (ROOT / "cypher").rglob("*.cypher")
        if "REMOVE n:$(layers" in path.read_text("utf-8") or "SET n:Superseded" in path.read_text("utf-8")
    ]
    assert changing == ["relabel"]


@pytest.mark.parametrize("owner", OWNERS.values())
def test_each_owner_is_there(owner):
    """A statement by its name, a module, a thing in a module, or an attribute of the broker or the repository of tasks."""
    head, _, tail = owner.rpartition(".")
    classes = {"ContextBroker": ContextBroker, "TaskRepository": TaskRepository}
    if owner in load() or owner in classes:
        return
    if head in classes:
        assert hasattr(classes[head], tail) or tail in classes[head].__dataclass_fields__
    else:
        assert hasattr(import_module(head), tail) or find_spec(owner)
