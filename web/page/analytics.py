"""What the graph says about its own use: every question of `graph.analytics` as a table, and some as charts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from flask import Response, request

from graph.analytics import Asked, AskedRequest, ask, listed, named, request_of
from graph.errors import RequestError
from graph.fields import Choice
from graph.packs import validated
from web.page import words
from web.page.charts import drawn
from web.page.forms import Form
from web.page.visit import Visit

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
IDS: Final = ("id", "oldest_id", "refutes_id")  # columns that name a memory
MOST_CELL: Final = 200  # characters of a cell
NAMES: Final[Mapping[str, str]] = {
    "days": "Days back",
    "ahead": "Days ahead",
    "limit": "Rows at most",
    "nodes": "Nodes at most",
    "percent": "Percent of salience",
}


def every() -> Response:
    """The questions."""
    visit = Visit.now()
    return visit.page("analytics.html", questions=listed(visit.service.store))


def one(name: str) -> Response:
    """The answer to one question."""
    visit, form = Visit.now(), Form(typed=request.args.to_dict())
    store = visit.service.store
    statement = named(store.statements, name)
    parameters = next(one["parameters"] for one in listed(store) if one["name"] == name)
    try:
        asked = validated(request_of(store.statements, name), _given(form, parameters))
    except RequestError as error:
        form, asked = form.refused(error), Asked()
    found = ask(visit.space, name, asked)
    rows = [[_cell(row[column]) for column in found["columns"]] for row in found["rows"]]
    return visit.page(
        "question.html",
        form.status,
        form=form,
        ids=IDS,
        found=found,
        rows=rows,
        numbers={at for row in rows for at, cell in enumerate(row) if cell["number"]},
        chart=drawn(statement.chart, found["rows"]) if statement.chart else None,
        browser=visit.browser.link(statement.name, **asdict(asked)),
        parameters=[_field(parameter, getattr(asked, parameter)) for parameter in parameters],
    )


def _given(form: Form, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, a number where one is meant. parameters: with their defaults."""
    typed = {name: form.whole(name) if isinstance(default, int) else form.text(name) for name, default in parameters.items()}
    return {name: value for name, value in typed.items() if value is not None}


def _field(name: str, value: Any) -> dict[str, Any]:
    """How a parameter is asked for."""
    schema = AskedRequest().fields[name]
    choices = schema.choices if isinstance(schema, Choice) else ()
    return {"name": name, "label": NAMES.get(name, name.capitalize()), "value": value, "choices": choices}


def _cell(value: Any) -> dict[str, Any]:
    """A value as a table shows it; numbers stand to the right."""
    if isinstance(value, bool) or value is None:
        return {"text": {True: "yes", False: "no", None: "–"}[value], "number": False}
    if isinstance(value, int | float):
        return {"text": f"{value:,}" if isinstance(value, int) else f"{value:,.3f}", "number": True}
    if isinstance(value, list):
        value = ", ".join(map(str, value[:MOST_CELL]))
    text = words.day(value) if isinstance(value, str) and _TIME.fullmatch(value) else str(value)
    return {"text": text if len(text) <= MOST_CELL else f"{text[:MOST_CELL]}…", "number": False}
