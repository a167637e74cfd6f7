"""One real Neo4j for the whole run: in a temporary home, on free ports, with the embedder that needs no model.

Each test works in a namespace of its own, so none sees what another stored. Nothing here touches a server that it did not
start: the variables that name one are taken away before any setting is read.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import neo4j
import pytest

from graph.packs import Answer, Dispatcher
from graph.settings import Settings
from graph.store import Store
from recall.service import Service, open_service
from tests.serving import served


class Caller:
    """Calls verbs in one namespace: `call("kg.get", id=id)` gives the body of the answer."""

    def __init__(self, dispatcher: Dispatcher, ns: str):
        self.dispatcher, self.ns = dispatcher, ns

    def __call__(self, verb: str, /, **body: Any) -> dict[str, Any]:
        return dict(self.answer(verb, **body).body)

    def answer(self, verb: str, /, **body: Any) -> Answer:
        return self.dispatcher.call(verb, body, ns=self.ns)

    def within(self, ns: str) -> Caller:
        """The same in another namespace."""
        return Caller(self.dispatcher, ns)

    def note(self, content: str, **fields: Any) -> str:
        """The id of a new note."""
        return str(self("memory.remember", content=content, **fields)["id"])

    def found(self, query: str, **fields: Any) -> list[str]:
        """Ids that a recall without a floor serves, best first."""
        return [hit["id"] for hit in self("memory.recall", query=query, **{"min_score": 0} | fields)["results"]]


@pytest.fixture(scope="session", autouse=True)
def _no_server_of_somebody_else() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("NEO4J_")]:
            patch.delenv(name)
        yield


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, _no_server_of_somebody_else: None) -> Iterator[Service]:
    """Everything open and ready."""
    settings = Settings(
        home=tmp_path_factory.mktemp("home"),
        cache=Settings.from_environment().cache,
        embedder="hashing",
        multilingual="off",  # tests/recall/test_multilingual.py has a service of its own for it
        heap="512m",
        page_cache="64m",
    )
    opened = open_service(settings)
    yield opened
    opened.close()


@pytest.fixture
def store(service: Service) -> Store:
    return service.store


@pytest.fixture
def ns() -> str:
    """The name of a namespace that nobody used yet."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def call(service: Service, ns: str) -> Caller:
    """Calls verbs in the test's namespace."""
    return Caller(service.dispatcher, ns)


@pytest.fixture(scope="session")
def driver(service: Service) -> Iterator[neo4j.Driver]:
    """A connection past the store, for what no verb does: edges drawn by hand, counts, plans."""
    endpoint = service.endpoint
    auth = (endpoint.username, endpoint.password)
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=auth, notifications_min_severity="OFF") as opened:
        yield opened


@pytest.fixture
def by_hand(driver: neo4j.Driver, ns: str) -> Callable[..., list[Mapping[str, Any]]]:
    """Runs a statement as somebody in Neo4j Browser would; `$ns` is the test's namespace."""

    def run(text: str, **params: Any) -> list[Mapping[str, Any]]:
        records = driver.execute_query(text, {"ns": ns} | params).records  # type: ignore[arg-type]
        return [record.data() for record in records]

    return run


@pytest.fixture(scope="session")
def url(service: Service) -> Iterator[str]:
    """The service over HTTP, without keys."""
    with served(service, Settings(port=0, auth="off")) as address:
        yield address


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
