"""ContextBroker: what enters a model's context for a task, in tokens, and a trace of what was let in and left out."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from graph.records import new_id
from recall.budget import Block, Dropped, admit, memory_budget
from recall.quoting import memory_text, past_text, task_text
from recall.selector import MemorySelector, SelectionResult
from recall.sources import PERSONA_TYPES, Selected
from recall.tasks import TaskRepository, TaskState
from recall.trace import Trace, TraceLog

log = logging.getLogger(__name__)
WINDOW: Final = 8000  # tokens, if nobody says otherwise
OFFERED: Final = 2  # times the memory budget that is selected, so that the trace tells what the budget cost


@dataclass(frozen=True, kw_only=True)
class Situation:
    """What a contributor works from."""

    state: TaskState
    selector: MemorySelector | None
    memory_budget: int


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What a contributor offers. selection: of the one that speaks for memory.

    degraded: what it had to do without, itself first: ["memory"] is all of memory, ["memory", "memory.neurons"] a part.
    """

    blocks: Sequence[Block] = ()
    selection: SelectionResult | None = None
    degraded: Sequence[str] = ()


@dataclass(frozen=True)
class Contributor:
    name: str
    give: Callable[[Situation], Contribution]


def user(situation: Situation) -> Contribution:
    """The active task: its description and its turns."""
    state = situation.state
    sources = [state.id, *(turn.id for turn in state.turns)]
    return Contribution(blocks=[Block.of("user", task_text(state), sources)], degraded=["task"] if state.stale else [])


def history(situation: Situation) -> Contribution:
    """The completed tasks of the conversation; older ones go first where room is short."""
    return Contribution(
        blocks=[
            Block.of("history", past_text(task), [task.id, *(turn.id for turn in task.turns)], rank=-age)
            for age, task in enumerate(situation.state.past)
        ]
    )


def memory(situation: Situation) -> Contribution:
    """What the selector finds for the active task's description, and for nothing that was said before it."""
    state, selector = situation.state, situation.selector
    if selector is None:
        return Contribution(selection=SelectionResult(reason="no_selector"))
    if state.stale:
        return Contribution(selection=SelectionResult(reason="degraded"), degraded=["memory"])
    selection = selector.select_for_task(state.description, budget=OFFERED * situation.memory_budget)
    parts = [] if selection.reason == "degraded" else [f"memory.{name}" for name in selection.degraded]
    return Contribution(
        blocks=[_memory_block(found) for found in selection.blocks],
        selection=selection,
        degraded=["memory", *parts] if selection.degraded else [],
    )


def _memory_block(found: Selected) -> Block:
    name = "consolidated" if "consolidated" in found.sources else "memory"
    if "persona" in found.sources and found.memory_type in PERSONA_TYPES:
        name = "persona_memories"
    return Block.of(name, memory_text(name, found), [found.id], rank=found.score, memory=found)


CONTRIBUTORS: Final = (Contributor("user", user), Contributor("history", history), Contributor("memory", memory))


@dataclass(frozen=True, kw_only=True)
class Context:
    """A built context. blocks: by priority.  trace: where all of this is kept."""

    blocks: tuple[Block, ...]
    dropped: tuple[Dropped, ...]
    memory_budget: int
    trace: Trace
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ContextBroker:
    """Owns the budget of a context. Raises ValueError for two contributors of one name."""

    tasks: TaskRepository
    traces: TraceLog
    memory_selector: MemorySelector | None = None
    contributors: Sequence[Contributor] = CONTRIBUTORS

    def __post_init__(self) -> None:
        counted = Counter(contributor.name for contributor in self.contributors)
        if doubled := [name for name, times in counted.items() if times > 1]:
            raise ValueError(f"a context has one contributor of a name, not {counted[doubled[0]]} named {doubled[0]}")

    def build(self, task_id: str, window: int = WINDOW) -> Context:
        """The context of an active task in a window of `window` tokens.

        Where Neo4j is away, a task that was seen here before is answered without memory, and `degraded` says so.
        Raises NotFound; Conflict if the task is not active; StoreError if it was never seen here and can't be read.
        """
        started = time.perf_counter()
        budget = memory_budget(window)
        state = self.tasks.state(task_id)
        situation = Situation(state=state, selector=self.memory_selector, memory_budget=budget)
        given = [self._given(contributor, situation) for contributor in self.contributors]
        admitted, dropped = self._admit([block for one in given for block in one.blocks], window, budget)
        selection = next((one.selection for one in given if one.selection is not None), SelectionResult())
        trace = Trace(
            id=new_id(),
            task_id=state.id,
            conversation=state.conversation,
            window=window,
            memory_budget=budget,
            blocks=tuple(admitted),
            dropped=tuple(dropped),
            memory_candidates=selection.candidates_evaluated,
            memory_selected=sum(block.memory is not None for block in admitted),
            memory_abstained=selection.abstained,
            memory_reason=selection.reason,
            memory_types_queried=selection.types_queried,
            degraded=tuple(name for one in given for name in one.degraded),
            took_ms=round((time.perf_counter() - started) * 1000, 3),
        )
        degraded = trace.degraded if self.traces.write(trace) else (*trace.degraded, "trace")
        return Context(blocks=trace.blocks, dropped=trace.dropped, memory_budget=budget, trace=trace, degraded=degraded)

    def _given(self, contributor: Contributor, situation: Situation) -> Contribution:
        """What a contributor gives; the active task must come, without the others it goes on."""
        if contributor.name == "user":
            return contributor.give(situation)
        try:
            return contributor.give(situation)
        except Exception as error:
            log.warning("a context goes on without %s: %s: %s", contributor.name, type(error).__name__, error)
            return Contribution(degraded=[contributor.name])

    def _admit(self, blocks: Sequence[Block], window: int, budget: int) -> tuple[list[Block], list[Dropped]]:
        return admit(blocks, window=window, memory_budget=budget)
