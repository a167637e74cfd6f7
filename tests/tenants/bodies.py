"""Request bodies made at random from a verb's JSON schema, with values that name what one's own and another tenant has."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from tests.tenants.tenant import Tenant

IDS = frozenset(
    {"id", "source", "target", "supersedes", "follows", "source_id", "target_id", "serve_id", "superseded_by", "task_id"}
)
NAMED = {"profile": "profiles", "key": "keys", "entities": "names", "entity_names": "names", "tags": "tags"}
NAMING = frozenset({"remember", "supersede", "memory.remember", "kg.create", "kg.update", "brain.profile_create"})
SMALL_LISTS, WORDS = 3, ("useful", "rota", "pump", "harbour", "festival", "gate", "blue", "Ada", "x")


class Bodies:
    """Bodies for one tenant's calls: values are its own, another's, or nobody's."""

    def __init__(self, chance: random.Random, own: Tenant, others: list[Tenant]):
        self.chance, self.own, self.others = chance, own, others

    def body(self, verb: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A body that the schema allows, mostly with its required fields and a few more."""
        made = self._object(verb, schema)
        if "dry_run" in schema["properties"] and self.chance.random() < 0.95:  # else soon nothing is left to leak
            made["dry_run"] = True
        if verb in ("memory.feedback", "feedback") and self.own.serves and self.chance.random() < 0.6:
            made["serve_id"], made["target_id"] = self.chance.choice(self.own.serves)
        if verb == "supersede":
            made["supersedes"] = [self._id(verb, "supersedes")]
        if verb in ("memory.remember", "kg.create"):  # one note or several, of which the schema can't speak
            made = {"items": made["items"]} if "items" in made else {"content": self._text()} | made
        if verb in ("kg.link", "kg.unlink", "link"):
            made.pop("items", None)
            made = {
                "relation": self.chance.choice(("supports", "depends_on", "supersedes")),
                "source": self._id(verb, "source"),
                "target": self._id(verb, "target"),
            }
        return made

    def _id(self, verb: str, name: str) -> str:
        return self._string(verb, name, {})

    def _object(self, verb: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        fields = schema.get("properties", {})
        required = set(schema.get("required", ()))
        few = {name for name in fields if self.chance.random() < 2 / max(len(fields), 1)}
        return {name: self._value(verb, name, fields[name]) for name in fields if name in required | few}

    def _value(self, verb: str, name: str, schema: Mapping[str, Any]) -> Any:
        if enum := schema.get("enum"):
            return self.chance.choice(enum)
        kind = schema.get("type", "string")
        kind = self.chance.choice([each for each in kind if each != "null"]) if isinstance(kind, list) else kind
        match kind:
            case "array":
                size = self.chance.randint(max(schema.get("minItems", 0), 1), SMALL_LISTS)
                return [self._value(verb, name, schema["items"]) for _ in range(size)]
            case "object":
                return self._object(verb, schema) if "properties" in schema else {"note": self._text()}
            case "boolean":
                return self.chance.random() < 0.5
            case "integer":
                low = int(schema.get("minimum", 0))
                return self.chance.randint(low, min(int(schema.get("maximum", low + 60)), low + 60))
            case "number":
                return round(self.chance.uniform(schema.get("minimum", 0.0), min(schema.get("maximum", 5.0), 5.0)), 3)
            case _:
                return self._string(verb, name, schema)

    def _string(self, verb: str, name: str, schema: Mapping[str, Any]) -> str:
        if schema.get("format") == "date-time":
            return f"{self.chance.randint(2019, 2031)}-0{self.chance.randint(1, 9)}-15T12:00:00Z"
        whose = self.chance.choices([self.own, self.chance.choice(self.others), None], [6, 3, 1])[0]
        if whose is None:
            return self._text()
        if verb in NAMING and (name in NAMED or verb == "brain.profile_create"):
            whose = self.own  # what one names oneself is one's own, and no leak when it is shown
        if name == "id" and verb.startswith("brain."):
            return self.chance.choice(whose.profiles)
        if name == "source" and verb not in ("kg.link", "kg.unlink", "link"):
            return self.chance.choice(WORDS)
        if name in IDS:
            kept = whose.apart.get("task_id" if name == "task_id" else verb)
            return self.chance.choice(kept if kept and self.chance.random() < 0.8 else whose.ids)
        if name in NAMED:
            return self.chance.choice(getattr(whose, NAMED[name]))
        return self.own.ns if name == "namespace" else self._text()

    def _text(self) -> str:
        """Words that every tenant has; never another's secret, which would then be one's own."""
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(1, 8)))
