"""Neo4j is killed while contexts are built: each build answers, without memory and saying so, and it recovers by itself."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from tests.conftest import free_port
from tests.web.test_killed import START_S, Served, home

__all__ = ["home"]
TASK = "Find out why the greenhouse fan trips its breaker"
FACT = "The greenhouse fan trips its breaker whenever humidity passes ninety percent."


def names(built: dict[str, Any]) -> list[str]:
    return [block["name"] for block in built["blocks"]]


def bare(built: dict[str, Any]) -> bool:
    """Whether it is what can be told of a task without Neo4j."""
    return "memory" in built["degraded"] and names(built) == ["user", "history"]


def keep_down(home: Path, *, until: Callable[[], bool]) -> None:
    """Kills Neo4j as often as the service starts it: up within a read's five seconds of trying, it would leave no gap."""
    give_up = time.monotonic() + START_S
    while not until():
        assert time.monotonic() < give_up, "no build went without memory"
        with contextlib.suppress(OSError, ValueError, psutil.NoSuchProcess):
            server = psutil.Process(json.loads((home / "run" / "server.json").read_text())["pid"])
            if any(str(home) in part for part in server.cmdline()):
                server.kill()
        time.sleep(0.1)


def test_builds_go_on_without_memory_while_neo4j_is_away(home: Path) -> None:
    home.mkdir()
    served = Served(home, free_port())
    served.await_ready()
    served.post("memory/remember", content=FACT)
    past = served.post("context/task_start", description="Water the lilies", conversation="c")["id"]
    served.post("context/task_complete", task_id=past)
    task = served.post("context/task_start", description=TASK, conversation="c")["id"]
    whole = built_whole(served, task)
    assert names(whole) == ["user", "memory", "history"]

    answers: list[dict[str, Any]] = []
    failures: list[Exception] = []
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            try:
                answers.append(served.post("context/build", task_id=task))
            except (OSError, http.client.HTTPException) as error:
                failures.append(error)

    workers = [threading.Thread(target=go_on) for _ in range(2)]
    for worker in workers:
        worker.start()
    time.sleep(0.5)
    keep_down(home, until=lambda: any(bare(built) for built in answers))
    stop.set()
    for worker in workers:
        worker.join()
    assert failures == []
    without = [built for built in answers if built["degraded"]]
    assert without
    for built in without:
        assert {"task", "memory", "trace"} & set(built["degraded"]), "trace alone: killed after memory had answered"
        assert names(built)[0] == "user"
        assert built["trace"]["degraded"] == built["degraded"]
    assert any(bare(built) for built in without)

    again = built_whole(served, task)
    assert names(again) == names(whole)
    kept = served.post("context/trace", id=without[0]["trace"]["id"])
    assert set(kept.get("degraded", ())) <= set(without[0]["degraded"]), "stored when Neo4j was back"
    served.process.terminate()
    assert served.process.wait(timeout=30) == 0


def built_whole(served: Served, task: str) -> dict[str, Any]:
    """The first context with nothing left out; every one before it is an answer too."""
    until = time.monotonic() + START_S
    while True:
        built = served.post("context/build", task_id=task)
        if not built["degraded"]:
            return built
        assert time.monotonic() < until, f"it did not come back by itself: {built['degraded']}"
        time.sleep(0.2)
