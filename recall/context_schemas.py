"""What the context pack takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from marshmallow import fields

from graph.fields import Choice, Id, Request, Response, Several, Text, Whole
from graph.kg_schemas import CONTENT_BYTES, NAME_BYTES
from graph.ontology import MEMORY_TYPES
from recall.broker import WINDOW
from recall.memory_schemas import QUERY_BYTES
from recall.selector import BUDGET
from recall.tasks import ROLES

MOST_BUDGET, MOST_WINDOW = 16_000, 10_000_000


@dataclass(frozen=True, kw_only=True)
class Start:
    description: str
    conversation: str | None = None


class StartRequest(Request):
    makes = Start
    description = Text(most=QUERY_BYTES, least=1, required=True, about="what is to be done")
    conversation = Text(
        most=NAME_BYTES, least=1, allow_none=True, about="of which one task can be active; else the task is one of its own"
    )


class Started(Response):
    id = fields.String()
    conversation = fields.String()
    status = fields.String()


@dataclass(frozen=True, kw_only=True)
class AddTurn:
    task_id: str
    role: str
    text: str


class TurnRequest(Request):
    makes = AddTurn
    task_id = Id(required=True, about="an active task")
    role = Choice(ROLES, required=True, about="who speaks")
    text = Text(most=CONTENT_BYTES, least=1, required=True, about="what was said")


class Added(Response):
    id = fields.String()
    task_id = fields.String()
    position = fields.Integer()


@dataclass(frozen=True, kw_only=True)
class ByTask:
    task_id: str


class ByTaskRequest(Request):
    makes = ByTask
    task_id = Id(required=True, about="the task's id")


class Completed(Response):
    id = fields.String()
    status = fields.String()
    completed_at = fields.String()
    unchanged = fields.Boolean()


@dataclass(frozen=True, kw_only=True)
class Select:
    task_description: str
    types: Sequence[str] | None = None
    budget: int = BUDGET


class SelectRequest(Request):
    makes = Select
    task_description = Text(most=QUERY_BYTES, required=True, about="what memory is wanted for")
    types = Several(
        Choice(MEMORY_TYPES),
        most=len(MEMORY_TYPES),
        or_one=True,
        allow_none=True,
        about="only memories of these types, and those without one",
    )
    budget = Whole(low=1, high=MOST_BUDGET, about="most tokens")


class Memory(Response):
    id = fields.String()
    sources = fields.List(fields.String(), metadata={"description": "the sources that found it, in their order"})
    kind = fields.String()
    memory_type = fields.String(allow_none=True)
    content = fields.String()
    tokens = fields.Integer()
    relevance = fields.Float(metadata={"description": "calibrated probability of a true match; the floor applies to it"})
    score = fields.Float(metadata={"description": "orders; in [0, 1]"})
    created_at = fields.String()
    path = fields.List(fields.Dict())
    cut = fields.Boolean()


class Selection(Response):
    blocks = fields.List(fields.Nested(Memory))
    candidates_evaluated = fields.Integer()
    selected_count = fields.Integer()
    abstained = fields.Boolean()
    reason = fields.String(allow_none=True)
    types_queried = fields.List(fields.String())
    degraded = fields.List(fields.String())


@dataclass(frozen=True, kw_only=True)
class Build:
    task_id: str
    window: int = WINDOW


class BuildRequest(Request):
    makes = Build
    task_id = Id(required=True, about="the task that the context is for")
    window = Whole(
        low=1, high=MOST_WINDOW, about="tokens that the model's input may have; memory gets an eighth, at most 1,200"
    )


class TracedBlock(Response):
    name = fields.String()
    priority = fields.Integer()
    tokens = fields.Integer()
    sources = fields.List(fields.String(), metadata={"description": "ids of the task and turns, or of the memory"})


class BuiltBlock(TracedBlock):
    text = fields.String()
    found_by = fields.List(fields.String())
    relevance = fields.Float()
    memory_type = fields.String(allow_none=True)


class DroppedBlock(TracedBlock):
    reason = fields.String(metadata={"description": "memory budget, or input budget"})


class TraceFacts(Response):
    id = fields.String()
    schema_version = fields.Integer()
    created_at = fields.String()
    task_id = fields.String()
    conversation = fields.String()
    window = fields.Integer()
    tokens = fields.Integer()
    over_window = fields.Boolean(metadata={"description": "the active task alone is larger than the window"})
    memory_budget = fields.Integer()
    memory_tokens = fields.Integer()
    memory_candidates = fields.Integer()
    memory_selected = fields.Integer()
    memory_abstained = fields.Boolean()
    memory_reason = fields.String(allow_none=True)
    memory_types_queried = fields.List(fields.String())
    degraded = fields.List(fields.String())
    took_ms = fields.Float()


class Built(Response):
    blocks = fields.List(fields.Nested(BuiltBlock))
    dropped = fields.List(fields.Nested(DroppedBlock))
    tokens = fields.Integer()
    memory_budget = fields.Integer()
    degraded = fields.List(fields.String())
    trace = fields.Nested(TraceFacts)


@dataclass(frozen=True, kw_only=True)
class ByTrace:
    id: str


class ByTraceRequest(Request):
    makes = ByTrace
    id = Id(required=True, about="the trace's id, as a build gave it")


class TraceAnswer(TraceFacts):
    blocks = fields.List(fields.Nested(TracedBlock))
    dropped = fields.List(fields.Nested(DroppedBlock))
