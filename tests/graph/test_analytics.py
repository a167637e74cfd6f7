"""Questions about use: what each answers, in the graph, over HTTP, on the command line and in Neo4j Browser."""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from graph.analytics import ANALYTICS, Asked, ask
from graph.errors import NotFound
from graph.settings import Settings
from graph.statements import FOLDER
from tests.conftest import Caller
from web.app import create_app
from web.cli import main

TASK = "Find out why the greenhouse fan trips its breaker"
FACT = "The greenhouse fan in bay four trips its breaker whenever humidity passes ninety percent."


def build(call: Caller, description: str = TASK, window: int = 8000) -> dict[str, Any]:
    return call("context.build", task_id=call("context.task_start", description=description)["id"], window=window)


@pytest.fixture(scope="module")
def used(service) -> Caller:
    """A namespace in which contexts were built: six with memory, of which three in a narrow window, and two without."""
    call = Caller(service.dispatcher, f"test-{uuid.uuid4().hex[:12]}")
    for n in range(4):
        call.note(f"{FACT} Entry {n} of the log.")
    call.note("Marta prefers the window seat on the early train to Leeds.")
    for window in (8000, 8000, 8000, 800, 800, 800):
        build(call, window=window)
    for trivial in ("what time is it", "hello"):
        build(call, trivial)
    return call


