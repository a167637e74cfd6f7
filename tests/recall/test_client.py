"""The clients against a server that answers as it is told: what is tried again, what is not, and which error it becomes."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graph import errors
from recall import AsyncClient, Client, client, problems
from recall.client import safe

KEYED = {"content": "x", "key": "k"}


class Script(ThreadingHTTPServer):
    """Answers (status, headers, body) in turn, the last one again and again; `seen` has what came."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.seen = [(200, {}, {})], []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def says(self, *answers):
        self.answers = [(status, headers, body) for status, headers, body in answers]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        answers = self.server.answers
        status, headers, found = answers.pop(0) if len(answers) > 1 else answers[0]
        if status == "slow":
            time.sleep(headers)
            return
        if status == "gone":
            self.connection.close()
            return
        sent = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(sent)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


@pytest.fixture
def script():
    with Script() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def problem(code, status, **more):
    return {"code": code, "status": status, "detail": f"words of {code}", "request_id": "r-1", **more}


AWAY = (503, {"Retry-After": "0"}, problem("store_unavailable", 503))
FULL = (429, {"Retry-After": "0"}, problem("rate_limited", 429))
TIED = (409, {"Retry-After": "0"}, problem("store_conflict", 409))
DONE = (200, {}, {"id": "1"})


@pytest.mark.parametrize(
    ("verb", "body", "answer", "tries"),
    [
        ("memory.recall", {"query": "x"}, AWAY, 2),
        ("memory.recall", {"query": "x"}, FULL, 2),
        ("memory.remember", KEYED, AWAY, 2),
        ("memory.remember", {"items": [KEYED, KEYED]}, AWAY, 2),
        ("memory.remember", {"content": "x"}, FULL, 2),
        ("memory.remember", {"content": "x"}, TIED, 2),
        ("memory.remember", {"content": "x"}, AWAY, 1),
        ("memory.remember", {"items": [KEYED, {"content": "x"}]}, AWAY, 1),
        ("kg.delete", {"id": "1"}, AWAY, 1),
        ("memory.recall", {"query": "x"}, (503, {}, problem("statement_failed", 503)), 1),
        ("memory.recall", {"query": "x"}, (503, {"Retry-After": "60"}, problem("store_unavailable", 503)), 1),
        ("memory.recall", {"query": "x"}, (500, {}, problem("internal", 500)), 1),
        ("kg.get", {"id": "1"}, (404, {}, problem("not_found", 404)), 1),
    ],
)
def test_what_may_be_tried_again_is(script, verb, body, answer, tries):
    script.says(answer, DONE)
    with Client(script.url) as asked:
        if tries == 2:
            assert asked.call(verb, body) == {"id": "1"}
        else:
            with pytest.raises(errors.PalimpsestError):
                asked.call(verb, body)
    assert [(path, seen) for path, _, seen in script.seen] == [(f"/v1/{verb.replace('.', '/')}", body)] * tries


def test_it_gives_up_after_so_many_tries(script):
    script.says(AWAY)
    with Client(script.url, tries=3) as asked, pytest.raises(errors.StoreUnavailable, match="words of store_unavailable"):
        asked.recall("x")
    assert len(script.seen) == 3


def test_it_waits_as_long_as_it_is_told(script):
    script.says((503, {"Retry-After": "1"}, problem("store_unavailable", 503)), DONE)
    started = time.monotonic()
    with Client(script.url) as asked:
        asked.recall("x")
    assert 1 <= time.monotonic() - started < 3


def test_a_connection_that_breaks_is_tried_again_only_where_twice_is_as_once(script):
    script.says(("gone", None, None), DONE)
    with Client(script.url) as asked:
        assert asked.recall("x") == {"id": "1"}
        script.says(("gone", None, None), DONE)
        with pytest.raises(errors.StoreUnavailable, match="does not answer"):
            asked.remember("x")
    assert len(script.seen) == 3


def test_an_answer_that_takes_too_long_is_a_timeout(script):
    script.says(("slow", 1.0, None))
    with Client(script.url, timeout_s=0.2) as asked, pytest.raises(errors.StoreTimeout, match="does not answer"):
        asked.recall("x")
    assert len(script.seen) == 1


def test_nobody_there_is_tried_again_and_said(monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT_S", 0.01)
    with (
        Client("http://127.0.0.1:1") as asked,
        pytest.raises(errors.StoreUnavailable, match=r"service at http://127.0.0.1:1"),
    ):
        asked.remember("x")


def test_async_tries_again_too(script):
    async def ask():
        async with AsyncClient(script.url) as asked:
            script.says(AWAY, DONE)
            assert await asked.recall("x") == {"id": "1"}
            script.says(("gone", None, None), DONE)
            with pytest.raises(errors.StoreUnavailable):
                await asked.remember("x")

    asyncio.run(ask())


def test_headers_say_who_asks(script):
    with Client(script.url, key="secret", namespace="team-a", actor="Zoë") as asked:
        asked.recall("x")
    headers = script.seen[0][1]
    assert headers["Authorization"] == "Bearer secret"
    assert headers["X-Namespace"] == "team-a"
    assert headers["X-Actor"].encode("latin-1").decode() == "Zoë"
    assert "secret" not in repr(asked._options)


def test_address_and_key_come_from_the_environment(script, monkeypatch):
    monkeypatch.setenv("PALIMPSEST_URL", script.url + "/")
    monkeypatch.setenv("PALIMPSEST_KEY", "from-outside")
    with Client() as asked:
        asked.recall("x")
    path, headers, _ = script.seen[0]
    assert path == "/v1/memory/recall"
    assert headers["Authorization"] == "Bearer from-outside"
    assert "X-Namespace" not in headers


def leaves():
    return sorted(problems.CLASSES.items())


@pytest.mark.parametrize(("code", "kind"), leaves(), ids=[code for code, _ in leaves()])
def test_every_code_becomes_its_class(code, kind):
    more = {"errors": [{"field": "f", "message": "m"}], "allowed": ["a"], "existing_id": "e", "chain": ["x", "y"]}
    found = problems.error_of(problem(code, 400, **more), 400, 7)
    assert type(found) is kind
    assert found.code == code
    assert found.__notes__ == ["request r-1"]
    for name, value in more.items():
        assert name not in found.details or found.details[name] == (
            value if name != "errors" or kind is errors.ValidationFailed else found.details["errors"]
        )
    if kind is errors.RateLimited:
        assert found.retry_after_s == 7


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.Unauthenticated),
        (404, errors.NotFound),
        (405, errors.RequestError),
        (418, errors.RequestError),
        (502, errors.PalimpsestError),
        (503, errors.StoreUnavailable),
        (504, errors.StoreTimeout),
    ],
)
def test_what_a_proxy_answers_becomes_the_next_best_class(script, status, kind):
    script.says((status, {}, b"<html>no JSON</html>"))
    with Client(script.url, tries=1) as asked, pytest.raises(kind, match=f"answered {status}") as caught:
        asked.recall("x")
    assert type(caught.value) is kind


def test_what_is_no_json_is_refused_before_it_is_sent(script):
    with Client(script.url) as asked, pytest.raises(errors.ValidationFailed, match="must be JSON values"):
        asked.remember("x", properties={"a": object()})
    assert script.seen == []


def test_every_verb_that_reads_counts_as_safe(service):
    """A new verb has to be told of: reading ones are safe, the others only where the clients say why."""
    reads = {verb.name for verb in service.dispatcher.every() if verb.role == "read" and verb.illocution == "assertive"}
    assert {name for name in reads if not safe(name, {})} <= {"context.build"}
