"""Recall's settings from a file: used as they are, and refused with the name of what is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from graph.errors import SettingsError
from recall.config import RecallConfig, ScoringConfig
from recall.configured import RecallFile, configured


@pytest.fixture
def written(tmp_path):
    def write(content):
        file = tmp_path / "recall.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    return write


def test_what_the_file_leaves_out_stays_as_it_was(written):
    assert configured(written({})) == RecallConfig()
    found = configured(written({"text_weight": 1, "leg_timeout_s": 0.5, "scoring": {"temporal_weight": 0.5}}))
    assert found == RecallConfig(text_weight=1.0, leg_timeout_s=0.5, scoring=ScoringConfig(temporal_weight=0.5))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"vector_weight": -1}, "vector_weight.*of at least 0"),
        ({"vector_weight": 0, "text_weight": 0}, "vector_weight.*must not both be 0"),
        ({"weight": 1}, "weight.*unknown field"),
        ({"scoring": {"relevance_weight": "much"}}, "scoring.*relevance_weight.*must be a number, not a text"),
        ({"leg_timeout_s": 0}, "leg_timeout_s.*above 0"),
        ('{"vector_weight": NaN}', "vector_weight.*finite"),
        ("[1]", "Invalid input type"),
        ("not json", "Expecting value"),
    ],
)
def test_a_fault_names_the_field_and_what_is_allowed(written, content, said):
    with pytest.raises(SettingsError, match=rf"(?s)PALIMPSEST_RECALL=.*recall.json: .*{said}"):
        configured(written(content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SettingsError, match="No such file"):
        configured(tmp_path / "none.json")


def test_each_field_is_one_of_the_configuration():
    assert set(RecallFile().fields) <= set(RecallConfig.__dataclass_fields__)


def test_the_page_that_shows_them_shows_the_defaults(written):
    page = (Path(__file__).parents[2] / "docs/quality.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```json\n(\{\n  \"vector_weight\".*?)```", page, flags=re.DOTALL)
    assert configured(written(shown)) == RecallConfig()
    assert set(json.loads(shown)) == set(RecallFile().fields)
