"""The context pack over HTTP and on the command line."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from graph.settings import Settings
from web.app import create_app
from web.cli import main

TASK = "Find out why the greenhouse fan trips its breaker"
FACT = "The greenhouse fan trips its breaker whenever humidity passes ninety percent."


@pytest.fixture
def post(service, ns):
    client = create_app(service, Settings(port=0)).test_client()

    def asked(verb: str, status: int = 200, **body: Any) -> Any:
        answer = client.post(f"/v1/context/{verb}", json=body, headers={"X-Namespace": body.pop("ns", ns)})
        assert answer.status_code == status, answer.text
        return answer.json

    return asked


def test_a_task_from_its_start_to_its_trace(post, call):
    fact = call.note(FACT)
    task = post("task_start", 201, description=TASK, conversation="c")["id"]
    assert post("task_turn", 201, task_id=task, role="user", text="Bay four first.")["position"] == 1
    built = post("build", task_id=task, window=8000)
    assert [block["name"] for block in built["blocks"]] == ["user", "memory"]
    assert built["blocks"][1]["sources"] == [fact]
    assert post("trace", id=built["trace"]["id"])["memory_selected"] == 1
    assert post("select", task_description=TASK)["selected_count"] == 1
    assert post("task_complete", task_id=task)["status"] == "completed"


def test_errors_have_their_statuses(post):
    task = post("task_start", 201, description=TASK, conversation="c")["id"]
    refused = post("task_start", 409, description="Another", conversation="c")
    assert (refused["code"], refused["existing_id"]) == ("task_active", task)
    for verb in ("task_turn", "task_complete", "build"):
        more = {"role": "user", "text": "x"} if verb == "task_turn" else {}
        assert post(verb, 404, task_id="elsewhere", **more)["code"] == "not_found"
    post("trace", 404, id="elsewhere")
    post("task_complete", task_id=task)
    assert post("build", 409, task_id=task)["code"] == "conflict"
    post("build", 422, task_id=task, window=0)


def test_the_catalog_lists_the_verbs_of_the_pack(service):
    listed = create_app(service, Settings(port=0)).test_client().get("/v1/verbs").json["verbs"]
    named = {verb["name"] for verb in listed if verb["name"].startswith("context.")}
    assert named == {f"context.{name}" for name in ("select", "build", "task_start", "task_turn", "task_complete", "trace")}


@pytest.fixture
def command(service, ns, monkeypatch):
    kept = SimpleNamespace(dispatcher=service.dispatcher, close=lambda: None)
    monkeypatch.setitem(sys.modules, "recall.service", SimpleNamespace(open_service=lambda settings: kept, Service=object))

    def run(*words: str) -> str:
        result = CliRunner().invoke(main, ["context", *words, "-n", ns], prog_name="palimpsest")
        assert result.exit_code == 0, result.stderr
        return result.stdout

    return run


def test_the_command_shows_what_is_let_in_and_what_was_dropped(command, call, by_hand):
    for n in range(6):
        call.note(f"{FACT} Entry {n} of the log.")
    lines = command(TASK, "--window", "1600").splitlines()
    assert lines[0].endswith(f"  ACTIVE TASK: {TASK}")
    assert any(line.startswith("memory ") and "> The greenhouse fan trips" in line for line in lines)
    assert any("dropped: memory budget; " in line for line in lines)
    assert " of 200: " in lines[-1]
    assert by_hand("MATCH (t:Task {ns: $ns}) RETURN t.status AS status") == [{"status": "completed"}]


def test_a_trivial_task_shows_no_memory_and_why(command, call):
    call.note(FACT)
    first, last = command("what time is it").splitlines()
    assert first.startswith("user ")
    assert "(below_floor)" in last
    assert json.loads(command("what time is it", "--json"))["trace"]["memory_abstained"] is True
