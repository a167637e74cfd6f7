"""Every file of cypher/analytics, pasted as it stands into the real Neo4j Browser, runs there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import launched, needs_chromium
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as wait_for
from selenium.webdriver.support.ui import WebDriverWait

from graph.analytics import ANALYTICS
from graph.statements import FOLDER
from recall.service import Service
from tests.conftest import Caller

pytestmark = needs_chromium
FRAMES = "[data-testid=frame]"
STATES = f"""return [...document.querySelector('{FRAMES}').querySelectorAll('[data-testid=multi-statement-list-icon]')]
  .map(each => each.title)"""
PASTE = """const editor = document.querySelector('.monaco-editor textarea, .monaco-editor .inputarea');
editor.focus();
const data = new DataTransfer();
data.setData('text/plain', arguments[0]);
editor.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));"""


@pytest.fixture
def chromium(service: Service, tmp_path: Path) -> Iterator[webdriver.Chrome]:
    """A window, logged in."""
    window = launched(tmp_path / "profile")
    try:
        endpoint = service.endpoint
        login = f"bolt://{endpoint.username}@{urlsplit(endpoint.uri).netloc}"
        window.get(f"{endpoint.http_url}/browser/?dbms={login}")
        clickable = wait_for.element_to_be_clickable
        until = WebDriverWait(window, 40).until
        until(clickable((By.CSS_SELECTOR, "input[data-testid=password]"))).send_keys(endpoint.password)
        until(clickable((By.CSS_SELECTOR, "[data-testid=connect]"))).click()
        until(lambda _: any(":play start" in told for told in frames(window)))
        yield window
    finally:
        window.quit()


def frames(window: webdriver.Chrome) -> list[str]:
    """What each frame shows, the newest first."""
    told: list[str] = window.execute_script(f"return [...document.querySelectorAll('{FRAMES}')].map(each => each.innerText)")
    return told


def pasted(window: webdriver.Chrome, text: str) -> list[str]:
    """What became of the commands of `text`: `success` or `error` of each, once all have ended."""
    window.execute_script(PASTE, text)
    until = WebDriverWait(window, 40, poll_frequency=0.1).until
    until(wait_for.element_to_be_clickable((By.CSS_SELECTOR, "[data-testid=editor-Run]"))).click()
    first = text.splitlines()[0]
    until(lambda _: frames(window)[0].startswith(first) and not set(states(window)) & {"pending", "waiting", "running"})
    return states(window)


def states(window: webdriver.Chrome) -> list[str]:
    found: list[str] = window.execute_script(STATES)
    return [title.removeprefix("Status: ") for title in found] or ["pending"]


def test_every_file_runs_as_it_is_pasted(chromium: webdriver.Chrome, service: Service) -> None:
    call = Caller(service.dispatcher, "default")  # the namespace that the files name
    old = call.note("The ferry to Larkspur leaves from pier four at noon.")
    call.note("Pier nine from today.", supersedes=[old])
    assert pasted(chromium, "// One without a value\n:param days => 1;\nRETURN $nothing") == ["success", "error"]
    for name, statement in ANALYTICS.items():
        file = FOLDER / "analytics" / f"{name}.cypher"
        params = len(service.store.statements[statement].params)
        assert pasted(chromium, file.read_text("utf-8")) == ["success"] * (params + 1), name
