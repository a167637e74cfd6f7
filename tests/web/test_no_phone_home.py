"""The service talks to its Neo4j and to nobody else: every connection of a process that serves is watched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.conftest import Caller

ROOT = Path(__file__).parents[2]
SERVING = """
import json, socket, sys, threading
reached, asked = set(), set()

def watch(event, args):
    if event in ("socket.connect", "socket.sendto") and args[0].family != getattr(socket, "AF_UNIX", None):
        reached.add(args[-1][:2])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        asked.add(str(args[0]))

sys.addaudithook(watch)
import http.client
from graph.settings import Settings
from recall.service import open_service
from web.serve import Server, bind
settings = Settings.from_environment(port=0)
ns, statuses = sys.argv[1], []
with bind(settings) as sock:
    service = open_service(settings)
    server = Server(service, settings, sock)
    running = threading.Thread(target=server.run)
    running.start()
    port = int(server.url.rpartition(":")[2])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def send(method, path, **body):
        headers = {"Content-Type": "application/json", "X-Namespace": ns}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        statuses.append(answer.status)
        return answer.read()

    id = json.loads(send("POST", "/v1/memory/remember", content="The ferry to Larkspur leaves from pier four."))["id"]
    found = json.loads(send("POST", "/v1/memory/recall", query="ferry to Larkspur pier four", min_score=0))
    send("POST", "/v1/memory/feedback", target_id=id, signal="useful", serve_id=found["serve_id"])
    task = json.loads(send("POST", "/v1/context/task_start", description="Where does the ferry leave from?"))["id"]
    send("POST", "/v1/context/build", task_id=task, window=2400)
    for path in ("/", "/metrics", "/readyz", "/docs", "/v1/analytics/hubs", "/openapi.json"):
        send("GET", path)
    connection.close()
    server.stop()
    running.join()
    service.close()
print(json.dumps({"port": port, "reached": sorted(reached), "asked": sorted(asked), "statuses": statuses}))
"""


def test_a_service_that_serves_and_recalls_reaches_its_neo4j_and_nothing_else(service, ns, tmp_path):
    endpoint = service.endpoint
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PALIMPSEST_", "OTEL_"))
    }
    environment |= {
        "PALIMPSEST_HOME": str(tmp_path),
        "PALIMPSEST_CACHE": str(service.settings.cache),
        "PALIMPSEST_EMBEDDER": "hashing",
        "PALIMPSEST_MULTILINGUAL": "off",
        "NEO4J_URI": endpoint.uri,
        "NEO4J_USERNAME": endpoint.username,
        "NEO4J_PASSWORD": endpoint.password,
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", SERVING, ns]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    neo4j = urlsplit(endpoint.uri)
    assert {tuple(address) for address in found["reached"]} == {(neo4j.hostname, neo4j.port), ("127.0.0.1", found["port"])}
    assert set(found["asked"]) <= {"127.0.0.1", "0.0.0.0", "localhost"}  # no name is looked up
    assert set(found["statuses"][:5]) <= {200, 201}
    call = Caller(service.dispatcher, ns)
    assert call.found("ferry to Larkspur")  # what it stored is there
