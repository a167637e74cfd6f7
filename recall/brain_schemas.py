"""What the brain pack takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from marshmallow import fields

from graph.fields import Choice, Id, Request, Response, Several, Text, Whole
from graph.kg_schemas import NAME_BYTES
from recall.profiles import ACTIVE, INACTIVE, LIFECYCLES

ANY = "*"
PRIORITY = 1_000_000


@dataclass(frozen=True, kw_only=True)
class NewProfile:
    id: str | None = None
    description: str = ""
    consumer_kind: str = ANY
    lifecycle: str = ACTIVE


class ProfileCreateRequest(Request):
    makes = NewProfile
    id = Id(about="a name for it; one is made if it is left out")
    description = Text(most=4_096, about="for people")
    consumer_kind = Text(most=128, least=1, metadata={"description": "who it is for: agent, selector, ...; * for all"})
    lifecycle = Choice((ACTIVE, INACTIVE), about="only an active one serves")


@dataclass(frozen=True, kw_only=True)
class ById:
    id: str


class ByIdRequest(Request):
    makes = ById
    id = Id(required=True, about="the profile's id")


@dataclass(frozen=True, kw_only=True)
class Page:
    lifecycle: Sequence[str] = LIFECYCLES
    cursor: str = ""
    limit: int = 50


class ProfilesRequest(Request):
    makes = Page
    lifecycle = Several(Choice(LIFECYCLES), most=len(LIFECYCLES), least=1, or_one=True, about="only these")
    cursor = Id(about="`next_cursor` of the page before")
    limit = Whole(low=1, high=200, about="most of a page")


@dataclass(frozen=True, kw_only=True)
class Binding:
    """Whom a profile serves: each of the three exact, or `*` for anyone."""

    profile: str
    actor: str = ANY
    namespace: str = ANY
    consumer: str = ANY
    priority: int = 0


class UnbindRequest(Request):
    makes = Binding
    profile = Id(required=True, about="the profile's id")
    actor = Text(most=NAME_BYTES, least=1, about="whom it serves; * for all")
    namespace = Text(most=128, least=1, metadata={"description": "this one, or *"})
    consumer = Text(most=128, least=1, about="for what it serves; * for all")


class BindRequest(UnbindRequest):
    priority = Whole(low=-PRIORITY, high=PRIORITY, about="decides between bindings that fit equally; the higher wins")


class PosteriorAnswer(Response):
    alpha = fields.Float()
    beta = fields.Float()
    mean = fields.Float(metadata={"description": "the parameter's value"})


class BindingAnswer(Response):
    id = fields.String()
    profile = fields.String(attribute="profile_id")
    actor = fields.String()
    namespace = fields.String()
    consumer = fields.String()
    priority = fields.Integer()


class EventAnswer(Response):
    at = fields.String()
    event = fields.String()


class ProfileAnswer(Response):
    id = fields.String()
    description = fields.String()
    consumer_kind = fields.String()
    lifecycle = fields.String()
    state = fields.Dict(
        keys=fields.String(), values=fields.Nested(PosteriorAnswer), metadata={"description": "posteriors, by tunable"}
    )
    weights = fields.Dict(keys=fields.String(), values=fields.Float(), metadata={"description": "recall's, summing to 1"})
    epoch = fields.Integer(metadata={"description": "how often it was reset"})
    signals = fields.Integer(metadata={"description": "taken in this epoch"})
    events = fields.List(fields.Nested(EventAnswer))
    bindings = fields.List(fields.Nested(BindingAnswer))
    created_at = fields.String(allow_none=True)
    updated_at = fields.String(allow_none=True)


class ProfilesAnswer(Response):
    results = fields.List(fields.Nested(ProfileAnswer))
    next_cursor = fields.String(allow_none=True)


class UnboundAnswer(Response):
    id = fields.String()
    unbound = fields.Boolean()
