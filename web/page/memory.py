"""One memory's page: its layers through time, its neighbourhood, the forms that change it; and the form for a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, request

from graph.errors import RequestError
from graph.ontology import RELATIONS
from recall.remember import REMEMBERED_TYPES
from web.page import words
from web.page.ask import SIGNALS
from web.page.forms import Form
from web.page.picture import pictured
from web.page.visit import Visit

MOST_LAYERS = 100  # of a chain that the page lists
MOST_AROUND = 40  # neighbours, the strongest
MOST_CONTENT = 20_000  # characters that the page shows
AROUND = [relation for relation in RELATIONS if relation != "supersedes"]
TITLE = 240  # characters of a heading; what is longer stands below it as a whole


def memory(id: str) -> Response:
    """The memory `id`."""
    return _page(Visit.now(), id, Form())


def _page(visit: Visit, id: str, form: Form) -> Response:
    node = visit.call("kg.get", id=id)
    layers = visit.call("kg.history", id=id)["results"]
    around = visit.call("kg.neighbors", id=id, relations=AROUND, limit=MOST_AROUND + 1)["results"]
    shown = {"layers": _near(layers, id), "around": around[:MOST_AROUND]}
    return visit.page(
        "memory.html",
        form.status,
        node=_told(node),
        form=form,
        signals=SIGNALS,
        serve_id=request.values.get("serve") or None,
        browser=visit.browser.link("browser.memory", id=id),
        statement=visit.browser.text("browser.memory", id=id),
        picture=pictured(node, shown["layers"], shown["around"], lambda other: visit.url("memory", id=other)),
        more_layers=len(layers) - len(shown["layers"]),
        more_around=len(around) > MOST_AROUND,
        **shown,
    )


def _told(node: Mapping[str, Any]) -> dict[str, Any]:
    content = node["content"]
    cut = len(content) > MOST_CONTENT
    title = words.shortened(content, TITLE)
    return {**node, "title": title, "shown": content[:MOST_CONTENT], "cut": cut, "single": title == content.strip()}


def _near(layers: list[dict[str, Any]], id: str) -> list[dict[str, Any]]:
    """Of a long chain the part around the memory."""
    if len(layers) <= MOST_LAYERS:
        return layers
    at = next((at for at, layer in enumerate(layers) if layer["id"] == id), 0)
    first = min(max(at - MOST_LAYERS // 2, 0), len(layers) - MOST_LAYERS)
    return layers[first : first + MOST_LAYERS]


def remember_form() -> Response:
    """An empty form."""
    return Visit.now().page("remember.html", form=Form(typed={"supersedes": request.args.get("supersedes", "")}), **_types())


def remember() -> Response:
    """Keeps a memory, and shows it."""
    visit, form = Visit.now(), Form(typed=request.form.to_dict())
    try:
        answer = visit.call("memory.remember", content=form.text("content") or "", **_fields(form))
    except RequestError as error:
        form = form.refused(error)
        return visit.page("remember.html", form.status, form=form, **_types())
    said = "unchanged" if answer["unchanged"] else "superseded" if form.text("supersedes") else "remembered"
    return visit.to("memory", id=answer["id"], said=said)


def supersede() -> Response:
    """Keeps what holds now instead of the memory that the form names, and shows that."""
    visit, form = Visit.now(), Form(typed=request.form.to_dict())
    id = form.text("id") or ""
    old = visit.call("kg.get", id=id)
    said = {"content": form.text("content") or "", "created_at": form.moment("created_at"), "supersedes": [id]}
    try:
        if old["label"] == "Note" and old["kind"] == "memory" and old.get("memory_type", "episodic") in REMEMBERED_TYPES:
            answer = visit.call("memory.remember", memory_type=old.get("memory_type"), **said)
        else:
            like = {name: old.get(name) for name in ("label", "kind", "memory_type")}
            answer = visit.call("kg.create", **like, **said)
    except RequestError as error:
        return _page(visit, id, form.refused(error))
    return visit.to("memory", id=answer["id"], said="superseded")


def _fields(form: Form) -> dict[str, Any]:
    return {
        "memory_type": form.text("memory_type"),
        "tags": form.listed("tags"),
        "key": form.text("key"),
        "source": form.text("source"),
        "salience": form.number("salience"),
        "created_at": form.moment("created_at"),
        "expires_at": form.moment("expires_at"),
        "supersedes": form.listed("supersedes"),
    }


def _types() -> dict[str, Any]:
    return {"types": REMEMBERED_TYPES}
