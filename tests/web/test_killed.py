"""A service and its Neo4j, both killed in the middle of a load, start again by themselves with every note they confirmed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import free_port

START_S = 90


class Served:
    """`palimpsest serve` as a process of its own."""

    def __init__(self, home: Path, port: int):
        self.url = f"http://127.0.0.1:{port}"
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PALIMPSEST_H"))}
        environment |= {"PALIMPSEST_HOME": str(home), "PALIMPSEST_EMBEDDER": "hashing", "PALIMPSEST_PORT": str(port)}
        with (home.parent / "serve.log").open("ab") as log:
            command = [sys.executable, "-m", "web.cli", "serve"]
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def await_ready(self) -> None:
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            assert self.process.poll() is None, "the service ended instead of starting"
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/readyz", timeout=5).close()
                return
            time.sleep(0.2)
        pytest.fail("the service did not become ready")

    def post(self, verb: str, **body: Any) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.url}/v1/{verb}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    for process in psutil.process_iter(["cmdline"]):
        if any(str(tmp_path) in part for part in process.info["cmdline"] or ()):
            process.kill()


def test_every_confirmed_note_outlives_a_kill_of_both(home: Path) -> None:
    home.mkdir()
    port = free_port()
    served = Served(home, port)
    served.await_ready()
    confirmed: list[str] = []

    def load(worker: int) -> None:
        for number in range(10_000):
            try:
                confirmed.append(
                    served.post("memory/remember", content=f"Crate {worker}-{number} is in bay {number}.")["id"]
                )
            except OSError:
                return

    workers = [threading.Thread(target=load, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    until = time.monotonic() + 60  # the first writes wait for their statements to be planned
    while len(confirmed) <= 20 and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    neo4j = json.loads((home / "run" / "server.json").read_text())["pid"]
    os.kill(neo4j, signal.SIGKILL)
    time.sleep(0.3)
    served.process.kill()
    served.process.wait()
    for worker in workers:
        worker.join()
    assert len(confirmed) > 20

    again = Served(home, port)
    again.await_ready()
    for id in confirmed:
        assert again.post("kg/get", id=id)["content"].startswith("Crate")
    stored = []
    page: dict[str, Any] = {"next_cursor": None}
    while True:
        page = again.post("kg/list", kind="memory", limit=1000, cursor=page["next_cursor"])
        stored += [node["id"] for node in page["results"]]
        if page["next_cursor"] is None:
            break
    assert set(confirmed) <= set(stored)
    assert len(stored) <= len(confirmed) + len(workers)  # at most the one that each worker had on its way
    again.process.send_signal(signal.SIGTERM)
    assert again.process.wait(timeout=30) == 0
    doctor = [sys.executable, "-m", "web.cli", "doctor", "--json", "--home", str(home)]
    report = subprocess.run(
        doctor, capture_output=True, text=True, env=os.environ | {"PALIMPSEST_EMBEDDER": "hashing"}, timeout=120
    )
    assert json.loads(report.stdout)["problems"] == [], report.stderr


def test_neo4j_killed_under_a_service_is_started_again_by_it(home: Path) -> None:
    home.mkdir()
    served = Served(home, free_port())
    served.await_ready()
    kept = served.post("memory/remember", content="The barometer hangs by the stairs.")["id"]
    os.kill(json.loads((home / "run" / "server.json").read_text())["pid"], signal.SIGKILL)
    refused: set[int] = set()
    until = time.monotonic() + START_S
    while True:
        try:
            found = served.post("memory/recall", query="barometer by the stairs", min_score=0)
            break
        except urllib.error.HTTPError as error:
            refused.add(error.code)
            error.close()
            assert time.monotonic() < until, "it did not come back by itself"
            time.sleep(0.5)
    assert refused <= {503, 504}
    assert [hit["id"] for hit in found["results"]] == [kept], found
    served.process.terminate()
    assert served.process.wait(timeout=30) == 0
