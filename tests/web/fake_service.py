"""A service without a database: a real dispatcher around verbs that need no store. Run as a program, it is `palimpsest`
on such a service."""

import sys
import threading
import time
from types import ModuleType, SimpleNamespace

from marshmallow import fields

from graph import errors
from graph.audit import AuditLog
from graph.fields import Choice, Number, Request, Response, Several, Text
from graph.keys import KeyRing
from graph.packs import Answer, Dispatcher, Pack, Runtime, Verb

SECRET = "bolt://10.1.2.3:7687"


class NoteRequest(Request):
    content = Text(most=2_000_000, least=1, required=True)
    salience = Number(low=0, high=1)
    tags = Several(Text(most=256), most=64)
    supersedes = Several(Text(most=128), most=16)
    memory_type = Choice(("episodic", "semantic"))
    key = Text(most=100)
    source = Text(most=100)


class NoteResponse(Response):
    id = fields.String()
    ns = fields.String()
    actor = fields.String()
    content = fields.String()
    unchanged = fields.Boolean()


class RecallRequest(Request):
    query = Text(most=65_536, required=True)
    limit = Number(low=1, high=200)
    memory_type = Several(Choice(("episodic", "semantic")), most=2, or_one=True, allow_none=True)
    inner = fields.Nested(Request.from_dict({"weights": Several(Number(low=0), most=3, least=1)}))


class Hit(Response):
    id = fields.String()
    content = fields.String()
    score = fields.Float()
    relevance = fields.Float()
    path = fields.List(fields.Dict())
    created_at = fields.String()
    breakdown = fields.Dict()


class RecallResponse(Response):
    results = fields.List(fields.Nested(Hit))
    reason = fields.String(allow_none=True)
    candidates_evaluated = fields.Integer()


class History(Response):
    results = fields.List(fields.Dict())


def remember(call, data):
    """Keeps a note.

    More about it.
    """
    unchanged = data["content"] == "unchanged"
    body = {"id": "n1", "ns": call.space.ns, "actor": call.actor, "content": data["content"], "unchanged": unchanged}
    return Answer(body, created=not unchanged)


def recall(call, data):
    """Finds notes."""
    if data["query"] == "what time is it":
        return Answer({"results": [], "reason": "below_floor", "candidates_evaluated": 7})
    hit = {
        "id": "n1",
        "content": "An [odd]\x1b[31m note",
        "score": 0.5,
        "relevance": 0.75,
        "path": [{"leg": "superseded", "id": "n0", "content": "An older\x1b[2m note"}],
        "created_at": "2026-03-01T10:00:00Z",
    }
    hit["breakdown"] = {"parts": {"relevance": 0.45, "salience": 0.05}, "fused": 1.0}
    return Answer({"results": [hit], "candidates_evaluated": 1})


def fail(call, data):
    """Raises the error that `content` names."""
    raise fault(data["content"])


def slow(call, data):
    """Takes as many seconds as `content` says."""
    STARTED.set()
    time.sleep(float(data["content"]))
    return Answer({"content": "done"})


def link(call, data):
    """Draws an edge."""
    return Answer({"id": f"{data['source']} {data['relation']} {data['target']}"}, created=True)


def history(call, data):
    """The chain."""
    older = {
        "id": "n0",
        "content": "Port 80.",
        "created_at": "2026-01-01T00:00:00Z",
        "superseded_at": "2026-03-01T10:00:00Z",
    }
    return Answer({"results": [older, {"id": data["id"], "content": "Port 8443.", "created_at": "2026-03-01T10:00:00Z"}]})


STARTED = threading.Event()
TEXT = Text(most=100, required=True)
LinkRequest = Request.from_dict({"source": TEXT, "relation": TEXT, "target": TEXT})
IdRequest = Request.from_dict({"id": TEXT})
FAULTS = {
    "ValidationFailed": lambda: errors.ValidationFailed.of("items.3.content", "must not be empty"),
    "NotAllowed": lambda: errors.NotAllowed("no such relation", "relation", ["extends"]),
    "NotFound": lambda: errors.NotFound("no node n9", "id"),
    "KeyInUse": lambda: errors.KeyInUse("the key is in use", "n1"),
    "TaskActive": lambda: errors.TaskActive("another task is active there", "t1"),
    "SupersessionCycle": lambda: errors.SupersessionCycle("a circle", ["a", "b", "a"]),
}


def fault(name):
    """An error of the class of that name in `graph.errors`, else one that nobody foresaw."""
    return FAULTS[name]() if name in FAULTS else getattr(errors, name, ZeroDivisionError)(SECRET)


def verb(name, handler, request=NoteRequest, response=NoteResponse, illocution="assertive", **more):
    return Verb(name=name, handler=handler, request=request(), response=response(), illocution=illocution, **more)


PACKS = (
    Pack(
        name="memory",
        requires=("kg",),
        verbs=(
            verb("memory.remember", remember, illocution="commissive", role="write"),
            verb("memory.recall", recall, RecallRequest, RecallResponse),
            verb("memory.fail", fail),
            verb("memory.slow", slow),
            verb("memory.recall_embed", recall, RecallRequest, RecallResponse, visibility="subhandler"),
        ),
    ),
    Pack(
        name="kg",
        verbs=(
            verb("kg.link", link, LinkRequest, illocution="commissive", role="write"),
            verb("kg.history", history, IdRequest, History),
        ),
    ),
)


class FakeService:
    """What `web` asks of `recall.service.Service`."""

    def __init__(self):
        store = SimpleNamespace(within=lambda ns: SimpleNamespace(ns=ns), statements={}, rows=lambda _name, **_: [])
        self.store = store
        self.dispatcher = Dispatcher(Runtime(store=store, indexer=None), PACKS)
        self.endpoint = SimpleNamespace(
            uri="bolt://127.0.0.1:1", http_url="http://127.0.0.1:2", username="neo4j", password="pw", database="neo4j"
        )
        self.keys = KeyRing(SimpleNamespace(rows=lambda _name, **_: []))  # none
        self.audit = AuditLog(None, 90)  # nothing comes without a key
        self.ready = True
        self.problems = []
        self.closed = False

    def readiness(self):
        indexes = {"current": "ONLINE" if self.ready else "POPULATING"}
        return {"ready": self.ready, "neo4j": "up", "schema": 1, "indexes": indexes}

    def doctor(self, *, repair, ensure_memory_type):
        return {"problems": [problem | {"repaired": problem["count"] * repair} for problem in self.problems]}

    def close(self):
        self.closed = True


def stand_in(open_service):
    """A module to stand as `recall.service`."""
    module = ModuleType("recall.service")
    module.open_service = open_service
    module.Service = FakeService
    return module


class LoudService(FakeService):
    """Says on stdout that it is closed, for the test that watches the process."""

    def close(self):
        print("closed", flush=True)


def open_loud(settings):
    if settings.embedder == "slow-to-open":
        print("opening", flush=True)
        time.sleep(60)
    return LoudService()


if __name__ == "__main__":
    sys.modules["recall.service"] = stand_in(open_loud)
    from web.cli import main

    main()
