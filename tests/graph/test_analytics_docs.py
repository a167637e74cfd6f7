"""docs/analytics.md, compared to the statements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graph.analytics import ANALYTICS, Asked, AskedRequest, columns, taken
from graph.fields import Whole
from graph.statements import load

SHIPPED = load()
PAGE = (Path(__file__).parents[2] / "docs/analytics.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_every_question_is_documented_and_no_other():
    assert SECTIONS.keys() == ANALYTICS.keys()


@pytest.mark.parametrize("name", ANALYTICS)
def test_a_section_says_what_the_statement_says_what_it_takes_and_what_comes_out(name):
    statement, section = SHIPPED[ANALYTICS[name]], SECTIONS[name]
    assert " ".join(section.split()).startswith(statement.purpose)
    line = re.search(r"^Takes (.*?)\.(?: Drawn as a (\w+) of `(\w+)` by `(\w+)`\.)?$", section, re.MULTILINE)
    assert line is not None
    assert re.findall(r"`(\w+)`", line[1]) == taken(name, statement)
    chart = statement.chart
    assert (line[2], line[3], line[4]) == ((chart.kind, chart.y, chart.x) if chart else (None, None, None))
    command, head, *rows = section.partition("```\n")[2].partition("\n```")[0].splitlines()
    assert command.startswith(f"$ palimpsest analytics {name} -n sample")
    assert set(re.findall(r"--(\w+)", command)) <= set(taken(name, statement))
    assert head.split() == columns(name, statement)
    assert rows


def test_every_parameter_is_documented_with_its_default_and_its_limits():
    table = dict(re.findall(r"^\| `(\w+)` \| .+? \| (.+? \| .*?)\|$", PAGE, re.MULTILINE))
    fields = AskedRequest().fields
    assert table.keys() == fields.keys()
    for name, field in fields.items():
        default, _, allowed = table[name].partition(" | ")
        given = getattr(Asked(), name)
        assert default == (f"{given:,}" if isinstance(given, int) else f"`{given}`"), name
        if isinstance(field, Whole):
            assert allowed.strip() == f"{field.low:,} to {field.high:,}", name
