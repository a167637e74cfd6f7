"""A tenant: what it stored, and what nobody else may ever be shown of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b")
Send = Callable[[str, dict[str, Any]], tuple[int, str, Any]]


@dataclass
class Tenant:
    """marker: a word that is in every text of it.  send: (verb, body) to (status, text, parsed answer), with its own key."""

    ns: str
    marker: str
    send: Send
    ids: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    apart: dict[str, list[str]] = field(default_factory=dict)  # ids that only some fields and verbs take
    serves: list[tuple[str, str]] = field(default_factory=list)  # each with an id that it served

    @property
    def profiles(self) -> list[str]:
        return ["night", f"of-{self.marker}"]

    @property
    def keys(self) -> list[str]:
        return ["rota", f"key-{self.marker}"]

    @property
    def names(self) -> list[str]:
        return ["Ada", f"Person {self.marker}"]

    @property
    def tags(self) -> list[str]:
        return ["hall", f"tag-{self.marker}"]

    def learn(self, text: str, own_request: str) -> None:
        """Takes the ids of an answer for its own, but for those that it had asked with."""
        for id in ID.findall(text):
            if id not in own_request and id not in self.known:
                self.known.add(id)
                self.ids.append(id)

    def answered(self, verb: str, answer: Any) -> None:
        """Takes note of what only some verbs can go on with."""
        if verb == "context.task_start":
            self.apart.setdefault("task_id", []).append(answer["id"])
        elif verb == "context.build":
            self.apart.setdefault("context.trace", []).append(answer["trace"]["id"])
        elif verb == "memory.recall":
            self.serves += [(answer["serve_id"], hit["id"]) for hit in answer["results"][:2]]

    def settle(self) -> None:
        """Stores a little of everything; the same for every tenant but for the marker."""
        made = self.done("memory.remember", items=[{"content": self._line(n), "tags": self.tags} for n in range(20)])
        first, second = [item["id"] for item in made["results"][:2]]
        self.done("memory.remember", content=f"No: {self.marker} has the harbour festival in May.", supersedes=[first])
        self.done("memory.remember", content=f"The rota of {self.marker} hangs at the gate.", key="rota")
        self.done("memory.remember", content=f"Key of {self.marker}", key=f"key-{self.marker}")
        for name in self.names:
            self.done("kg.create", kind="person", content=name, properties={"of": self.marker})
        self.done(
            "kg.create", kind="neuron", content=f"{self.marker}: pumps are checked first", triggers=["pump", "harbour"]
        )
        self.done("kg.link", source=second, target=made["results"][2]["id"], relation="supports")
        for profile in self.profiles:
            self.done("brain.profile_create", id=profile, description=f"for {self.marker}")
        task = self.done("context.task_start", description=f"plan the harbour festival of {self.marker}")
        self.done("context.task_turn", task_id=task["id"], role="user", text=f"{self.marker} wants blue pumps")
        self.done("context.build", task_id=task["id"])
        self.done("memory.recall", query="the harbour festival and the pump", min_score=0)

    def _line(self, n: int) -> str:
        return f"The harbour festival of {self.marker} has pump {n} at gate {n % 4}; Ada looks after it."

    def done(self, verb: str, **body: Any) -> Any:
        """A call that must succeed."""
        status, text, answer = self.send(verb, body)
        assert status < 300, (verb, status, text)
        self.learn(text, "")
        self.answered(verb, answer)
        return answer

    def shown_in(self, text: str, asked: str) -> set[str]:
        """What a text shows of it, but for what was asked with."""
        found = self.known.intersection(ID.findall(text)) | ({self.marker} if self.marker in text else set())
        return {secret for secret in found if secret not in asked}
