"""Rates by key, and what every answer has in its headers."""

from __future__ import annotations

import pytest
from fake_service import FakeService

from graph.errors import RateLimited
from graph.keys import ApiKey
from graph.settings import Settings
from web.app import HEADERS, create_app
from web.auth import MOST_BUCKETS, Rates


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def taken(rates, id, times):
    for _ in range(times):
        rates.take(id)


def test_a_key_may_ask_as_often_as_is_set_and_is_then_told_when_there_is_room(clock):
    rates = Rates(6, clock)
    taken(rates, "a", 6)
    with pytest.raises(RateLimited, match="6 times a minute; again in 10 s") as caught:
        rates.take("a")
    assert caught.value.retry_after_s == 10
    taken(rates, "b", 6)  # another key has its own
    clock.now = 9.9
    with pytest.raises(RateLimited) as caught:
        rates.take("a")
    assert caught.value.retry_after_s == 1
    clock.now = 10.1
    rates.take("a")
    with pytest.raises(RateLimited):
        rates.take("a")
    clock.now = 1_000
    taken(rates, "a", 6)
    with pytest.raises(RateLimited):
        rates.take("a")


def test_0_is_no_limit(clock):
    taken(Rates(0, clock), "a", 10_000)


def test_the_keys_that_asked_last_are_remembered_and_no_more(clock):
    rates = Rates(1, clock)
    for number in range(MOST_BUCKETS + 10):
        rates.take(str(number))
    assert len(rates._buckets) == MOST_BUCKETS


@pytest.fixture
def limited():
    """A client whose key may ask twice a minute."""
    fake = FakeService()
    fake.audit.keep = print
    fake.keys.verified = lambda _text: ApiKey(id="k", name="n", role="write", namespaces=("ns",))
    return create_app(fake, Settings(auth="on", rate_per_minute=2)).test_client()


def test_past_the_rate_an_answer_is_429_with_retry_after(limited):
    assert [limited.get("/v1/verbs").status_code for _ in range(2)] == [200, 200]
    answer = limited.get("/v1/verbs")
    assert (answer.status_code, answer.json["code"]) == (429, "rate_limited")
    assert answer.headers["Retry-After"] == "30"
    assert answer.json["request_id"] == answer.headers["X-Request-Id"]
    assert limited.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/v1/verbs", "/healthz", "/nowhere", "/docs", "/docs/swagger-ui.css", "/openapi.json"])
def test_every_answer_has_the_security_headers_and_none_that_lets_other_sites_in(client, path):
    with client.get(path, headers={"Origin": "https://elsewhere.example"}) as answer:
        pass
    assert set(HEADERS) <= set(answer.headers.keys())
    assert not [name for name in answer.headers.keys() if name.startswith("Access-Control")]  # noqa: SIM118


def test_a_preflight_of_another_site_is_not_granted(client):
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST"}
    answer = client.options("/v1/memory/recall", headers=asked)
    assert not [name for name in answer.headers.keys() if name.startswith("Access-Control")]  # noqa: SIM118
