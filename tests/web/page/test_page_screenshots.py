"""The pictures of the documentation, taken anew when PALIMPSEST_SCREENSHOTS names a folder:

PALIMPSEST_SCREENSHOTS=docs/images pytest tests/web/page/test_page_screenshots.py

They show the sample graph, with the embedding model that ships.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from chromium import launched, needs_chromium, picture, sized
from neo4j_window import Neo4jBrowser
from selenium import webdriver

import web.page
from graph.settings import Settings
from recall.service import Service, open_service
from seeds.loader import load_sample
from tests.conftest import Caller
from tests.serving import served
from web.neo4j_browser import Browser

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not os.environ.get("PALIMPSEST_SCREENSHOTS"), reason="PALIMPSEST_SCREENSHOTS names no folder"),
]
NS = "sample"
TITLE = "Hypertext Transfer Protocol -- HTTP/1.1"
TASK = "Explain HTTP/1.1 message syntax and routing to the network team"
MENU, PROTOCOL = "Plan the menu for the harbour festival", "Which RFCs describe the Transmission Control Protocol?"
PERSONA = (
    ("personality", "When I explain message syntax, I show one message of HTTP first and the rules after it."),
    ("self", "I answer the network team's questions about HTTP."),
)
MOST_BYTES = 200_000
FAVORITES = Path(web.page.BROWSER) / "favorites"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = Settings(home=tmp_path_factory.mktemp("sample"), cache=Settings.from_environment().cache, multilingual="off")
    opened = open_service(settings)
    load_sample(opened)
    call = Caller(opened.dispatcher, NS)
    call("kg.create", items=[{"kind": "memory", "memory_type": type, "content": content} for type, content in PERSONA])
    for description in (
        TASK,
        "Plan the menu for the harbour festival",
        "Which RFCs describe the Transmission Control Protocol?",
    ):
        task = call("context.task_start", description=description)["id"]
        call("context.build", task_id=task, window=2400)
        call("context.task_complete", task_id=task)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def url(sample: Service) -> Iterator[str]:
    with served(sample, Settings(port=0)) as address:
        yield address


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    found = launched(tmp_path / "profile", "--hide-scrollbars")
    yield found
    found.quit()


@pytest.fixture(scope="module")
def newest(sample: Service) -> str:
    found: str = Caller(sample.dispatcher, NS)("memory.recall", query=TITLE, limit=1)["results"][0]["id"]
    return found


def taken(chromium: webdriver.Chrome, name: str, width: int, height: int, *, dark: bool = False, top: int = 0) -> None:
    """A picture of the page as it is, not larger than the documentation bears."""
    sized(chromium, width, 900, dark=dark)
    chromium.execute_async_script("setTimeout(arguments[0], 400)")
    file = picture(chromium, name, Path(), {"x": 0, "y": top, "width": width, "height": height})
    assert file.stat().st_size < MOST_BYTES, name


@pytest.mark.parametrize(("dark", "suffix"), [(False, ""), (True, "-dark")])
def test_the_page(chromium, url, newest, dark, suffix):
    sized(chromium, 1200, 900, dark=dark)
    chromium.get(f"{url}/?ns={NS}&limit=3&q={quote(TITLE)}")
    chromium.execute_script("document.querySelector('.why').open = true; window.scrollTo(0, 0)")
    taken(chromium, f"page-ask{suffix}.png", 1200, 1180, dark=dark)
    chromium.get(f"{url}/memories/{newest}?ns={NS}")
    taken(chromium, f"page-memory{suffix}.png", 1200, 1040, dark=dark)


def test_the_page_abstains(chromium, url):
    sized(chromium, 1200, 900)
    chromium.get(f"{url}/?ns={NS}&q=what+time+is+it")
    taken(chromium, "page-abstains.png", 1200, 760)


def test_the_page_on_a_small_screen(chromium, url, newest):
    sized(chromium, 390, 844)
    chromium.get(f"{url}/?ns={NS}&limit=3&q={quote(TITLE)}")
    taken(chromium, "page-narrow.png", 390, 844)
    chromium.get(f"{url}/memories/{newest}?ns={NS}")
    taken(chromium, "page-narrow-memory.png", 390, 844, top=430)


def test_contexts_and_analytics(chromium, url, sample):
    sized(chromium, 1200, 900)
    trace = next(
        one["id"] for one in Caller(sample.dispatcher, NS)("context.traces")["results"] if one["description"] == PROTOCOL
    )
    chromium.get(f"{url}/traces/{trace}?ns={NS}")
    taken(chromium, "page-trace.png", 1200, 1000)
    chromium.get(f"{url}/context?ns={NS}&task={quote(TASK)}")
    taken(chromium, "page-context.png", 1200, 1000)
    chromium.get(f"{url}/analytics/composition?ns={NS}")
    taken(chromium, "page-analytics.png", 1200, 800)


@pytest.mark.parametrize("name", ["memory", "supersession_chain", "contexts"])
def test_neo4j_browser(chromium, sample, newest, name):
    browser = Browser.seen_from(sample.endpoint, "127.0.0.1", sample.store.statements, ns=NS)
    text = browser.text("browser.memory", id=newest) if name == "memory" else (FAVORITES / f"{name}.cypher").read_text()
    sized(chromium, 1400, 760)
    window = Neo4jBrowser(chromium, sample.endpoint)
    window.open(browser.address(text))
    window.style((Path(web.page.BROWSER) / "style.grass").read_text("utf-8"))
    window.run()
    chromium.execute_async_script("setTimeout(arguments[0], 6000)")  # the nodes come to rest
    file = picture(chromium, f"browser-{name.replace('_', '-')}.png", Path())
    assert file.stat().st_size < MOST_BYTES
