"""A memory's page, and the forms that change the graph."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from conftest import words

EVIL = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"> & \'quotes\' "here" {{ 7 * 7 }}'
ID = re.compile(r"/memories/([0-9a-f-]{36})")


def made(answer) -> str:
    """The id that a form's answer leads to."""
    assert answer.status_code == 303, answer.text
    return ID.search(answer.headers["Location"])[1]


def drawn(page: str) -> dict:
    """What the picture is drawn from."""
    return json.loads(unescape(re.search(r'data-graph="([^"]*)"', page)[1]))


def test_what_is_remembered_and_superseded_is_a_chain(reader, call):
    told = {"content": "Deploys are on Thursdays.\r\nAt ten.", "tags": "deploy, ops", "memory_type": "semantic"}
    old = made(reader.send("/remember", **told))
    assert call("kg.get", id=old)["content"] == "Deploys are on Thursdays.\nAt ten."
    assert call("kg.get", id=old)["tags"] == ["deploy", "ops"]
    new = made(reader.send("/supersede", id=old, content="On Tuesdays now."))
    page = reader.get(f"/memories/{new}", said="superseded")
    text = words(page)
    assert "Remembered. What it supersedes is no longer recalled" in text
    assert text.index("Deploys are on Thursdays") < text.rindex("On Tuesdays now.")
    assert 'class="superseded"' in page
    assert 'class="current me" aria-current="true"' in page
    assert "Superseded" in words(reader.get(f"/memories/{old}"))
    assert call.found("when are deploys on Thursdays") == [new]
    assert call("kg.get", id=new)["memory_type"] == "semantic"


def test_the_picture_has_the_chain_and_the_neighbours(reader, call):
    old = call.note("The Marlow Bridge is closed.")
    new = call.note("The Marlow Bridge is open again.", supersedes=[old])
    picture = drawn(reader.get(f"/memories/{new}"))
    nodes = {node["data"]["id"]: node for node in picture["nodes"]}
    assert {"current", "note", "me"} == set(nodes[new]["classes"].split())
    assert "superseded" in nodes[old]["classes"]
    assert nodes[new]["position"]["y"] < nodes[old]["position"]["y"], "the newest lies on top"
    edges = {(edge["data"]["source"], edge["data"]["target"], edge["data"]["relation"]) for edge in picture["edges"]}
    assert (new, old, "supersedes") in edges
    assert any(relation == "mentions" for _, _, relation in edges)
    assert all(node["data"]["url"] == f"/memories/{id}?ns={reader.ns}" for id, node in nodes.items())
    assert len({(node["position"]["x"], node["position"]["y"]) for node in nodes.values()}) == len(nodes)


def test_a_long_chain_and_many_neighbours_stay_within_bounds(reader, call):
    items = [{"kind": "memory", "content": f"Version {n} of the Tidewater Manual."} for n in range(110)]
    items += [{"kind": "memory", "content": f"Remark {n}."} for n in range(45)]
    ids = [one["id"] for one in call("kg.create", items=items)["results"]]
    edges = [{"source": ids[n], "target": ids[n - 1], "relation": "supersedes"} for n in range(1, 110)]
    edges += [{"source": remark, "target": ids[50], "relation": "annotates"} for remark in ids[110:]]
    call("kg.link", items=edges)
    page = reader.get(f"/memories/{ids[50]}")
    assert page.count("<time datetime") < 260
    assert len(drawn(page)["nodes"]) <= 101
    assert "10 more are not listed" in words(page)
    assert "The strongest 40" in words(page)


def test_an_entity_and_a_neuron_have_pages_too(reader, call):
    entity = call("kg.create", kind="concept", content="Tidal power")["id"]
    neuron = call("kg.create", kind="neuron", content="Tides follow the moon.", triggers=["tide"])["id"]
    assert "Tidal power" in words(reader.get(f"/memories/{entity}"))
    assert "tide" in words(reader.get(f"/memories/{neuron}"))
    newer = made(reader.send("/supersede", id=entity, content="Tidal stream power"))
    assert call("kg.get", id=newer)["kind"] == "concept"


