"""Where memories for a task come from: six sources of one signature, in the order in which they are merged.

A source is called with an `Asking` and gives the memories it found, each past its gate on the one calibrated scale. Three
recalls serve all six: one over everything, one over what was learnt and one over the persona, which have places of their own
so that no number of notes crowds them out. Sources only read; they run at the same time, and each recall is made once.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from graph.fields import shown_time
from graph.ontology import LABEL_OF_KIND
from graph.packs import Call
from graph.records import moment_of
from recall import pipeline
from recall.background import Background
from recall.calibrate import Calibration
from recall.candidates import Moment
from recall.config import RECALL_MIN_SCORE, ScoringConfig
from recall.evidence import Candidates, gathered
from recall.fuse import fuse
from recall.gate import gate
from recall.hits import Hit, Pool, Query, RecallRequest
from recall.score import score
from recall.serve import diversified
from recall.text import meaningless, query_terms, terms
from recall.tokens import count

PERSONA_TYPES: Final = ("self", "personality")
LEARNT_KINDS: Final = ("neuron", "abstraction", "knowledge")
MANY, FEW = 5, 2  # limits of the first recall and of the others, which give each leg 100 and 40 places
MOST_EACH: Final = 30  # memories that a source gives
MOST_PERSONA: Final = 5
_MEMORY: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} (?:follows|associates)$")
HIT: Final = 0.9  # share of a trigger's words, by worth, that the task must have; a stem counts .95


@dataclass(frozen=True, kw_only=True)
class Selected:
    """A memory that may enter a context. sources: those that found it, in their order.  tokens: of `content`."""

    id: str
    sources: tuple[str, ...]
    kind: str
    content: str
    tokens: int
    relevance: float
    score: float
    memory_type: str | None = None
    created_at: str = ""
    path: Sequence[Mapping[str, Any]] = ()
    cut: bool = False


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a recall looked at: every candidate as a hit, not gated yet."""

    hits: Sequence[Hit] = ()
    pool: Pool | None = None
    background: Background = field(default_factory=Background.shipped)


class Asking:
    """A task put to memory. Each of its recalls is made once, by whichever source needs it first; the others wait for it."""

    def __init__(self, call: Call, task: str, types: Collection[str] | None = None):
        self.call, self.task, self.types = call, task, list(types) if types else None
        self.recaller: pipeline.Recaller = call.runtime.states["memory"]
        self.meaningless = meaningless(task)
        self._answers: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()

    @property
    def scoring(self) -> ScoringConfig:
        return self.recaller.config.scoring

    @property
    def query(self) -> Query:
        """The task's words and vector, and nothing else's."""
        return self._embedded("weighted")

    def everything(self) -> Seen:
        """The recall over memories of every kind, by meaning, words and the walk."""
        return self._recall("everything", RecallRequest(query=self.task, memory_type=self.types, limit=MANY))

    def learnt(self) -> Seen:
        """Neurons, abstractions and knowledge, by the task's words alone; no number of notes crowds them out."""
        return self._recall(
            "learnt",
            RecallRequest(
                query=self.task, memory_type=self.types, kind=LEARNT_KINDS, fusion="keyword_only", entity_names=(), limit=FEW
            ),
        )

    def persona(self) -> Seen:
        """The second typed query: what is known of oneself."""
        return self._recall("persona", RecallRequest(query=self.task, memory_type=PERSONA_TYPES, entity_names=(), limit=FEW))

    def pools(self) -> list[Pool]:
        """The candidates of all recalls that are done."""
        with self._lock:
            done = [answer for answer in self._answers.values() if answer.done() and answer.exception() is None]
        found = [answer.result() for answer in done]
        return [seen.pool for seen in found if isinstance(seen, Seen) and seen.pool is not None]

    def _embedded(self, fusion: str) -> Query:
        request = RecallRequest(query=self.task, fusion=fusion)
        found: Query = self._once(f"query {fusion}", lambda: pipeline.embed(request, self.recaller))
        return found

    def _recall(self, name: str, request: RecallRequest) -> Seen:
        found: Seen = self._once(name, lambda: self._seen(request))
        return found

    def _seen(self, request: RecallRequest) -> Seen:
        """What is below the floor is made a hit only where a source has a measure of its own for it."""
        if self.meaningless:
            return Seen()
        query, state = self._embedded(request.fusion), self.recaller
        pool = fuse(pipeline.searched(self.call, query, request, state), request.fusion, state.config)
        background = state.backgrounds.of(self.call.space, pool.background, query)
        own_measure = request.kind == LEARNT_KINDS or any("walk" in legs for legs in pool.legs)
        gated = replace(request, min_score=0.0 if own_measure else RECALL_MIN_SCORE)
        hits = pipeline.ranked(pool, query, gated, state, self.scoring, background)
        return Seen(hits=hits, pool=pool, background=background)

    def _once(self, name: str, ask: Callable[[], Any]) -> Any:
        with self._lock:
            mine = name not in self._answers
            answer = self._answers.setdefault(name, Future())
        if mine:
            try:
                answer.set_result(ask())
            except BaseException as error:
                answer.set_exception(error)
        return answer.result()


Source = Callable[[Asking], Sequence[Selected]]


def name_of(source: Source) -> str:
    """A source is called what its function or class is called."""
    return str(getattr(source, "__name__", type(source).__name__))


def store(asking: Asking) -> Sequence[Selected]:
    """Memory notes, through the recall pipeline."""
    return _of_label("store", "Note", asking.everything(), asking)


