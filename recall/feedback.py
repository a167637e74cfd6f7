"""memory.feedback: what a caller made of a note, recorded and learned from in one transaction."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from marshmallow import ValidationError, fields, validates_schema

from graph.errors import NotAllowed, NotFound, ValidationFailed
from graph.fields import Choice, Id, Request, Response
from graph.kg import draw
from graph.kg_schemas import Edge
from graph.packs import Answer, Call
from graph.records import new_id
from graph.store import SpaceTransaction
from recall.brain import ENTITY_HALF_LIFE_US, SIGNALS, Judged, Signal, added, implicit_room, left
from recall.brain import IMPLICIT_HALF_LIFE_US as IMPLICIT_US
from recall.profiles import ARCHIVED, DEFAULT_ID, UNATTRIBUTED, Brain, Profile, Unreadable, fresh, mass_names
from recall.serves import Recorder

WAIT_S = 10.0  # the longest that feedback waits for the record of its serve
RETIRING = tuple(name for name, signal in SIGNALS.items() if signal.retires)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """superseded_by: the note that replaces the target; only with a signal that says it was wrong."""

    target_id: str
    signal: str
    serve_id: str | None = None
    superseded_by: str | None = None

    @property
    def once(self) -> str:
        """What tells the same signal again; "" where no serve is named."""
        return f"{self.serve_id} {self.target_id} {self.signal}" if self.serve_id else ""


class FeedbackRequest(Request):
    makes = Feedback
    target_id = Id(required=True, about="the note that it is about")
    signal = Choice(tuple(SIGNALS), required=True, about="what became of it")
    serve_id = Id(allow_none=True, about="of the answer that it came with: its profile learns")
    superseded_by = Id(allow_none=True, about="with wrong and correction: the note that replaces it")

    @validates_schema(skip_on_field_errors=True)
    def _retires(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("superseded_by") and data["signal"] not in RETIRING:
            raise ValidationError(f"goes with {' or '.join(RETIRING)} only", "superseded_by")


class FeedbackAnswer(Response):
    id = fields.String(metadata={"description": "the signal's; of the first, where it was given before"}, allow_none=True)
    target_id = fields.String()
    signal = fields.String()
    counted = fields.Boolean(
        metadata={"description": "false where the same signal came for the same serve and target before"}
    )
    weight = fields.Float(metadata={"description": "what it counted as evidence"})
    profile_id = fields.String(allow_none=True, metadata={"description": "the profile that learned from it"})
    reason = fields.String(allow_none=True, metadata={"description": "why no profile did"})
    superseded_by = fields.String(allow_none=True)


def feedback(call: Call, request: Feedback) -> Answer:
    """Tells what became of a note that was served: useful or not, wrong, and by what it is replaced."""
    serves: Recorder = call.state.serves
    brain: Brain | None = call.runtime.states.get("brain")

    def work(tx: SpaceTransaction) -> dict[str, Any]:
        return _taken(tx, request, brain, call.actor)

    if request.serve_id is None:
        body = call.space.write(work)
    else:
        serves.await_own(request.serve_id, call.left_s(WAIT_S))
        try:
            body = call.space.write(work)
        except NotFound as error:
            if error.field != "serve_id" or not serves.await_written(call.space, request.serve_id, call.left_s(WAIT_S)):
                raise
            body = call.space.write(work)
    return Answer(body, created=body["counted"])


def _taken(tx: SpaceTransaction, request: Feedback, brain: Brain | None, actor: str | None) -> dict[str, Any]:
    """Everything that feedback changes. The lock comes first: from there on nobody else changes what is read here."""
    tx.rows("brain.lock")
    found = tx.one("brain.judged", target=request.target_id, serve=request.serve_id or "", once=request.once)
    assert found is not None  # the statement always gives a row
    _check(request, found)
    if request.superseded_by:
        _retire(tx, request.superseded_by, request.target_id)
    answer = {"target_id": request.target_id, "signal": request.signal, "superseded_by": request.superseded_by}
    if found["before"]:
        return answer | {"id": None, "counted": False, "weight": 0.0, "profile_id": None, "reason": "counted_before"}
    signal, now = SIGNALS[request.signal], time.time_ns() // 1000
    weight, implicit = _weight(signal, found["target"], now)
    profile_id: str | None = None
    reason: str | None = "no_brain"
    if brain is not None:
        _credit(tx, request.target_id, signal, weight, implicit, now)
        profile_id, reason = _learn(tx, request, found, brain, weight)
    kept = {
        "id": new_id(),
        "target_id": request.target_id,
        "signal": request.signal,
        "weight": weight,
        "serve_id": request.serve_id,
        "once": request.once or None,
        "profile_id": profile_id,
        "actor": actor,
    }
    id = tx.value("brain.signal", properties=kept)
    return answer | {"id": id, "counted": True, "weight": weight, "profile_id": profile_id, "reason": reason}


def _check(request: Feedback, found: Mapping[str, Any]) -> None:
    if found["target"] is None:
        raise NotFound(f"no node {request.target_id!r} here", "target_id")
    if not request.serve_id:
        return
    if found["serve"] is None:
        raise NotFound(f"no serve {request.serve_id!r} here", "serve_id")
    if request.target_id not in found["serve"]["note_ids"]:
        raise ValidationFailed.of("target_id", f"was not among what {request.serve_id} served")


def _retire(tx: SpaceTransaction, newer: str, older: str) -> None:
    try:
        draw(tx, [Edge(source=newer, target=older, relation="supersedes")])
    except NotFound as error:
        raise NotFound(str(error), "superseded_by") from error
    except NotAllowed as error:
        raise NotAllowed(str(error), "superseded_by", error.allowed) from error


def _weight(signal: Signal, target: Mapping[str, Any], now: int) -> tuple[float, dict[str, Any]]:
    """What the signal counts, and what the target then holds of implicit ones."""
    if not signal.implicit:
        return signal.weight, {}
    mass, age_us = target["implicit_mass"] or 0.0, now - (target["implicit_ts"] or now)
    weight = min(signal.weight, implicit_room(mass, age_us))
    return weight, {"implicit_mass": left(mass, age_us, IMPLICIT_US) + weight, "implicit_ts": now}


def _credit(tx: SpaceTransaction, id: str, signal: Signal, weight: float, implicit: Mapping[str, Any], now: int) -> None:
    tx.rows(
        "brain.credit",
        id=id,
        now=now,
        half_life=ENTITY_HALF_LIFE_US,
        supporting=weight if signal.useful else 0.0,
        opposing=0.0 if signal.useful else weight,
        implicit=implicit,
    )


def _learn(
    tx: SpaceTransaction, request: Feedback, found: Mapping[str, Any], brain: Brain, weight: float
) -> tuple[str | None, str | None]:
    """The id of the profile that learned, or None and why none did."""
    serve, node = found["serve"], found["profile"]
    if serve is None:
        return None, "no_serve"
    if serve.get("profile_id") in (None, UNATTRIBUTED):
        return None, UNATTRIBUTED
    if node is None and serve["profile_id"] == DEFAULT_ID:
        made = tx.one("brain.profile_create", id=DEFAULT_ID, **fresh(Brain.OWN, "*"))
        node = made["profile"] if made else None
    try:
        profile = Profile.of(node or {}, brain.tunables)
    except Unreadable:
        return None, UNATTRIBUTED
    if profile.lifecycle == ARCHIVED:
        return None, ARCHIVED
    if profile.epoch != serve["epoch"]:
        return None, "reset"
    said = brain.evidence(_judged(serve, request))
    evidence = added(profile.evidence, said, weight)
    changes: dict[str, Any] = {"signals": profile.signals + 1}
    for name, masses in evidence.items():
        changes |= dict(zip(mass_names(name), masses, strict=True))
    tx.rows("brain.learn", id=profile.id, changes=changes, event="")
    return profile.id, None


def _judged(serve: Mapping[str, Any], request: Feedback) -> Judged:
    features = np.array([serve["relevances"], serve["saliences"], serve["temporals"]], dtype=np.float64).T
    return Judged(
        features=features,
        weights=serve["weights"],
        row=serve["note_ids"].index(request.target_id),
        useful=SIGNALS[request.signal].useful,
    )
