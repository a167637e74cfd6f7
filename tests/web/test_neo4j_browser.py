"""Neo4j Browser of the managed server, in headless Chromium: the login works, and an edge drawn there counts at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from chromium import launched, needs_chromium, picture
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as wait_for
from selenium.webdriver.support.ui import WebDriverWait

from recall.service import Service
from tests.conftest import Caller

pytestmark = needs_chromium


class Window:
    """Neo4j Browser in a window of its own, logged in with what `palimpsest demo` prints."""

    def __init__(self, chromium: webdriver.Chrome, service: Service):
        self.chromium, self.endpoint = chromium, service.endpoint

    def find(self, selector: str, seconds: float = 40) -> webdriver.remote.webelement.WebElement:
        return WebDriverWait(self.chromium, seconds).until(wait_for.element_to_be_clickable((By.CSS_SELECTOR, selector)))

    def run(self, statement: str) -> None:
        """Opens a link with the statement filled in, as pages and the command line make them, and runs it."""
        bolt = urlsplit(self.endpoint.uri).netloc
        login = f"bolt://{self.endpoint.username}@{bolt}"
        self.chromium.get(f"{self.endpoint.http_url}/browser/?dbms={login}&cmd=edit&arg={quote(statement)}")
        password = self.find("input[data-testid=password]")
        password.send_keys(self.endpoint.password)
        self.find("[data-testid=connect]").click()
        until = WebDriverWait(self.chromium, 40).until
        until(self._frame(":play start"))  # what it shows once it is connected
        self.find("[data-testid=editor-Run]").click()
        until(self._frame("MATCH"))
        until(wait_for.presence_of_element_located((By.CSS_SELECTOR, "[data-testid=frame] circle")))

    @staticmethod
    def _frame(command: str) -> Callable[[webdriver.Chrome], bool]:
        place = (By.CSS_SELECTOR, "[data-testid=frameCommand]")
        return lambda chromium: any(command in frame.text for frame in chromium.find_elements(*place))


@pytest.fixture
def window(service: Service, tmp_path: Path) -> Iterator[Window]:
    chromium = launched(tmp_path / "profile")
    yield Window(chromium, service)
    chromium.quit()


def test_an_edge_drawn_in_neo4j_browser_changes_the_next_recall(
    window: Window, call: Caller, ns: str, tmp_path: Path
) -> None:
    old = call.note("The ferry to Larkspur leaves from pier four at noon.")
    new = call.note("Pier nine from today.")
    assert old in call.found("ferry to Larkspur pier four noon")
    window.run(
        f"MATCH (new {{ns: '{ns}', id: '{new}'}}), (old {{ns: '{ns}', id: '{old}'}}) "
        "CREATE p = (new)-[:SUPERSEDES]->(old) RETURN p"
    )
    assert picture(window.chromium, "edge.png", tmp_path).stat().st_size > 10_000
    found = call("memory.recall", query="ferry to Larkspur pier four noon", min_score=0)["results"]
    assert [hit["id"] for hit in found] == [new]
    assert found[0]["path"][0]["id"] == old


def test_neo4j_browser_stays_on_this_machine(window: Window, call: Caller, ns: str) -> None:
    call.note("The lighthouse keeper sleeps until nine.")
    window.run(f"MATCH (n:Note {{ns: '{ns}'}}) RETURN n")
    answered = set()
    for entry in window.chromium.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.responseReceived":
            address = urlsplit(message["params"]["response"]["url"])
            answered |= {address.hostname} if address.scheme in ("http", "https", "ws", "wss") else set()
    assert answered == {"127.0.0.1"}
