"""Tasks and their turns in the graph. A task's status is the authority on what is asked for now; turns hold the words.

A conversation has one active task: the property `active_in` is only on an active one, and a constraint makes it unique, so
of any number of starts at once one succeeds.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph.errors import Conflict, NotFound, StoreConflict, StoreTimeout, StoreUnavailable, TaskActive
from graph.packs import Call
from graph.records import new_id, title

ACTIVE, COMPLETED = "active", "completed"
ROLES: Final = ("user", "assistant", "system", "tool")
MOST: Final = {
    "turns": 1000,
    "tasks": 20,
    "past_turns": 50,
    "clip": 4000,
}  # read of one task; clip: characters of a past text
HELD: Final = 1000  # tasks whose last state a process remembers, for when Neo4j is away
READ_S, SEEN_READ_S = 10.0, 1.5  # limits of reading a task; the second where an answer without Neo4j is there


@dataclass(frozen=True, kw_only=True)
class Turn:
    id: str
    role: str
    text: str


@dataclass(frozen=True, kw_only=True)
class PastTask:
    """A completed task of the same conversation. turns: oldest first."""

    id: str
    description: str
    turns: Sequence[Turn] = ()


@dataclass(frozen=True, kw_only=True)
class TaskState:
    """The active task. turns: oldest first.  past: completed ones, newest first.  stale: as last seen, Neo4j being away."""

    id: str
    description: str
    conversation: str
    turns: Sequence[Turn] = ()
    past: Sequence[PastTask] = ()
    stale: bool = False


@dataclass(frozen=True)
class SeenTasks:
    """The last state of tasks by (namespace, id). Safe for any number of threads."""

    states: OrderedDict[tuple[str, str], TaskState] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, ns: str, state: TaskState) -> None:
        with self.lock:
            self.states[ns, state.id] = state
            self.states.move_to_end((ns, state.id))
            while len(self.states) > HELD:
                self.states.popitem(last=False)

    def get(self, ns: str, id: str) -> TaskState | None:
        with self.lock:
            return self.states.get((ns, id))

    def forget(self, ns: str, id: str) -> None:
        with self.lock:
            self.states.pop((ns, id), None)


@dataclass(frozen=True)
class TaskRepository:
    """The tasks of the call's namespace; an id from elsewhere is not found."""

    call: Call
    seen: SeenTasks

    def start(self, description: str, conversation: str | None = None) -> str:
        """The id of a new active task. Without a conversation it is one of its own.

        Raises TaskActive, with the id, where the conversation has an active task.
        """
        id, now = new_id(), dt.datetime.now(dt.UTC)
        conversation = conversation or id
        task = {
            "id": id,
            "title": title(description),
            "description": description,
            "conversation": conversation,
            "active_in": conversation,
            "status": ACTIVE,
            "turns": 0,
            "created_at": now,
            "updated_at": now,
        }
        space = self.call.space
        try:
            space.write(lambda tx: tx.rows("task.start", task=task))
        except StoreConflict:
            holder = space.value("task.active", conversation=conversation)
            if holder == id:  # stored by an attempt whose answer was lost
                return id
            raise TaskActive(
                f"conversation: {holder or 'another task'} is active there; complete it first", holder or ""
            ) from None
        self.seen.keep(space.ns, TaskState(id=id, description=description, conversation=conversation))
        return id

    def turn(self, task_id: str, role: str, text: str) -> tuple[str, int]:
        """Id and position (from 1) of a new turn of an active task. Raises NotFound, Conflict."""
        turn = {"id": new_id(), "role": role, "text": text, "title": title(text), "created_at": dt.datetime.now(dt.UTC)}
        row = self.call.space.write(lambda tx: tx.one("task.turn", id=task_id, turn=turn))
        if row is None:
            raise _unknown(task_id)
        if row["turn_id"] is None:
            raise _not_active(task_id, row["status"])
        if seen := self.seen.get(self.call.space.ns, task_id):
            said = Turn(id=row["turn_id"], role=role, text=text)
            self.seen.keep(self.call.space.ns, replace(seen, turns=(*seen.turns, said)))
        return row["turn_id"], row["position"]

    def complete(self, task_id: str) -> Mapping[str, Any]:
        """`id`, `status`, `completed_at`, and whether it was active until now (`changed`). Raises NotFound."""
        row = self.call.space.write(lambda tx: tx.one("task.complete", id=task_id))
        if row is None:
            raise _unknown(task_id)
        self.seen.forget(self.call.space.ns, task_id)
        return row

    def state(self, task_id: str) -> TaskState:
        """The task as it is, or as it was last seen here where Neo4j is away. Raises NotFound; Conflict if not active."""
        ns = self.call.space.ns
        seen = self.seen.get(ns, task_id)
        try:
            limit_s = self.call.left_s(SEEN_READ_S if seen else READ_S)
            row = self.call.space.one("task.state", timeout_s=limit_s, id=task_id, most=MOST)
        except (StoreUnavailable, StoreTimeout):
            if seen is None:
                raise
            return replace(seen, stale=True)
        if row is None:
            raise _unknown(task_id)
        if row["status"] != ACTIVE:
            self.seen.forget(ns, task_id)
            raise _not_active(task_id, row["status"])
        state = _state(row)
        self.seen.keep(ns, state)
        return state


def _state(row: Mapping[str, Any]) -> TaskState:
    past = [
        PastTask(id=task["id"], description=task["description"], turns=_turns(task["turns"]))
        for task in row["past"]
        if task is not None
    ]
    return TaskState(
        id=row["id"],
        description=row["description"],
        conversation=row["conversation"],
        turns=_turns(row["turns"]),
        past=past,
    )


def _turns(newest_first: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    return tuple(Turn(id=turn["id"], role=turn["role"], text=turn["text"]) for turn in reversed(newest_first))


def _unknown(task_id: str) -> NotFound:
    return NotFound(f"no task {task_id!r} here", "task_id")


def _not_active(task_id: str, status: str) -> Conflict:
    return Conflict(f"task_id: {task_id} is {status}; only an active task takes turns and has a context")
