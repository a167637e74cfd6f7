"""docs/operations.md names every setting, with its default and what it is for."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from graph.settings import Settings

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text("utf-8")
PLATFORM = {"home": "the platform's user data folder", "cache": "the platform's user cache folder"}


def row(one: dataclasses.Field) -> str:
    """The line of the table for a setting."""
    default = "" if one.default in (None, dataclasses.MISSING) else f"`{one.default}`"
    names = ", ".join(f"`{name}`" for name in one.metadata["variables"])
    return f"| {names} | {one.metadata['about']} | {PLATFORM.get(one.name, default)} |".replace("|  |", "| |")


@pytest.mark.parametrize("one", dataclasses.fields(Settings), ids=lambda one: one.name)
def test_a_setting_has_its_line(one):
    assert row(one) in PAGE.splitlines()
