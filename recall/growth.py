"""Evidence of growth: what was noticed about oneself, or learnt about the world, stored under the type that it is of."""

from __future__ import annotations

from dataclasses import dataclass

from graph.drafting import keep
from graph.fields import Flag, Id, Request, Text
from graph.kg_schemas import CONTENT_BYTES, NAME_BYTES, Create, Node, defaults
from graph.packs import Answer, Call

KIND = "observation"


@dataclass(frozen=True, kw_only=True)
class Grow:
    """about_persona: whether it is evidence about oneself.  source_id: the node that it was drawn from."""

    content: str
    about_persona: bool = False
    source: str | None = None
    source_id: str | None = None


class GrowRequest(Request):
    makes = Grow
    content = Text(most=CONTENT_BYTES, least=1, required=True)
    about_persona = Flag()
    source = Text(most=NAME_BYTES, allow_none=True)
    source_id = Id(allow_none=True)


def grow(call: Call, request: Grow) -> Answer:
    """Keeps evidence of growth: of type `personality` where it is about the persona, else `semantic`."""
    memory_type = "personality" if request.about_persona else "semantic"
    salience, decay = defaults(memory_type)
    node = Node(
        content=request.content,
        kind=KIND,
        memory_type=memory_type,
        salience=salience,
        decay_factor=decay,
        source=request.source,
        source_id=request.source_id,
    )
    return keep(call, Create(nodes=[node], many=False), ["Note"], call.runtime.states["kg"])
