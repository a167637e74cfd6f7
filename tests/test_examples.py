"""Every example runs, and prints what it says it does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PRINTS = {
    "memory": [
        "No, Tuesdays now. (found by: Deploys happen on Thursdays at ten, from the release branch.)",
        "['Deploys happen on Thursdays at ten, from the release branch.', 'No, Tuesdays now.']",
        "below_floor",
    ],
    "client": ["True The staging database listens on port 5433.", "[1, 0]"],
    "langchain_chain": [
        "> The ferry to Borkum leaves from Emden at nine. [",
        "Human: where does the ferry",
        "> nothing",
        "Human: who won the chess match",
    ],
    "standards": [
        "now:         Credentials are replaced only when there is evidence of compromise. [Security policy 4.0]",
        "in 2022:     Passwords must be changed every 90 days. [Security policy 3.1]",
        "2021-02-01:  Passwords must be changed every 90 days. (until 2024-06-01)",
    ],
    "runbooks": ["4 of 4 candidates", "neuron    Lag after a release", "tokens  user", "left out: []"],
    "personal_notes": ["The boiler is a Vaillant", "Ada's birthday", "good morning             nothing: below_floor"],
    "graphrag_answer": ["The ferry to Borkum leaves from Emden at nine.", "Not known."],
}


@pytest.fixture(scope="module")
def printed(service, url):
    """What each example printed, all run at once beside the service."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEO4J_", "PALIMPSEST_"))}
    home = {"PALIMPSEST_HOME": str(service.settings.home), "PALIMPSEST_CACHE": str(service.settings.cache)}
    models = {"PALIMPSEST_EMBEDDER": "hashing", "PALIMPSEST_MULTILINGUAL": "off", "PALIMPSEST_URL": url}
    environment = kept | home | models | {"PYTHONPATH": str(ROOT), "LANGSMITH_TRACING": "false"}
    running = {path.stem: started([sys.executable, str(path)], environment) for path in EXAMPLES}
    return {name: (process.communicate(timeout=200), process.returncode) for name, process in running.items()}


def started(command, environment):
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, text=True, stdout=pipe, stderr=pipe)


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_an_example_prints_what_it_says(printed, name):
    (out, err), code = printed[name]
    assert code == 0, err
    at = 0
    for line in PRINTS[name]:
        assert line in out[at:], out
        at = out.index(line, at) + len(line)
