import inspect
import logging

import pytest
from fake_service import SECRET

from graph import errors
from web.errors import STATUS, told

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.PalimpsestError)]
LEAVES = [cls for cls in CLASSES if not any(issubclass(other, cls) and other is not cls for other in CLASSES)]


@pytest.mark.parametrize("cls", LEAVES, ids=lambda cls: cls.__name__)
def test_every_leaf_of_the_error_tree_is_in_the_table(cls):
    assert cls in STATUS


def test_an_error_that_a_pack_derives_has_the_status_of_its_nearest_base():
    class Worn(errors.KeyInUse):
        pass

    assert told(Worn("in use", "n1")).status == 409


def ask(client, name):
    return client.post("/v1/memory/fail", json={"content": name})


STATUSES = {
    "ValidationFailed": 422,
    "NotAllowed": 422,
    "Unauthenticated": 401,
    "Forbidden": 403,
    "NotFound": 404,
    "KeyInUse": 409,
    "TaskActive": 409,
    "SupersessionCycle": 409,
    "Busy": 409,
    "StoreConflict": 409,
    "TooLarge": 413,
    "RateLimited": 429,
    "StoreUnavailable": 503,
    "StatementFailed": 503,
    "SchemaError": 503,
    "StartFailed": 503,
    "EmbeddingError": 503,
    "StoreTimeout": 504,
    "StatementError": 500,
    "ZeroDivisionError": 500,
}


@pytest.mark.parametrize(("name", "status"), STATUSES.items())
def test_each_failure_is_a_problem_with_status_code_and_request_id(client, name, status):
    answer = ask(client, name)
    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    code = getattr(errors, name).code if hasattr(errors, name) else "internal"
    found = answer.json
    assert (found["type"], found["status"], found["code"]) == ("about:blank", status, code)
    assert found["title"]
    assert found["detail"]
    assert found["request_id"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("ValidationFailed", {"errors": [{"field": "items.3.content", "message": "must not be empty"}]}),
        ("NotAllowed", {"errors": [{"field": "relation", "message": "no such relation"}], "allowed": ["extends"]}),
        ("NotFound", {"errors": [{"field": "id", "message": "no node n9"}]}),
        ("KeyInUse", {"existing_id": "n1"}),
        ("TaskActive", {"existing_id": "t1"}),
        ("SupersessionCycle", {"chain": ["a", "b", "a"]}),
    ],
)
def test_an_error_s_own_fields_stand_beside_its_detail(client, name, details):
    assert details.items() <= ask(client, name).json.items()


@pytest.mark.parametrize("name", ["StoreUnavailable", "StatementFailed", "SchemaError", "StartFailed", "ZeroDivisionError"])
def test_what_happened_inside_goes_to_the_log_and_not_to_the_caller(client, caplog, name):
    with caplog.at_level(logging.ERROR):
        answer = ask(client, name)
    assert SECRET not in answer.text
    [record] = caplog.records
    assert SECRET in record.getMessage()
    assert record.exc_info
    assert record.fields["request_id"] == answer.json["request_id"]


def test_a_database_that_is_away_says_when_to_ask_again(client):
    assert int(ask(client, "StoreUnavailable").headers["Retry-After"]) > 0
    assert "Retry-After" not in ask(client, "KeyInUse").headers


def test_a_missing_key_says_how_to_bring_one(client):
    assert ask(client, "Unauthenticated").headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("POST", "/v1/memory/no_such_verb", 404, "not_found"),
        ("POST", "/v1/nopack/recall", 404, "not_found"),
        ("POST", "/v1/memory/..%2f..%2fetc", 404, "not_found"),
        ("POST", "/v1/memory/%2e%2e/kg/link", 404, "not_found"),
        ("POST", "/v1/memory//recall", 404, "not_found"),
        ("POST", "/v1/memory/recall/", 404, "not_found"),
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/v1/memory/recall", 405, "method_not_allowed"),
        ("DELETE", "/v1/memory/remember", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_addresses_and_methods_that_are_none_come_in_the_same_form(client, method, path, status, code):
    answer = client.open(path, method=method, json={})
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")
    assert answer.json["code"] == code
    assert answer.json["request_id"]


def test_a_wrong_method_names_the_right_ones(client):
    assert "POST" in client.get("/v1/memory/recall").headers["Allow"]


@pytest.mark.parametrize(
    "content_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
     "application/json; charset=latin-1", "text/json", "application/jsonx"],
)  # fmt: skip
def test_a_body_that_is_no_json_by_its_type_is_415(client, content_type):
    answer = client.post("/v1/memory/remember", data=b'{"content": "x"}', content_type=content_type)
    assert (answer.status_code, answer.json["code"]) == (415, "unsupported_media_type")


def test_a_compressed_body_is_415(client):
    answer = client.post("/v1/memory/remember", json={"content": "x"}, headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 415


def test_a_body_past_the_limit_is_413_and_names_the_limit(client):
    answer = client.post("/v1/memory/remember", json={"content": "x" * (1 << 20)})
    assert (answer.status_code, answer.json["code"]) == (413, "too_large")
    assert "1,048,576 bytes" in answer.json["detail"]


@pytest.mark.parametrize(("body", "field"), [(b'{"content": NaN}', "content"), (b"[]", ""), (b"", "")])
def test_json_that_is_not_strict_is_422_by_its_field(client, body, field):
    answer = client.post("/v1/memory/remember", data=body, content_type="application/json")
    assert (answer.status_code, answer.json["code"]) == (422, "validation")
    assert [error["field"] for error in answer.json["errors"]] == [field]
