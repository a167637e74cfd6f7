"""docs/mcp.md and docs/python.md say what is there."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from recall import AsyncClient, Client, Memory
from recall.asking import Asking
from recall.client import Options
from web.mcp.server import tools

DOCS = Path(__file__).parents[2] / "docs"
MCP, PYTHON = ((DOCS / f"{name}.md").read_text("utf-8") for name in ("mcp", "python"))


def test_the_table_of_tools_is_that_of_the_tools():
    rows = re.findall(r"^\| `(\w+)` \| .+ \| (yes)? ?\| (yes)? ?\| (yes)? ?\|$", MCP, re.M)
    assert [(name, *map(bool, marks)) for name, *marks in rows] == [
        (tool.name, tool.reads, tool.destructive, tool.idempotent or tool.reads) for tool in tools("core")
    ]


def test_the_tools_of_the_reference_profile_are_named():
    assert all(f"`{tool.name}`" in MCP for tool in tools("reference"))


@pytest.mark.parametrize("block", re.findall(r"```json\n(.+?)```", MCP, re.S))
def test_what_is_to_be_copied_is_json(block):
    assert json.loads(block)


def test_every_method_is_named_with_a_verb_and_says_what_it_does():
    methods = [name for name, _ in inspect.getmembers(Asking, inspect.isfunction) if not name.startswith("_")]
    assert [name for name in methods if f"`{name}(" not in PYTHON] == []
    assert all(getattr(Asking, name).__doc__ for name in methods)
    assert all(issubclass(kind, Asking) and kind.__doc__ for kind in (Memory, Client, AsyncClient))


def test_every_option_of_the_clients_is_told():
    assert all(
        f"`{option.name}`" in PYTHON or f"{option.name}=" in PYTHON for option in fields(Options) if option.name != "url"
    )
