"""The commands that move a graph, on the real store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from web.cli import main


@pytest.fixture
def run(service: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A command line on the test's home; gives the result."""
    for name, value in (("EMBEDDER", "hashing"), ("MULTILINGUAL", "off"), ("HOME", str(service.settings.home))):
        monkeypatch.setenv(f"PALIMPSEST_{name}", value)
    return lambda *words, **more: CliRunner().invoke(main, words, prog_name="palimpsest", **more)


def test_export_and_import_tell_what_they_did(run, call, tmp_path):
    call.note("The ferry leaves from pier one.")
    file = str(tmp_path / "graph.jsonl")
    told = run("export", file, "-n", call.ns)
    assert told.exit_code == 0, told.stderr
    assert told.stdout.startswith(f"1 nodes and 0 edges of 1 namespace(s) are in {file}.\n")
    assert "; sha256 " in told.stdout
    told = run("import", file, "--into", f"{call.ns}-b")
    assert told.stdout.startswith("1 nodes and 0 edges are new, 0 nodes were there; ")
    assert call.within(f"{call.ns}-b").found("ferry pier")
    assert json.loads(run("import", file, "--json").stdout)["present"] == 1


def test_import_knows_what_wrote_a_file(run, call, tmp_path):
    file = tmp_path / "memory.jsonl"
    file.write_text('{"type": "entity", "name": "Rowan", "entityType": "person", "observations": ["Keeps bees"]}\n', "utf-8")
    assert json.loads(run("import", str(file), "--into", call.ns, "--json").stdout)["nodes"] == 2
    assert call.found("who keeps bees")


def test_what_is_no_export_is_refused_in_one_line(run, tmp_path: Path):
    file = tmp_path / "odd.txt"
    file.write_text("nothing", "utf-8")
    told = run("import", str(file))
    assert told.exit_code == 2
    assert told.stderr.startswith("palimpsest: file: ")
    assert "Traceback" not in told.stderr
    assert run("export", str(tmp_path / "x"), "-n", "nowhere").exit_code == 1
