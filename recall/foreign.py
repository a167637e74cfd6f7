"""Memories of other programs as notes: the reference MCP memory server, mem0, Graphiti, as far as their public forms tell.

Only what they hold as facts is taken: observations and relations, memories, facts of edges. Each note has a key made of what
it was there, so an import that is run again stores nothing twice, and what has changed there supersedes its older text.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from graph.drafting import keep
from graph.errors import KeyInUse, ValidationFailed
from graph.kg_schemas import BATCH, Create
from graph.packs import Call, Dispatcher, checked_namespace
from recall.importing import Imported, Report
from recall.jsonl import FORMAT, moment
from recall.reference import Item, entity_item, fact_item, linked, named_item, observation_item, relation_item, spoken


def detect(file: Path) -> str:
    """Which program wrote `file`. Raises ValidationFailed."""
    with file.open("rb") as lines:
        head = lines.readline()
    try:
        first = orjson.loads(head)
    except ValueError:
        first = _whole(file)
    if isinstance(first, dict):
        if first.get("format") == FORMAT:
            return "palimpsest"
        if first.get("type") in ("entity", "relation") or {"entities", "relations"} <= first.keys():
            return "mcp-memory"
    sample = next((one for one in _objects(first) if isinstance(one, dict)), {})
    if "memory" in sample:
        return "mem0"
    if "fact" in sample or (isinstance(first, dict) and "edges" in first):
        return "graphiti"
    raise ValidationFailed.of("file", f"{file} is of none of the known forms; say which with --format")


def run(dispatcher: Dispatcher, file: Path, form: str, ns: str, report: Report) -> Imported:
    """Stores the facts of `file`. form: one of `FORMS`. Raises ValidationFailed, StoreError."""
    started = time.monotonic()
    runtime = dispatcher.runtime
    call = Call(space=runtime.store.within(checked_namespace(ns)), runtime=runtime, state=runtime.states["kg"])
    found, relations = FORMS[form](file)
    items = list({(label, one.key or one.content): (label, one) for label, one in found}.values())
    counts: Counter[str] = Counter()
    for start in range(0, len(items), BATCH):
        counts += _stored(call, items[start : start + BATCH])
        report(min(start + BATCH, len(items)), len(items))
    edges = sum(linked(call, *relation) for relation in relations)
    return Imported(
        nodes=counts["nodes"],
        edges=edges,
        present=counts["present"],
        other_content=0,
        keys_taken=0,
        edges_left_out=0,
        namespaces=1,
        took_s=round(time.monotonic() - started, 1),
    )


def _stored(call: Call, items: Sequence[Item]) -> Counter[str]:
    """Stores a batch at once; where a note has changed since it was imported, one after the other."""
    try:
        return _kept(call, items)
    except KeyInUse as held:
        if len(items) > 1:
            return sum((_stored(call, [item]) for item in items), Counter[str]())
        ((label, node),) = items
        return _kept(call, [(label, replace(node, supersedes=[held.existing_id]))])


def _kept(call: Call, items: Sequence[Item]) -> Counter[str]:
    request = Create(nodes=[node for _, node in items], many=True)
    results = keep(call, request, [label for label, _ in items], call.state).body["results"]
    there = sum(one["unchanged"] for one in results)
    return Counter(nodes=len(results) - there, present=there)


def mcp_memory(file: Path) -> tuple[Iterator[Item], Sequence[tuple[str, str, str]]]:
    """memory.jsonl of the reference MCP memory server, or what its read_graph answers.

    `recall.reference` says how they are kept here.
    """
    entities, relations = [], []
    for one in _lines(file):
        if {"entities", "relations"} <= one.keys():
            entities += _objects(one["entities"])
            relations += _objects(one["relations"])
        elif one.get("type") == "relation":
            relations.append(one)
        else:
            entities.append(one)
    told = [(_text(one, "from"), _text(one, "relationType"), _text(one, "to")) for one in relations]

    def items() -> Iterator[Item]:
        for entity in entities:
            name = _text(entity, "name")
            yield entity_item(name, str(entity.get("entityType", "")))
            yield from (observation_item(name, text) for text in entity.get("observations", ()))
        yield from (relation_item(*one) for one in told if one[0] and one[2])

    return items(), told


def mem0(file: Path) -> tuple[Iterator[Item], Sequence[tuple[str, str, str]]]:
    """What mem0's get_all answers: memories, and the relations of its graph memory as notes."""
    whole = _whole(file)
    relations = whole.get("relations", []) if isinstance(whole, dict) else []
    told = [
        (_text(one, "source"), _text(one, "relationship"), str(one.get("target") or one.get("destination") or ""))
        for one in _objects(relations)
    ]

    def items() -> Iterator[Item]:
        for one in _objects(whole):
            kept = {name: one[name] for name in ("metadata", "user_id", "agent_id", "app_id", "run_id") if one.get(name)}
            tags = [str(tag) for tag in one.get("categories") or ()]
            yield fact_item(
                _text(one, "memory"),
                "mem0",
                str(one.get("id") or one["memory"]),
                created_at=_moment(one.get("created_at")),
                expires_at=_moment(one.get("expiration_date")),
                tags=tags,
                properties=kept or None,
            )
        yield from _relations(told, "mem0")

    return items(), ()


