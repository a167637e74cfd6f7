"""What the verbs take and give, as JSON Schema: for the OpenAPI document, the catalog, and whatever else shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema, fields

from graph.fields import Several, Text
from graph.packs import Verb

OPENAPI_VERSION = "3.1.0"  # whose schemas are JSON Schema 2020-12


def _limits(_: Any, field: fields.Field[Any], *, ret: dict[str, Any], **__: Any) -> dict[str, Any]:
    """What our own fields take beyond what their metadata says. A text's limit is in bytes, so never more characters."""
    if isinstance(field, Text):
        return {"maxLength": field.most}
    if not isinstance(field, Several):
        return {}
    single = ret["items"].get("type", "object") if field.or_one else []
    kinds = [kind for some in (ret["type"], single) for kind in ([some] if isinstance(some, str) else some)]
    return {"type": kinds if len(kinds) > 1 else kinds[0], "minItems": field.least, "maxItems": field.most}


def _converter() -> Any:
    """A resolver that names nothing has nested schemas written out where they are used."""
    plugin = MarshmallowPlugin(schema_name_resolver=lambda schema: "")
    spec = APISpec("", "", OPENAPI_VERSION, plugins=[plugin])
    converter: Any = OpenAPIConverter(OPENAPI_VERSION, plugin.schema_name_resolver, spec)
    converter.add_attribute_function(_limits)
    return converter


_CONVERTER = _converter()


def json_schema(schema: Schema) -> dict[str, Any]:
    """`schema` as one JSON Schema without references, with the defaults of the value that it makes."""
    found: dict[str, Any] = _CONVERTER.schema2jsonschema(schema)
    makes = getattr(schema, "makes", None)
    for one in dataclasses.fields(makes) if dataclasses.is_dataclass(makes) else ():
        if one.name in found["properties"] and isinstance(one.default, bool | int | float | str):
            found["properties"][one.name]["default"] = one.default
    return found


def catalog(verbs: Iterable[Verb]) -> list[dict[str, Any]]:
    """One entry a verb, with its schemas."""
    return [
        {
            "name": verb.name,
            "path": path(verb),
            "illocution": verb.illocution,
            "summary": verb.summary,
            "role": verb.role,
            "request": json_schema(verb.request),
            "response": json_schema(verb.response),
        }
        for verb in verbs
    ]


def path(verb: Verb) -> str:
    """The address of a verb."""
    return f"/v1/{verb.name.replace('.', '/')}"


_PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "An error (RFC 9457). Programs match `code`; some codes bring fields of their own.",
    "required": ["type", "title", "status", "detail", "code", "request_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "message"],
                "properties": {"field": {"type": "string"}, "message": {"type": "string"}},
            },
        },
        "allowed": {"type": "array", "items": {"type": "string"}},
        "existing_id": {"type": "string"},
        "chain": {"type": "array", "items": {"type": "string"}},
    },
}

_READINESS: dict[str, Any] = {
    "type": "object",
    "required": ["ready", "neo4j"],
    "properties": {
        "ready": {"type": "boolean"},
        "neo4j": {"type": "string", "description": "up, away, or what it answers instead"},
        "schema": {"type": ["integer", "null"]},
        "indexes": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}

HEADERS: dict[str, dict[str, Any]] = {
    "X-Namespace": {"description": "Which namespace is meant.", "schema": {"type": "string", "default": "default"}},
    "X-Actor": {"description": "Who acts, in UTF-8.", "schema": {"type": "string"}},
    "X-Request-Id": {"description": "Comes back in the answer and in the log.", "schema": {"type": "string"}},
}

COMPONENTS = {
    "Problem": _PROBLEM,
    "Readiness": _READINESS,
    "Health": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
    "Catalog": {
        "type": "object",
        "required": ["verbs"],
        "properties": {
            "verbs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["name", "path", "illocution", "summary", "role", "request", "response"],
                    "properties": {
                        "name": {"type": "string"},
                        "path": {"type": "string"},
                        "illocution": {"enum": ["assertive", "commissive", "directive"]},
                        "summary": {"type": "string"},
                        "role": {"enum": ["read", "write", "admin"]},
                        "request": {"type": "object", "description": "JSON Schema 2020-12"},
                        "response": {"type": "object", "description": "JSON Schema 2020-12"},
                    },
                },
            }
        },
    },
}
