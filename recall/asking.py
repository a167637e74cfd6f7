"""The verbs as Python methods: one set, which `Memory`, `Client` and `AsyncClient` share.

Each method gives what the verb answers over HTTP, as a dict. `AsyncClient`'s give an awaitable of it.
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from graph.errors import ValidationFailed

Answered = TypeVar("Answered")
When = dt.datetime | str  # a datetime must have a zone; a text is ISO 8601
Fields = Mapping[str, Any]
Signal = Literal[
    "useful",
    "not_useful",
    "wrong",
    "explicit_positive",
    "explicit_negative",
    "implicit_positive",
    "implicit_negative",
    "correction",
]


class Asking(ABC, Generic[Answered]):
    """What can be asked for. Every method raises the classes of `graph.errors`: RequestError for what can't be done.

    Fields that are None are left out. `**more` takes the verb's other fields, as `GET /v1/verbs` lists them.
    """

    @abstractmethod
    def call(self, verb: str, body: Fields) -> Answered:
        """Any verb by its name, such as "kg.traverse". body: JSON values."""

    def remember(
        self,
        content: str,
        *,
        memory_type: Literal["episodic", "semantic"] | None = None,
        tags: Iterable[str] = (),
        key: str | None = None,
        source: str | None = None,
        created_at: When | None = None,
        expires_at: When | None = None,
        supersedes: Iterable[str] = (),
        **more: Any,
    ) -> Answered:
        """Keeps a note: `id`, and whether it was there `unchanged`.

        key: the same key and content is one note; other content raises KeyInUse unless its holder is superseded.
        """
        times = {"created_at": _time(created_at), "expires_at": _time(expires_at)}
        given = {"memory_type": memory_type, "key": key, "source": source, **times, **more}
        return self._ask(
            "memory.remember", content=content, tags=list(tags) or None, supersedes=list(supersedes) or None, **given
        )

    def remember_all(self, items: Iterable[Fields]) -> Answered:
        """Keeps up to 1,000 notes, all or none: `results`, in the order of the items, each with the fields of `remember`."""
        timed = [{name: _time(value) for name, value in item.items()} for item in items]
        return self._ask("memory.remember", items=timed)

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        memory_type: str | Sequence[str] | None = None,
        tags: Iterable[str] = (),
        min_score: float | None = None,
        as_of: When | None = None,
        include_superseded: bool | None = None,
        token_budget: int | None = None,
        explain: bool | None = None,
        **more: Any,
    ) -> Answered:
        """What is known and current about `query`: `results`, best first, or `abstained` with the `reason`.

        limit: 1 to 200, default 10.  min_score: another floor than the calibrated 0.42; 0 turns it off.  as_of: what was
        current then.  token_budget: of all contents together, default 4,000.  Each result has `id`, `content`, `relevance`
        (the probability that it is a true match), `score` (which orders), `path`, and the `serve_id` for `feedback`.
        """
        looks = {"limit": limit, "memory_type": memory_type, "min_score": min_score, "as_of": _time(as_of)}
        shows = {"include_superseded": include_superseded, "token_budget": token_budget, "explain": explain}
        return self._ask("memory.recall", query=query, tags=list(tags) or None, **looks, **shows, **more)

    def supersede(self, old: str | Iterable[str], content: str, **fields: Any) -> Answered:
        """Replaces notes by a new one: `id`. old: an id, or several.  fields: those of `remember`."""
        replaced = [old] if isinstance(old, str) else list(old)
        if not replaced:
            raise ValidationFailed.of("supersedes", "must name one note or more")
        return self.remember(content, supersedes=replaced, **fields)

    def get(self, id: str) -> Answered:
        """One node's fields, the free ones under `properties`. Raises NotFound."""
        return self._ask("kg.get", id=id)

    def update(self, id: str, **changes: Any) -> Answered:
        """Changes fields of a node, without a layer of history; None takes a field away. Gives the node."""
        return self.call("kg.update", {"id": id, **{name: _time(value) for name, value in changes.items()}})

    def delete(self, id: str) -> Answered:
        """Takes a node out of recall; what it superseded is current again, and `restored` lists it. Raises NotFound."""
        return self._ask("kg.delete", id=id)

    def history(self, id: str) -> Answered:
        """The whole chain of supersession from any member: `results`, oldest first. Raises NotFound."""
        return self._ask("kg.history", id=id)

    def link(self, source: str, relation: str, target: str, *, weight: float | None = None, **more: Any) -> Answered:
        """Draws an edge, or changes its weight; `created` says which. Raises NotAllowed; its `allowed` lists what may be."""
        return self._ask("kg.link", source=source, relation=relation, target=target, weight=weight, **more)

    def unlink(self, source: str, relation: str, target: str) -> Answered:
        """Takes an edge away. Raises NotFound."""
        return self._ask("kg.unlink", source=source, relation=relation, target=target)

    def neighbors(self, id: str, *, relations: Iterable[str] = (), limit: int | None = None, **more: Any) -> Answered:
        """Nodes one edge away: `results`, strongest edge first."""
        return self._ask("kg.neighbors", id=id, relations=list(relations) or None, limit=limit, **more)

    def feedback(
        self, target_id: str, signal: Signal, *, serve_id: str | None = None, superseded_by: str | None = None
    ) -> Answered:
        """Says what became of a note that was served, once for each serve. superseded_by: with wrong or correction."""
        return self._ask(
            "memory.feedback", target_id=target_id, signal=signal, serve_id=serve_id, superseded_by=superseded_by
        )

    def select(
        self, task_description: str, *, types: str | Sequence[str] | None = None, budget: int | None = None
    ) -> Answered:
        """The memories that bear on a task, within `budget` tokens: `blocks`, or `abstained` with the `reason`."""
        return self._ask("context.select", task_description=task_description, types=types, budget=budget)

    def start_task(self, description: str, *, conversation: str | None = None) -> Answered:
        """Starts a task: `id`. Raises TaskActive while its conversation has another."""
        return self._ask("context.task_start", description=description, conversation=conversation)

    def add_turn(self, task_id: str, role: str, text: str) -> Answered:
        """Adds what was said in a task. role: user, assistant or tool."""
        return self._ask("context.task_turn", task_id=task_id, role=role, text=text)

    def complete_task(self, task_id: str) -> Answered:
        """Ends a task; from now on it is history of its conversation."""
        return self._ask("context.task_complete", task_id=task_id)

    def build(self, task_id: str, *, window: int | None = None) -> Answered:
        """The context of an active task in a window of so many tokens: `blocks`, `dropped` with reasons, and the `trace`."""
        return self._ask("context.build", task_id=task_id, window=window)

    def _ask(self, verb: str, **fields: Any) -> Answered:
        """A verb without the fields that are None."""
        return self.call(verb, {name: value for name, value in fields.items() if value is not None})


def _time(value: Any) -> Any:
    """A datetime as ISO 8601, anything else as it is."""
    return value.isoformat() if isinstance(value, dt.datetime) else value
