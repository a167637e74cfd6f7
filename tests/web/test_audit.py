"""Who did what: what is kept of the calls that came with a key, for how long, and how it is shown."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from graph import audit, keys
from graph.audit import AuditLog, Done, expire, newest
from graph.errors import StoreUnavailable
from graph.keys import KeyRing
from graph.settings import Settings
from web.app import create_app


@pytest.fixture
def keyed(service, driver, ns):
    """A client of the real service with a writing key, and the key."""
    service.keys = KeyRing(service.store, fresh_s=0.0)
    key, text = keys.create(service.store, name="ada", role="write", namespaces=[ns])
    client = create_app(service, Settings(auth="on")).test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {text}"
    yield client, key
    service.keys = KeyRing(service.store)
    driver.execute_query("MATCH (k:ApiKey) DELETE k")


def done(ns_id, **fields):
    return Done(**{"key_id": "k", "key_name": "n", "verb": "kg.create", "status": 200, "id": ns_id} | fields)


def test_a_write_with_a_key_is_kept_with_who_what_and_what_became_of_it(keyed, service, ns):
    client, key = keyed
    headers = {"X-Actor": "ada@home", "X-Request-Id": "r-1"}
    client.post("/v1/memory/remember", json={"content": "The gate opens at six."}, headers=headers)
    client.post("/v1/kg/delete", json={"id": "nothing"})
    service.audit.flush()
    second, first = newest(service.store.within(ns), 10)
    told = {name: first[name] for name in ("key_id", "key_name", "actor", "verb", "status", "request_id", "ns")}
    assert told == {
        "key_id": key.id,
        "key_name": "ada",
        "actor": "ada@home",
        "verb": "memory.remember",
        "status": 201,
        "request_id": "r-1",
        "ns": ns,
    }
    assert (second["verb"], second["status"]) == ("kg.delete", 404)
    assert "actor" not in second
    assert "gate" not in str(first)


def test_reads_and_calls_that_are_refused_at_the_door_are_not_kept(keyed, service, ns):
    client, _ = keyed
    client.post("/v1/kg/get", json={"id": "nothing"})
    assert client.post("/v1/memory/vacuum", json={}).status_code == 403
    assert client.post("/v1/memory/remember", json={"content": "x"}, headers={"X-Namespace": "other"}).status_code == 403
    service.audit.flush()
    assert newest(service.store.within(ns), 10) == []


def test_what_is_past_its_days_goes(store, ns, by_hand):
    log, space = AuditLog(store, days=30), store.within(ns)
    log.keep(ns, done("old", created_ts=1))
    log.keep(ns, done("new"))
    log.flush()
    log.close()
    assert [one["id"] for one in newest(space, 10)] == ["new"]  # the first write of a namespace looks through it
    assert expire(space, days=30) == 0
    assert expire(space, days=-1) == 1


def test_records_wait_while_the_database_is_away_and_none_is_written_twice(store, ns, monkeypatch):
    monkeypatch.setattr(audit, "AGAIN_S", 0.01)
    log, space = AuditLog(store, days=30), store.within(ns)
    write, failures = audit.Space.write, iter([StoreUnavailable("away"), StoreUnavailable("the answer is lost")])

    def failing(self, work, **more):
        error = next(failures, None)
        if error and "lost" in str(error):
            write(self, work, **more)
        if error:
            raise error
        return write(self, work, **more)

    monkeypatch.setattr(audit.Space, "write", failing)
    log.keep(ns, done("one"))
    log.flush()
    log.close()
    assert [one["id"] for one in newest(space, 10)] == ["one"]


def test_closing_writes_what_waits(store, ns):
    log = AuditLog(store, days=30)
    for number in range(1_200):
        log.keep(ns, done(f"{number:04}"))
    log.close()
    assert len(newest(store.within(ns), 5_000)) == 1_200
    AuditLog(store, days=30).close()  # one that never had anything to write


def test_the_command_line_shows_it_the_newest_first(service, ns, monkeypatch):
    from web.cli import main

    monkeypatch.setenv("PALIMPSEST_HOME", str(service.settings.home))
    log = AuditLog(service.store, days=36_500)
    log.keep(ns, done("b", created_ts=1_700_000_001_000_000, verb="kg.link"))
    log.keep(ns, done("a", created_ts=1_700_000_000_000_000, actor="ada"))
    log.close()

    def ask(*words):
        found = CliRunner().invoke(main, ["key", "log", "-n", ns, *words])
        assert found.exit_code == 0, found.output
        return found.stdout

    assert ask().splitlines() == [
        "2023-11-14 22:13:21  200  kg.link  k n",
        "2023-11-14 22:13:20  200  kg.create  k n (ada)",
    ]
    assert [one["id"] for one in json.loads(ask("--json", "--limit", "1"))["done"]] == ["b"]
