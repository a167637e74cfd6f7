"""Keys on the real service: who comes in, how far, and that what is revoked is out."""

from __future__ import annotations

import hashlib
import json
import time

import pytest
from click.testing import CliRunner

from graph import keys
from graph.errors import NotFound, SettingsError, Unauthenticated, ValidationFailed
from graph.keys import AGAIN_S, FRESH_S, KeyRing
from graph.settings import Settings
from web.app import create_app
from web.auth import needed, startable


@pytest.fixture
def other(ns):
    return f"{ns}-other"


@pytest.fixture
def no_keys_stay(driver):
    yield
    driver.execute_query("MATCH (k:ApiKey) DELETE k")


@pytest.fixture
def doors(service, no_keys_stay):
    """A client of the real service, and a way to make keys: `make("write", ns)` gives the headers that bring one."""
    service.keys = KeyRing(service.store, fresh_s=0.0)

    def make(role, *namespaces):
        return {"Authorization": f"Bearer {keys.create(service.store, name='t', role=role, namespaces=namespaces)[1]}"}

    client = create_app(service, Settings(auth="on", rate_per_minute=0)).test_client()
    yield client, make
    service.keys = KeyRing(service.store)


def remember(client, headers, content="The pump of hall four leaks."):
    return client.post("/v1/memory/remember", json={"content": content}, headers=headers)


def get(client, headers, id):
    return client.post("/v1/kg/get", json={"id": id}, headers=headers)


