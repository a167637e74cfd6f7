"""What reaches a model: a context as it is built, its budget, and the traces of those that were built before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from flask import Response, request

from graph.errors import NotFound, RequestError
from recall.budget import MEMORY_BLOCKS
from recall.selector import BUDGET
from web.page import words
from web.page.forms import Form
from web.page.visit import Visit

WINDOW = 8000  # as `context.build` has it
TRACES = 30  # of a page
MOST_TITLES = 40  # memories of a trace that are told, not only named
SOURCES = 8  # of a block that are shown
NAMES = {"description": "task", "task_description": "task"}


def context() -> Response:
    """The form, and for a task the memories that would be let in; nothing is kept."""
    visit, form = Visit.now(), Form(typed=request.args.to_dict())
    task = form.text("task")
    if task is None:
        return _page(visit, form)
    try:
        budget = BUDGET if form.text("budget") is None else form.whole("budget")
        selection = visit.call("context.select", task_description=task, budget=budget)
    except RequestError as error:
        return _page(visit, form.refused(error, NAMES))
    blocks = [_named(block | {"name": "memory"}) for block in selection["blocks"]]
    used = sum(block["tokens"] for block in blocks)
    return _page(
        visit,
        form,
        selection=selection,
        blocks=blocks,
        bar=_bar(blocks, budget if isinstance(budget, int) else BUDGET),
        used=used,
        budget=budget,
        reason=words.ABSTAINED.get(selection.get("reason") or "", words.NOTHING),
    )


def build() -> Response:
    """Builds the context of a task that is started for it and completed at once."""
    visit, form = Visit.now(), Form(typed=request.form.to_dict())
    try:
        window = WINDOW if form.text("window") is None else form.whole("window")
        started = visit.call("context.task_start", description=form.text("task") or "")
        try:
            built = visit.call("context.build", task_id=started["id"], window=window)
        finally:
            visit.call("context.task_complete", task_id=started["id"])
    except RequestError as error:
        return _page(visit, form.refused(error, NAMES))
    return _page(visit, form, built=_trace(built["trace"] | {"blocks": built["blocks"], "dropped": built["dropped"]}))


def _page(visit: Visit, form: Form, **values: Any) -> Response:
    return visit.page("context.html", form.status, form=form, window=WINDOW, standard=BUDGET, **values)


def traces() -> Response:
    """The newest traces, a page at a time."""
    visit = Visit.now()
    found = visit.call("context.traces", before=request.args.get("before") or None, limit=TRACES)
    rows = [_reason(trace) for trace in found["results"]]
    return visit.page("traces.html", traces=rows, next=found["next_cursor"], first=not request.args.get("before"))


def trace(id: str) -> Response:
    """One trace: what was let in, what was not, and why."""
    visit = Visit.now()
    found = visit.call("context.trace", id=id)
    listed = visit.call("context.traces", before=f"{id}!", limit=1)["results"]  # of those up to this one, the newest
    description = next((one["description"] for one in listed if one["id"] == id), None)
    return visit.page("trace.html", trace=_trace(found), description=description, titles=_titles(visit, found))


def _titles(visit: Visit, trace: Mapping[str, Any]) -> dict[str, str]:
    """What the memories of a trace say, in short, by id; not of those that are gone."""
    blocks = [block for part in ("blocks", "dropped") for block in trace.get(part, ()) if block["name"] in MEMORY_BLOCKS]
    found: dict[str, str] = {}
    for id in dict.fromkeys(id for block in blocks for id in block["sources"][:SOURCES]):
        if len(found) == MOST_TITLES:
            break
        with suppress(NotFound):
            found[id] = words.shortened(visit.call("kg.get", id=id)["content"], 160)
    return found


def _trace(trace: Mapping[str, Any]) -> dict[str, Any]:
    blocks = [_named(block) for block in trace.get("blocks", ())]
    dropped = [
        _named(drop) | {"why": words.DROPPED.get(drop["reason"], drop["reason"])} for drop in trace.get("dropped", ())
    ]
    memory = [block for block in blocks if block["memory"]]
    return {
        **_reason(trace),
        "blocks": blocks,
        "dropped": dropped,
        "bar": _bar(memory, trace.get("memory_budget", 0)),
        "whole": _bar(blocks, trace.get("window", 0)),
    }


def _reason(trace: Mapping[str, Any]) -> dict[str, Any]:
    return {**trace, "reason": words.ABSTAINED.get(trace.get("memory_reason") or "", words.NOTHING)}


def _named(block: Mapping[str, Any]) -> dict[str, Any]:
    memory = block["name"] in MEMORY_BLOCKS
    return {**block, "words": words.BLOCKS.get(block["name"], block["name"]), "memory": memory}


def _bar(blocks: Iterable[Mapping[str, Any]], budget: int) -> Sequence[Mapping[str, Any]]:
    """Blocks side by side, as shares of the budget: where each starts, and how wide it is."""
    found, at = [], 0.0
    for block in blocks:
        share = min(block["tokens"] / budget, 1.0 - at) if budget else 0.0
        found.append({"name": block["name"], "words": block["words"], "tokens": block["tokens"], "at": at, "share": share})
        at += share
    return found
