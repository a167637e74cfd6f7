"""Neo4j Browser of the managed server, in headless Chromium: the login works, and an edge drawn there counts at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import neo4j
import pytest
from chromium import launched, needs_chromium, picture
from neo4j_window import Neo4jBrowser

from graph.statements import parse
from recall.service import Service
from tests.conftest import Caller
from web.neo4j_browser import Browser, filled, literal

STYLE = Path(__file__).parents[2] / "seeds/browser/style.grass"


@pytest.fixture
def window(service: Service, tmp_path: Path) -> Iterator[Neo4jBrowser]:
    chromium = launched(tmp_path / "profile")
    yield Neo4jBrowser(chromium, service.endpoint)
    chromium.quit()


@needs_chromium
def test_an_edge_drawn_in_neo4j_browser_changes_the_next_recall(
    window: Neo4jBrowser, call: Caller, ns: str, tmp_path: Path
) -> None:
    old = call.note("The ferry to Larkspur leaves from pier four at noon.")
    new = call.note("Pier nine from today.")
    assert old in call.found("ferry to Larkspur pier four noon")
    window.ask(
        f"MATCH (new {{ns: '{ns}', id: '{new}'}}), (old {{ns: '{ns}', id: '{old}'}}) "
        "CREATE p = (new)-[:SUPERSEDES]->(old) RETURN p"
    )
    assert picture(window.chromium, "edge.png", tmp_path).stat().st_size > 10_000
    found = call("memory.recall", query="ferry to Larkspur pier four noon", min_score=0)["results"]
    assert [hit["id"] for hit in found] == [new]
    assert found[0]["path"][0]["id"] == old


@needs_chromium
def test_neo4j_browser_stays_on_this_machine(window: Neo4jBrowser, call: Caller, ns: str) -> None:
    call.note("The lighthouse keeper sleeps until nine.")
    window.ask(f"MATCH (n:Note {{ns: '{ns}'}}) RETURN n")
    answered = set()
    for entry in window.chromium.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.responseReceived":
            address = urlsplit(message["params"]["response"]["url"])
            answered |= {address.hostname} if address.scheme in ("http", "https", "ws", "wss") else set()
    assert answered == {"127.0.0.1"}


@needs_chromium
def test_with_the_style_sheet_the_layers_differ(window: Neo4jBrowser, service: Service, call: Caller, ns: str) -> None:
    old = call.note("The ferry to Larkspur leaves from pier four at noon.")
    new = call.note("Pier nine from today.", supersedes=[old])
    browser = Browser.seen_from(service.endpoint, "127.0.0.1", service.store.statements, ns=ns)
    window.open(browser.link("browser.memory", id=new))
    window.style(STYLE.read_text("utf-8"))
    window.run()
    fills = window.fills()
    assert fills["Pier nine"] == "#2F6FB0"
    assert fills["The ferry"].startswith("rgba(150, 158, 170, 0.35")


@pytest.mark.parametrize(
    "text",
    ["o'clock", "back\\slash", "\\' OR 1=1 //", "\\u0027 DETACH DELETE n", "line\nbreak\t\x00", "é 漢 🦉 \u2028", "$ns {x}"],
)
def test_a_value_in_a_link_is_the_value_that_was_meant(driver: neo4j.Driver, text: str) -> None:
    assert driver.execute_query(f"RETURN {literal(text)} AS value").records[0]["value"] == text  # type: ignore[arg-type]


def test_what_no_text_can_be_is_written_as_cypher_has_it() -> None:
    assert literal([1, "a", None, True, ["b"]]) == "[1, 'a', null, true, ['b']]"


def test_only_parameters_are_filled_in_not_what_looks_like_one(tmp_path: Path) -> None:
    file = tmp_path / "x.cypher"
    file.write_text("// P.\n// params: ns: string\n// returns: a: string\nRETURN '$ns' AS a, $ns AS b // $ns\n")
    assert filled(parse(file, "x"), {"ns": "it's"}) == "// P.\nRETURN '$ns' AS a, 'it\\'s' AS b // $ns"


def test_a_link_that_would_be_too_long_is_none(service: Service) -> None:
    browser = Browser.seen_from(service.endpoint, "127.0.0.1", service.store.statements, ns="x")
    assert browser.link("browser.hits", ids=["a" * 36] * 400) is None
    assert browser.link("browser.hits", ids=["a" * 36] * 200), "the most that a recall gives"
    assert browser.link("browser.nothing") is None
    assert browser.link("browser.memory") is None, "it needs an id"


@pytest.mark.parametrize("name", ["browser.memory", "browser.hits"])
def test_a_link_s_statement_runs_as_it_stands(
    driver: neo4j.Driver, service: Service, call: Caller, ns: str, name: str
) -> None:
    new = call.note("Newer.", supersedes=[call.note("Older, about Larkspur Harbour.")])
    browser = Browser.seen_from(service.endpoint, "127.0.0.1", service.store.statements, ns=ns)
    (record,) = driver.execute_query(browser.text(name, id=new, ids=[new])).records  # type: ignore[arg-type]
    assert [path.nodes[0]["id"] for path in record["older"]] == [new]
