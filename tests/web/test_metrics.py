"""What Prometheus reads at /metrics, and who may."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graph import keys
from graph.keys import KeyRing
from graph.packs import Answer
from graph.settings import Settings
from web.app import create_app
from web.metrics import Metrics

ROOT = Path(__file__).parents[2]
SECRET = "The combination of the vault is twelve, forty, three."


@pytest.fixture
def heard(service):
    """The listeners as they were, after the test."""
    before = list(service.dispatcher.listeners)
    yield
    service.dispatcher.listeners[:] = before


@pytest.fixture
def client(service, heard):
    return create_app(service, Settings(port=0)).test_client()


@pytest.fixture
def post(client, ns):
    def send(verb, **body):
        return client.post(f"/v1/{verb}", json=body, headers={"X-Namespace": ns})

    return send


def samples(client, **headers):
    """Value by name and labels."""
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found[sample.name, frozenset(sample.labels.items())] = sample.value
    return found


def value(found, name, **labels):
    return found.get((name, frozenset(labels.items())), 0.0)


def test_requests_are_counted_by_route_method_and_status(client, post):
    post("memory/remember", content="The ferry leaves at noon.")
    post("memory/remember", content="")
    client.get("/v1/analytics/moods")
    client.get("/nowhere/at/all")
    client.open("/healthz", method="BREW")
    found = samples(client)
    route = "/v1/memory/remember"
    assert value(found, "palimpsest_http_requests_total", route=route, method="POST", status="201") == 1
    assert value(found, "palimpsest_http_requests_total", route=route, method="POST", status="422") == 1
    assert value(found, "palimpsest_http_request_seconds_count", route=route) == 2
    one = "/v1/analytics/<string:name>"
    assert value(found, "palimpsest_http_requests_total", route=one, method="GET", status="404") == 1
    assert value(found, "palimpsest_http_requests_total", route="other", method="GET", status="404") == 1
    assert value(found, "palimpsest_http_requests_total", route="other", method="other", status="405") == 1


def test_verbs_are_counted_by_what_became_of_them_and_by_any_door(client, post, call):
    post("memory/remember", content="The ferry leaves at noon.")
    call("memory.remember", content="The ferry leaves at one.")
    post("kg/get", id="nobody")
    found = samples(client)
    assert value(found, "palimpsest_verb_calls_total", verb="memory.remember", outcome="ok") == 2
    assert value(found, "palimpsest_verb_calls_total", verb="kg.get", outcome="not_found") == 1
    assert value(found, "palimpsest_verb_seconds_count", verb="memory.remember") == 2
    assert value(found, "palimpsest_writes_total", verb="memory.remember") == 2
    assert value(found, "palimpsest_writes_total", verb="kg.get") == 0


def test_recalls_are_counted_by_outcome_and_their_stages_are_timed(client, post):
    post("memory/remember", content="The ferry to Larkspur leaves from pier four.")
    assert post("memory/recall", query="ferry to Larkspur pier four", min_score=0).json["results"]
    assert post("memory/recall", query="?!").json["reason"] == "meaningless_query"
    assert post("memory/recall", query="zebra crossing").json["abstained"]
    found = samples(client)
    assert value(found, "palimpsest_recalls_total", outcome="answered", reason="") == 1
    assert value(found, "palimpsest_recalls_total", outcome="abstained", reason="meaningless_query") == 1
    reasons = [
        value(found, "palimpsest_recalls_total", outcome="abstained", reason=r) for r in ("below_floor", "no_candidates")
    ]
    assert sum(reasons) == 1
    assert value(found, "palimpsest_recall_stage_seconds_count", stage="embed") == 3
    for stage in ("candidates", "fuse", "score", "serve"):
        assert value(found, "palimpsest_recall_stage_seconds_count", stage=stage) == 2


def test_a_leg_that_is_left_out_is_counted(service):
    metrics = Metrics(service)
    recall = service.dispatcher.find("memory.recall")
    body = {"results": [1], "abstained": False, "reason": None, "degraded": ["walk", "a new one"], "took_ms": {"x": 1.0}}
    metrics.called(recall, Answer(body), None, 0.1)
    metrics.called(recall, Answer(body | {"reason": "token_budget", "degraded": []}), None, 0.1)
    read = metrics.registry.get_sample_value
    assert read("palimpsest_recall_degraded_total", {"leg": "walk"}) == 1
    assert read("palimpsest_recall_degraded_total", {"leg": "other"}) == 1
    assert read("palimpsest_recall_stage_seconds_count", {"stage": "other"}) == 2
    assert read("palimpsest_recalls_total", {"outcome": "empty", "reason": "token_budget"}) == 1


def test_feedback_is_counted_by_signal(client, post):
    id = post("memory/remember", content="The ferry leaves at noon.").json["id"]
    post("memory/feedback", target_id=id, signal="useful")
    assert value(samples(client), "palimpsest_feedback_total", signal="useful", counted="true") == 1


def test_the_state_of_the_service_is_told(client, service):
    found = samples(client)
    assert value(found, "palimpsest_neo4j_up") == 1
    assert value(found, "palimpsest_neo4j_sessions") >= 0
    for queue in ("writes", "serves", "audit", "filling"):
        assert ("palimpsest_waiting", frozenset({("queue", queue)})) in found
    assert value(found, "palimpsest_lost_total", queue="audit") == service.audit.lost
    (build,) = [dict(labels) for name, labels in found if name == "palimpsest_build_info"]
    assert build.keys() == {"version", "python", "embedder"}
    assert value(found, "process_resident_memory_bytes") > 1 << 20


def test_neo4j_is_not_asked_by_a_scrape_while_others_ask_it(client, service, call, monkeypatch):
    call.note("The ferry leaves at noon.")
    asked = []
    monkeypatch.setattr(type(service.store), "_read", lambda *_: asked.append(1))
    monkeypatch.setattr(type(service.store), "ready", lambda *_: asked.append(1))
    assert value(samples(client), "palimpsest_neo4j_up") == 1
    assert asked == []


def test_after_a_silence_neo4j_is_asked_once(service, monkeypatch):
    asked = []
    monkeypatch.setattr(type(service.store), "ready", lambda *_: bool(asked.append(1)))
    monkeypatch.setattr(service.store, "_heard_at", time.monotonic() - 60)
    assert [service.store.up(), service.store.up()] == [False, False]
    assert len(asked) == 1
    monkeypatch.undo()
    service.store.rows("schema.applied")
    assert service.store.up()


def test_no_label_holds_what_people_wrote_nor_a_namespace(client, post, ns):
    post("memory/remember", content=SECRET, key="vault", tags=["secret-tag"])
    post("memory/recall", query=SECRET, actor="ada-lovelace")
    client.get(f"/{ns}/vault")
    text = client.get("/metrics").text
    for word in (ns, "vault", "combination", "secret-tag", "ada-lovelace"):
        assert word not in text


def test_openmetrics_is_given_to_who_asks_for_it(client):
    answer = client.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.content_type.startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")
    assert client.get("/metrics").content_type.startswith("text/plain")


def test_each_application_counts_for_itself(service, heard):
    one, other = (create_app(service, Settings(port=0)).test_client() for _ in range(2))
    one.get("/healthz")
    asked = {"route": "/healthz", "method": "GET", "status": "200"}
    assert value(samples(one), "palimpsest_http_requests_total", **asked) == 1
    assert value(samples(other), "palimpsest_http_requests_total", **asked) == 0


@pytest.fixture
def keyed(service, driver, heard):
    """By who reads the metrics, a client; and a way to make keys."""
    service.keys = KeyRing(service.store, fresh_s=0.0)

    def made(metrics):
        return create_app(service, Settings(auth="on", rate_per_minute=0, metrics=metrics)).test_client()

    def key(role):
        return {"Authorization": f"Bearer {keys.create(service.store, name='t', role=role, namespaces=['a'])[1]}"}

    yield made, key
    driver.execute_query("MATCH (k:ApiKey) DELETE k")
    service.keys = KeyRing(service.store)


def test_where_keys_are_needed_only_an_admin_reads_the_metrics(keyed):
    made, key = keyed
    client = made("key")
    assert client.get("/metrics").status_code == 401
    assert [client.get("/metrics", headers=key(role)).status_code for role in ("read", "write", "admin")] == [403, 403, 200]


def test_a_setting_opens_them_or_takes_them_away(keyed):
    made, key = keyed
    assert made("open").get("/metrics").status_code == 200
    assert made("off").get("/metrics", headers=key("admin")).status_code == 404


def test_a_key_that_asks_too_often_is_counted(service, driver, heard):
    service.keys = KeyRing(service.store, fresh_s=0.0)
    try:
        text = keys.create(service.store, name="t", role="read", namespaces=["a"])[1]
        client = create_app(service, Settings(auth="on", rate_per_minute=1, metrics="open")).test_client()
        headers = {"X-API-Key": text}
        assert [client.get("/v1/verbs", headers=headers).status_code for _ in range(3)] == [200, 429, 429]
        assert value(samples(client), "palimpsest_rate_limited_total") == 2
    finally:
        driver.execute_query("MATCH (k:ApiKey) DELETE k")
        service.keys = KeyRing(service.store)


def documented():
    """Name to labels, by the table in docs/operations.md."""
    section = (ROOT / "docs/operations.md").read_text("utf-8").partition("## Metrics")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(palimpsest_\w+)` \| (\w+) \| (.*?) \| (.+) \|$", section, re.MULTILINE)
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows}


def test_every_metric_is_documented_with_its_labels(client, post, call):
    """Of the families that are told, and of those that nothing has happened for yet."""
    id = post("memory/remember", content="The ferry to Larkspur leaves from pier four.").json["id"]
    post("memory/recall", query="ferry to Larkspur pier four", min_score=0)
    post("memory/feedback", target_id=id, signal="useful")
    found = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        if not family.name.startswith("palimpsest_"):
            continue
        labels = set().union(*(sample.labels for sample in family.samples)) - {"le"} if family.samples else set()
        shown = f"{family.name}_total" if family.type == "counter" else family.name
        if not shown.endswith("_created"):
            found[shown] = (family.type, labels)
    told = documented()
    for name, (kind, labels) in found.items():
        assert told.get(name, ("missing", set()))[0] == kind, name
        assert not labels or told[name][1] == labels, name
    assert told.keys() == found.keys()
