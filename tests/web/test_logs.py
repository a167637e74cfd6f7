"""Log lines: one a request, as JSON, with what an operator needs and nothing that people wrote."""

from __future__ import annotations

import json
import logging

import pytest

from graph import keys
from graph.keys import KeyRing
from graph.settings import Settings
from web.app import create_app
from web.serve import JsonLines, configure_logging

NOTE = "The combination of the vault is twelve, forty, three."
QUERY = "combination of the vault"


@pytest.fixture
def key(service, driver, ns):
    service.keys = KeyRing(service.store, fresh_s=0.0)
    yield keys.create(service.store, name="the vault's", role="write", namespaces=[ns])
    driver.execute_query("MATCH (k:ApiKey) DELETE k")
    service.keys = KeyRing(service.store)


@pytest.fixture
def logged(service, key):
    """A way to send a verb with the key, and the lines that it logged."""
    client = create_app(service, Settings(auth="on", port=0)).test_client()
    lines = []

    class Kept(logging.Handler):
        def emit(self, record):
            lines.append(JsonLines().format(record))

    handler, root = Kept(logging.INFO), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)

    def post(verb, **body):
        lines.clear()
        headers = {"X-API-Key": key[1], "X-Request-Id": "r-17", "X-Actor": "ada-lovelace"}
        client.post(f"/v1/{verb}?{QUERY}", json=body, headers=headers)
        return list(lines)

    yield post
    root.removeHandler(handler)
    root.setLevel(before)


def access(lines):
    return [line for line in map(json.loads, lines) if line["logger"] == "web.access"]


def test_a_request_has_one_line_with_its_verb_status_time_id_and_key(logged, key):
    (line,) = access(logged("memory/recall", query=QUERY))
    assert line.pop("ms") > 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "web.access",
        "message": "request",
        "request_id": "r-17",
        "method": "POST",
        "verb": "memory.recall",
        "path": "/v1/memory/recall",
        "status": 200,
        "key": key[0].id,
    }


def test_a_refused_request_has_its_line_too(logged):
    (line,) = access(logged("memory/vacuum"))
    assert (line["verb"], line["status"]) == ("memory.vacuum", 403)
    (line,) = access(logged("memory/recall", query=3))
    assert (line["verb"], line["status"]) == ("memory.recall", 422)


def test_no_line_holds_what_people_wrote_nor_a_key(logged, key, ns):
    lines = logged("memory/remember", content=NOTE, key="the-vault", tags=["secret-tag"])
    lines += logged("memory/remember", content="another", key="the-vault")
    lines += logged("memory/recall", query=QUERY, min_score=0)
    lines += logged("memory/recall", query=QUERY, config={"mood": "a vault"})
    assert len(access(lines)) == 4
    text = "\n".join(lines)
    for word in ("combination", "vault", "secret-tag", "ada-lovelace", key[1], key[1].split("_", 2)[2]):
        assert word not in text


def test_what_is_logged_while_a_request_is_worked_on_has_its_id(service, client):
    record = logging.makeLogRecord({"name": "recall.pipeline", "msg": "a leg is left out", "levelno": logging.WARNING})
    assert "request_id" not in json.loads(JsonLines().format(record))
    app = client.application
    seen = []
    app.before_request(lambda: seen.append(json.loads(JsonLines().format(record))))
    client.get("/healthz", headers={"X-Request-Id": "r-18"})
    assert seen[0]["request_id"] == "r-18"


@pytest.mark.parametrize(("level", "shown"), [("info", ["one", "two"]), ("warning", ["two"])])
def test_the_level_is_a_setting(level, shown, capsys):
    root = logging.getLogger()
    handlers, before = list(root.handlers), root.level
    try:
        configure_logging(Settings.from_environment({"PALIMPSEST_LOG": level}).log)
        logging.getLogger("web").info("one")
        logging.getLogger("web").warning("two")
    finally:
        root.handlers[:] = handlers
        root.setLevel(before)
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == shown
