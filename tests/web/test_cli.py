import json
import subprocess
import sys
from importlib.metadata import version
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from fake_service import FakeService, stand_in

from graph import errors
from graph.server import ManagedServer, ServerStatus
from web.cli import main
from web.serve import Server

COMMANDS = (
    *("serve", "demo", "remember", "recall", "link", "history", "doctor", "stop", "reindex", "analytics", "context"),
    *("export", "import", "forget", "backup", "restore", "browser", "mcp"),
)


@pytest.fixture
def opened(fake, monkeypatch):
    """Settings that the commands opened the service with."""
    found = []

    def open_service(settings):
        found.append(settings)
        return fake

    monkeypatch.setitem(sys.modules, "recall.service", stand_in(open_service))
    for name in ("HOME", "PORT", "HOST"):
        monkeypatch.delenv(f"PALIMPSEST_{name}", raising=False)
    return found


def run(*words, **more):
    return CliRunner().invoke(main, words, prog_name="palimpsest", **more)


def found_by(*words):
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def failed(*words):
    """Exit code and the one line."""
    result = run(*words)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.exit_code, result.stderr


def test_help_lists_every_command():
    listed = run("--help").stdout
    assert all(f"\n  {command} " in listed for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_a_home_and_answers_as_json(command):
    words = run(command, "--help").stdout
    assert "--home" in words
    assert "--json" in words


def test_help_does_not_load_what_only_a_command_needs():
    heavy = ("neo4j", "flask", "onnxruntime", "numpy", "sklearn", "rich", "marshmallow")
    code = f"import sys, web.cli; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_version_is_the_distribution_s():
    assert run("--version").stdout == f"palimpsest, version {version('palimpsest')}\n"


def test_remember_keeps_a_text_with_its_fields(opened, fake):
    assert run("remember", "The port is 8443.").stdout == "n1 is kept\n"
    assert run("remember", "unchanged").stdout == "n1 was there already\n"
    words = ("--type", "semantic", "--key", "k", "--supersedes", "n0", "--supersedes", "m0", "--tag", "a", "--source", "me")
    assert found_by("remember", "Text.", *words, "-n", "team")["ns"] == "team"
    assert fake.closed


def test_remember_reads_stdin_for_a_dash(opened):
    result = run("remember", "-", "--json", input="from a pipe")
    assert json.loads(result.stdout)["content"] == "from a pipe"


def test_recall_shows_hits_and_lets_no_stored_text_steer_the_terminal(opened):
    shown = run("recall", "a note").stdout
    assert shown.splitlines() == [
        "  1  0.500 ━━━━━╌╌╌╌╌  An [odd]\ufffd[31m note",
        "     n1 · 2026-03-01T10:00:00Z · relevance 0.75",
        "     found by an older note: An older\ufffd[2m note",
        "     parts: relevance 0.450, salience 0.050",
        "     fused: 1.000",
    ]
    assert "\x1b" not in shown


def test_recall_says_why_it_abstains(opened):
    assert run("recall", "what time is it").stdout == "Nothing to say (below_floor); 7 candidates looked at.\n"


def test_recall_hands_its_options_on(opened):
    assert found_by("recall", "x", "--type", "semantic", "--limit", "3")["candidates_evaluated"] == 1
    code, line = failed("recall", "x", "--type", "odd", "--limit", "999")
    assert code == 2
    assert "memory_type.0: must be one of episodic, semantic" in line
    assert "limit: must be a finite number" in line


def test_link_and_history_show_what_is_there(opened):
    assert run("link", "n1", "supersedes", "n0").stdout == "n1 supersedes n0\n"
    assert found_by("link", "n1", "supersedes", "n0")["id"] == "n1 supersedes n0"
    assert run("history", "n1").stdout.splitlines() == [
        "n0  2026-01-01T00:00:00Z  until 2026-03-01T10:00:00Z",
        "    Port 80.",
        "n1  2026-03-01T10:00:00Z  current",
        "    Port 8443.",
    ]


def test_doctor_ends_with_1_while_problems_remain(opened, fake):
    result = run("doctor")
    assert (result.exit_code, result.stdout) == (0, "Nothing is wrong.\n")
    fake.problems = [{"kind": "layer", "count": 2, "examples": ["default/n1"]}]
    result = run("doctor")
    assert result.exit_code == 1
    assert result.stdout == "layer: 2, remains\n    default/n1\n"
    assert "--repair" in result.stderr
    assert run("doctor", "--json").exit_code == 1
    result = run("doctor", "--repair")
    assert (result.exit_code, result.stdout) == (0, "layer: 2, repaired\n    default/n1\n")


def test_home_comes_from_the_option_else_from_the_variable(opened, tmp_path):
    run("doctor", "--home", str(tmp_path / "option"), env={"PALIMPSEST_HOME": str(tmp_path / "variable")})
    run("doctor", env={"PALIMPSEST_HOME": str(tmp_path / "variable")})
    assert [settings.home.name for settings in opened] == ["option", "variable"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.StartFailed("Java ended"), 1),
        (errors.StoreUnavailable("away"), 1),
        (errors.NotFound("no node n9"), 1),
        (errors.SettingsError("wrong"), 2),
        (errors.NotAllowed("a self-link", "target"), 2),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(opened, fake, monkeypatch, error, code):
    monkeypatch.setattr(fake, "doctor", lambda **_: (_ for _ in ()).throw(error))
    assert failed("doctor") == (code, f"palimpsest: {error}\n")
    assert fake.closed


def test_an_error_that_nobody_foresaw_is_one_line_too(opened, fake, monkeypatch):
    monkeypatch.setattr(fake, "doctor", lambda **_: 1 / 0)
    expected = "palimpsest: internal error: ZeroDivisionError: division by zero (palimpsest --verbose shows where)\n"
    assert failed("doctor") == (1, expected)


def test_wrong_settings_are_told_before_anything_is_opened(opened):
    code, line = failed("serve", "--port", "99999")
    assert (code, opened) == (2, [])
    assert "port='99999': must be a whole number from 0 to 65535" in line


def test_a_command_that_is_none_is_a_usage_error():
    assert run("recal").exit_code == 2


def stopping(monkeypatch, tmp_path, *, runs_before, runs_after):
    status = ServerStatus(running=runs_before, home=tmp_path, users=2 * runs_after)
    monkeypatch.setattr(ManagedServer, "status", lambda self: status)
    monkeypatch.setattr(ManagedServer, "stop", lambda self: None)
    monkeypatch.setattr(ManagedServer, "running", lambda self: runs_after)
    return run("stop", "--home", str(tmp_path))


def test_stop_stops_what_nobody_uses(monkeypatch, tmp_path):
    result = stopping(monkeypatch, tmp_path, runs_before=True, runs_after=False)
    assert (result.exit_code, result.stdout) == (0, f"Neo4j of {tmp_path} is stopped.\n")
    result = stopping(monkeypatch, tmp_path, runs_before=False, runs_after=False)
    assert (result.exit_code, result.stdout) == (0, f"Neo4j of {tmp_path} was not running.\n")


def test_stop_leaves_what_others_use(monkeypatch, tmp_path):
    result = stopping(monkeypatch, tmp_path, runs_before=True, runs_after=True)
    assert result.exit_code == 1
    assert "is used by 2 other process(es)" in result.stderr


@pytest.fixture
def sample(monkeypatch):
    """Namespaces that the sample was loaded into, through which service."""
    loaded = []

    def load_sample(service, report):
        report(3, 3)
        loaded.append(service)
        return SimpleNamespace(notes=3, edges=2, already_loaded=len(loaded) > 1)

    monkeypatch.setattr("seeds.loader.load_sample", load_sample)
    return loaded


def test_demo_loads_the_sample_and_tells_three_things_to_try(opened, sample, fake):
    shown = run("demo", "--port", "0", "--no-serve", "--home", "somewhere").stdout
    assert sample == [fake]
    assert "The sample graph is loaded: 3 notes, 2 edges, namespace 'sample'." in shown
    assert "palimpsest recall 'Hypertext Transfer Protocol -- HTTP/1.1' --limit 3 -n sample --home somewhere\n" in shown
    assert "palimpsest history n1 -n sample --home somewhere\n" in shown
    assert "palimpsest recall 'what time is it' -n sample --home somewhere\n" in shown
    assert fake.closed


def test_demo_serves_and_says_where_the_browser_is(opened, sample, fake, monkeypatch):
    run_server = Server.run
    monkeypatch.setattr(Server, "run", lambda self: (self.stop(), run_server(self)))
    shown = run("demo", "--port", "0").stdout
    assert "/?ns=sample" in shown
    assert "curl -s http://127.0.0.1:" in shown
    assert """-H 'X-Namespace: sample' -d '{"query": "Hypertext Transfer Protocol -- HTTP/1.1", "limit": 3}'""" in shown
    assert "http://127.0.0.1:2/browser/" in shown
    assert "connect to bolt://127.0.0.1:1 as neo4j, password pw" in shown
    assert fake.closed


def test_fake_service_stands_for_the_real_one():
    from recall.service import Service

    asked = ("dispatcher", "endpoint", "readiness", "doctor", "close")
    real = set(dir(Service)) | set(Service.__dataclass_fields__)
    assert all(name in real and hasattr(FakeService(), name) for name in asked)