def neurons(asking: Asking) -> Sequence[Selected]:
    """Neurons of which the task hits a trigger. However important one is, without a hit it does not come."""
    seen = asking.learnt()
    found = {hit.id: replace(hit, relevance=0.0) for hit in seen.hits if _label(hit) == "Neuron"}
    if not found:
        return []
    for row in asking.call.space.rows("recall.triggers", timeout_s=asking.call.left_s(2.0), ids=list(found)):
        calibration, background = asking.recaller.calibration, seen.background
        found[row["id"]].relevance = overlap(asking.task, row["triggers"], calibration, background)
    return _gated("neurons", list(found.values()), seen, asking, again=True)


def graphs(asking: Asking) -> Sequence[Selected]:
    """What the walk led to. The names on the way count as words of the memory, beside its own."""
    seen = asking.everything()
    hits = [replace(hit) for hit in seen.hits if "walk" in hit.sources and _label(hit) != "Neuron"]
    if not hits or seen.pool is None:
        return []
    _by_path(hits, seen.pool, asking, seen.background)
    return _gated("graphs", hits, seen, asking, again=True)


def abstraction(asking: Asking) -> Sequence[Selected]:
    """General facts drawn from several notes."""
    return _learnt("abstraction", "Abstraction", asking)


def consolidated(asking: Asking) -> Sequence[Selected]:
    """Knowledge items."""
    return _learnt("consolidated", "Knowledge", asking)


def persona(asking: Asking) -> Sequence[Selected]:
    """What is known of oneself and bears on the task."""
    seen = asking.persona()
    return _gated("persona", seen.hits, seen, asking)[:MOST_PERSONA]


DEFAULT_SOURCES: Final[tuple[Source, ...]] = (store, neurons, graphs, abstraction, consolidated, persona)


def overlap(task: str, triggers: Sequence[str], calibration: Calibration, background: Background) -> float:
    """The calibrated probability that the task is what a trigger is about: the best of those that it has whole, 0 if none.

    Here the trigger is the query and the task is what may match it, so a long task that has the trigger loses nothing.
    """
    row = Candidates(note_ids=[""], terms=[" ".join(terms(task))], vectors=np.zeros((1, 0), np.float32), follows=[()])
    best = 0.0
    for trigger in triggers:
        found = gathered(row, query_terms(trigger), None, background)
        if found.has_words and found.column("coverage")[0] >= HIT:
            best = max(best, float(calibration.modes["lexical"].probability(found.values)[0]))
    return best


def _by_path(hits: Sequence[Hit], pool: Pool, asking: Asking, background: Background) -> None:
    """Sets the relevance of hits from the task's words in them and in the names on the way to them, where that is more."""
    ways = [_names(hit) for hit in hits]
    row = Candidates(
        note_ids=[hit.id for hit in hits],
        terms=[" ".join([pool.terms[hit.row], *terms(way)]) for hit, way in zip(hits, ways, strict=True)],
        vectors=np.zeros((len(hits), 0), np.float32),
        follows=[()] * len(hits),
    )
    values = gathered(row, asking.query.terms, None, background).values
    for hit, relevance in zip(hits, asking.recaller.calibration.modes["lexical"].probability(values), strict=True):
        hit.relevance = max(hit.relevance, float(relevance))


def _names(hit: Hit) -> str:
    """The names on the walk to a hit; none where it led on from another memory, whose id the way begins with."""
    way = next((step["by"] for step in hit.path if step["leg"] == "walk"), "")
    return "" if _MEMORY.match(way) else way


def _learnt(source: str, label: str, asking: Asking) -> list[Selected]:
    """By words among their own kinds, and by meaning among all."""
    return merged([_of_label(source, label, seen, asking) for seen in (asking.learnt(), asking.everything())])


def _of_label(source: str, label: str, seen: Seen, asking: Asking) -> list[Selected]:
    hits = [hit for hit in seen.hits if _label(hit) == label and hit.sources != ["walk"]]
    return _gated(source, hits, seen, asking)


def _gated(source: str, hits: Sequence[Hit], seen: Seen, asking: Asking, *, again: bool = False) -> list[Selected]:
    """The hits past the one floor, by score, as memories. again: their relevance has changed since they were scored."""
    passed = gate(hits, RECALL_MIN_SCORE)
    if not passed or seen.pool is None:
        return []
    if again:
        score(passed, asking.scoring, now=Moment.of(RecallRequest(query=asking.task)).now)
    return [_selected(source, hit) for hit in diversified(passed, seen.pool, asking.recaller.config)[:MOST_EACH]]


def _selected(source: str, hit: Hit) -> Selected:
    """Of a long note the passage that matched, else its beginning."""
    content = (hit.passage or hit.content) if hit.clipped else hit.content
    return Selected(
        id=hit.id,
        sources=(source,),
        kind=hit.kind,
        content=content,
        tokens=count(content),
        relevance=hit.relevance,
        score=hit.score,
        memory_type=hit.memory_type,
        created_at=shown_time(moment_of(hit.created_ts)),
        path=hit.path,
        cut=hit.clipped,
    )


def _label(hit: Hit) -> str:
    return LABEL_OF_KIND.get(hit.kind, "Note")


def merged(found: Sequence[Sequence[Selected]]) -> list[Selected]:
    """Each memory once, by score: found by several sources, it has the best of what they say of it."""
    by_id: dict[str, Selected] = {}
    for several in found:
        for one in several:
            known = by_id.get(one.id)
            if known is None:
                by_id[one.id] = one
            else:
                best = max(known, one, key=lambda memory: memory.relevance)
                by_id[one.id] = replace(best, sources=tuple(dict.fromkeys(known.sources + one.sources)))
    return sorted(by_id.values(), key=lambda memory: (-memory.score, memory.id))
