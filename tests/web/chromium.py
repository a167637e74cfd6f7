"""Headless Chromium for the tests of what people see."""

from __future__ import annotations

import base64
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service as Driver

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000", "--no-first-run", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
needs_chromium = pytest.mark.skipif(not (CHROMIUM and CHROMEDRIVER), reason="needs chromium and chromedriver on the PATH")


def launched(profile: Path, *more: str) -> webdriver.Chrome:
    """A window with a profile of its own, which logs what its console and its network say."""
    options = webdriver.ChromeOptions()
    for argument in (*ARGUMENTS, *more, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    return webdriver.Chrome(options=options, service=Driver(str(CHROMEDRIVER)))


def sized(chromium: webdriver.Chrome, width: int, height: int, *, dark: bool = False) -> None:
    """Has the window look as on a screen of that size, by day or by night."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})


def picture(chromium: webdriver.Chrome, name: str, folder: Path, clip: dict[str, Any] | None = None) -> Path:
    """A screenshot, into the folder that PALIMPSEST_SCREENSHOTS names if it does."""
    file = Path(os.environ.get("PALIMPSEST_SCREENSHOTS") or folder) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    asked = {"format": "png"} | ({"captureBeyondViewport": True, "clip": clip | {"scale": 1}} if clip else {})
    file.write_bytes(base64.b64decode(chromium.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]))
    return file
