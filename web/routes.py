"""One route a verb, and the few that tell about the service. The dispatcher checks and does everything."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import orjson
from flask import Flask, Response, current_app, g, request
from flask_smorest import Api, Blueprint
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType

from graph.errors import TooLarge, ValidationFailed
from graph.packs import Verb
from web import auth, strict_json
from web.errors import CONTENT_TYPE
from web.schemas import COMPONENTS, HEADERS, catalog, json_schema, path

if TYPE_CHECKING:
    from recall.service import Service

MOST_ACTOR_BYTES = 1_024
PROBLEM = {"description": "An error.", "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


def register(app: Flask, api: Api, service: Service) -> None:
    """Adds every verb of `service`; a subhandler gets its route, and no mention in the document."""
    for unused in ("Error", "PaginationMetadata"):
        api.spec.components.schemas.pop(unused, None)  # flask-smorest's, which no operation of ours has
    for name, schema in COMPONENTS.items():
        api.spec.components.schema(name, schema)
    for name, header in HEADERS.items():
        api.spec.components.parameter(name, "header", header)
    public = service.dispatcher.verbs()
    for pack, verbs in groupby(public, key=lambda verb: verb.name.partition(".")[0]):
        api.register_blueprint(_pack(api, service, pack, list(verbs)))
    for verb in service.dispatcher.every():
        if verb.visibility == "subhandler":
            app.add_url_rule(path(verb), verb.name, _view(service, verb), methods=["POST"])
    api.register_blueprint(_about(service, catalog(public)))


def _pack(api: Api, service: Service, pack: str, verbs: list[Verb]) -> Blueprint:
    blp = Blueprint(pack, __name__, description=f"The verbs of the pack {pack}.")
    for verb in verbs:
        for part, schema in (("request", verb.request), ("response", verb.response)):
            api.spec.components.schema(f"{verb.name}.{part}", json_schema(schema))
        view = blp.doc(**_documented(verb))(_view(service, verb))
        blp.add_url_rule(path(verb), verb.name.replace(".", "_"), view, methods=["POST"])
    return blp


def _view(service: Service, verb: Verb) -> Callable[[], Response]:
    def view() -> Response:
        g.verb = verb.name
        who = caller(verb.role)  # before the body is read: it may be long
        if verb.role != "read":
            g.wrote = (verb.name, who)
        answer = service.dispatcher.call(verb.name, body(), **who)
        return answered(answer.body, 201 if answer.created else 200)

    return view


def _about(service: Service, verbs: list[dict[str, Any]]) -> Blueprint:
    def readiness() -> Response:
        found = service.readiness()
        return answered(found, 200 if found["ready"] else 503)

    blp = Blueprint("service", __name__, description="The service itself.")
    for address, view, summary, kind in (
        ("/v1/verbs", lambda: answered({"verbs": verbs}), "Every public verb, with its schemas.", "Catalog"),
        ("/healthz", lambda: answered({"status": "ok"}), "Whether the process answers.", "Health"),
        ("/readyz", readiness, "Whether Neo4j answers, its schema is ours, and its indexes are online.", "Readiness"),
    ):
        name = address.rpartition("/")[2]
        content = {"application/json": {"schema": _ref(kind)}}
        told = {"200": {"description": "Yes.", "content": content}, "default": PROBLEM}
        if kind == "Readiness":
            told["503"] = {"description": "Not now; ask again later.", "content": content}
        blp.add_url_rule(address, name, blp.doc(summary=summary, operationId=name, responses=told)(view))
    return blp


def body() -> dict[str, Any]:
    """The request's JSON object. Raises what `strict_json.loads` does, TooLarge, and UnsupportedMediaType."""
    kind = request.mimetype
    if not (kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))):
        raise UnsupportedMediaType(f"the body must be application/json; its Content-Type is {kind or 'missing'}")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("the body's charset must be utf-8")
    if request.content_encoding not in (None, "", "identity"):
        raise UnsupportedMediaType(f"the body must come as it is, not as {request.content_encoding}")
    try:
        return strict_json.loads(request.get_data(cache=False))
    except RequestEntityTooLarge:
        raise TooLarge(f"the body may be at most {current_app.config['MAX_CONTENT_LENGTH']:,} bytes") from None


def caller(role: auth.Role = "read") -> dict[str, Any]:
    """Who calls, and in which namespace: the arguments of `Dispatcher.call` that come from headers.

    role: the least that the key needs.  Raises Forbidden, ValidationFailed.
    """
    return {
        "ns": auth.namespace(role),
        "actor": _actor(request.headers.get("X-Actor")),
        "request_id": g.request_id,
    }


def _actor(raw: str | None) -> str | None:
    """WSGI hands headers over as latin-1; the bytes are meant as UTF-8."""
    if not raw:
        return None
    try:
        actor = raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        raise ValidationFailed.of("X-Actor", "must be UTF-8") from None
    if len(raw) > MOST_ACTOR_BYTES or not actor.isprintable():
        raise ValidationFailed.of("X-Actor", f"must be at most {MOST_ACTOR_BYTES:,} bytes of printable text")
    return actor


def answered(found: Any, status: int = 200) -> Response:
    """`found` as JSON."""
    return Response(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY), status=status, content_type="application/json")


def _documented(verb: Verb) -> dict[str, Any]:
    """The operation of `verb` in the OpenAPI document."""
    answer = {"application/json": {"schema": _ref(f"{verb.name}.response")}}
    asked = {"application/json": {"schema": _ref(f"{verb.name}.request")}}
    return {
        "summary": verb.summary,
        "operationId": verb.name,
        "x-illocution": verb.illocution,
        "x-role": verb.role,
        "parameters": list(HEADERS),
        "requestBody": {"required": True, "content": asked},
        "responses": {
            "200": {"description": "Done.", "content": answer},
            **({"201": {"description": "Something new is stored.", "content": answer}} if verb.role != "read" else {}),
            "default": PROBLEM,
        },
    }


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