def graphiti(file: Path) -> tuple[Iterator[Item], Sequence[tuple[str, str, str]]]:
    """Facts of Graphiti's entity edges, as they are dumped as JSON; one that became invalid expires at that time.

    With the nodes beside them (`{"nodes": [..], "edges": [..]}`), a fact is linked to the two that it joins.
    """
    whole = _whole(file)
    nodes = {one.get("uuid"): one for one in _objects(whole.get("nodes", []))} if isinstance(whole, dict) else {}
    edges = _objects(whole.get("edges", whole) if isinstance(whole, dict) else whole)

    def items() -> Iterator[Item]:
        for node in nodes.values():
            labels = [label for label in node.get("labels") or () if label != "Entity"]
            yield named_item(_text(node, "name"), labels[0] if labels else "")
        for edge in edges:
            ends = [nodes.get(edge.get(f"{end}_node_uuid"), {}).get("name") for end in ("source", "target")]
            ended = _moment(edge.get("invalid_at")) or _moment(edge.get("expired_at"))
            kept = {name: edge[name] for name in ("name", "group_id", "attributes") if edge.get(name)}
            yield fact_item(
                _text(edge, "fact"),
                "graphiti",
                str(edge.get("uuid") or edge["fact"]),
                created_at=_moment(edge.get("valid_at")) or _moment(edge.get("created_at")),
                expires_at=ended,
                entities=[name for name in ends if name],
                properties=kept or None,
            )

    return items(), ()


FORMS: Mapping[str, Callable[[Path], tuple[Iterator[Item], Sequence[tuple[str, str, str]]]]] = {
    "mcp-memory": mcp_memory,
    "mem0": mem0,
    "graphiti": graphiti,
}


def _relations(told: Iterable[tuple[str, str, str]], program: str) -> Iterator[Item]:
    for source, relation, target in told:
        if source and target:
            text = f"{spoken(source)} {spoken(relation).lower()} {spoken(target)}."
            yield fact_item(text, program, f"{source}\n{relation}\n{target}", entities=[spoken(source), spoken(target)])


def _text(one: Mapping[str, Any], name: str) -> str:
    found = one.get(name)
    if not isinstance(found, str) or not found.strip():
        raise ValidationFailed.of(name, f"must be a text in {str(dict(one))[:120]}")
    return found


def _moment(found: Any) -> dt.datetime | None:
    """A time; one without a zone, which these programs write at times, is taken as UTC."""
    if not isinstance(found, str) or not found:
        return None
    try:
        return moment(found)
    except ValueError:
        pass
    try:
        return dt.datetime.fromisoformat(found).replace(tzinfo=dt.UTC)
    except ValueError:
        raise ValidationFailed.of("file", f"{found[:40]!r} is no time in ISO 8601") from None


def _objects(found: Any) -> list[dict[str, Any]]:
    """The objects of a list, or of what an answer wraps one in."""
    if isinstance(found, dict):
        inner = next((found[name] for name in ("results", "memories", "edges", "data") if name in found), None)
        return [found] if inner is None else _objects(inner)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _whole(file: Path) -> Any:
    """The JSON of a file, or the list of its lines where each is one."""
    text = file.read_bytes()
    try:
        return orjson.loads(text)
    except ValueError:
        return list(_lines(file))


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    text = file.read_bytes()
    try:
        found = orjson.loads(text)
        yield from [found] if isinstance(found, dict) else _objects(found)
        return
    except ValueError:
        pass
    for number, one in enumerate(text.splitlines(), 1):
        if one.strip():
            try:
                found = orjson.loads(one)
            except ValueError as fault:
                raise ValidationFailed.of("file", f"line {number} is no JSON: {fault}") from None
            if not isinstance(found, dict):
                raise ValidationFailed.of("file", f"line {number} is no JSON object")
            yield found
