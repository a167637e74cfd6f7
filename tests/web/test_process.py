"""`palimpsest serve` as a process of its own, on a service without a database."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def started(tmp_path):
    processes = []

    def start(*words, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PALIMPSEST_"))}
        environment |= {"PALIMPSEST_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), **variables}
        command = [sys.executable, str(Path(__file__).with_name("fake_service.py")), "serve", *words]
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def serving(start, *words):
    """The process, and its port, once it serves."""
    process = start("--port", "0", "--json", *words)
    lines = [process.stdout.readline() for _ in range(4)]
    return process, int(json.loads("".join(lines))["url"].rpartition(":")[2])


def log_of(process):
    """What the process wrote after it served, and its log lines. It must have ended, and well."""
    written, logged = process.communicate(timeout=20)
    assert process.returncode == 0, logged
    return written, [json.loads(line) for line in logged.splitlines()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_the_service_closed_and_exit_code_0(started, number):
    process, _ = serving(started)
    asked = time.monotonic()
    process.send_signal(number)
    written, lines = log_of(process)
    assert written == "closed\n"
    assert lines[-1]["message"] == "stopped"
    assert time.monotonic() - asked < 5


def test_a_request_that_runs_at_the_signal_has_its_answer(started):
    process, port = serving(started)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        headers = {"Content-Type": "application/json", "X-Request-Id": "the-last"}
        connection.request("POST", "/v1/memory/slow", '{"content": "1"}', headers)
        time.sleep(0.4)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["content"]) == (200, "done")
    written, lines = log_of(process)
    assert written == "closed\n"
    [line] = [line for line in lines if line.get("request_id") == "the-last"]
    assert (line["method"], line["path"], line["status"]) == ("POST", "/v1/memory/slow", 200)
    assert line["ms"] >= 1000
    assert line["time"].endswith("Z")


def test_a_failure_inside_is_logged_on_one_line_with_its_traceback(started):
    process, port = serving(started)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", "/v1/memory/fail", '{"content": "unforeseen"}', {"Content-Type": "application/json"})
        request_id = json.loads(connection.getresponse().read())["request_id"]
    process.send_signal(signal.SIGTERM)
    _, lines = log_of(process)
    [line] = [line for line in lines if line["level"] == "error"]
    assert line["request_id"] == request_id
    assert "ZeroDivisionError" in line["trace"]


def test_a_signal_while_the_graph_opens_ends_it_at_once(started):
    process = started("--port", "0", PALIMPSEST_EMBEDDER="slow-to-open")
    assert process.stdout.readline() == "opening\n"
    process.send_signal(signal.SIGTERM)
    log_of(process)


def test_the_port_opens_when_the_graph_is_ready_and_a_taken_one_is_told_at_once(started):
    _, port = serving(started)
    second = started("--port", str(port), PALIMPSEST_EMBEDDER="slow-to-open")
    written, told = second.communicate(timeout=20)
    assert (second.returncode, written) == (1, "")  # it did not begin to open the graph
    assert told == (
        f"palimpsest: port {port} on 127.0.0.1 is taken by another program: end it, or choose another with --port or "
        "PALIMPSEST_PORT (0 takes a free one)\n"
    )


def test_the_variables_are_honoured_and_options_win(started):
    process = started("--json", PALIMPSEST_PORT="0", PALIMPSEST_HOST="0.0.0.0")
    assert "there is no API key" in process.communicate(timeout=20)[1]
    assert process.returncode == 2
    process = started("--json", "--host", "127.0.0.1", PALIMPSEST_PORT="0", PALIMPSEST_HOST="0.0.0.0")
    assert process.stdout.readline() == "{\n"
