"""palimpsest browser: the link, with the statement filled in."""

from __future__ import annotations

import json
import webbrowser
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from graph.analytics import ANALYTICS
from web.cli import main
from web.commands import browser


def run(*words: str):
    return CliRunner().invoke(main, ["browser", *words], prog_name="palimpsest")


@pytest.fixture
def home(service) -> str:
    """Of the Neo4j that the tests run."""
    return str(service.settings.home)


def editor(link: str) -> str:
    """What the link puts into the editor."""
    return parse_qs(urlsplit(link).query).get("arg", [""])[0]


def test_the_link_has_the_memory_filled_in_and_runs(home, call, ns, driver, service):
    note = call.note("The pump of hall four leaks.")
    found = run("--memory", note, "-n", ns, "--print", "--home", home)
    assert found.exit_code == 0, found.stderr
    link = found.stdout.strip()
    assert link.startswith(f"{service.endpoint.http_url}/browser/?dbms=bolt%3A%2F%2Fneo4j%40127.0.0.1")
    assert "cmd=edit" in link
    (record,) = driver.execute_query(editor(link)).records
    assert record["n"]["content"] == "The pump of hall four leaks."
    assert service.endpoint.password not in found.output
    assert "style.grass" in found.stderr


def test_a_question_of_analytics_is_filled_in_with_its_usual_numbers(home, ns, driver):
    found = run("--statement", "dropped_for_budget", "-n", ns, "--print", "--home", home)
    text = editor(found.stdout.strip())
    assert f"t.ns = '{ns}'" in text
    assert text.endswith("LIMIT 20")
    assert driver.execute_query(text).records == []


def test_a_favourite_is_taken_as_it_stands_or_for_another_namespace(home):
    text = editor(run("--statement", "longest_chains", "--print", "--home", home).stdout.strip())
    assert "ns: 'sample'" in text
    text = editor(run("--statement", "longest_chains", "-n", "team-a", "--print", "--home", home).stdout.strip())
    assert "ns: 'team-a'" in text
    assert "'sample'" not in text


def test_a_statement_of_ones_own_is_left_alone(home):
    own = "MATCH (n) WHERE n.content = 'a&b=\"c\" $x' RETURN n"
    assert editor(run("--query", own, "--print", "--home", home).stdout.strip()) == own
    assert "cmd=" not in run("--print", "--home", home).stdout


def test_the_list_names_every_favourite_and_every_question(home):
    listed = json.loads(run("--statement", "LIST", "--json").stdout)["statements"]
    names = {one["name"] for one in listed}
    assert {"layers", "contexts", "supersession_chain"} | ANALYTICS.keys() <= names
    assert all(one["about"] for one in listed)
    assert "layers " in run("--statement", "LIST").stdout


def test_without_print_the_link_is_opened(home, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    found = run("--home", home)
    assert opened == [found.stdout.strip()]


def test_a_neo4j_that_was_started_for_it_runs_until_ctrl_c(home, monkeypatch):
    waited = []
    monkeypatch.setattr(webbrowser, "open", lambda link: True)
    monkeypatch.setattr(browser, "_wait", lambda: waited.append(1))
    monkeypatch.setattr("graph.server.ManagedServer.running", lambda self: False)
    assert "runs until Ctrl-C" in run("--home", home).stderr
    assert waited == [1]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--statement", "nothing"], "no statement 'nothing'"),
        (["--memory", "a", "--query", "b"], "give one of them"),
        (["-n", "a b"], "must be 1 to 128 of"),
    ],
)
def test_what_is_wrong_is_one_line(home, words, fault):
    found = run(*words, "--print", "--home", home)
    assert found.exit_code in (1, 2)
    assert fault in found.stderr
    assert found.stdout == ""


def test_nothing_is_started_only_to_print(tmp_path):
    found = run("--print", "--home", str(tmp_path))
    assert found.exit_code == 1
    assert "isn't running" in found.stderr


def test_a_neo4j_of_ones_own_has_its_own_browser(monkeypatch, tmp_path):
    monkeypatch.setenv("NEO4J_URI", "neo4j://db.example:7687")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")
    found = run("--print", "--home", str(tmp_path))
    assert found.exit_code == 2
    assert "open its own Browser" in found.stderr
