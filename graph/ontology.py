"""Kinds, relations, and which may join which: the closed list.

A node counts as its kind, as its label's name in lower case, as `recallable` or `entity`, and as `anything`. A rule
`a|b>c` lets any of the left join any of the right. A document can be a note (which recall finds) or an entity.
"""

from __future__ import annotations

from graph.errors import NotAllowed

RECALLABLE = ("Note", "Neuron", "Abstraction", "Knowledge")
LABELS = (*RECALLABLE, "Entity")
NOTE_KINDS = ("memory", "observation", "document")
ENTITY_KINDS = ("concept", "document", "dataset", "project", "person", "org", "artifact", "service")
LABEL_OF_KIND = (
    dict.fromkeys(ENTITY_KINDS, "Entity")
    | dict.fromkeys(NOTE_KINDS, "Note")
    | {label.lower(): label for label in RECALLABLE[1:]}
)
MEMORY_TYPES = ("episodic", "semantic", "procedural", "self", "personality", "associative")
UNTYPED = "none"  # stands in for an absent memory type, since an index can't filter by NULL

_RULES = {
    "contains": "concept>concept, project>project|artifact, org>project|service",
    "part_of": "concept>concept, project>project|org, person>org|project, org>org",
    "instance_of": "entity>concept, service>project, person>org|project",
    "extends": "concept>concept",
    "variant_of": "concept>concept, artifact>artifact",
    "introduced_by": "concept>document|person|org, artifact>document, document>person|org",
    "supersedes": "note>note, neuron>neuron, abstraction>abstraction, knowledge>knowledge, "
    "document>document, concept>concept, artifact>artifact, service>service, dataset>dataset",
    "derived_from": "artifact>dataset|document|project|artifact, document>document, abstraction|knowledge>recallable",
    "precedes": "document>document, dataset>dataset, artifact>artifact, service>service, project>project, note>note",
    "depends_on": "project>project, service>project|service|artifact|dataset, artifact>project|service, "
    "document>document, org>org",
    "enables": "concept|service|dataset|org>concept",
    "implements": "project|service>concept",
    "competes_with": "concept>concept, project>project, service>service",
    "composed_with": "concept>concept, project>project",
    "annotates": "note>anything",
    "supports": "note>note, concept|document|dataset|artifact>concept",
    "refutes": "note>note, concept|document|dataset|artifact>concept",
    "mentions": "recallable>entity",
    "associates": "neuron>recallable|entity",
    "follows": "turn>turn, note>note",
}
RELATIONS = tuple(_RULES)
SYMMETRIC = frozenset({"competes_with", "composed_with"})
TABLE = {
    relation: tuple(
        (frozenset(left.split("|")), frozenset(right.split("|")))
        for left, right in (rule.strip().split(">") for rule in rules.split(","))
    )
    for relation, rules in _RULES.items()
}


def relation_type(relation: str) -> str:
    """The relationship type that stores a relation: `part_of` is `PART_OF`."""
    return relation.upper()


def names(label: str, kind: str) -> frozenset[str]:
    """Everything that a node of this label and kind counts as."""
    family = "recallable" if label in RECALLABLE else label.lower()
    return frozenset({kind, label.lower(), family, "anything"})


def check(relation: str, source: tuple[str, str], target: tuple[str, str], field: str = "relation") -> None:
    """Raises NotAllowed unless `relation` may lead from `source` to `target`, each (label, kind)."""
    left, right = names(*source), names(*target)
    fitting = [
        name
        for name, rules in TABLE.items()
        if any(left & sources and right & targets for sources, targets in rules)
        and (name != "supersedes" or source[0] == target[0])  # a document note never supersedes a document entity
    ]
    if relation in fitting:
        return
    raise NotAllowed(
        f"{relation} can't lead from {_shown(source)} to {_shown(target)}; it joins {_RULES[relation]}; "
        f"between these two: {', '.join(fitting) or 'none'}",
        field,
        fitting,
    )


def _shown(node: tuple[str, str]) -> str:
    label, kind = node
    return kind if label.lower() == kind else f"{kind} ({label})"
