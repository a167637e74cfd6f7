"""The page in a real browser: its policy holds, everything has a name, keys suffice, and it fits a small screen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from chromium import launched, needs_chromium, sized
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support import expected_conditions as wait_for
from selenium.webdriver.support.ui import WebDriverWait

import web.page
from graph import keys
from graph.keys import KeyRing
from graph.settings import Settings
from recall.service import Service
from tests.serving import served

pytestmark = needs_chromium
EVIL = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">\'"><svg onload=window.hacked=3> tide'
NAMED = {"textbox", "searchbox", "button", "link", "combobox", "checkbox", "spinbutton", "DateTime", "listbox", "image"}


@pytest.fixture(scope="module")
def serving(service: Service) -> Iterator[Callable[..., str]]:
    """`serving(auth="on")` is the address of a server."""
    with ExitStack() as running:

        def start(**settings: str) -> str:
            return running.enter_context(served(service, Settings(port=0, **settings)))  # type: ignore[arg-type]

        yield start


@pytest.fixture(scope="module")
def url(serving: Callable[..., str]) -> str:
    return serving()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    found = launched(tmp_path_factory.mktemp("chromium") / "profile")
    yield found
    found.quit()


@pytest.fixture
def window(chromium: webdriver.Chrome) -> webdriver.Chrome:
    """As on a desk, by day, with nothing said yet."""
    sized(chromium, 1280, 900)
    chromium.delete_all_cookies()
    chromium.get_log("browser")
    chromium.get_log("performance")
    return chromium


@pytest.fixture
def pages(call, ns: str, url: str) -> list[str]:
    """The address of every kind of page, with markup in all that is stored."""
    old = call.note(f"The Larkspur Harbour tide table is on the wall. {EVIL}", tags=[EVIL[:40]], source=EVIL, key=EVIL)
    new = call.note(f"It is on the door. {EVIL}", supersedes=[old])
    entity = call("kg.create", kind="concept", content=f"Harbour {EVIL}")["id"]
    call("kg.link", source=new, target=entity, relation="mentions")
    task = call("context.task_start", description=f"Where is the tide table? {EVIL}")["id"]
    trace = call("context.build", task_id=task)["trace"]["id"]
    asked = quote(f"Larkspur Harbour tide table {EVIL}")
    paths = ["/?", f"/?min_score=yes&superseded=yes&q={asked}", "/?q=what+time+is+it", f"/?limit=x&q={asked}"]
    paths += [f"/memories/{id}?" for id in (old, new, entity)] + ["/memories/nobody?", "/remember?", "/traces?"]
    paths += [f"/context?task={asked}", f"/traces/{trace}?", "/analytics?", "/analytics/abstention_rate?"]
    return [f"{url}{path}{'' if path.endswith('?') else '&'}ns={ns}" for path in paths]


def fetched(chromium: webdriver.Chrome) -> set[str | None]:
    """Hosts that anything was asked of since the log was read last."""
    hosts = set()
    for entry in chromium.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = urlsplit(message["params"]["request"]["url"])
            hosts |= {address.hostname} if address.scheme in ("http", "https", "ws", "wss") else set()
    return hosts


def nameless(chromium: webdriver.Chrome) -> list[str]:
    """Roles of what can be used or seen and has no accessible name."""
    nodes = chromium.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    return [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored") and node["role"]["value"] in NAMED and not node.get("name", {}).get("value", "").strip()
    ]


def entered(chromium: webdriver.Chrome, element: WebElement, *typed: str) -> None:
    """Types into an element, then Enter, and waits for the page that this leads to."""
    before = chromium.find_element(By.TAG_NAME, "html")
    element.send_keys(*typed, Keys.ENTER)
    WebDriverWait(chromium, 20).until(wait_for.staleness_of(before))
    WebDriverWait(chromium, 20).until(lambda _: chromium.execute_script("return document.readyState") == "complete")


def test_every_page_keeps_its_policy_names_its_controls_and_runs_nothing_stored(window, pages):
    for page in pages:
        window.get(page)
        if "/memories/" in page and "nobody" not in page:
            place = window.find_element(By.ID, "picture")
            assert int(place.get_attribute("data-drawn")) == len(json.loads(place.get_attribute("data-graph"))["nodes"]) > 1
        window.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert nameless(window) == [], page
        assert window.execute_script("return window.hacked") is None, page
        assert window.execute_script("return document.querySelectorAll('main, header.top, footer, h1').length") == 4, page
        assert window.execute_script("return document.documentElement.lang") == "en"
    said = [entry["message"] for entry in window.get_log("browser")]
    assert [line for line in said if not re.search(r"status of (404|422)", line)] == []
    assert fetched(window) == {"127.0.0.1"}


def test_no_page_is_wider_than_a_small_screen(window, pages):
    sized(window, 390, 844)
    for page in pages:
        window.get(page)
        window.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert window.execute_script("return document.documentElement.scrollWidth") <= 390, page


def test_everything_is_done_with_the_keyboard_alone(window, url, ns, call):
    call.note("The tide table of Larkspur Harbour hangs on the wall.")
    window.get(f"{url}/?ns={ns}")
    entered(window, window.switch_to.active_element, "the tide table of Larkspur Harbour wall")
    assert "hangs on the wall" in window.find_element(By.CSS_SELECTOR, ".hit .content").text
    press = webdriver.ActionChains(window)
    press.send_keys(Keys.TAB).perform()
    skip = window.switch_to.active_element
    assert skip.text == "Skip to the content"
    assert skip.value_of_css_property("outline-style") == "solid"
    assert skip.location["y"] >= 0, "it is seen once it is reached"
    entered(window, window.find_element(By.CSS_SELECTOR, ".feedback button[value=useful]"))
    assert window.find_element(By.CSS_SELECTOR, "[role=status]").text == "Noted as useful."
    entered(window, window.find_element(By.CSS_SELECTOR, ".hit .content a"))
    window.find_element(By.ID, "content").send_keys("It hangs on the door.", Keys.TAB, Keys.TAB)
    entered(window, window.find_element(By.CSS_SELECTOR, "form.card button.main"))
    layers = [layer.text for layer in window.find_elements(By.CSS_SELECTOR, ".layers li")]
    assert [("wall" in layer, "door" in layer) for layer in layers] == [(True, False), (False, True)]
    assert call.found("the tide table of Larkspur Harbour wall") == [window.current_url.split("/")[-1].split("?")[0]]


def test_a_fault_is_told_at_its_field(window, url, ns):
    window.get(f"{url}/remember?ns={ns}")
    window.find_element(By.ID, "content").send_keys("Something.")
    entered(window, window.find_element(By.ID, "salience"), "7")
    salience = window.find_element(By.ID, "salience")
    assert salience.get_attribute("aria-invalid") == "true"
    about = window.find_element(By.ID, salience.get_attribute("aria-describedby"))
    assert "must be a finite number" in about.text
    assert window.find_element(By.CSS_SELECTOR, "[role=alert]").is_displayed()


def test_a_key_opens_the_page_and_the_logout_closes_it(window, serving, service, ns, driver):
    service.keys = KeyRing(service.store, fresh_s=0.0)
    try:
        _, text = keys.create(service.store, name="Ada", role="read", namespaces=[ns])
        url = serving(auth="on")
        window.get(f"{url}/traces")
        entered(window, window.switch_to.active_element, text)
        assert window.current_url == f"{url}/traces"
        assert not window.find_elements(By.PARTIAL_LINK_TEXT, "Remember")
        assert window.execute_script("return document.cookie") == ""
        assert nameless(window) == []
        entered(window, window.find_element(By.CSS_SELECTOR, ".who button"))
        window.get(f"{url}/traces")
        assert urlsplit(window.current_url).path == "/login"
    finally:
        driver.execute_query("MATCH (k:ApiKey) DELETE k")
        service.keys = KeyRing(service.store)


def test_by_night_the_picture_is_drawn_anew(window, url, ns, call):
    new = call.note("Newer.", supersedes=[call.note("Older.")])
    window.get(f"{url}/memories/{new}?ns={ns}")
    light = window.execute_script("return getComputedStyle(document.body).backgroundColor")
    before = window.execute_script("return [...document.querySelectorAll('#picture canvas')].at(-1).toDataURL()")
    sized(window, 1280, 900, dark=True)
    assert window.execute_script("return getComputedStyle(document.body).backgroundColor") != light
    canvases = "return [...document.querySelectorAll('#picture canvas')].at(-1).toDataURL()"
    until = time.monotonic() + 5
    while window.execute_script(canvases) == before and time.monotonic() < until:
        time.sleep(0.05)
    assert window.execute_script(canvases) != before


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(scheme):
    """By WCAG 2.2, AA: a contrast of 4.5."""
    sheet = (Path(web.page.__file__).parent / "static/page.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    names = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme == "dark"]))
    grounds = ("paper", "sheet", "well")
    pairs = [(ink, ground) for ink in ("ink", "soft", "faded") for ground in grounds[: 3 if ink != "faded" else 2]]
    pairs += [("accent", "paper"), ("accent", "sheet"), ("accent", "tint"), ("accent-ink", "accent")]
    pairs += [("bad", "bad-tint"), ("bad", "sheet"), ("ok", "ok-tint"), ("relevance", "sheet"), ("soft", "tint")]
    for ink, ground in pairs:
        lighter, darker = sorted((luminance(names[ink]), luminance(names[ground])), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (ink, ground)
