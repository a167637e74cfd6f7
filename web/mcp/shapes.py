"""A tool's schemas, from those of the verb that it calls: the fields that a model needs, with words about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.packs import Verb
from web.mcp.bounded import DEFAULT, LEAST, MOST
from web.schemas import json_schema

MAX_TOKENS = {
    "type": "integer",
    "minimum": LEAST,
    "maximum": MOST,
    "default": DEFAULT,
    "description": "How long the answer may be. What does not fit is cut or left out, and the answer says so.",
}
NOTE = {"type": "string", "description": "what was cut or left out to keep the answer short"}


def taken(verbs: Sequence[Verb], words: Mapping[str, str], required: Sequence[str], *, bounded: bool) -> dict[str, Any]:
    """The input schema: the verbs' fields that `words` describes; limits and types are the verbs' own."""
    fields = {name: field for verb in verbs for name, field in json_schema(verb.request)["properties"].items()}
    shown = {name: _simple(fields[name]) | {"description": about} for name, about in words.items()}
    shown |= {"max_tokens": MAX_TOKENS} if bounded else {}
    return {"type": "object", "properties": shown, "required": list(required), "additionalProperties": False}


def given(verb: Verb, names: Sequence[str], items: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The output schema: fields of the verb's answer. items: of those that are lists of objects, the fields of each."""
    fields = json_schema(verb.response)["properties"]
    shown: dict[str, Any] = {name: fields[name] for name in names}
    for name, parts in items.items():
        inner = fields[name]["items"]["properties"]
        one = {"type": "object", "properties": {part: inner[part] for part in parts if part in inner}}
        shown[name] = {"type": "array", "items": one}
    return {"type": "object", "properties": shown | ({"note": NOTE} if items else {})}


def _simple(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without null, which is as good as leaving a field out, and with one type, which every client can show."""
    found = dict(schema)
    if isinstance(found.get("type"), list):
        found["type"] = next(kind for kind in found["type"] if kind != "null")
    if "enum" in found:
        found["enum"] = [value for value in found["enum"] if value is not None]
    for name in ("minLength", "minItems"):
        if found.get(name) == 0:
            del found[name]
    return found
