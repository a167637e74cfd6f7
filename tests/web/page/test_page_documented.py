"""docs/page.md and docs/browser.md say what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import web.page
from web.page.words import EVIDENCE

ROOT = Path(web.page.__file__).parents[2]
PAGES = ("docs/page.md", "docs/browser.md")
MOST_BYTES = 200_000


@pytest.mark.parametrize("name", PAGES)
def test_its_pictures_are_there_and_small(name):
    text = (ROOT / name).read_text("utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)
    assert pictures
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < MOST_BYTES, picture


@pytest.mark.parametrize("name", PAGES)
def test_its_links_lead_somewhere(name):
    for target in re.findall(r"(?<!!)\[[^\]]+\]\(([^)#]+)", (ROOT / name).read_text("utf-8")):
        assert (ROOT / "docs" / target).exists(), target


def test_every_favourite_is_named():
    text = (ROOT / "docs/browser.md").read_text("utf-8")
    names = {path.stem for path in (ROOT / "seeds/browser/favorites").glob("*.cypher")}
    assert names == set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def test_every_address_is_named(reader):
    text = (ROOT / "docs/page.md").read_text("utf-8")
    rules = {rule.rule for rule in reader.client.application.url_map.iter_rules() if rule.endpoint.startswith("page.")}
    told = {"/memories/<path:id>": "/memories/ID", "/traces/<id>": "/traces/ID", "/analytics/<name>": "/analytics/NAME"}
    silent = {"/", "/login", "/logout", "/feedback", "/supersede"}
    for rule in rules - silent:
        assert rule.startswith("/page/") or f"`{told.get(rule, rule)}" in text, rule


def test_every_kind_of_evidence_is_explained():
    text = (ROOT / "docs/page.md").read_text("utf-8").lower()
    for name, _ in EVIDENCE.values():
        assert name.lower().rpartition(" ")[2] in text, name
