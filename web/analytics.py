"""GET /v1/analytics: what the graph says about its own use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Response, request
from flask_smorest import Api, Blueprint

from graph.analytics import AskedRequest, ask, listed, request_of
from graph.errors import ValidationFailed
from graph.fields import Whole
from graph.packs import checked_namespace, validated
from web.routes import PROBLEM, answered, caller
from web.schemas import json_schema

if TYPE_CHECKING:
    from recall.service import Service

_ROWS: dict[str, Any] = {
    "type": "object",
    "required": ["name", "about", "columns", "rows"],
    "properties": {
        "name": {"type": "string"},
        "about": {"type": "string"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "object"}},
    },
}
_CHART: dict[str, Any] = {
    "type": ["object", "null"],
    "properties": {"kind": {"enum": ["line", "bar"]}, "x": {"type": "string"}, "y": {"type": "string"}},
}
_QUESTION: dict[str, Any] = {
    "type": "object",
    "required": ["name", "about", "parameters", "columns", "chart"],
    "properties": {
        "name": {"type": "string"},
        "about": {"type": "string"},
        "parameters": {"type": "object", "description": "by name, with what each is if nobody gives it"},
        "columns": {"type": "array", "items": {"type": "string"}},
        "chart": _CHART | {"description": "the columns by which the rows are best drawn"},
    },
}
_LIST: dict[str, Any] = {"type": "object", "properties": {"analytics": {"type": "array", "items": _QUESTION}}}


def register(api: Api, service: Service) -> None:
    """Adds the two routes."""

    def every() -> Response:
        return answered({"analytics": listed(service.store)})

    def one(name: str) -> Response:
        schema = request_of(service.store.statements, name)
        asked = validated(schema, _given(schema))
        return answered(ask(service.store.within(checked_namespace(caller()["ns"])), name, asked))

    blp = Blueprint("analytics", __name__, description="What the graph says about its own use.")
    numbers = json_schema(AskedRequest())["properties"].items()
    query = [{"in": "query", "name": name, "schema": schema} for name, schema in numbers]
    documented = blp.doc(
        summary="Every question by name, with its parameters.", operationId="analytics", responses=_responses(_LIST)
    )
    blp.add_url_rule("/v1/analytics", "every", documented(every))
    documented = blp.doc(
        summary="The answer to one question.",
        operationId="analytics.one",
        parameters=[*query, "X-Namespace"],
        responses=_responses(_ROWS),
    )
    blp.add_url_rule("/v1/analytics/<string:name>", "one", documented(one))
    api.register_blueprint(blp)


def _given(schema: AskedRequest) -> dict[str, Any]:
    """The query, numbers as such. Raises ValidationFailed for what is given twice."""
    for name, values in request.args.lists():
        if len(values) > 1:
            raise ValidationFailed.of(name, "is given more than once")
    whole = {name for name, field in schema.fields.items() if isinstance(field, Whole)}
    return {
        name: int(value) if name in whole and value.isascii() and value.isdigit() and len(value) < 19 else value
        for name, value in request.args.items()
    }


def _responses(schema: dict[str, Any]) -> dict[str, Any]:
    return {"200": {"description": "Done.", "content": {"application/json": {"schema": schema}}}, "default": PROBLEM}
