"""Neo4j Browser in a window of Chromium, logged in with what `palimpsest demo` prints."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as wait_for
from selenium.webdriver.support.ui import WebDriverWait

from graph.server import Endpoint
from web.neo4j_browser import login

DROP = """
const carried = new DataTransfer();
carried.items.add(new File([arguments[0]], "style.grass", {type: ""}));
for (const step of ["dragenter", "dragover", "drop"]) {
  const place = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  place.dispatchEvent(new DragEvent(step, {dataTransfer: carried, bubbles: true, cancelable: true}));
  await new Promise(done => setTimeout(done, 300));
}
arguments[1]();
"""
FILLS = """
return Object.fromEntries([...document.querySelectorAll("[data-testid=frame] g.node")].map(
  node => [node.textContent.trim(), node.querySelector("circle.b-outline, circle.outline").getAttribute("fill")]))
"""


class Neo4jBrowser:
    """A window of its own."""

    def __init__(self, chromium: webdriver.Chrome, endpoint: Endpoint):
        self.chromium, self.endpoint = chromium, endpoint

    def find(self, selector: str, seconds: float = 40) -> webdriver.remote.webelement.WebElement:
        return WebDriverWait(self.chromium, seconds).until(wait_for.element_to_be_clickable((By.CSS_SELECTOR, selector)))

    def open(self, link: str | None) -> None:
        """Follows a link, and logs in."""
        assert link
        self.chromium.get(link)
        self.find("input[data-testid=password]").send_keys(self.endpoint.password)
        self.find("[data-testid=connect]").click()
        WebDriverWait(self.chromium, 40).until(self._frame(":play start"))  # what it shows once it is connected

    def style(self, sheet: str) -> None:
        """Drops a style sheet on the window, as somebody would with the mouse."""
        self.chromium.execute_async_script(DROP, sheet)
        WebDriverWait(self.chromium, 20).until(self._frame(":style"))

    def run(self) -> None:
        """Runs what is in the editor, and waits for the picture."""
        self.find("[data-testid=editor-Run]").click()
        until = WebDriverWait(self.chromium, 40).until
        until(self._frame("MATCH"))
        until(wait_for.presence_of_element_located((By.CSS_SELECTOR, "[data-testid=frame] circle")))

    def ask(self, statement: str) -> None:
        """Opens a link with the statement filled in, as pages and the command line make them, and runs it."""
        self.open(f"{self.endpoint.http_url}/browser/?dbms={login(self.endpoint)}&cmd=edit&arg={quote(statement)}")
        self.run()

    def fills(self) -> dict[str, str]:
        """The colour of each node, by the first words of its caption."""
        found: dict[str, str] = self.chromium.execute_script(FILLS)
        return {" ".join(caption.split()[:2]): fill for caption, fill in found.items()}

    @staticmethod
    def _frame(command: str) -> Callable[[webdriver.Chrome], bool]:
        place = (By.CSS_SELECTOR, "[data-testid=frameCommand]")
        return lambda chromium: any(command in frame.text for frame in chromium.find_elements(*place))
