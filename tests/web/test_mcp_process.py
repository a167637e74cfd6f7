"""`palimpsest mcp` as a process of its own, on the real service: only protocol on stdout, a quick start, a clean end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_clients import connected

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from web.cli import main; main()", "mcp"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by-hand", "version": "1"}},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
CALL = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "history", "arguments": {"id": "nothing"}}}


def environment(home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PALIMPSEST_"))}
    kept |= {name: value for name, value in os.environ.items() if name == "PALIMPSEST_CACHE"}
    return kept | {
        "PALIMPSEST_HOME": str(home),
        "PALIMPSEST_EMBEDDER": "hashing",
        "PALIMPSEST_MULTILINGUAL": "off",
        "PYTHONPATH": str(ROOT),
        **more,
    }


@pytest.fixture
def started(tmp_path):
    processes = []

    def start(*words, home=tmp_path, **more):
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [*COMMAND, *words], env=environment(home, **more), text=True, stdin=pipe, stdout=pipe, stderr=pipe
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def say(process, *messages):
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def heard(process):
    return json.loads(process.stdout.readline())


def test_over_stdio_a_memory_is_kept_recalled_and_superseded(service, ns):
    """Beside the service that runs already, on the same Neo4j, in the namespace that the command names."""
    words = [*COMMAND[1:], "--namespace", ns]
    made = StdioServerParameters(command=COMMAND[0], args=words, env=environment(service.settings.home))
    with connected(stdio_client(made)) as session:
        assert len(session.tools()) == 8
        old = session.told("remember", content="Deploys happen on Thursdays at ten, from the release branch.")["id"]
        new = session.told("supersede", content="No, Tuesdays now.", supersedes=[old])["id"]
        hits = session.told("recall", query="when do deploys happen from the release branch")["results"]
        assert [hit["id"] for hit in hits] == [new]
        assert session.refused("recall", query="x", limit=0)["errors"][0]["field"] == "limit"
    assert service.dispatcher.call("kg.get", {"id": new}, ns=ns).body["content"] == "No, Tuesdays now."


def test_the_handshake_and_the_tools_need_no_database_and_a_call_says_what_is_wrong(started):
    process = started(NEO4J_URI="bolt://127.0.0.1:1", NEO4J_PASSWORD="x")
    say(process, HELLO)
    assert heard(process)["result"]["serverInfo"]["name"] == "palimpsest"
    say(process, READY, LIST)
    assert len(heard(process)["result"]["tools"]) == 8
    say(process, CALL)
    found = heard(process)["result"]
    assert found["isError"]
    assert found["structuredContent"]["code"] == "store_unavailable"
    process.stdin.close()
    assert process.wait(10) == 0
    assert process.stdout.read() == ""


def test_stdin_that_ends_while_the_graph_is_opened_ends_it(started):
    process = started()
    say(process, HELLO, READY, LIST)
    assert [heard(process)["id"] for _ in range(2)] == [1, 2]
    time.sleep(1)
    asked = time.monotonic()
    process.stdin.close()
    assert process.wait(30) == 0, process.stderr.read()
    assert time.monotonic() - asked < 20
    assert process.stdout.read() == ""


def test_a_signal_ends_it_though_stdin_is_open(started, service):
    process = started(home=service.settings.home)
    say(process, HELLO, READY, LIST, CALL)
    assert [heard(process)["id"] for _ in range(3)] == [1, 2, 3]
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    logged = [json.loads(line) for line in process.stderr.read().splitlines()]
    assert not [line for line in logged if line["level"] == "error"]


def test_over_http_it_says_where_it_serves_and_ends_on_a_signal(started, service, ns):
    process = started("--http", "--port", "0", "--namespace", ns, "--json", home=service.settings.home)
    url = json.loads("".join(process.stdout.readline() for _ in range(3)))["url"]
    with connected(url) as session:
        id = session.told("remember", content="The pump of hall four leaks.")["id"]
    assert service.dispatcher.call("kg.get", {"id": id}, ns=ns).body["id"] == id
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert process.stdout.read() == ""
    assert json.loads(process.stderr.read().splitlines()[-1])["message"] == "stopped"


def test_a_namespace_that_is_none_is_refused_at_once(started):
    process = started("--namespace", "a b")
    assert process.wait(20) == 2
    assert process.stderr.read() == "palimpsest: namespace: must be 1 to 128 of A-Z a-z 0-9 . _ : -\n"


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_lines_by_hand_from_a_client_of_another_language(service, ns, tmp_path):
    """A client without any SDK, in JavaScript: what goes over the pipe is what the specification says."""
    script = tmp_path / "client.mjs"
    script.write_text(JAVASCRIPT)
    command = json.dumps([*COMMAND, "--namespace", ns, "--profile", "reference"])
    run = subprocess.run(
        ["node", str(script), command], env=environment(service.settings.home), capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "entities": [{"name": "Ada", "entityType": "person", "observations": ["Wrote the first program"]}],
        "relations": [],
    }


JAVASCRIPT = """
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
const [command, ...args] = JSON.parse(process.argv[2]);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map();
createInterface({ input: server.stdout }).on('line', line => {
  const message = JSON.parse(line);
  if (message.jsonrpc !== '2.0') throw new Error(line);
  waiting.get(message.id)(message.result);
});
let id = 0;
const send = message => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const ask = (method, params) => new Promise(done => { waiting.set(++id, done); send({ id, method, params }); });
const call = (name, args) => ask('tools/call', { name, arguments: args });
const clientInfo = { name: 'by-hand', version: '1' };
await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
send({ method: 'notifications/initialized' });
await ask('tools/list', {});
const entity = { name: 'Ada', entityType: 'person', observations: ['Wrote the first program'] };
await call('create_entities', { entities: [entity] });
const found = await call('open_nodes', { names: ['Ada'] });
console.log(found.content[0].text);
server.stdin.end();
server.on('exit', code => process.exit(code));
"""
