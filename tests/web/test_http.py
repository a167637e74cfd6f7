import logging
import uuid

import pytest


def remember(client, headers=None, **body):
    return client.post("/v1/memory/remember", json={"content": "a note"} | body, headers=headers or {})


def test_what_is_newly_stored_is_201_and_what_was_there_200(client):
    assert remember(client).status_code == 201
    answer = remember(client, content="unchanged")
    assert (answer.status_code, answer.json["unchanged"]) == (200, True)
    assert answer.content_type == "application/json"


def test_the_dispatcher_s_schema_checks_the_body(client):
    answer = remember(client, colour="red", salience=2)
    assert answer.status_code == 422
    assert {error["field"] for error in answer.json["errors"]} == {"colour", "salience"}


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "application/json;charset=UTF-8", "application/ld+json"]
)
def test_json_by_any_of_its_types_is_read(client, content_type):
    answer = client.post("/v1/memory/remember", data='{"content": "日本"}'.encode(), content_type=content_type)
    assert answer.json["content"] == "日本"


def test_the_namespace_comes_from_the_header_and_is_default_without(client):
    assert remember(client).json["ns"] == "default"
    assert remember(client, {"X-Namespace": "team:a"}).json["ns"] == "team:a"


@pytest.mark.parametrize("name", ["", "two words", "a/b", "x" * 129])
def test_a_namespace_that_is_none_is_422(client, name):
    answer = remember(client, {"X-Namespace": name})
    assert (answer.status_code, answer.json["errors"][0]["field"]) == (422, "namespace")


def test_the_actor_is_handed_on_as_utf_8(client):
    assert remember(client, {"X-Actor": "Zoë".encode().decode("latin-1")}).json["actor"] == "Zoë"
    assert remember(client).json["actor"] is None


@pytest.mark.parametrize("actor", ["caf\xe9", "x" * 1_025, "\u200b".encode().decode("latin-1")])
def test_an_actor_that_is_no_short_printable_text_is_422(client, actor):
    answer = remember(client, {"X-Actor": actor})
    assert (answer.status_code, answer.json["errors"][0]["field"]) == (422, "X-Actor")


def test_a_request_id_comes_back_and_goes_to_the_log(client, caplog):
    with caplog.at_level(logging.INFO, "web.access"):
        answer = remember(client, {"X-Request-Id": "trace-7/3"})
    assert answer.headers["X-Request-Id"] == "trace-7/3"
    fields = caplog.records[-1].fields
    assert fields.pop("ms") >= 0
    assert fields == {
        "request_id": "trace-7/3",
        "method": "POST",
        "verb": "memory.remember",
        "path": "/v1/memory/remember",
        "status": 201,
    }


@pytest.mark.parametrize("given", [None, "", "two words", "x" * 129, "\xe9", '{"a":1}'])
def test_a_request_id_that_is_missing_or_unfit_is_made(client, given):
    made = remember(client, {} if given is None else {"X-Request-Id": given}).headers["X-Request-Id"]
    assert uuid.UUID(made).version == 7


@pytest.mark.parametrize("path", ["/healthz", "/v1/verbs", "/nowhere"])
def test_no_answer_is_kept_sniffed_or_shared_with_other_sites(client, path):
    headers = client.get(path, headers={"Origin": "https://elsewhere.example"}).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert not [name for name in headers.keys() if name.startswith("Access-Control")]  # noqa: SIM118


@pytest.mark.parametrize("host", ["elsewhere.example", "elsewhere.example:8765", "127.0.0.1.elsewhere.example", "10.0.0.1"])
def test_a_host_that_is_not_this_machine_is_refused(client, host):
    answer = client.get("/healthz", headers={"Host": host})
    assert (answer.status_code, answer.json["code"]) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]:8765"])
def test_the_names_of_this_machine_are_answered(client, host):
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_health_is_of_the_process_and_readiness_of_the_service(client, fake):
    assert client.get("/readyz").status_code == 200
    fake.ready = False
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json == {"ready": False, "neo4j": "up", "schema": 1, "indexes": {"current": "POPULATING"}}
    assert client.get("/healthz").json == {"status": "ok"}


def test_head_is_get_without_the_body_and_options_names_the_methods(client):
    head = client.head("/healthz")
    assert (head.status_code, head.data) == (200, b"")
    assert set(client.options("/v1/memory/recall").headers["Allow"].split(", ")) == {"OPTIONS", "POST"}


def test_the_catalog_lists_public_verbs_with_their_schemas(client):
    verbs = {verb["name"]: verb for verb in client.get("/v1/verbs").json["verbs"]}
    assert "memory.recall_embed" not in verbs
    found = verbs["memory.remember"]
    assert (found["illocution"], found["summary"], found["role"]) == ("commissive", "Keeps a note.", "write")
    assert found["path"] == "/v1/memory/remember"
    assert found["request"]["required"] == ["content"]
    assert found["request"]["additionalProperties"] is False
    assert found["response"]["properties"]["id"] == {"type": "string"}


def test_a_subhandler_can_be_called_by_its_name(client):
    answer = client.post("/v1/memory/recall_embed", json={"query": "x"})
    assert (answer.status_code, answer.json["candidates_evaluated"]) == (200, 1)
