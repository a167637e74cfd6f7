"""The app behind waitress, over real sockets."""

import http.client
import json
import socket
import threading
import time
from contextlib import closing

import fake_service
import pytest

from graph.errors import PortTaken, SettingsError
from graph.settings import Settings
from web import serve
from web.serve import Server, bind

LIMIT = 1 << 20  # of the fixture's settings


class Running:
    """A server in a thread."""

    def __init__(self, service, settings):
        self.sock = bind(settings)
        self.server = Server(service, settings, self.sock)
        self.port = self.sock.getsockname()[1]
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def connect(self):
        return closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20))

    def raw(self, sent):
        """All that comes back for `sent`, until the server ends the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as sock:
            sock.sendall(sent)
            answer = b""
            while part := sock.recv(65_536):
                answer += part
        return answer

    def stop(self):
        self.server.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.fixture
def running(fake, settings):
    fake_service.STARTED.clear()
    found = Running(fake, settings)
    yield found
    if found.thread.is_alive():
        found.stop()


HEADERS = {"Content-Type": "application/json"}


def post(connection, verb, body):
    connection.request("POST", f"/v1/{verb}", body if isinstance(body, bytes) else json.dumps(body), HEADERS)
    return connection.getresponse()


def problem_of(answer):
    assert answer.getheader("Content-Type") == "application/problem+json"
    found = json.loads(answer.read())
    assert found["request_id"] == answer.getheader("X-Request-Id")
    return found


def test_one_connection_serves_many_requests(running):
    with running.connect() as connection:
        connection.connect()
        first = connection.sock
        for _ in range(3):
            assert post(connection, "memory/remember", {"content": "x"}).read()
            assert connection.sock is first


def test_the_server_does_not_say_what_it_is_made_of(running):
    with running.connect() as connection:
        assert post(connection, "memory/remember", {"content": "x"}).getheader("Server") is None


def test_proxy_headers_of_callers_are_not_believed(running):
    with running.connect() as connection:
        connection.request(
            "GET", "/healthz", headers={"X-Forwarded-Host": "elsewhere.example", "X-Forwarded-Proto": "https"}
        )
        assert connection.getresponse().status == 200


def test_a_body_of_exactly_the_limit_is_read(running):
    shell = len(json.dumps({"content": ""}))
    with running.connect() as connection:
        assert post(connection, "memory/remember", {"content": "x" * (LIMIT - shell)}).status == 201


def test_a_body_past_the_limit_is_refused_before_it_is_sent(running):
    with running.connect() as connection:
        connection.putrequest("POST", "/v1/memory/remember")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        answer = connection.getresponse()
        assert answer.status == 413
        found = problem_of(answer)
        assert found["code"] == "too_large"
        assert f"{LIMIT:,} bytes" in found["detail"]


def test_a_body_past_the_limit_is_not_asked_for(running):
    asking = b"Expect: 100-continue\r\n\r\n"
    head = b"POST /v1/memory/remember HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % (LIMIT + 1)
    assert running.raw(head + asking).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(running, chunked):
    body = b'{"content": "' + b"x" * (30 * LIMIT) + b'"}'
    with running.connect() as connection:
        if chunked:
            parts = (body[at : at + 100_000] for at in range(0, len(body), 100_000))
            connection.request("POST", "/v1/memory/remember", parts, HEADERS, encode_chunked=True)
        else:
            connection.request("POST", "/v1/memory/remember", body, HEADERS)
        answer = connection.getresponse()
        assert answer.status == 413
        assert problem_of(answer)["code"] == "too_large"


def hung_up_on(sock):
    """Whether what is sent comes back as a reset before long."""
    for _ in range(100):
        try:
            sock.sendall(b"x")
        except ConnectionError:
            return True
        time.sleep(0.1)
    return False


def test_a_refused_client_that_stays_is_hung_up_on(running, monkeypatch):
    monkeypatch.setattr("web.channel.LINGER_S", 0.1)
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n")
        while sock.recv(65_536):
            pass
        assert hung_up_on(sock)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400, "bad_request"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n", 400, "bad_request"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "not_implemented"),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET /v1/verbs HTTP/1.0\r\nConnection: close\r\n\r\n", 403, "forbidden"),
    ],
)
def test_what_is_no_proper_request_is_refused_in_the_same_form(running, sent, status, code):
    head, _, body = running.raw(sent).partition(b"\r\n\r\n")
    assert int(head.split()[1]) == status
    assert b"Content-Type: application/problem+json" in head
    assert b"X-Content-Type-Options: nosniff" in head
    assert b"X-Frame-Options: DENY" in head
    assert json.loads(body)["code"] == code


def test_an_encoded_path_leads_nowhere_else(running):
    with running.connect() as connection:
        assert post(connection, "memory/..%2f..%2fetc", {}).status == 404


def test_a_running_request_has_its_answer_before_the_server_ends(running):
    with running.connect() as idle, running.connect() as connection:
        idle.connect()
        connection.request("POST", "/v1/memory/slow", json.dumps({"content": "0.5"}), HEADERS)
        assert fake_service.STARTED.wait(10)
        running.server.stop()
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["content"]) == (200, "done")
        running.thread.join(5)
        assert not running.thread.is_alive()
    with pytest.raises(ConnectionRefusedError), running.connect() as late:
        late.connect()


def test_a_request_that_does_not_end_holds_the_end_up_only_so_long(running, monkeypatch):
    monkeypatch.setattr(serve, "FINISH_S", 0.2)
    with running.connect() as connection:
        connection.request("POST", "/v1/memory/slow", json.dumps({"content": "8"}), HEADERS)
        assert fake_service.STARTED.wait(10)
        started = time.monotonic()
        running.stop()
        assert time.monotonic() - started < 5


def test_a_port_that_is_taken_is_named_with_what_to_do(running):
    with pytest.raises(PortTaken, match=rf"port {running.port} on 127.0.0.1 is taken.*--port or PALIMPSEST_PORT"):
        bind(Settings(port=running.port))


def test_of_two_services_that_start_at_once_the_later_says_that_the_port_is_taken(fake):
    def start(settings):
        with bind(settings) as sock:  # some systems refuse here, the others when it listens
            first.listen()
            Server(fake, settings, sock)

    with bind(Settings(port=0)) as first:
        settings = Settings(port=first.getsockname()[1])
        with pytest.raises(PortTaken, match="is taken by another program"):
            start(settings)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_is_refused_without_a_key(fake, host):
    settings = Settings(host=host, port=0)
    with (
        bind(settings) as sock,
        pytest.raises(SettingsError, match="there is no API key"),
    ):
        Server(fake, settings, sock)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org", "127.0.0.1.example.org"])
def test_an_address_that_others_reach_is_refused_where_keys_are_turned_off(host):
    with pytest.raises(SettingsError, match="PALIMPSEST_AUTH=off: must be auto or on"):
        bind(Settings(host=host, auth="off"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost"])
def test_loopback_addresses_are_bound(host):
    with bind(Settings(host=host, port=0)) as sock:
        assert sock.getsockname()[1] > 0
