"""The brain pack: profiles, and whom they serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.errors import Conflict, NotFound, ValidationFailed
from graph.fields import Request, Response
from graph.packs import Answer, Call, Pack, Verb
from graph.records import new_id
from graph.store import SpaceTransaction
from recall import brain_schemas as schemas
from recall.profiles import ARCHIVED, DEFAULT_ID, INACTIVE, UNATTRIBUTED, Brain, event, fresh, shown


def profile_create(call: Call, request: schemas.NewProfile) -> Answer:
    """Makes a profile, which starts from the priors."""
    id = request.id or new_id()
    if id == UNATTRIBUTED:
        raise ValidationFailed.of("id", f"{UNATTRIBUTED} is said where no profile could be read")

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        tx.rows("brain.lock")
        row = tx.one("brain.profile_create", id=id, **fresh(request.description, request.consumer_kind, request.lifecycle))
        assert row is not None  # the statement always gives a row
        if id == DEFAULT_ID or not row["created"]:
            raise Conflict(f"there is a profile {id!r} already")
        profile: Mapping[str, Any] = row["profile"]
        return profile

    return Answer(_shown(call, call.space.write(work)), created=True)


def profile_get(call: Call, request: schemas.ById) -> Answer:
    """A profile with what it has learned, its events and its bindings."""
    row = call.space.one("brain.profile", id=request.id)
    if row is None and request.id == DEFAULT_ID:
        row = {"profile": _untouched(), "bindings": []}
    if row is None:
        raise NotFound(f"no profile {request.id!r} here", "id")
    return Answer(_shown(call, row["profile"]) | {"bindings": row["bindings"]})


def profiles(call: Call, request: schemas.Page) -> Answer:
    """A page of profiles, by id; `next_cursor` asks for the next. The default one is there once it has learned something."""
    rows = call.space.rows(
        "brain.profiles", after=request.cursor, lifecycles=list(request.lifecycle), limit=request.limit + 1
    )
    page = [_shown(call, row["profile"]) for row in rows[: request.limit]]
    return Answer({"results": page, "next_cursor": page[-1]["id"] if len(rows) > request.limit else None})


def bind(call: Call, request: schemas.Binding) -> Answer:
    """Has a profile serve an actor, a consumer or everybody; an inactive profile becomes active by it."""
    _must_be_here(call, request)

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        tx.rows("brain.lock")
        node = _found(tx, request.profile, "profile")
        if node["lifecycle"] == ARCHIVED:
            raise Conflict(f"profile {request.profile!r} is archived, and never serves again")
        row = tx.one("brain.bind", id=new_id(), priority=request.priority, **_whom(request))
        assert row is not None  # the profile was found in this transaction
        changes = {"lifecycle": "active"} if node["lifecycle"] == INACTIVE else {}
        _learn(tx, request.profile, changes, f"bound to {_told(request)}")
        return row

    row = call.space.write(work)
    return Answer(row["binding"], created=row["created"])


def unbind(call: Call, request: schemas.Binding) -> Answer:
    """Takes a binding away; the profile stays as it is."""
    _must_be_here(call, request)

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        tx.rows("brain.lock")
        row = tx.one("brain.unbind", **_whom(request))
        if row is None:
            raise NotFound(f"profile {request.profile!r} is not bound to {_told(request)}", "profile")
        _learn(tx, request.profile, {}, f"unbound from {_told(request)}")
        return row

    return Answer({**call.space.write(work), "unbound": True})


def reset(call: Call, request: schemas.ById) -> Answer:
    """Returns a profile to its priors and raises its epoch; feedback on what it served before is no longer learned from."""

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        tx.rows("brain.lock")
        node = _found(tx, request.id, "id")
        if node["lifecycle"] == ARCHIVED:
            raise Conflict(f"profile {request.id!r} is archived")
        held = {name: None for name in node if name.endswith((".for", ".against"))}
        return _learn(tx, request.id, held | {"epoch": node["epoch"] + 1, "signals": 0}, "reset")

    return Answer(_shown(call, call.space.write(work)))


def archive(call: Call, request: schemas.ById) -> Answer:
    """Archives a profile for good: it never serves again, takes no feedback, and can still be read."""
    if request.id == DEFAULT_ID:
        raise Conflict("the default profile serves where nothing else does, so it can't be archived")

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        tx.rows("brain.lock")
        node = _found(tx, request.id, "id")
        if node["lifecycle"] == ARCHIVED:
            return node
        return _learn(tx, request.id, {"lifecycle": ARCHIVED}, "archived")

    return Answer(_shown(call, call.space.write(work)))


def _found(tx: SpaceTransaction, id: str, field: str) -> Mapping[str, Any]:
    """The node of a profile; the default one is made where it isn't yet."""
    if id == DEFAULT_ID:
        tx.rows("brain.profile_create", id=DEFAULT_ID, **fresh(Brain.OWN, schemas.ANY))
    row = tx.one("brain.profile", id=id)
    if row is None:
        raise NotFound(f"no profile {id!r} here", field)
    node: Mapping[str, Any] = row["profile"]
    return node


def _learn(tx: SpaceTransaction, id: str, changes: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    row = tx.one("brain.learn", id=id, changes=changes, event=event(what))
    return row["profile"] if row else {}


def _must_be_here(call: Call, request: schemas.Binding) -> None:
    """Profiles belong to a namespace, so a binding can't reach out of it."""
    if request.namespace not in (schemas.ANY, call.space.ns):
        raise ValidationFailed.of("namespace", f"must be {schemas.ANY} or this namespace, {call.space.ns}")


def _whom(request: schemas.Binding) -> dict[str, str]:
    return {
        "profile": request.profile,
        "actor": request.actor,
        "namespace": request.namespace,
        "consumer": request.consumer,
    }


def _told(request: schemas.Binding) -> str:
    return f"actor {request.actor}, namespace {request.namespace}, consumer {request.consumer}"


def _untouched() -> dict[str, Any]:
    return {**fresh(Brain.OWN, schemas.ANY)["properties"], "id": DEFAULT_ID, "events": []}


def _shown(call: Call, node: Mapping[str, Any]) -> dict[str, Any]:
    brain: Brain = call.state
    return shown(node, brain.tunables)


def _verb(name: str, illocution: Any, role: Any, request: Request, response: Response, handler: Any) -> Verb:
    return Verb(name=f"brain.{name}", illocution=illocution, role=role, request=request, response=response, handler=handler)


_PROFILE = schemas.ProfileAnswer()
pack = Pack(
    name="brain",
    requires=("kg",),
    open=Brain,
    close=Brain.close,
    verbs=(
        _verb("profile_create", "commissive", "write", schemas.ProfileCreateRequest(), _PROFILE, profile_create),
        _verb("profile_get", "assertive", "read", schemas.ByIdRequest(), _PROFILE, profile_get),
        _verb("profiles", "assertive", "read", schemas.ProfilesRequest(), schemas.ProfilesAnswer(), profiles),
        _verb("bind", "commissive", "write", schemas.BindRequest(), schemas.BindingAnswer(), bind),
        _verb("unbind", "directive", "write", schemas.UnbindRequest(), schemas.UnboundAnswer(), unbind),
        _verb("reset", "directive", "write", schemas.ByIdRequest(), _PROFILE, reset),
        _verb("archive", "directive", "write", schemas.ByIdRequest(), _PROFILE, archive),
    ),
)
