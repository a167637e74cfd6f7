"""The closed list of relations, and which kinds each may join."""

from __future__ import annotations

import pytest

from graph.errors import NotAllowed
from graph.ontology import ENTITY_KINDS, LABEL_OF_KIND, LABELS, RECALLABLE, RELATIONS, SYMMETRIC, TABLE, check, relation_type

DESIGNED = [
    "contains",
    "part_of",
    "instance_of",
    "extends",
    "variant_of",
    "introduced_by",
    "supersedes",
    "derived_from",
    "precedes",
    "depends_on",
    "enables",
    "implements",
    "competes_with",
    "composed_with",
    "annotates",
    "supports",
    "refutes",
    "mentions",
    "associates",
    "follows",
]
NOTE, DOCUMENT_NOTE, NEURON = ("Note", "memory"), ("Note", "document"), ("Neuron", "neuron")
ABSTRACTION, KNOWLEDGE = ("Abstraction", "abstraction"), ("Knowledge", "knowledge")


def entity(kind: str) -> tuple[str, str]:
    return ("Entity", kind)


def test_the_relations_are_those_of_the_design():
    assert sorted(RELATIONS) == sorted(DESIGNED)
    assert {"competes_with", "composed_with"} == SYMMETRIC
    assert relation_type("part_of") == "PART_OF"


def test_every_name_in_the_table_is_a_kind_a_label_or_a_family():
    known = {*ENTITY_KINDS, *LABEL_OF_KIND, *(label.lower() for label in LABELS), "recallable", "entity", "anything", "turn"}
    assert {name for rules in TABLE.values() for rule in rules for side in rule for name in side} <= known


@pytest.mark.parametrize(
    ("relation", "source", "target"),
    [
        ("contains", entity("project"), entity("artifact")),
        ("part_of", entity("person"), entity("org")),
        ("instance_of", entity("dataset"), entity("concept")),
        ("introduced_by", entity("document"), entity("person")),
        ("supersedes", NOTE, NOTE),
        ("supersedes", NOTE, DOCUMENT_NOTE),
        ("supersedes", NEURON, NEURON),
        ("supersedes", entity("dataset"), entity("dataset")),
        ("derived_from", ABSTRACTION, NOTE),
        ("derived_from", KNOWLEDGE, NEURON),
        ("derived_from", DOCUMENT_NOTE, DOCUMENT_NOTE),
        ("precedes", NOTE, NOTE),
        ("annotates", NOTE, entity("org")),
        ("annotates", NOTE, KNOWLEDGE),
        ("mentions", NEURON, entity("person")),
        ("associates", NEURON, NOTE),
        ("associates", NEURON, entity("concept")),
        ("follows", NOTE, NOTE),
        ("supports", entity("dataset"), entity("concept")),
    ],
)
def test_what_the_table_names_is_allowed(relation, source, target):
    check(relation, source, target)


@pytest.mark.parametrize(
    ("relation", "source", "target"),
    [
        ("contains", entity("concept"), entity("project")),
        ("supersedes", entity("person"), entity("person")),
        ("supersedes", NOTE, NEURON),
        ("supersedes", DOCUMENT_NOTE, entity("document")),
        ("supersedes", entity("document"), entity("dataset")),
        ("derived_from", NOTE, ABSTRACTION),
        ("mentions", entity("person"), NOTE),
        ("associates", NOTE, NEURON),
        ("follows", NEURON, NEURON),
        ("annotates", NEURON, NOTE),
        ("competes_with", entity("org"), entity("org")),
    ],
)
def test_what_the_table_does_not_name_is_refused(relation, source, target):
    with pytest.raises(NotAllowed):
        check(relation, source, target)


def test_a_refusal_lists_what_the_relation_joins_and_what_may_join_these_two():
    with pytest.raises(
        NotAllowed, match=r"follows can't lead from neuron to memory \(Note\); it joins turn>turn, note>note"
    ) as error:
        check("follows", NEURON, NOTE, "items.3.relation")
    assert error.value.details["allowed"] == ["associates"]
    assert error.value.details["errors"][0]["field"] == "items.3.relation"
    with pytest.raises(NotAllowed, match="between these two: none") as error:
        check("extends", entity("person"), entity("person"))
    assert "allowed" not in error.value.details


def test_each_recallable_kind_has_its_label():
    assert {LABEL_OF_KIND[kind] for kind in ("memory", "neuron", "abstraction", "knowledge")} == set(RECALLABLE)
    assert LABEL_OF_KIND["observation"] == "Note"
    assert LABEL_OF_KIND["document"] == "Note", "recall finds documents that nobody labelled"
