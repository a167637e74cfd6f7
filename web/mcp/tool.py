"""What a tool is, who calls it, and how an error looks to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from graph.errors import PalimpsestError, ValidationFailed
from web.errors import told

if TYPE_CHECKING:
    from graph.keys import ApiKey
    from graph.packs import Call
    from recall.service import Service

Role = Literal["read", "write", "admin"]
HINTS = {
    "key_in_use": "The key belongs to another memory: supersede that one, or choose another key.",
    "deadline": "It took too long; ask for less, or try again.",
    "store_unavailable": "Try again in some seconds.",
}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who calls, in which namespace, and what they call. `key` is None where none is needed."""

    service: Service
    ns: str
    actor: str | None = None
    request_id: str | None = None
    key: ApiKey | None = None

    def ask(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a verb answers. Raises PalimpsestError."""
        answer = self.service.dispatcher.call(verb, body, ns=self.ns, actor=self.actor, request_id=self.request_id)
        return dict(answer.body)

    def within(self, pack: str) -> Call:
        """A call as the verbs of a pack get it."""
        from graph.packs import Call

        runtime = self.service.dispatcher.runtime
        return Call(
            space=runtime.store.within(self.ns),
            runtime=runtime,
            state=runtime.states[pack],
            actor=self.actor,
            request_id=self.request_id,
        )


@dataclass(frozen=True)
class Told:
    """What a tool answers: a text for a model, and the same as JSON. notes: texts beside it."""

    text: str
    structured: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool. `verb` names what it does in the audit; `role` is the least that a key needs.

    destructive: whether something is lost by it.  idempotent: whether twice is as once.
    """

    name: str
    title: str
    description: str
    input: Mapping[str, Any]
    output: Mapping[str, Any] | None
    verb: str
    role: Role
    run: Callable[[Caller, Mapping[str, Any]], Told]
    destructive: bool = False
    idempotent: bool = False

    @property
    def reads(self) -> bool:
        return self.role == "read"


def known(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """`given` without what is null, which models send for what they leave out. Raises ValidationFailed for other fields."""
    if unknown := sorted(given.keys() - set(names)):
        said = f"unknown field; there are {', '.join(names)}" if names else "unknown field; the tool takes none"
        raise ValidationFailed([{"field": name, "message": said} for name in unknown])
    return {name: value for name, value in given.items() if value is not None}


def refused(error: PalimpsestError) -> Told:
    """An error as a model can mend it: the fields, and what is allowed."""
    detail = told(error).detail or str(error)
    errors = error.details.get("errors", [])
    lines = [f"Not done ({error.code})."]
    lines += [f"- {one['field']}: {one['message']}" if one["field"] else f"- {one['message']}" for one in errors] or [detail]
    if allowed := error.details.get("allowed"):
        lines.append(f"Allowed: {', '.join(allowed)}")
    lines += [f"{name}: {value}" for name, value in error.details.items() if name in ("existing_id", "chain")]
    lines += [HINTS[error.code]] if error.code in HINTS else []
    return Told("\n".join(lines), {"code": error.code, "detail": detail, **error.details})
