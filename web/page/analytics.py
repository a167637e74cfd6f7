"""What the graph says about its own use: every question of `graph.analytics` as a table, and some as charts."""

from __future__ import annotations

import re
from typing import Any

from flask import Response, request

from graph.analytics import AskedRequest, ask, listed
from graph.errors import RequestError
from graph.packs import validated
from web.page import words
from web.page.charts import chart_of, drawn
from web.page.forms import Form
from web.page.visit import Visit

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
MOST_CELL = 200  # characters of a cell


def every() -> Response:
    """The questions."""
    visit = Visit.now()
    return visit.page("analytics.html", questions=listed(visit.service.store))


def one(name: str) -> Response:
    """The answer to one question."""
    visit, form = Visit.now(), Form(typed=request.args.to_dict())
    given = {field: value for field in ("days", "limit") if (value := form.whole(field)) is not None}
    try:
        asked = validated(AskedRequest(), given)
    except RequestError as error:
        form, asked = form.refused(error), validated(AskedRequest(), {})
    found = ask(visit.space, name, asked)
    statement = visit.service.store.statements.get(f"analytics.{name}")
    chart = chart_of(statement.text) if statement else None
    values = {name: getattr(asked, name) for name in ("days", "limit")}
    return visit.page(
        "question.html",
        form.status,
        form=form,
        found=found,
        rows=[[_cell(row[column]) for column in found["columns"]] for row in found["rows"]],
        chart=drawn(chart, found["rows"]) if chart else None,
        browser=visit.browser.link(f"analytics.{name}", **values),
        params=statement.params if statement else (),
        **values,
    )


def _cell(value: Any) -> dict[str, Any]:
    """A value as a table shows it; numbers stand to the right."""
    if isinstance(value, bool) or value is None:
        return {"text": {True: "yes", False: "no", None: "–"}[value], "number": False}
    if isinstance(value, int | float):
        return {"text": f"{value:,}" if isinstance(value, int) else f"{value:,.3f}", "number": True}
    text = words.day(value) if isinstance(value, str) and _TIME.fullmatch(value) else str(value)
    return {"text": text if len(text) <= MOST_CELL else f"{text[:MOST_CELL]}…", "number": False}
