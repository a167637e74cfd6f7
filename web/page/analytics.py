"""What the graph says about its own use: every question of `graph.analytics` as a table, and some as charts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from flask import Response, request

from graph.analytics import Asked, AskedRequest, ask, listed
from graph.errors import NotFound, RequestError
from graph.fields import Choice
from graph.packs import validated
from web.page import words
from web.page.charts import chart_of, drawn
from web.page.forms import Form
from web.page.visit import Visit

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
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
    question = next((one for one in listed(visit.service.store) if one["name"] == name), None)
    if question is None:
        raise NotFound(f"no question {name!r}", "name")
    statement = visit.service.store.statements.get(f"analytics.{name}")
    parameters = _parameters(question, statement.params if statement else {})
    try:
        asked = validated(AskedRequest(), _given(form, parameters))
    except RequestError as error:
        form, asked = form.refused(error), Asked()
    found = ask(visit.space, name, asked)
    rows = [[_cell(row[column]) for column in found["columns"]] for row in found["rows"]]
    chart = chart_of(statement.text) if statement else None
    return visit.page(
        "question.html",
        form.status,
        form=form,
        found=found,
        rows=rows,
        numbers={at for row in rows for at, cell in enumerate(row) if cell["number"]},
        chart=drawn(chart, found["rows"]) if chart else None,
        browser=visit.browser.link(f"analytics.{name}", **asdict(asked)),
        parameters=[_field(parameter, getattr(asked, parameter)) for parameter in parameters],
    )


def _parameters(question: Mapping[str, Any], params: Mapping[str, str]) -> list[str]:
    """What a caller may give: as the question lists them, else what its statement takes."""
    known = asdict(Asked())
    return [name for name in question.get("parameters", params) if name in known]


def _given(form: Form, parameters: list[str]) -> dict[str, Any]:
    """What was typed, a number where one is meant."""
    known = asdict(Asked())
    typed = {name: form.whole(name) if isinstance(known[name], int) else form.text(name) for name in parameters}
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
