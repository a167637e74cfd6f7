"""Palimpsest's own tools: eight, each over the verbs that every door has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from marshmallow import Schema

from graph.fields import Request, Whole
from graph.packs import Verb, validated
from web.mcp import answers, shapes
from web.mcp.bounded import DEFAULT, LEAST, MOST
from web.mcp.tool import Caller, Told, Tool, known


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A tool as it is described to a model. verbs: that it calls, whose fields it takes; the last one's answer it gives.

    fields: what to say of each field.  answers, items: fields of the answer, and of the objects in its lists.
    """

    name: str
    title: str
    about: str
    verbs: tuple[str, ...]
    fields: Mapping[str, str]
    required: Sequence[str]
    run: Callable[[Caller, dict[str, Any], int], Told]
    answers: Sequence[str]
    items: Mapping[str, Sequence[str]] = field(default_factory=dict)
    destructive: bool = False
    idempotent: bool = False


_KEPT = {
    "memory_type": "episodic: what happened (the default, fades in weeks); semantic: what holds (fades slowly).",
    "tags": "Words to filter by later.",
    "key": "A name of yours for this fact. The same key and content is kept once; the same key with other content is "
    "refused unless that memory is superseded.",
    "source": "Where it comes from: a file, a link, a person.",
    "entities": "Names of people, projects, places that it is about; those written out in the content are found without "
    "this.",
    "created_at": "When it happened or became so, in ISO 8601 with a zone; now, if left out.",
    "expires_at": "When it ceases to hold, in ISO 8601 with a zone.",
}
_CONTENT = "One self-contained statement, understandable without this conversation: names, dates and units written out."

