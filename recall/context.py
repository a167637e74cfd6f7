"""The context pack: tasks, what memory has to say to them, and the context that a model gets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from graph.fields import shown_time
from graph.kg_answers import Stored
from graph.packs import Answer, Call, Pack, Runtime, Verb
from recall import context_schemas as schemas
from recall.broker import ContextBroker
from recall.budget import Block
from recall.growth import GrowRequest, grow
from recall.selector import MemorySelector
from recall.tasks import ACTIVE, SeenTasks, TaskRepository
from recall.trace import Shelf, TraceLog
from recall.traces import TracePage, TracesRequest, traces


@dataclass(frozen=True, kw_only=True)
class ContextState:
    """The pack's state."""

    shelf: Shelf
    seen: SeenTasks = field(default_factory=SeenTasks)

    def broker(self, call: Call) -> ContextBroker:
        """The broker for a call's namespace."""
        return ContextBroker(
            tasks=TaskRepository(call, self.seen),
            traces=TraceLog(call, self.shelf),
            memory_selector=MemorySelector(call=call),
        )


def open_context(runtime: Runtime) -> ContextState:
    return ContextState(shelf=Shelf(keep_days=runtime.options["settings"].trace_days))


def task_start(call: Call, request: schemas.Start) -> Answer:
    """Starts a task, the one active in its conversation; 409 while another is."""
    id = _broker(call).tasks.start(request.description, request.conversation)
    return Answer({"id": id, "conversation": request.conversation or id, "status": ACTIVE}, created=True)


def task_turn(call: Call, request: schemas.AddTurn) -> Answer:
    """Adds a turn to an active task."""
    id, position = _broker(call).tasks.turn(request.task_id, request.role, request.text)
    return Answer({"id": id, "task_id": request.task_id, "position": position}, created=True)


def task_complete(call: Call, request: schemas.ByTask) -> Answer:
    """Completes a task: from now on it is history, and its conversation is free for the next."""
    row = _broker(call).tasks.complete(request.task_id)
    completed = shown_time(row["completed_at"].to_native())
    return Answer({"id": row["id"], "status": row["status"], "completed_at": completed, "unchanged": not row["changed"]})


def select(call: Call, request: schemas.Select) -> Answer:
    """The memories that bear on a task, past the floor and within a budget; or none, and why."""
    selector = _broker(call).memory_selector
    assert selector
    found = selector.select_for_task(request.task_description, request.types, request.budget)
    return Answer(asdict(found))


def build(call: Call, request: schemas.Build) -> Answer:
    """The context of an active task: blocks that fit its window, what was dropped and why, and the trace of it."""
    built = _broker(call).build(request.task_id, request.window)
    trace = built.trace.facts | {"created_at": shown_time(built.trace.created_at), "degraded": list(built.degraded)}
    return Answer(
        {
            "blocks": [_shown(block) for block in built.blocks],
            "dropped": [_shown(drop.block) | {"reason": drop.reason} for drop in built.dropped],
            "tokens": built.trace.tokens,
            "memory_budget": built.memory_budget,
            "degraded": list(built.degraded),
            "trace": trace,
        }
    )


def trace(call: Call, request: schemas.ByTrace) -> Answer:
    """What a build let in and left out, and why; of any version that was ever written."""
    return Answer(_broker(call).traces.get(request.id))


def _broker(call: Call) -> ContextBroker:
    state: ContextState = call.state
    return state.broker(call)


def _shown(block: Block) -> dict[str, Any]:
    found = {
        "name": block.name,
        "priority": block.priority,
        "tokens": block.tokens,
        "text": block.text,
        "sources": list(block.sources),
    }
    if memory := block.memory:
        found |= {"found_by": memory.sources, "relevance": memory.relevance, "memory_type": memory.memory_type}
    return found


pack = Pack(
    name="context",
    requires=("memory",),
    open=open_context,
    verbs=(
        Verb(
            name="context.select",
            illocution="assertive",
            request=schemas.SelectRequest(),
            response=schemas.Selection(),
            handler=select,
        ),
        Verb(
            name="context.build",
            illocution="assertive",
            request=schemas.BuildRequest(),
            response=schemas.Built(),
            handler=build,
        ),
        Verb(
            name="context.task_start",
            illocution="commissive",
            role="write",
            request=schemas.StartRequest(),
            response=schemas.Started(),
            handler=task_start,
        ),
        Verb(
            name="context.task_turn",
            illocution="commissive",
            role="write",
            request=schemas.TurnRequest(),
            response=schemas.Added(),
            handler=task_turn,
        ),
        Verb(
            name="context.task_complete",
            illocution="directive",
            role="write",
            request=schemas.ByTaskRequest(),
            response=schemas.Completed(),
            handler=task_complete,
        ),
        Verb(
            name="context.trace",
            illocution="assertive",
            request=schemas.ByTraceRequest(),
            response=schemas.TraceAnswer(),
            handler=trace,
        ),
        Verb(
            name="context.traces",
            illocution="assertive",
            visibility="subhandler",
            request=TracesRequest(),
            response=TracePage(),
            handler=traces,
        ),
        Verb(
            name="context.grow",
            illocution="commissive",
            visibility="subhandler",
            role="write",
            request=GrowRequest(),
            response=Stored(),
            handler=grow,
        ),
    ),
)
