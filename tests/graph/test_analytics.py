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
from graph.statements import FOLDER, load
from tests.conftest import Caller
from web.app import create_app
from web.cli import main

SHIPPED = load()
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


def test_what_is_let_in_most_and_never_found_useful_is_listed(asked):
    rows = asked("admitted_never_useful")
    assert [row["times"] for row in rows] == sorted((row["times"] for row in rows), reverse=True)
    assert rows[0]["times"] >= 3
    assert {row["found_useless"] for row in rows} == {0.0}


def test_what_feedback_found_useful_is_not_listed_as_never_useful(call, store):
    useful, useless = call.note(FACT), call.note(f"{FACT} It was so last year too.")
    build(call)
    listed = {row["id"] for row in ask(store.within(call.ns), "admitted_never_useful", Asked())["rows"]}
    assert listed == {useful, useless}
    call("memory.feedback", target_id=useful, signal="useful")
    call("memory.feedback", target_id=useless, signal="not_useful")
    (row,) = ask(store.within(call.ns), "admitted_never_useful", Asked())["rows"]
    assert row["id"] == useless
    assert row["found_useless"] > 0


def test_an_unknown_question_is_not_found(store, ns):
    with pytest.raises(NotFound, match="there are abstention_rate, "):
        ask(store.within(ns), "moods", Asked())


@pytest.mark.parametrize("name", ANALYTICS)
def test_a_file_gives_every_parameter_the_value_that_the_doors_give_it(name):
    """So what is pasted into Neo4j Browser answers as `palimpsest analytics` does."""
    statement = SHIPPED[ANALYTICS[name]]
    assert statement.defaults.keys() == statement.params.keys()
    assert statement.defaults["ns"] == "default"
    for param in statement.params.keys() - {"ns"}:
        assert statement.defaults[param] == getattr(Asked(), param), param


@pytest.mark.parametrize("name", ANALYTICS)
def test_rows_are_bounded(name):
    """By a limit, by days, or by what is listed in the statement."""
    assert {"limit", "days", "nodes"} & SHIPPED[ANALYTICS[name]].params.keys() or name == "decay_forecast"


def test_a_chart_is_of_columns_and_of_a_number():
    for name, statement in SHIPPED.items():
        if statement.chart:
            assert name in ANALYTICS.values()
            assert statement.returns[statement.chart.y] in ("integer", "float")
    assert sum(statement.chart is not None for statement in SHIPPED.values()) >= 8


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
    questions = {entry["name"]: entry for entry in client.get("/v1/analytics").json["analytics"]}
    assert questions.keys() == ANALYTICS.keys()
    assert questions["churn"]["parameters"] == {"days": 30, "per": "day"}
    assert questions["churn"]["columns"] == ["period", "superseded", "held_days"]
    assert questions["churn"]["chart"] == {"kind": "bar", "x": "period", "y": "superseded"}
    assert questions["pagerank"]["parameters"] == {"nodes": 10_000, "limit": 20}
    assert questions["orphans"]["chart"] is None


@pytest.mark.parametrize("name", ANALYTICS)
def test_every_question_answers_over_http_with_all_that_it_takes(client, used, name):
    (found,) = [each for each in client.get("/v1/analytics").json["analytics"] if each["name"] == name]
    answer = client.get(f"/v1/analytics/{name}", query_string=found["parameters"], headers={"X-Namespace": used.ns})
    assert answer.status_code == 200, answer.json
    assert answer.json["columns"] == found["columns"]
    assert all(row.keys() == set(found["columns"]) for row in answer.json["rows"])


@pytest.mark.parametrize(
    ("address", "status", "field"),
    [
        ("/v1/analytics/moods", 404, "name"),
        ("/v1/analytics/abstention_rate?days=0", 422, "days"),
        ("/v1/analytics/abstention_rate?days=x", 422, "days"),
        ("/v1/analytics/abstention_rate?days=1&days=2", 422, "days"),
        ("/v1/analytics/abstention_rate?weeks=1", 422, "weeks"),
        ("/v1/analytics/abstention_rate?limit=1", 422, "limit"),
        ("/v1/analytics/abstention_rate?ns=other", 422, "ns"),
        ("/v1/analytics/churn?per=year", 422, "per"),
        ("/v1/analytics/churn?days=9999999999999999999999", 422, "days"),
        ("/v1/analytics/fading?percent=0", 422, "percent"),
        ("/v1/analytics/orphans?limit=1001", 422, "limit"),
        ("/v1/analytics/orphans?limit=-1", 422, "limit"),
        ("/v1/analytics/pagerank?nodes=10000000", 422, "nodes"),
        ("/v1/analytics/weights_over_time?profile=", 422, "profile"),
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
    listed = command()
    assert all(name in listed for name in ANALYTICS)
    assert "--days --per" in listed
    head, row = command("abstention_rate", "-n", used.ns).splitlines()
    assert head.split() == ["day", "builds", "abstained", "rate"]
    assert row.split()[1:] == ["8", "2", "0.250"]
    assert json.loads(command("dropped_for_budget", "--limit", "1", "-n", used.ns, "--json"))["rows"]
    assert "Nothing in that time." in command("abstention_rate")


def test_an_option_that_a_question_does_not_take_is_refused(store):
    result = CliRunner().invoke(main, ["analytics", "orphans", "--days", "3"], prog_name="palimpsest")
    assert result.exit_code != 0
    assert "days" in str(result.exception) + result.output
