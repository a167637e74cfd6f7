"""Models behind an endpoint, against a server of the test's own that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from graph.errors import EmbeddingError
from graph.settings import Settings
from recall import remote
from recall.embed import Embedder, embedder


@dataclass
class Endpoint:
    """What the server hears and what it answers next; without orders a vector that tells texts by their length."""

    url: str = ""
    heard: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    orders: list[tuple[int, bytes]] = field(default_factory=list)

    def answer(self, body: dict[str, Any], key: str | None) -> tuple[int, bytes]:
        self.heard.append(body)
        self.keys.append(key)
        if self.orders:
            return self.orders.pop(0)
        rows = [{"index": n, "embedding": [3.0, float(len(text)), 0.0]} for n, text in enumerate(body["input"])]
        return 200, json.dumps({"data": rows[::-1]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    found = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = found.answer(body, self.headers["Authorization"])
            self.send_response(status if self.path == "/v1/embeddings" else 404)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture
def model(endpoint: Endpoint) -> Embedder:
    return embedder("openai:some-model", Settings(openai_url=endpoint.url, openai_key="s3cret"))


def test_texts_are_asked_in_batches_and_come_back_in_order_as_unit_vectors(model: Embedder, endpoint: Endpoint) -> None:
    assert endpoint.heard == [], "nothing is asked before it is needed"
    assert model.dimensions == 3
    texts = ["a" * (n + 1) for n in range(100)]
    found = model.documents(texts)
    assert found.shape == (100, 3)
    assert np.allclose(np.linalg.norm(found, axis=1), 1)
    assert np.allclose(found[:, 1] / found[:, 0] * 3, np.arange(1, 101), rtol=1e-4)
    assert [len(body["input"]) for body in endpoint.heard] == [1, 64, 36]
    assert endpoint.heard[0]["model"] == "some-model"
    assert set(endpoint.keys) == {"Bearer s3cret"}
    assert model.documents([]).shape == (0, 3)


def test_a_long_text_is_cut_and_an_odd_one_is_sent(model: Embedder, endpoint: Endpoint) -> None:
    model.queries(["word " * 5000, "half \ud83d pair", ""])
    long, odd, empty = endpoint.heard[0]["input"]
    assert model.count_tokens(long) <= model.max_tokens
    assert odd == "half ? pair"
    assert empty == " "


def test_a_busy_endpoint_is_asked_again(model: Embedder, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote.time, "sleep", lambda _s: None)
    endpoint.orders = [(429, b"slow down"), (503, b"")]
    assert model.queries(["x"]).shape == (1, 3)
    assert len(endpoint.heard) == 3


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ((401, b"bad key"), "status 401, 'bad key'"),
        ((200, b"<html>"), "something else than embeddings"),
        ((200, b'{"data": [{"index": 0}]}'), "something else than embeddings"),
        ((200, b'{"data": []}'), r"shape \(0,\) for 1 texts"),
    ],
)
def test_a_wrong_answer_is_a_clear_error(model: Embedder, endpoint: Endpoint, order: tuple[int, bytes], said: str) -> None:
    endpoint.orders = [order]
    with pytest.raises(EmbeddingError, match=said) as error:
        model.queries(["x"])
    assert "s3cret" not in str(error.value)
    assert len(endpoint.heard) == 1


def test_nobody_there_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote.time, "sleep", lambda _s: None)
    with pytest.raises(EmbeddingError, match=r"openai:m: http://127.0.0.1:9/v1/embeddings did not answer: ConnectionError"):
        embedder("openai:m", Settings(openai_url="http://127.0.0.1:9/v1")).queries(["x"])


def test_a_prefix_without_a_model_is_no_name() -> None:
    with pytest.raises(EmbeddingError, match=r"'openai:'.*openai:MODEL"):
        embedder("openai:", Settings())