@pytest.fixture
def asked(store, used):
    def found(name: str, **fields: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = ask(store.within(used.ns), name, Asked(**fields))["rows"]
        return rows

    return found


def test_every_file_is_a_question_by_its_name():
    assert {path.stem for path in (FOLDER / "analytics").glob("*.cypher")} == set(ANALYTICS)


def test_the_abstention_rate_is_told_by_day(asked, used, by_hand):
    (today,) = asked("abstention_rate")
    assert (today["builds"], today["abstained"], today["rate"]) == (8, 2, 0.25)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", today["day"])
    shift = "MATCH (t:Trace {ns: $space}) WHERE t.memory_abstained SET t.created_at = t.created_at + duration($by), "
    shift += "t.created_ts = t.created_ts + $ts"
    by_hand(shift, space=used.ns, by="P-2D", ts=-2 * 86_400_000_000)
    try:
        earlier, later = asked("abstention_rate")
        assert (earlier["builds"], earlier["rate"], later["builds"], later["rate"]) == (2, 1.0, 6, 0.0)
        assert len(asked("abstention_rate", days=1)) == 1
    finally:
        by_hand(shift, space=used.ns, by="P2D", ts=2 * 86_400_000_000)


def test_a_build_that_had_to_do_without_memory_is_no_abstention(asked, used, by_hand):
    by_hand("CREATE (:Trace {ns: $space, id: 'away', created_at: datetime(), created_ts: timestamp() * 1000, "
            "memory_abstained: true, degraded: ['task', 'memory']})", space=used.ns)  # fmt: skip
    try:
        assert asked("abstention_rate")[0]["builds"] == 8
    finally:
        by_hand("MATCH (t:Trace {ns: $space, id: 'away'}) DELETE t", space=used.ns)


def test_the_irrelevant_rate_is_what_was_looked_at_and_not_let_in(asked, used, by_hand):
    (today,) = asked("irrelevant_rate")
    traces = by_hand("MATCH (t:Trace {ns: $space}) RETURN t.memory_candidates AS c, t.memory_selected AS s", space=used.ns)
    candidates, selected = sum(t["c"] for t in traces), sum(t["s"] for t in traces)
    assert (today["builds"], today["candidates"], today["selected"]) == (8, candidates, selected)
    assert today["rate"] == pytest.approx((candidates - selected) / candidates)
    assert today["mean_rate"] == pytest.approx(sum((t["c"] - t["s"]) / t["c"] for t in traces) / len(traces))


def test_what_was_dropped_for_budget_is_listed_most_often_first(asked, used):
    rows = asked("dropped_for_budget", days=7)
    assert rows
    assert [row["times"] for row in rows] == sorted((row["times"] for row in rows), reverse=True)
    assert {row["title"] for row in rows} <= {FACT[:59] + "…"} or all(
        row["title"].startswith("The greenhouse") for row in rows
    )
    assert all(row["tokens"] > 0 and row["relevance"] >= 0.42 and row["last_dropped"].endswith("Z") for row in rows)
    assert len(asked("dropped_for_budget", limit=1)) == 1


def test_what_is_let_in_most_and_never_found_useful_is_listed(asked, used, by_hand):
    rows = asked("admitted_never_useful")
    assert [row["times"] for row in rows] == sorted((row["times"] for row in rows), reverse=True)
    assert rows[0]["times"] >= 3
    by_hand("MATCH (n {ns: $space, id: $id}) SET n.evidence_for = 0.7", space=used.ns, id=rows[0]["id"])
    try:
        assert [row["id"] for row in asked("admitted_never_useful")] == [row["id"] for row in rows[1:]]
    finally:
        by_hand("MATCH (n {ns: $space, id: $id}) REMOVE n.evidence_for", space=used.ns, id=rows[0]["id"])


def test_an_unknown_question_is_not_found(store, ns):
    with pytest.raises(NotFound, match="there are abstention_rate, "):
        ask(store.within(ns), "moods", Asked())


@pytest.mark.parametrize("name", ANALYTICS)
def test_a_question_can_be_pasted_into_neo4j_browser(name, driver, used):
    """The file as it stands, with the values that its `:param` lines say."""
    text = (FOLDER / "analytics" / f"{name}.cypher").read_text("utf-8")
    given: dict[str, Any] = {}
    for param, value in re.findall(r"^// :param (\w+) => (.+)$", text, re.MULTILINE):
        given[param] = driver.execute_query(f"RETURN {value} AS v").records[0]["v"]  # type: ignore[arg-type]
    assert given["ns"] == "default"
    records = driver.execute_query("CYPHER 25\n" + text, given | {"ns": used.ns}).records  # type: ignore[arg-type]
    assert records


@pytest.fixture
def client(service) -> FlaskClient:
    return create_app(service, Settings(port=0)).test_client()


def test_it_answers_over_http(client, used):
    headers = {"X-Namespace": used.ns}
    answer = client.get("/v1/analytics/abstention_rate?days=3", headers=headers)
    assert answer.status_code == 200
    assert answer.json["columns"] == ["day", "builds", "abstained", "rate"]
    assert answer.json["rows"][0]["builds"] == 8
    assert len(client.get("/v1/analytics/dropped_for_budget?limit=1", headers=headers).json["rows"]) == 1
    assert client.get("/v1/analytics/abstention_rate").json["rows"] == []
    assert {entry["name"] for entry in client.get("/v1/analytics").json["analytics"]} == set(ANALYTICS)


@pytest.mark.parametrize(
    ("address", "status", "field"),
    [
        ("/v1/analytics/moods", 404, "name"),
        ("/v1/analytics/abstention_rate?days=0", 422, "days"),
        ("/v1/analytics/abstention_rate?days=x", 422, "days"),
        ("/v1/analytics/abstention_rate?days=1&days=2", 422, "days"),
        ("/v1/analytics/abstention_rate?weeks=1", 422, "weeks"),
    ],
)
def test_what_is_wrong_with_a_question_is_named(client, address, status, field):
    answer = client.get(address)
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")
    assert [error["field"] for error in answer.json["errors"]] == [field]


@pytest.fixture
def command(monkeypatch, store):
    """Runs `palimpsest analytics` on the test's store."""

    @contextmanager
    def connected(_: Settings) -> Iterator[Any]:
        yield store

    monkeypatch.setitem(sys.modules, "recall.service", SimpleNamespace(connected=connected))

    def run(*words: str) -> str:
        result = CliRunner().invoke(main, ["analytics", *words], prog_name="palimpsest")
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run


def test_it_answers_on_the_command_line(command, used):
    assert all(name in command() for name in ANALYTICS)
    head, row = command("abstention_rate", "-n", used.ns).splitlines()
    assert head.split() == ["day", "builds", "abstained", "rate"]
    assert row.split()[1:] == ["8", "2", "0.250"]
    assert json.loads(command("dropped_for_budget", "--limit", "1", "-n", used.ns, "--json"))["rows"]
    assert "Nothing in that time." in command("abstention_rate")