@pytest.mark.parametrize("id", ["nobody", "01a23722-2f0f-766c-8976-3bf7b780db25", "a/b", "%2e%2e%2fetc"])
def test_an_unknown_memory_is_not_here(reader, id):
    assert "Not here" in words(reader.get(f"/memories/{id}", 404))


def test_a_memory_of_another_namespace_is_not_here(reader, call):
    secret = call.within("test-page-foreign").note("The code of the safe is 4711.")
    page = reader.get(f"/memories/{secret}", 404)
    assert "4711" not in page
    answer = reader.send("/supersede", id=secret, content="x")
    assert answer.status_code == 404
    assert reader.send("/feedback", target_id=secret, signal="useful").status_code == 404
    assert reader.send("/remember", content="x", supersedes=secret).status_code == 404


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("salience", "7", "must be a finite number of at least 0 and at most 1"),
        ("salience", "much", "must be a number"),
        ("content", " ", "must not be empty"),
        ("created_at", "soon", "must be a time"),
        ("expires_at", "2001-01-01T00:00", "must lie in the future"),
        ("tags", "x" * 300, "must be at most 256 bytes"),
        ("supersedes", "nobody", "no node"),
    ],
)
def test_a_fault_stands_at_its_field_and_what_was_typed_stays(reader, field, value, fault):
    answer = reader.send("/remember", **{"content": "What was typed stays.", field: value})
    assert answer.status_code in (404, 422)
    assert fault in unescape(re.search(rf'<p class="fault" id="{field}-about">([^<]*)', answer.text)[1])
    assert field == "content" or "What was typed stays." in answer.text


def test_a_key_in_use_is_told_in_words(reader, call):
    call.note("One.", key="the-key")
    answer = reader.send("/remember", content="Two.", key="the-key")
    assert answer.status_code == 409
    assert "the-key" in words(answer.text)


def test_stored_markup_is_text_everywhere(reader, call):
    note = call.note(EVIL, tags=[EVIL[:60]], key=EVIL, source=EVIL)
    newer = call.note(f"{EVIL} newer", supersedes=[note])
    call("kg.create", kind="concept", content=EVIL)
    entity = call("kg.create", kind="concept", content=f"About {EVIL}")["id"]
    call("kg.link", source=newer, target=entity, relation="mentions")
    pages = [reader.get(f"/memories/{id}") for id in (note, newer, entity)]
    pages += [reader.get("/", q=EVIL, min_score="yes", superseded="yes"), reader.get("/context", task=EVIL)]
    pages += [reader.get("/", 404, q="x", profile=EVIL), reader.get("/remember", supersedes=EVIL)]
    pages += [reader.send("/remember", content=EVIL, salience=EVIL).text, reader.send("/context", task=EVIL).text]
    pages += [reader.get("/traces"), reader.get(f"/analytics/{EVIL[:20].replace('/', '')}", 404)]
    for page in pages:
        assert not re.search(r"<script>|<img|onerror=\"|</script>\s*<img", re.sub(r"<script src=[^>]*></script>", "", page))
        assert "49" not in re.findall(r"\{\{[^}]*\}\}", page)
    assert sum("{{ 7 * 7 }}" in unescape(page) for page in pages) >= 6


def test_the_statement_for_neo4j_browser_holds_the_id_as_text(reader, call):
    note = call.note("Plain.")
    page = reader.get(f"/memories/{note}")
    assert f"id: '{note}'" in unescape(page[page.index("<pre") :])
    link = re.search(r'href="(http://127\.0\.0\.1:\d+/browser/[^"]*)"', page)
    assert link
    assert note in link[1]


def test_who_is_elsewhere_gets_no_link_that_would_not_open(reader, service, call):
    from web.neo4j_browser import Browser

    statements = service.store.statements
    assert Browser.seen_from(service.endpoint, "localhost:8765", statements, ns="x").base
    assert Browser.seen_from(service.endpoint, "memory.example:443", statements, ns="x").base is None
