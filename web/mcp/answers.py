"""What the tools do: each calls its verbs, and tells a model what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.errors import TaskActive, ValidationFailed
from web.mcp import texts
from web.mcp.bounded import Item, fitted
from web.mcp.tool import Caller, Told

REASONS = {
    "below_floor": "nothing kept is a likely enough match",
    "no_candidates": "nothing kept comes near it",
    "meaningless_query": "the query has no words to search by",
    "token_budget": "what was found does not fit into max_tokens",
}
BLOCK_ORDER = {"persona_memories": 0, "memory": 1, "consolidated": 2, "history": 3}  # who goes first where room is short


def remember(caller: Caller, body: dict[str, Any], _: int) -> Told:
    found = caller.ask("memory.remember", body)
    return Told(f"{'Was kept already' if found['unchanged'] else 'Kept'}: [{found['id']}]", found)


def supersede(caller: Caller, body: dict[str, Any], _: int) -> Told:
    if not body.get("supersedes"):
        raise ValidationFailed.of("supersedes", "must name one memory or more; to keep something new use remember")
    found = caller.ask("memory.remember", body)
    return Told(f"Kept: [{found['id']}], in place of {', '.join(body['supersedes'])}.", found)


def recall(caller: Caller, body: dict[str, Any], tokens: int) -> Told:
    found = caller.ask("memory.recall", body | {"token_budget": tokens})
    kept, note = fitted([_hit(hit) for hit in found["results"]], texts.hit, tokens)
    hits = [hit for hit in kept if hit]
    if found.get("truncated") and not note:
        note = f"More was found than {tokens:,} tokens hold; a larger max_tokens shows it."
    structured = {"results": hits, **_named(found, "abstained", "reason", "serve_id", "degraded")}
    lost = f"Without {', '.join(found['degraded'])}, which failed or took too long." if found["degraded"] else ""
    if hits:
        head = f"{len(hits)} {'memory' if len(hits) == 1 else 'memories'}, best first (serve_id {found['serve_id']}):"
        return _noted(texts.joined(head, map(texts.hit, hits), note, lost), structured, note)
    why = REASONS.get(found.get("reason") or "token_budget", found.get("reason"))
    return _noted(texts.joined(f"Nothing to tell: {why}.", [], note, lost), structured, note)


def _hit(hit: Mapping[str, Any]) -> Item:
    """The fields of a hit that a model can use, those that say nothing left out."""
    fields = ("id", "content", "relevance", "created_at", "memory_type", "tags", "key", "source", "superseded_at", "cut")
    found = {name: hit[name] for name in fields if hit.get(name)}
    found |= {"relevance": round(hit["relevance"], 3)}
    found |= {"kind": hit["kind"]} if hit["kind"] != "memory" else {}
    found |= {"superseded": True} if hit.get("superseded") else {}
    path = [
        {"leg": step["leg"], "id": step["id"], "content": texts.short(step["content"])}
        for step in hit.get("path", ())
        if step.get("leg") == "superseded" and step.get("content")
    ]
    return found | ({"path": path} if path else {})


def link(caller: Caller, body: dict[str, Any], _: int) -> Told:
    found = caller.ask("kg.link", body)
    done = "Drawn" if found["created"] else "Was there already, now with this weight"
    return Told(f"{done}: [{found['source']}] {found['relation']} [{found['target']}]", found)


def history(caller: Caller, body: dict[str, Any], tokens: int) -> Told:
    fields = ("id", "content", "state", "created_at", "superseded_at", "supersedes", "kind", "key")
    layers = [{name: one[name] for name in fields if one.get(name)} for one in caller.ask("kg.history", body)["results"]]
    kept, note = fitted(layers[::-1], texts.layer, tokens)  # the newest matter most
    shown = [one for one in kept[::-1] if one]
    head = f"{len(layers)} {'layer' if len(layers) == 1 else 'layers'}, oldest first:"
    return _noted(texts.joined(head, map(texts.layer, shown), note), {"results": shown}, note)


def feedback(caller: Caller, body: dict[str, Any], _: int) -> Told:
    found = caller.ask("memory.feedback", body)
    said = "Noted" if found["counted"] else "Was noted before, and counts once"
    retired = f"; {found['superseded_by']} stands in its place now" if found.get("superseded_by") else ""
    return Told(f"{said}: {found['signal']} for [{found['target_id']}]{retired}.", found)


def forget(caller: Caller, body: dict[str, Any], _: int) -> Told:
    found = caller.ask("kg.delete", body)
    back = f" Current again: {', '.join(found['restored'])}." if found["restored"] else ""
    return Told(f"Forgotten: [{found['id']}].{back}", _named(found, "id", "deleted", "restored"))


def context(caller: Caller, body: dict[str, Any], tokens: int) -> Told:
    window = _named(body, "window")
    task = _started(caller, _named(body, "description", "conversation"))
    try:
        built = caller.ask("context.build", {"task_id": task} | window)
    finally:
        if "conversation" not in body:
            caller.ask("context.task_complete", {"task_id": task})
    blocks = [_named(block, "name", "text", "tokens", "sources") for block in built["blocks"] if block["name"] != "user"]
    order = sorted(range(len(blocks)), key=lambda n: (BLOCK_ORDER.get(blocks[n]["name"], 9), n))
    kept, note = fitted([blocks[n] for n in order], lambda block: str(block["text"]), tokens, text="text")
    found = dict(zip(order, kept, strict=True))
    shown = [block for n in range(len(blocks)) if (block := found[n])]
    dropped = f"{len(built['dropped'])} more had no room in the window." if built["dropped"] else ""
    structured = {"blocks": shown, **_named(built, "tokens", "memory_budget")}
    if not shown:
        why = REASONS.get(built["trace"].get("memory_reason") or "", "nothing fits it")
        return _noted(texts.joined(f"Memory has nothing to say to this task: {why}.", [], note, dropped), structured, note)
    return _noted(
        texts.joined("What memory says to this task:", (one["text"] for one in shown), note, dropped), structured, note
    )


def _started(caller: Caller, body: dict[str, Any]) -> str:
    """The id of a new task; the one that was active in its conversation is completed."""
    try:
        return str(caller.ask("context.task_start", body)["id"])
    except TaskActive as active:
        caller.ask("context.task_complete", {"task_id": active.existing_id})
        return str(caller.ask("context.task_start", body)["id"])


def _named(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: found[name] for name in names if name in found}


def _noted(text: str, structured: dict[str, Any], note: str) -> Told:
    return Told(text, structured | ({"note": note} if note else {}))