def outcome(answer):
    return answer.status_code, answer.json.get("code")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic cGFsOnBhbA=="},
        {"X-API-Key": "palimpsest_000000000000_" + "A" * 43},
        {"X-API-Key": "\xe9"},
    ],
)
@pytest.mark.parametrize("path", ["/v1/verbs", "/v1/analytics", "/nowhere", "/v1/memory/recall_embed"])
def test_no_key_or_a_bad_one_is_401(doors, headers, path):
    answer = doors[0].get(path, headers=headers)
    assert outcome(answer) == (401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_another_secret_under_a_known_id_is_401(doors, ns):
    client, make = doors
    text = make("read", ns)["Authorization"]
    assert outcome(client.get("/v1/verbs", headers={"Authorization": text[:-2] + "__"})) == (401, "unauthenticated")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/docs", "/docs/start.js"])
def test_health_and_the_description_need_no_key(doors, path):
    assert doors[0].get(path).status_code == 200


def test_a_key_comes_in_either_header_and_two_different_ones_are_refused(doors, ns):
    client, make = doors
    bearer, second = make("read", ns), make("read", ns)
    text = bearer["Authorization"].removeprefix("Bearer ")
    assert client.get("/v1/verbs", headers=bearer).status_code == 200
    assert client.get("/v1/verbs", headers={"Authorization": f"bearer {text}"}).status_code == 200
    assert client.get("/v1/verbs", headers={"X-API-Key": text}).status_code == 200
    assert client.get("/v1/verbs", headers=bearer | {"X-API-Key": text}).status_code == 200
    both = second | {"X-API-Key": text}
    assert outcome(client.get("/v1/verbs", headers=both)) == (401, "unauthenticated")


RANK = {"read": 0, "write": 1, "admin": 2}


@pytest.mark.parametrize("role", RANK)
def test_a_role_reaches_its_verbs_and_no_others(doors, service, ns, role):
    """Every verb, subhandlers too; a body that can't be right shows that the role let it through."""
    client, make = doors
    headers = make(role, ns)
    for verb in service.dispatcher.every():
        answer = client.post(f"/v1/{verb.name.replace('.', '/')}", json={"no_such_field": 1}, headers=headers)
        expected = (422, "validation") if RANK[verb.role] <= RANK[role] else (403, "forbidden")
        assert outcome(answer) == expected, verb.name


def test_the_namespace_of_a_key_with_one_is_that(doors, call, ns):
    client, make = doors
    id = remember(client, make("write", ns)).json["id"]
    assert call("kg.get", id=id)["id"] == id


def test_the_header_can_only_narrow(doors, ns, other):
    client, make = doors
    both, one = make("write", ns, other), make("write", ns)
    id = remember(client, both | {"X-Namespace": other}).json["id"]
    assert get(client, both | {"X-Namespace": other}, id).status_code == 200
    assert outcome(get(client, one | {"X-Namespace": other}, id)) == (403, "forbidden")
    assert outcome(get(client, both | {"X-Namespace": "default"}, id)) == (403, "forbidden")
    assert outcome(client.get("/v1/analytics/orphans", headers=one | {"X-Namespace": other})) == (403, "forbidden")
    assert outcome(get(client, one | {"X-Namespace": ""}, id)) == (422, "validation")


def test_a_key_with_several_namespaces_works_in_default_if_that_is_one_and_else_must_be_told(doors, ns):
    client, make = doors
    assert outcome(get(client, make("read", ns, "default"), "nothing")) == (404, "not_found")
    assert outcome(get(client, make("read", ns, f"{ns}-b"), "nothing")) == (403, "forbidden")
    assert outcome(get(client, make("read", "*"), "nothing")) == (404, "not_found")


def test_a_key_for_all_reaches_any_namespace_by_the_header(doors, call, ns):
    client, make = doors
    id = call.note("The spare keys hang behind the door.")
    assert get(client, make("read", "*") | {"X-Namespace": ns}, id).status_code == 200


def test_an_id_of_a_foreign_namespace_is_404(doors, ns, other):
    client, make = doors
    mine, theirs = make("write", ns), make("write", other)
    id = remember(client, mine).json["id"]
    assert get(client, mine, id).status_code == 200
    for verb in ("kg/get", "kg/history", "kg/delete", "kg/update"):
        body = {"id": id} | ({"content": "Mine now."} if verb == "kg/update" else {})
        assert outcome(client.post(f"/v1/{verb}", json=body, headers=theirs)) == (404, "not_found"), verb
    assert get(client, mine, id).status_code == 200


def test_only_a_hash_is_stored(doors, driver, ns):
    text = doors[1]("read", ns)["Authorization"].removeprefix("Bearer ")
    (record,) = driver.execute_query("MATCH (k:ApiKey) RETURN properties(k) AS k").records
    secret = text[len("palimpsest_") + 13 :]
    assert record["k"]["hash"] == hashlib.sha256(secret.encode()).hexdigest()
    assert secret not in str(record["k"])


def test_a_revoked_key_is_out_for_good(doors, service, ns):
    client, make = doors
    headers, admin = make("read", ns), make("admin", ns)
    assert client.get("/v1/verbs", headers=headers).status_code == 200
    id = headers["Authorization"].split("_")[1]
    first = keys.revoke(service.store, id).revoked_at
    assert outcome(client.get("/v1/verbs", headers=headers)) == (401, "unauthenticated")
    assert client.get("/v1/verbs", headers=admin).status_code == 200
    assert keys.revoke(service.store, id).revoked_at == first
    with pytest.raises(NotFound, match="no key 'nobody'"):
        keys.revoke(service.store, "nobody")


def test_what_was_read_of_the_keys_holds_for_a_moment_and_a_revocation_is_seen_after_it(service, no_keys_stay, ns):
    ring = KeyRing(service.store, fresh_s=1.5)
    key, text = keys.create(service.store, name="n", role="read", namespaces=[ns])
    assert ring.verified(text).id == key.id
    keys.revoke(service.store, key.id)
    assert ring.verified(text).id == key.id
    time.sleep(1.5)
    with pytest.raises(Unauthenticated, match="revoked"):
        ring.verified(text)
    assert FRESH_S <= 5


def test_a_key_that_is_not_known_yet_is_looked_for_within_a_second(service, no_keys_stay, ns):
    ring = KeyRing(service.store)
    assert not ring.any()
    _, text = keys.create(service.store, name="n", role="read", namespaces=[ns])
    time.sleep(AGAIN_S)
    assert ring.verified(text).role == "read"


def test_on_loopback_no_key_is_needed_until_one_is_made_and_revoking_it_opens_nothing(service, no_keys_stay, ns):
    ring, settings = KeyRing(service.store, fresh_s=0.0), Settings()
    assert not needed(ring, settings)
    assert needed(ring, Settings(auth="on"))
    assert needed(ring, Settings(host="0.0.0.0"))
    key, _ = keys.create(service.store, name="first", role="read", namespaces=[ns])
    assert needed(ring, settings)
    assert not needed(ring, Settings(auth="off"))
    keys.revoke(service.store, key.id)
    assert needed(ring, settings)


def test_an_address_that_others_reach_needs_a_key_that_holds(service, no_keys_stay, ns):
    ring, settings = KeyRing(service.store, fresh_s=0.0), Settings(host="0.0.0.0")
    with pytest.raises(SettingsError, match="there is no API key"):
        startable(ring, settings)
    key, _ = keys.create(service.store, name="first", role="read", namespaces=[ns])
    startable(ring, settings)
    keys.revoke(service.store, key.id)
    with pytest.raises(SettingsError, match="there is no API key"):
        startable(ring, settings)


def test_where_keys_are_needed_another_host_name_is_answered(doors, ns):
    client, make = doors
    assert client.get("/v1/verbs", headers=make("read", ns) | {"Host": "memory.example"}).status_code == 200


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"role": "root"}, "role"),
        ({"namespaces": []}, "namespaces"),
        ({"namespaces": ["*", "a"]}, "namespaces"),
        ({"namespaces": ["a b"]}, "namespace"),
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(store, wrong, field):
    with pytest.raises(ValidationFailed) as caught:
        keys.create(store, **{"name": "n", "role": "read", "namespaces": ["a"]} | wrong)
    assert caught.value.errors[0]["field"] == field


def test_the_command_line_makes_lists_and_revokes(service, no_keys_stay, monkeypatch, ns):
    from web.cli import main

    monkeypatch.setenv("PALIMPSEST_HOME", str(service.settings.home))

    def ask(*words):
        done = CliRunner().invoke(main, ["key", *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    made = json.loads(ask("create", "ada", "--role", "read", "-n", ns, "--json"))
    assert KeyRing(service.store).verified(made["key"]).namespaces == (ns,)
    assert ask("create", "bob").startswith("palimpsest_")
    listed = ask("list")
    assert f"{made['id']}  read " in listed
    assert made["key"].split("_", 2)[2] not in listed
    assert "is revoked" in ask("revoke", made["id"])
    found = json.loads(ask("list", "--json"))["keys"]
    assert [(one["name"], one["namespaces"], bool(one["revoked_at"])) for one in found] == [
        ("ada", [ns], True),
        ("bob", ["default"], False),
    ]
