"""docs/verbs.md says what the verbs say."""

from __future__ import annotations

from pathlib import Path

from graph.packs import ordered
from tests.docs.ours import packs
from web.reference import page
from web.schemas import json_schema

PAGE = Path(__file__).resolve().parents[2] / "docs" / "verbs.md"


def test_the_page_is_the_one_that_the_verbs_make():
    assert PAGE.read_text("utf-8") == page(ordered(packs())) + "\n", "python -m web.reference > docs/verbs.md"


def test_every_field_that_a_caller_may_send_says_what_it_is_for():
    silent = [
        f"{verb.name} {name}"
        for pack in packs()
        for verb in pack.verbs
        if verb.visibility == "verb"
        for name, schema in json_schema(verb.request)["properties"].items()
        if not schema.get("description")
    ]
    assert silent == []