SPECS: Final = (
    Spec(
        name="remember",
        title="Remember",
        about="Keep something for later: a fact, a decision, a preference, what happened. One statement a call. If it "
        "replaces something that you recalled, use supersede instead. Answers with the id.",
        verbs=("memory.remember",),
        fields={"content": _CONTENT, **_KEPT},
        required=["content"],
        run=answers.remember,
        answers=["id", "unchanged"],
    ),
    Spec(
        name="recall",
        title="Recall",
        about="Find what is known and current about something. Ask in plain words, one matter a call. What was superseded "
        "is never shown, and where nothing is a likely match the answer is empty, with the reason. Each memory has an id "
        "(for supersede, history, link, forget) and a relevance: the probability that it is a true match.",
        verbs=("memory.recall",),
        fields={
            "query": "What to look for: a question or a phrase, with the names in it.",
            "limit": "At most so many memories; 10 if left out.",
            "memory_type": "Only of these types (untyped memories come too).",
            "tags": "Only with all of these tags.",
            "as_of": "What was current at this time (ISO 8601 with a zone), instead of now.",
            "include_superseded": "Show what was replaced too, marked.",
            "entity_names": "Names to start from in the graph, instead of those found in the query.",
        },
        required=["query"],
        run=answers.recall,
        answers=["abstained", "reason", "serve_id", "degraded"],
        items={
            "results": (
                *("id", "content", "relevance", "created_at", "memory_type", "kind", "tags", "key", "source", "path"),
                *("superseded", "superseded_at", "cut"),
            )
        },
    ),
    Spec(
        name="supersede",
        title="Supersede",
        about="Replace memories that hold no longer by a new one: a correction, a move, a change of mind. The old ones are "
        "never recalled again, but their words lead to the new one, and history still shows them.",
        verbs=("memory.remember",),
        fields={"content": _CONTENT, "supersedes": "Ids of the memories that it replaces, from recall.", **_KEPT},
        required=["content", "supersedes"],
        run=answers.supersede,
        answers=["id", "unchanged"],
    ),
    Spec(
        name="link",
        title="Link",
        about="Draw an edge between two nodes, for recall to walk along. Between two memories: supports, refutes, precedes, "
        "follows, annotates. Drawing it again changes its weight. A refusal lists what may join the two.",
        verbs=("kg.link",),
        fields={
            "source": "Id of the node that the edge starts from.",
            "relation": "What the source does to the target.",
            "target": "Id of the node that it leads to.",
            "weight": "How strong, 0 or more; 1 if left out.",
        },
        required=["source", "relation", "target"],
        run=answers.link,
        answers=["source", "relation", "target", "created"],
        idempotent=True,
    ),
    Spec(
        name="history",
        title="History",
        about="How a memory came to be what it is: everything that it superseded and that superseded it, oldest first, "
        "with times.",
        verbs=("kg.history",),
        fields={"id": "Any memory of the chain."},
        required=["id"],
        run=answers.history,
        answers=[],
        items={"results": ("id", "content", "state", "created_at", "superseded_at", "supersedes", "kind", "key", "cut")},
    ),
    Spec(
        name="feedback",
        title="Give feedback",
        about="Say what became of a memory that recall gave, so that later answers are ordered better. Use useful or "
        "not_useful for your own judgement, explicit_positive or explicit_negative for what the user said of it, wrong for "
        "what is not so.",
        verbs=("memory.feedback",),
        fields={
            "target_id": "The memory.",
            "signal": "What became of it.",
            "serve_id": "From the recall that gave it; without it nothing learns which weights served well.",
            "superseded_by": "Id of the memory that is right instead; with wrong or correction.",
        },
        required=["target_id", "signal"],
        run=answers.feedback,
        answers=["target_id", "signal", "counted", "superseded_by"],
        destructive=True,
    ),
    Spec(
        name="forget",
        title="Forget",
        about="Delete a memory: for what should never have been kept. What it had superseded is current again. To correct a "
        "memory, supersede it instead.",
        verbs=("kg.delete",),
        fields={"id": "The memory."},
        required=["id"],
        run=answers.forget,
        answers=["id", "deleted", "restored"],
        destructive=True,
    ),
    Spec(
        name="context",
        title="Build a context",
        about="Everything in memory that bears on a task, chosen under a budget and ready to read: memories, how its owner "
        "wants things done, and completed tasks of the same conversation. Call it once, when a task begins; recall answers "
        "single questions.",
        verbs=("context.task_start", "context.build"),
        fields={
            "description": "The task in the user's own words.",
            "conversation": "A name of yours for the conversation: its last task counts as completed now. Without it the "
            "task stands alone.",
            "window": "Tokens of the context that you work in; memory gets an eighth of it, at most 1,200. 8,000 if left "
            "out.",
        },
        required=["description"],
        run=answers.context,
        answers=["tokens", "memory_budget"],
        items={"blocks": ("name", "text", "tokens", "sources", "cut")},
    ),
)
_BOUND: Final[Schema] = Request.from_dict({"max_tokens": Whole(low=LEAST, high=MOST)})()


def tools(verbs: Mapping[str, Verb]) -> list[Tool]:
    """The eight. verbs: all that are installed, by name."""
    return [_tool(spec, [verbs[name] for name in spec.verbs]) for spec in SPECS]


def _tool(spec: Spec, verbs: Sequence[Verb]) -> Tool:
    schema = shapes.taken(verbs, spec.fields, spec.required, bounded=bool(spec.items))
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.about,
        input=schema,
        output=shapes.given(verbs[-1], spec.answers, spec.items),
        verb=verbs[-1].name,
        role=verbs[0].role,
        run=partial(_run, spec, tuple(schema["properties"])),
        destructive=spec.destructive,
        idempotent=spec.idempotent,
    )


def _run(spec: Spec, names: Sequence[str], caller: Caller, arguments: Mapping[str, Any]) -> Told:
    body = known(arguments, names)
    tokens = body.pop("max_tokens", DEFAULT)
    validated(_BOUND, {"max_tokens": tokens})
    return spec.run(caller, body, tokens)
