"""context.traces: the newest traces of a namespace, for whoever wants to look at one of them."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import fields

from graph.fields import Id, Request, Response, Whole
from graph.packs import Answer, Call
from recall.context_schemas import TraceFacts
from recall.trace import read

NEWEST = "\N{NO-BREAK SPACE}"  # sorts behind every id


@dataclass(frozen=True, kw_only=True)
class Traces:
    """before: the `next_cursor` of the page before."""

    before: str | None = None
    limit: int = 50


class TracesRequest(Request):
    makes = Traces
    before = Id(allow_none=True, about="the `next_cursor` of the page before")
    limit = Whole(low=1, high=200, about="how many")


class TraceSummary(TraceFacts):
    description = fields.String(allow_none=True, metadata={"description": "the beginning of the task's"})


class TracePage(Response):
    results = fields.List(fields.Nested(TraceSummary))
    next_cursor = fields.String(allow_none=True)


def traces(call: Call, request: Traces) -> Answer:
    """A page of traces, the newest first, without their blocks; `next_cursor` asks for the next."""
    rows = call.space.rows(
        "trace.page", timeout_s=call.left_s(10.0), before=request.before or NEWEST, limit=request.limit + 1
    )
    found = [{name: value for name, value in row["trace"].items() if value is not None} for row in rows[: request.limit]]
    page = [read(trace) | {"description": trace.get("description")} for trace in found]
    return Answer({"results": page, "next_cursor": page[-1]["id"] if len(rows) > request.limit else None})
