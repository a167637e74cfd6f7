"""docs/verbs.md, from the verbs themselves: `python -m web.reference > docs/verbs.md`. A test compares the two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from graph.packs import Pack, Verb, installed, ordered
from web.errors import STATUS
from web.schemas import json_schema, path

HEAD = """\
# The verbs

Each is `POST` of a JSON object to the path that stands beside it. `GET /v1/verbs` and `/openapi.json` say the same to
programs, and `/docs` lets you try them. `X-Namespace` says which namespace is meant, `X-Actor` who acts; `X-Request-Id`
comes back in the answer and stands in the log. A field that a verb does not know is an error, and so is one out of its
range: 422, with `errors: [{field, message}]`. Where keys are needed, what changes something needs one of role *write*.

This page is made from the verbs: `python -m web.reference`.
"""
SHOWN = 12  # values of an enumeration that are listed; of a longer one the error names them all


def page(packs: Iterable[Pack]) -> str:
    """The whole page, in Markdown."""
    lines = [HEAD]
    for pack in packs:
        lines += [f"## {pack.name}", ""]
        for verb in (verb for verb in pack.verbs if verb.visibility == "verb"):
            lines += _verb(verb)
    return "\n".join([*lines, *_errors()])


def _verb(verb: Verb) -> Iterator[str]:
    yield f"### {verb.name}"
    yield ""
    yield f"`POST {path(verb)}` · role *{verb.role}*. {verb.summary}"
    yield ""
    request, response = json_schema(verb.request), json_schema(verb.response)
    if request["properties"]:
        yield "| field | type | what it says |"
        yield "|---|---|---|"
        required, named = request.get("required", ()), request["properties"]
        for name, schema in sorted(named.items(), key=lambda item: item[0] not in required):
            yield _row(f"**`{name}`**" if name in required else f"`{name}`", schema, named)
        yield ""
    yield "Answer: " + _fields(response) + "."
    yield ""


def _row(name: str, schema: Mapping[str, Any], beside: Mapping[str, Any]) -> str:
    """A line of the table. beside: the other fields of the request, of which a batch is made."""
    about = schema.get("description", "")
    if "default" in schema and schema["default"] != "":
        default = schema["default"]
        about += f" (default {str(default).lower() if isinstance(default, bool) else default})"
    batch = set(schema.get("items", {}).get("properties", ())) <= set(beside) and "properties" in schema.get("items", {})
    kind = f"list of ≤ {schema['maxItems']:,} objects of these fields" if batch else _type(schema)
    return f"| {name} | {kind} | {about.strip()} |".replace("|  |", "| |")


def _type(schema: Mapping[str, Any]) -> str:
    """A schema in words: text ≤ 64 bytes, number 0 to 1, list of ≤ 64 of .., ..."""
    kinds = schema.get("type", "object")
    kinds = [kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null"]
    values = [value for value in schema.get("enum", ()) if value is not None]
    if "array" in kinds:
        words = f"list of ≤ {schema['maxItems']:,}: " if "maxItems" in schema else "list of "
        return f"{words}{_type(schema['items'])}" + ("; or one" if len(kinds) > 1 else "")
    if values and len(values) <= SHOWN:
        return " / ".join(f"`{value}`" for value in values)
    if values:
        return f"one of {len(values)} names"
    if schema.get("format") == "date-time":
        return "time (ISO 8601 with a zone)"
    if "object" in kinds and schema.get("properties"):
        return f"object: {_fields(schema)}"
    plain: str = {"string": "text", "integer": "whole number", "boolean": "true or false"}.get(kinds[0], kinds[0])
    return plain + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    low, high, above = (schema.get(name) for name in ("minimum", "maximum", "exclusiveMinimum"))
    if low is not None and high is not None:
        return f" {low:,} to {high:,}"
    if low is not None:
        return f" ≥ {low:,}"
    if above is not None:
        return f" > {above:,}" + ("" if high is None else f", ≤ {high:,}")
    return f" ≤ {schema['maxLength']:,} bytes" if "maxLength" in schema else ""


def _fields(schema: Mapping[str, Any]) -> str:
    """Names of fields, those of objects and lists of objects with what is in them."""
    shown = []
    for name, field in schema.get("properties", {}).items():
        inner = field.get("items", field)
        about = f" ({field['description']})" if "description" in field else ""
        parts = f" [{_fields(inner)}]" if inner.get("properties") else ""
        shown.append(f"`{name}`{about}{parts}")
    return ", ".join(shown)


def _errors() -> Iterator[str]:
    yield "## Errors"
    yield ""
    yield "All are `application/problem+json`: `status`, `code`, `detail` in words, `request_id`, and where they apply"
    yield "`errors`, `allowed`, `existing_id`, `chain`. Programs go by `code`; 429, 503 and some 409 say by `Retry-After`"
    yield "when to come again."
    yield ""
    yield "| status | codes |"
    yield "|---|---|"
    codes: dict[int, set[str]] = {}
    for error, told in STATUS.items():
        codes.setdefault(told.status, set()).add(f"`{error.code}`")
    for status in sorted(codes):
        yield f"| {status} {HTTPStatus(status).phrase} | {', '.join(sorted(codes[status]))} |"


if __name__ == "__main__":
    print(page(ordered(installed())))
