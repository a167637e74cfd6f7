"""Packs of verbs: what they are, how they are found and ordered, and the one dispatcher behind every door.

A distribution adds a pack by the entry-point group `palimpsest.packs`, whose entry names a `Pack`. The dispatcher takes a
verb's name and a mapping (decoded JSON), validates, runs the handler and gives back a mapping: HTTP, MCP, the command line
and Python all call it, so all refuse the same things in the same words.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol

from marshmallow import Schema, ValidationError

from graph.errors import NotFound, PackError, StoreTimeout, ValidationFailed
from graph.ontology import LABEL_OF_KIND
from graph.records import Reading
from graph.store import Space, Store
from graph.tracing import span

GROUP = "palimpsest.packs"
NAMESPACE = re.compile(r"[A-Za-z0-9._:-]{1,128}")
DEFAULT_NAMESPACE = "default"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Indexer(Protocol):
    """What turns texts into what the indexes hold; `recall.index.Indexer` is the one that ships."""

    def index(self, contents: Sequence[str], extra: Sequence[str] = ()) -> list[dict[str, Any]]:
        """`properties`, `vectors` and `passages` of each text; `extra` holds words beside it (a neuron's triggers).

        `unread` says that some of it still lacks a vector: `Runtime.unread` hears of the node once it is stored.
        """

    def entity(self, name: str) -> dict[str, str]:
        """`name_key`, under which a name is looked up, and `terms`, by which it is searched."""

    def search(self, ns: str, query: str, kinds: Sequence[str] = ()) -> str | None:
        """The full-text query for free text in a namespace, of any kind if `kinds` is empty; None where it has no words."""


class Linker(Protocol):
    """What finds the entities that a note mentions; `recall.linker.NameLinker` is the one that ships."""

    def read(self, content: str) -> Reading:
        """What a note names, by itself; the store asks it again with the names that its namespace knows."""

    def query(self, ns: str, name: str) -> str | None:
        """The full-text query for notes of a namespace that hold a name, to link them to a new entity; None for no note."""


class Summariser(Protocol):
    """What tells a group of notes in few words; `recall.digest.Extractive` is the one that ships."""

    @property
    def name(self) -> str:
        """Of the way in which it tells; another name has everything told anew."""

    def digest(self, contents: Sequence[str], weight: Callable[[str], float]) -> Any:
        """`knowledge`, `abstraction` and `keywords` of notes, the oldest first. weight: how much a word tells there."""


@dataclass(kw_only=True)
class Runtime:
    """What every pack works with: `kinds` gives each kind's label, `states` what each pack's `open` returned.

    packs: all of them, each after those that it requires.
    A pack may set `linker` and `summariser` when it opens; without a linker no edge is drawn but those that are asked for,
    without a summariser consolidation quotes. `unread` hears of a namespace's nodes of which a slow model has not read
    everything yet.
    """

    store: Store
    indexer: Indexer
    linker: Linker | None = None
    summariser: Summariser | None = None
    unread: Callable[[str, Sequence[str]], None] = lambda _ns, _ids: None
    options: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=lambda: dict(LABEL_OF_KIND))
    states: dict[str, Any] = field(default_factory=dict)
    packs: Sequence[Pack] = ()


@dataclass(frozen=True, kw_only=True)
class Call:
    """Who calls, in which namespace, and until when. `state` is what the verb's pack opened."""

    space: Space
    runtime: Runtime
    state: Any
    actor: str | None = None
    request_id: str | None = None
    deadline: float | None = None  # time.monotonic(), None: no limit

    @property
    def indexer(self) -> Indexer:
        return self.runtime.indexer

    def until(self, deadline: float) -> Call:
        """The same call with another deadline."""
        return replace(self, deadline=deadline)

    def left_s(self, most: float) -> float:
        """Seconds that a statement may still take: `most`, or less where the deadline is nearer. Raises StoreTimeout."""
        if self.deadline is None:
            return most
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise StoreTimeout("the request's deadline is past")
        return min(most, left)


@dataclass(frozen=True)
class Answer:
    """A handler's result: the body, and whether something new was stored (HTTP says 201 then, else 200)."""

    body: Mapping[str, Any]
    created: bool = False


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One thing that can be asked for.

    illocution: `assertive` tells, `commissive` keeps something, `directive` has something done.
    visibility: a `subhandler` can be called by its name, and is in no catalog.
    request, response: marshmallow schemas; the request's `load` gives what the handler takes.
    role: the least that a key needs.
    """

    name: str
    illocution: Literal["assertive", "commissive", "directive"]
    request: Schema
    response: Schema
    handler: Callable[[Call, Any], Answer]
    visibility: Literal["verb", "subhandler"] = "verb"
    role: Literal["read", "write", "admin"] = "read"

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or self.name).strip().splitlines()[0]


@dataclass(frozen=True, kw_only=True)
class Pack:
    """A set of verbs. `open` is called once, after the packs it requires are open; its result is the verbs' `state`."""

    name: str
    verbs: tuple[Verb, ...]
    requires: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    open: Callable[[Runtime], Any] = lambda _runtime: None
    close: Callable[[Any], None] = lambda _state: None


def installed() -> list[Pack]:
    """The packs that installed distributions declare. Raises PackError for one that can't be loaded."""
    found = []
    for entry in entry_points(group=GROUP):
        try:
            pack = entry.load()
        except Exception as error:
            raise PackError(f"pack {entry.name} ({entry.value}) can't be loaded: {error}") from error
        if not isinstance(pack, Pack):
            raise PackError(f"pack {entry.name} ({entry.value}) is a {type(pack).__name__}, not a graph.packs.Pack")
        found.append(pack)
    return found


def ordered(packs: Iterable[Pack]) -> list[Pack]:
    """Each pack after those it requires. Raises PackError for a doubled, missing or circular one, or a wrong verb name."""
    by_name: dict[str, Pack] = {}
    for pack in packs:
        if pack.name in by_name:
            raise PackError(f"two packs are named {pack.name}")
        for verb in pack.verbs:
            owner, _, action = verb.name.partition(".")
            if owner != pack.name or not _NAME.fullmatch(action):
                raise PackError(f"pack {pack.name}: a verb can't be named {verb.name!r}")
        if doubled := [name for name, times in Counter(verb.name for verb in pack.verbs).items() if times > 1]:
            raise PackError(f"pack {pack.name}: two verbs are named {doubled[0]}")
        by_name[pack.name] = pack
    for pack in by_name.values():
        if missing := sorted(set(pack.requires) - by_name.keys()):
            raise PackError(f"pack {pack.name} requires {', '.join(missing)}, which is not installed")
    sorter = TopologicalSorter({name: sorted(by_name[name].requires) for name in sorted(by_name)})
    try:
        return [by_name[name] for name in sorter.static_order()]
    except CycleError as error:
        raise PackError(f"packs require each other in a circle: {' -> '.join(error.args[1])}") from error


Heard = Callable[[Verb, Answer | None, Exception | None, float], None]


class Dispatcher:
    """Every verb of the opened packs, by name.

    listeners: each hears of every call: the verb, its answer or its error, and the seconds that it took.
    """

    def __init__(self, runtime: Runtime, packs: Iterable[Pack]):
        self.runtime = runtime
        self.listeners: list[Heard] = []
        self.packs = ordered(packs)
        self._verbs = {verb.name: (verb, pack) for pack in self.packs for verb in pack.verbs}
        registered = {kind: "Note" for pack in self.packs for kind in pack.kinds}
        runtime.kinds = dict(runtime.kinds) | registered
        runtime.packs = self.packs
        try:
            for pack in self.packs:
                runtime.states[pack.name] = pack.open(runtime)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for pack in reversed(self.packs):
            if pack.name in self.runtime.states:
                pack.close(self.runtime.states.pop(pack.name))

    def verbs(self) -> list[Verb]:
        """The public ones, by name."""
        return [verb for _, (verb, _) in sorted(self._verbs.items()) if verb.visibility == "verb"]

    def find(self, name: str) -> Verb:
        """Raises NotFound."""
        if name not in self._verbs:
            raise NotFound(f"no verb {name}")
        return self._verbs[name][0]

    def every(self) -> list[Verb]:
        """Public verbs and subhandlers, by name."""
        return [verb for _, (verb, _) in sorted(self._verbs.items())]

    def call(
        self,
        name: str,
        body: Mapping[str, Any],
        *,
        ns: str = DEFAULT_NAMESPACE,
        actor: str | None = None,
        request_id: str | None = None,
        deadline_s: float | None = None,
    ) -> Answer:
        """Validates `body`, runs the verb, and gives its answer in the response schema's form.

        ns: 1 to 128 of `[A-Za-z0-9._:-]`.  deadline_s: seconds from now.  Raises RequestError, StoreError.
        """
        verb = self.find(name)
        started, answer, fault = time.perf_counter(), None, None
        try:
            with span(f"verb {name}", {"palimpsest.verb": name}):
                answer = self._answer(verb, body, ns, actor, request_id, deadline_s)
        except Exception as error:
            fault = error
            raise
        finally:
            for hear in self.listeners:
                hear(verb, answer, fault, time.perf_counter() - started)
        return answer

    def _answer(
        self,
        verb: Verb,
        body: Mapping[str, Any],
        ns: str,
        actor: str | None,
        request_id: str | None,
        deadline_s: float | None,
    ) -> Answer:
        call = Call(
            space=self.runtime.store.within(checked_namespace(ns)),
            runtime=self.runtime,
            state=self.runtime.states[self._verbs[verb.name][1].name],
            actor=actor,
            request_id=request_id,
            deadline=None if deadline_s is None else time.monotonic() + deadline_s,
        )
        answer = verb.handler(call, validated(verb.request, body))
        return Answer(verb.response.dump(answer.body), answer.created)


def checked_namespace(ns: str) -> str:
    """`ns`, if it is one. Raises ValidationFailed."""
    if not NAMESPACE.fullmatch(ns):
        raise ValidationFailed.of("namespace", "must be 1 to 128 of A-Z a-z 0-9 . _ : -")
    return ns


def validated(schema: Schema, body: Any) -> Any:
    """What `schema` makes of `body`. Raises ValidationFailed with every fault, each by its dotted field."""
    if not isinstance(body, Mapping):
        raise ValidationFailed.of("", f"must be a JSON object, not {type(body).__name__}")
    try:
        return schema.load(body)
    except ValidationError as error:
        raise ValidationFailed(list(_flat(error.messages, ""))) from error


def _flat(messages: Any, path: str) -> Iterable[dict[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            part = "" if name == "_schema" else str(name)
            yield from _flat(inner, ".".join(piece for piece in (path, part) if piece))
    elif isinstance(messages, list | tuple):
        for inner in messages:
            yield from _flat(inner, path)
    else:
        yield {"field": path, "message": str(messages)}
