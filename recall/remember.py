"""memory.remember: keeps what was said, with its type's defaults, its links, and its key."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, post_load

from graph.drafting import keep
from graph.fields import Choice, Several, Text
from graph.kg_schemas import BATCH, CONTENT_BYTES, Create, Node, NoteFields, one_or_items
from graph.packs import Answer, Call

REMEMBERED_TYPES = ("episodic", "semantic")


class MemoryFields(NoteFields):
    memory_type = Choice(REMEMBERED_TYPES, about="episodic fades faster than semantic")

    def node(self, data: dict[str, Any]) -> Node:
        return super().node({"memory_type": "episodic"} | data)


class MemoryItem(MemoryFields):
    content = Text(most=CONTENT_BYTES, least=1, required=True)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Node:
        return self.node(data)


class RememberRequest(MemoryFields):
    """One note, or `items`: up to 1,000 notes, all or nothing."""

    items = Several(fields.Nested(MemoryItem), most=BATCH, least=1, about="a batch, all or nothing; goes alone")

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Create:
        return one_or_items(self, data)


def remember(call: Call, request: Create) -> Answer:
    """Keeps a note, or a batch of them; with `supersedes` it retires others, with a known key it is the note it was."""
    return keep(call, request, ["Note"] * len(request.nodes), call.runtime.states["kg"])
