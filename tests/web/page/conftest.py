"""The page on the real service: a client that sends forms as a browser does."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from graph import keys
from graph.keys import KeyRing
from graph.settings import Settings
from recall.service import Service
from web.app import create_app

TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


class Reader:
    """Somebody who looks at the page, in one namespace."""

    def __init__(self, client: FlaskClient, ns: str):
        self.client, self.ns = client, ns

    def get(self, path: str, status: int = 200, **asked: Any) -> str:
        """The HTML of an address."""
        answer = self.client.get(f"{path}?{urlencode({'ns': self.ns} | asked)}")
        assert answer.status_code == status, answer.text
        assert answer.content_type == "text/html; charset=utf-8"
        return answer.text

    def token(self) -> str:
        """The token of the forms that this reader is shown."""
        found = TOKEN.search(self.get("/remember")) or TOKEN.search(self.get("/"))
        assert found
        return found[1]

    def send(self, path: str, headers: dict[str, str] | None = None, **form: Any) -> TestResponse:
        """What a form's sending gives; the token goes along unless `form` has another."""
        fields = {"ns": self.ns, "form_token": form.get("form_token") or self.token()} | form
        return self.client.post(path, data=fields, headers={"Sec-Fetch-Site": "same-origin"} | (headers or {}))

    def sent(self, path: str, **form: Any) -> str:
        """The page that a form leads to."""
        answer = self.send(path, **form)
        assert answer.status_code == 303, answer.text
        shown = self.client.get(answer.headers["Location"])
        assert shown.status_code == 200, shown.text
        return shown.text


def words(page: str) -> str:
    """What is to be read on a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.fixture
def reader(service: Service, ns: str) -> Reader:
    """Without a key, as on this machine."""
    return Reader(create_app(service, Settings()).test_client(), ns)


@pytest.fixture
def keyed(service: Service, driver: Any) -> Iterator[Callable[..., tuple[Reader, str]]]:
    """`keyed("read", ns)` gives a reader before the login, and the key."""
    service.keys = KeyRing(service.store, fresh_s=0.0)
    app = create_app(service, Settings(auth="on", rate_per_minute=0))

    def make(role: str, *namespaces: str) -> tuple[Reader, str]:
        _, text = keys.create(service.store, name="Ada's key", role=role, namespaces=namespaces)
        return Reader(app.test_client(), namespaces[0]), text

    yield make
    service.keys = KeyRing(service.store)
    driver.execute_query("MATCH (k:ApiKey) DELETE k")
