import re

import pytest


@pytest.fixture
def document(client):
    return client.get("/openapi.json").json


def references(value):
    if isinstance(value, dict):
        yield from ([value["$ref"]] if "$ref" in value else [])
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def operations(document):
    return [operation for path in document["paths"].values() for method, operation in path.items() if method != "parameters"]


def test_the_document_lists_every_public_verb_and_no_subhandler(client, document):
    listed = {path for path in document["paths"] if document["paths"][path].keys() == {"post"}}
    assert listed == {verb["path"] for verb in client.get("/v1/verbs").json["verbs"]}
    assert "recall_embed" not in str(document)


def test_the_document_is_openapi_3_1_with_all_that_it_requires(document):
    assert re.fullmatch(r"3\.1\.\d", document["openapi"])
    assert document["info"].keys() >= {"title", "version"}
    names = [operation["operationId"] for operation in operations(document)]
    assert len(names) == len(set(names))
    for operation in operations(document):
        assert operation["summary"]
        assert "default" in operation["responses"]
        for status, response in operation["responses"].items():
            assert re.fullmatch(r"[2-5]\d\d|default", status)
            assert response["description"]
    for section, components in document["components"].items():
        assert section in ("schemas", "parameters")
        assert all(re.fullmatch(r"[a-zA-Z0-9._-]+", name) for name in components)
    for parameter in document["components"]["parameters"].values():
        assert parameter["in"] == "header"
        assert parameter["schema"]


def test_every_reference_leads_somewhere_and_every_component_is_used(document):
    used = set(references(document))
    there = {f"#/components/{part}/{name}" for part, group in document["components"].items() for name in group}
    assert used == there


def test_a_verb_shows_what_it_takes_and_gives_and_how_it_fails(document):
    operation = document["paths"]["/v1/memory/remember"]["post"]
    assert operation["requestBody"]["content"].keys() == {"application/json"}
    assert operation["responses"].keys() == {"200", "201", "default"}
    assert operation["responses"]["default"]["content"].keys() == {"application/problem+json"}
    request = document["components"]["schemas"]["memory.remember.request"]
    assert request["properties"]["salience"] == {"type": "number", "minimum": 0, "maximum": 1}
    assert request["properties"]["tags"] == {
        "type": "array",
        "items": {"type": "string", "minLength": 0, "maxLength": 256},
        "minItems": 0,
        "maxItems": 64,
    }


def test_nested_schemas_and_lists_that_may_be_one_item_are_written_out(document):
    properties = document["components"]["schemas"]["memory.recall.request"]["properties"]
    assert set(properties["memory_type"]["type"]) == {"array", "string", "null"}
    assert properties["inner"]["properties"]["weights"]["minItems"] == 1
    assert properties["inner"]["additionalProperties"] is False


def test_the_page_of_the_docs_fetches_only_what_is_served_here(client):
    page = client.get("/docs")
    assert page.content_type == "text/html; charset=utf-8"
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "connect-src 'self'" in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)|\bon\w+=|<style|https?://", page.text)
    linked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(linked) == 4
    for address in linked:
        with client.get(address) as answer:
            assert answer.status_code == 200, address
            assert len(answer.data) > 100
    assert 'url: "/openapi.json"' in client.get("/docs/start.js").text


@pytest.mark.parametrize("name", ["swagger-ui.js", "..%2fflask_swagger_ui.py", "index.css", ""])
def test_no_other_file_of_the_distribution_is_served(client, name):
    assert client.get(f"/docs/{name}").status_code == 404
