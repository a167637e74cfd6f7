"""MCP over HTTP: keys, roles, namespaces, and who is not let in; by the SDK's client and by hand."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import asynccontextmanager, closing, contextmanager

import httpx2
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp_clients import connected

from graph import keys
from graph.errors import SettingsError
from graph.keys import KeyRing
from graph.settings import Settings
from web.mcp import http as door
from web.serve import bind

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by-hand", "version": "1"}},
}


class Running:
    """A server in a thread."""

    def __init__(self, service, settings, ns):
        self.sock = bind(settings)
        self.server = door.Server(service, settings, self.sock, profile="core", ns=ns)
        self.port = self.sock.getsockname()[1]
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def post(self, body=HELLO, path="/mcp", **headers):
        """Status, headers and decoded body."""
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("POST", path, json.dumps(body), given)
            answer = connection.getresponse()
            return answer.status, answer.headers, json.loads(answer.read() or b"null")

    @contextmanager
    def client(self, mode="auto", **headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        with connected(transport(self.server.url, given), mode=mode) as session:
            yield session

    def stop(self):
        self.server.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


@asynccontextmanager
async def transport(url, headers):
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as made,
        streamable_http_client(url, http_client=made) as streams,
    ):
        yield streams


@pytest.fixture(scope="module")
def running(service):
    """Without keys."""
    found = Running(service, Settings(port=0, auth="off"), "mcp-http-default")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def guarded(service):
    """With keys; `make("write", ns)` gives the text of one."""
    service.keys = KeyRing(service.store, fresh_s=0.0)
    found = Running(service, Settings(port=0, auth="on", rate_per_minute=0), "default")

    def make(role, *namespaces):
        return keys.create(service.store, name="t", role=role, namespaces=namespaces)[1]

    yield found, make
    found.stop()
    service.keys = KeyRing(service.store)


@pytest.fixture(scope="module", autouse=True)
def _no_keys_stay(driver):
    yield
    driver.execute_query("MATCH (k:ApiKey) DELETE k")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_memory_is_kept_recalled_and_superseded(running, ns, mode):
    with running.client(mode, X_Namespace=ns) as session:
        assert len(session.tools()) == 8
        old = session.told("remember", content="Deploys happen on Thursdays at ten, from the release branch.")["id"]
        new = session.told("supersede", content="No, Tuesdays now.", supersedes=[old])["id"]
        hits = session.told("recall", query="when do deploys happen from the release branch")["results"]
        assert [hit["id"] for hit in hits] == [new]
        assert session.refused("recall", query="x", limit=0)["errors"][0]["field"] == "limit"


def test_the_namespace_is_the_headers_else_that_of_the_command(running, ns):
    with running.client(X_Namespace=ns) as session:
        id = session.told("remember", content="The vault's number is nine.")["id"]
    with running.client() as session:
        assert session.refused("history", id=id)["code"] == "not_found"
        mine = session.told("remember", content="The vault's number is ten.")["id"]
    with running.client(X_Namespace="mcp-http-default") as session:
        assert session.told("history", id=mine)["results"]


def test_a_namespace_that_is_none_is_refused(running, guarded, ns):
    for server, headers in ((running, {}), (guarded[0], {"Authorization": f"Bearer {guarded[1]('read', '*')}"})):
        status, _, body = server.post(**headers, X_Namespace="a b")
        assert (status, body["errors"][0]["field"]) == (422, "namespace")


def test_no_key_or_a_bad_one_is_401(guarded, ns):
    running, make = guarded
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer {make('read', ns)[:-2]}__"}):
        status, found, body = running.post(**headers)
        assert (status, body["code"]) == (401, "unauthenticated")
        assert found["WWW-Authenticate"] == "Bearer"
        assert found["Content-Type"] == "application/problem+json"


def test_a_key_decides_on_the_namespace(guarded, call, ns):
    running, make = guarded
    with running.client(Authorization=f"Bearer {make('write', ns)}") as session:
        id = session.told("remember", content="The vault's number is nine.")["id"]
    assert call("kg.get", id=id)["id"] == id
    other = make("write", f"{ns}-other")
    with running.client(Authorization=f"Bearer {other}") as session:
        assert session.refused("forget", id=id)["code"] == "not_found"
    status, _, body = running.post(Authorization=f"Bearer {other}", X_Namespace=ns)
    assert (status, body["code"]) == (403, "forbidden")


def test_a_role_sees_and_reaches_only_its_tools(guarded, ns):
    running, make = guarded
    with running.client(Authorization=f"Bearer {make('read', ns)}") as session:
        assert list(session.tools()) == ["recall", "history"]
        assert session.told("recall", query="anything")["results"] == []
        assert session.refused("remember", content="x")["code"] == "forbidden"
        assert session.refused("context", description="x")["code"] == "forbidden"
    with running.client(X_API_Key=make("write", ns)) as session:
        assert len(session.tools()) == 8


def test_what_a_key_writes_is_in_the_audit(guarded, service, ns, by_hand):
    running, make = guarded
    text = make("write", ns)
    with running.client(Authorization=f"Bearer {text}") as session:
        session.told("remember", content="The vault's number is nine.")
        session.refused("forget", id="no-such")
        session.told("recall", query="the vault's number")
    found = audited(by_hand)
    assert found == [("memory.remember", 200), ("kg.delete", 404)]


def audited(by_hand):
    for _ in range(100):
        rows = by_hand("MATCH (a:Audit {ns: $ns}) RETURN a.verb AS verb, a.status AS status ORDER BY a.id")
        if len(rows) == 2:
            break
        threading.Event().wait(0.1)
    return [(row["verb"], row["status"]) for row in rows]


def test_a_session_serves_only_the_key_that_opened_it(guarded, ns):
    running, make = guarded
    mine, theirs = make("write", ns), make("write", ns)
    status, headers, _ = running.post(Authorization=f"Bearer {mine}")
    assert status == 200
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    session = {"Mcp_Session_Id": headers["mcp-session-id"], "MCP_Protocol_Version": "2025-06-18"}
    assert running.post(ask, Authorization=f"Bearer {theirs}", **session)[0] == 404
    assert running.post(ask, Authorization=f"Bearer {mine}", **session)[0] == 200


def test_a_key_that_asks_too_often_is_told_when_again(service, ns, guarded):
    _, make = guarded
    running = Running(service, Settings(port=0, auth="on", rate_per_minute=2), "default")
    text = make("read", ns)
    try:
        assert [running.post(Authorization=f"Bearer {text}")[0] for _ in range(2)] == [200, 200]
        status, headers, body = running.post(Authorization=f"Bearer {text}")
    finally:
        running.stop()
    assert (status, body["code"]) == (429, "rate_limited")
    assert int(headers["Retry-After"]) >= 1


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "memory.example"},
        {"Host": "127.0.0.1.example.org:8766"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://[bad"},
    ],
)
def test_pages_of_elsewhere_are_refused(running, headers):
    status, _, body = running.post(**headers)
    assert (status, body["code"]) == (403, "forbidden")


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://localhost:6274"}, {"Host": "localhost:1"}])
def test_this_machine_is_let_in(running, headers):
    status, _, body = running.post(**headers)
    assert status == 200
    assert body["result"]["serverInfo"]["name"] == "palimpsest"
    assert "lasting memory" in body["result"]["instructions"]


def test_with_keys_another_host_is_answered_but_no_page_of_elsewhere(guarded, ns):
    running, make = guarded
    bearer = {"Authorization": f"Bearer {make('read', ns)}", "Host": "memory.example"}
    assert running.post(**bearer)[0] == 200
    assert running.post(**bearer, Origin="https://memory.example")[0] == 200
    assert running.post(**bearer, Origin="https://evil.example")[0] == 403


def test_other_addresses_are_404_and_health_is_open(guarded):
    running, _ = guarded
    assert running.post(path="/")[2]["code"] == "not_found"
    assert running.post(path="/healthz")[2] == {"status": "ok"}


def test_a_body_past_the_limit_is_413(service, ns):
    running = Running(service, Settings(port=0, auth="off", max_body_mb=1), ns)
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)) as connection:
            connection.request("POST", "/mcp", b"x" * ((1 << 20) + 1), {"Content-Type": "application/json"})
            assert connection.getresponse().status == 413
    finally:
        running.stop()


def test_an_address_that_others_reach_is_refused_without_a_key(service, driver):
    driver.execute_query("MATCH (k:ApiKey) DELETE k")
    service.keys = KeyRing(service.store, fresh_s=0.0)
    settings = Settings(host="0.0.0.0", port=0)
    with bind(settings) as sock, pytest.raises(SettingsError, match="there is no API key"):
        door.Server(service, settings, sock, profile="core", ns="default")
