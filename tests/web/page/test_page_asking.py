"""Asking on the page: what is found and why, what is suppressed, what is too unlikely, and what became of it."""

from __future__ import annotations

import re

import pytest
from conftest import Reader, words

from web.page.ask import told
from web.page.visit import is_ours
from web.page.words import ABSTAINED, EVIDENCE, shortened

OLD = "The harbour office opens at eight, and the ferry desk of the harbour at nine."
ASKED = "when does the harbour office ferry desk open"


@pytest.fixture
def chain(call) -> tuple[str, str]:
    old = call.note(OLD, created_at="2024-01-01T00:00:00Z")
    return old, call.note("Both at seven now.", supersedes=[old], created_at="2025-01-01T00:00:00Z")


def test_a_hit_has_its_bars_and_the_old_note_that_led_to_it(reader, chain):
    old, new = chain
    page = reader.get("/", q=ASKED, min_score="yes")
    text = words(page)
    assert "Both at seven now." in text
    assert f"written over {OLD}" in text
    assert f'href="/memories/{old}?ns={reader.ns}"' in page
    for name in ("Relevance", "Salience", "Recency"):
        assert f"{name} " in text
    relevance = float(re.search(r'<rect class="relevance" width="([\d.]+)"', page)[1])
    assert 0 < relevance <= 100
    assert "By an older note that it replaced" in text
    assert "Weighed by the profile default" in text
    assert page.count(f"/memories/{new}") >= 2


def test_the_parts_that_are_shown_sum_to_the_score(reader, chain):
    page = reader.get("/", q=ASKED, min_score="yes")
    table = re.search(r'<table class="parts">.*?</table>', page, re.DOTALL)[0]
    *parts, total = [float(value) for value in re.findall(r'class="number">([-+]?\d+\.\d+)', table)]
    assert sum(parts) == pytest.approx(total, abs=0.002)
    bars = [(float(x), float(width)) for x, width in re.findall(r'<rect class="\w+" x="([\d.]+)" width="([\d.]+)"', page)]
    assert bars


def test_what_is_suppressed_stands_beside_what_suppresses_it(reader, chain):
    page = reader.get("/", q=ASKED, min_score="yes")
    table = page[page.index('id="suppressed"') :]
    assert table.index(shortened(OLD, 60)[:40]) < table.index("Both at seven now.")


def test_with_what_is_superseded_both_are_shown_and_one_is_marked(reader, chain):
    page = reader.get("/", q=ASKED, superseded="yes", min_score="yes")
    assert page.count('<li class="hit') == 2
    assert 'class="hit old"' in page
    assert "superseded 2025-01-01" in words(page)


def test_a_time_asks_what_was_current_then(reader, chain):
    page = reader.get("/", q=ASKED, as_of="2024-06-01T10:00", min_score="yes")
    assert OLD in words(page)
    assert "Both at seven now." not in page


def test_it_abstains_in_words_and_shows_what_came_near(reader, chain):
    page = reader.get("/", q="what time is it")
    text = words(page)
    assert "No answer" in text
    assert ABSTAINED["below_floor"] in text
    assert "below the floor" in text[text.index("Not shown") :]
    assert '<li class="hit' not in page


@pytest.mark.parametrize(("asked", "reason"), [("!!!", "meaningless_query"), ("tides of Larkspur", "no_candidates")])
def test_each_reason_for_silence_has_its_words(reader, asked, reason):
    assert ABSTAINED[reason] in words(reader.get("/", q=asked))


def test_what_a_budget_leaves_out_is_told_from_an_abstention():
    answer = {"results": [], "reason": "token_budget", "took_ms": {}}
    assert told(answer, None)["reason"] == ABSTAINED["token_budget"]


def test_every_kind_of_evidence_has_words():
    from recall.evidence import NAMES

    assert set(NAMES) == set(EVIDENCE)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("limit", "0", "must be from 1 to 200"),
        ("limit", "many", "must be a whole number"),
        ("as_of", "yesterday", "must be a time in ISO 8601"),
        ("fusion", "cold", "must be one of"),
        ("type", "other", "must be one of"),
        ("profile", "nobody", "no profile"),
    ],
)
def test_a_fault_stands_at_its_field(reader, field, value, fault):
    page = reader.get("/", 404 if field == "profile" else 422, q="x", **{field: value})
    beside = re.search(rf'<p class="fault" id="{field}-about">([^<]*)', page)
    assert beside is not None
    assert fault in beside[1]
    assert re.search(rf'name="{field}"[^>]*aria-describedby="{field}-about" aria-invalid="true"', page)


def test_a_namespace_that_is_none_is_refused_in_words(reader):
    answer = reader.client.get("/?ns=a%20b&q=x")
    assert answer.status_code == 422
    assert "must be 1 to 128 of" in words(answer.text)


def test_feedback_is_kept_once_for_an_answer(reader, chain, call):
    page = reader.get("/", q=ASKED, min_score="yes")
    form = page[page.index('<form class="feedback"') :]
    fields = dict(re.findall(r'name="(target_id|serve_id|back)" value="([^"]*)"', form))
    assert fields["back"].startswith(f"/?ns={reader.ns}&amp;q=")
    fields["back"] = fields["back"].replace("&amp;", "&")
    assert "Noted as useful." in words(reader.sent("/feedback", signal="useful", **fields))
    assert "it counts once" in words(reader.sent("/feedback", signal="useful", **fields))
    again = call("memory.feedback", target_id=chain[1], signal="useful", serve_id=fields["serve_id"])
    assert again["counted"] is False


def test_a_feedback_of_nothing_is_refused(reader, chain):
    assert reader.send("/feedback", target_id="nobody", signal="useful").status_code == 404
    assert reader.send("/feedback", target_id=chain[1], signal="wonderful").status_code == 422


@pytest.mark.parametrize(
    "address", ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "evil", "", "/a\r\nX: y"]
)
def test_nobody_is_led_away_from_here(reader, chain, address):
    assert not is_ours(address)
    answer = reader.send("/feedback", target_id=chain[1], signal="useful", back=address)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(f"/memories/{chain[1]}")


def test_a_long_note_does_not_fill_the_page(reader, call: object, ns):
    call.note("harbour master " + "tide " * 30_000)
    assert len(reader.get("/", q="harbour master tide", min_score="yes")) < 60_000


def test_an_answer_is_for_the_namespace_alone(reader, chain, service):
    other = Reader(reader.client, f"{reader.ns}-other")
    assert "Both at seven" not in other.get("/", q=ASKED, min_score="yes")
