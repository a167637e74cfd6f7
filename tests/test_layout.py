"""Where things live: import directions, no Cypher in Python, one door to the driver, modules of a size to be read."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from graph.aot import TRAINING
from graph.statements import FOLDER

ROOT = Path(__file__).parents[1]
PACKAGES = ("graph", "recall", "web", "seeds")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
CYPHER = re.compile(
    r"\b(?:MATCH|MERGE|CREATE|UNWIND|DETACH|OPTIONAL|CALL)\s*(?:\(\s*[\w:`$){]|\{|db\.|DELETE\b|MATCH\b|CONSTRAINT\b|(?:\w+\s+)?INDEX\b|\$\w)"
    r"|\bRETURN\s+\w+(?:\.\w+)?\s+AS\b|\bSET\s+\w+\.\w+\s*=|\bSHOW\s+(?:INDEXES|CONSTRAINTS)\b|\bALTER\s+CURRENT\s+USER\b"
)
ALLOWED = {  # what has to be asked before the statements can be used, or of another database
    "graph/server.py": {"ALTER CURRENT USER SET PASSWORD FROM $old TO $new"},
    "graph/aot.py": set(TRAINING),  # run on a server that is thrown away, to record what Java loads
}
LINES = 350


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def texts(path: Path) -> list[str]:
    """Every text of a module but its docstrings, pieces of f-strings included."""
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
    ]


def imported(path: Path) -> set[str]:
    """Top-level names of what a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


def test_imports_go_one_way():
    """The contracts of pyproject.toml, by import-linter."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_no_python_holds_cypher(path):
    assert [text for text in texts(path) if CYPHER.search(text) and text not in ALLOWED.get(name(path), set())] == []


def test_the_search_for_cypher_finds_it():
    for statement in FOLDER.rglob("*.cypher"):
        body = "\n".join(line for line in statement.read_text("utf-8").splitlines() if not line.startswith("//"))
        if not body.startswith("DROP"):
            assert CYPHER.search(body), statement
    for text in ("see the RETURN value", "MATCHING (all)", "CALL me", "create an index", "note.create", "SET aside"):
        assert not CYPHER.search(text), text


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_only_the_store_and_the_server_import_the_driver(path):
    assert "neo4j" not in imported(path) or name(path) in {"graph/store.py", "graph/server.py"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_can_be_read_in_one_sitting(path):
    assert len(path.read_text("utf-8").splitlines()) < LINES


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is_for(path):
    text = path.read_text("utf-8")
    assert not text.strip() or ast.get_docstring(ast.parse(text))


def test_statements_lie_in_folders_by_subject_and_nothing_else_does():
    assert {path.suffix for path in FOLDER.rglob("*") if path.is_file()} == {".cypher"}
    subjects = {"schema", "note", "link", "recall", "brain", "task", "trace", "lifecycle", "analytics", "key", "browser"}
    assert {path.parent.name for path in FOLDER.rglob("*.cypher")} <= subjects


def test_the_top_level_is_the_one_of_the_design():
    assert all((ROOT / folder).is_dir() for folder in ("graph", "recall", "web", "cypher", "tests", "seeds"))
