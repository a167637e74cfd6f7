"""MemorySelector: the memories that bear on a task, from six sources on one scale; or none, and why.

It is the one that selects memory for a context (see `authority_map.json`), and it never writes.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Final

from graph.errors import PalimpsestError
from graph.packs import Call
from recall.gate import abstention
from recall.serve import SMALLEST_CUT
from recall.sources import DEFAULT_SOURCES, PERSONA_TYPES, Asking, Selected, Source, merged, name_of
from recall.tokens import count, cut

log = logging.getLogger(__name__)
BUDGET: Final = 1200  # tokens of content that a selection has if nobody says otherwise
MOST: Final = 50  # memories of a selection
SOURCE_S: Final = 6.0  # a source that takes longer is left out; a recall whose legs fail together asks each alone
_POOL: Final = ThreadPoolExecutor(64, "select")  # kept: to start a thread takes milliseconds beside threads that work
PERSONA_SHARE: Final = 3  # the persona's memories come first, up to this part of the budget


@dataclass(frozen=True, kw_only=True)
class SelectionResult:
    """What may enter a context. blocks: by score.  abstained: nothing cleared the floor; `reason` says why there is nothing.

    types_queried: the caller's, then the persona's.  degraded: sources and legs of recall that were left out.
    """

    blocks: tuple[Selected, ...] = ()
    candidates_evaluated: int = 0
    selected_count: int = 0
    abstained: bool = True
    types_queried: tuple[str, ...] = ()
    reason: str | None = None
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class MemorySelector:
    """Selects in the namespace of `call`."""

    call: Call
    sources: Sequence[Source] = DEFAULT_SOURCES
    source_s: float = SOURCE_S

    def select_for_task(
        self, task_description: str, types: Collection[str] | None = None, budget: int = BUDGET
    ) -> SelectionResult:
        """The memories for a task.

        types: of those, and untyped ones; the persona is asked for whatever they are.  budget: tokens of content.
        A source that raises or is slow is left out and logged; nothing takes its place.
        """
        until = time.monotonic() + self.source_s
        deadline = until if self.call.deadline is None else min(until, self.call.deadline)
        asking = Asking(self.call.until(deadline), task_description, types)
        found, skipped = self._asked(asking, until)
        candidates = merged(list(found.values()))
        blocks = capped(candidates, budget)
        pools = asking.pools()
        evaluated = sum(pool.evaluated for pool in pools)
        legs = [leg for pool in pools for leg in pool.degraded]
        reason = None
        if not blocks:
            reason = "token_budget" if candidates else self._reason(asking, evaluated, skipped)
        return SelectionResult(
            blocks=tuple(blocks),
            candidates_evaluated=evaluated,
            selected_count=len(blocks),
            abstained=not candidates,
            types_queried=tuple(dict.fromkeys([*(types or ()), *PERSONA_TYPES])),
            reason=reason,
            degraded=tuple(dict.fromkeys([*skipped, *legs])),
        )

    def _reason(self, asking: Asking, evaluated: int, skipped: Sequence[str]) -> str:
        if len(skipped) == len(self.sources):
            return "degraded"
        return "meaningless_query" if asking.meaningless else abstention(evaluated)

    def _asked(self, asking: Asking, until: float) -> tuple[dict[str, Sequence[Selected]], list[str]]:
        """By name, in order, what each source found, all at once; and the names of those that were left out."""
        answers: queue.SimpleQueue[tuple[str, Sequence[Selected] | Exception]] = queue.SimpleQueue()

        def work(name: str, source: Source) -> None:
            try:
                answers.put((name, list(source(asking))))
            except Exception as error:
                answers.put((name, error))

        sources = {name_of(source): source for source in self.sources}
        for name, source in sources.items():
            _POOL.submit(copy_context().run, work, name, source)
        found: dict[str, Sequence[Selected]] = {}
        waiting = set(sources)
        while waiting:
            try:
                name, answer = answers.get(timeout=max(until - time.monotonic(), 0.0))
            except queue.Empty:
                log.warning("selection goes on without %s: no answer in %g s", ", ".join(sorted(waiting)), self.source_s)
                break
            waiting.discard(name)
            if isinstance(answer, Exception):
                unforeseen = None if isinstance(answer, PalimpsestError) else answer
                log.warning("selection goes on without %s: %s: %s", name, type(answer).__name__, answer, exc_info=unforeseen)
            else:
                found[name] = answer
        return {name: found[name] for name in sources if name in found}, [name for name in sources if name not in found]


def capped(memories: Sequence[Selected], budget: int) -> list[Selected]:
    """The best that fit into `budget` tokens, at most `MOST`, in their order; the persona's come first, up to their share.

    Of those that don't fit a smaller one may still come; the first is cut to what there is.
    """
    ours = [memory for memory in memories if memory.memory_type in PERSONA_TYPES]
    kept: dict[str, Selected] = {}
    for memory in ours:
        if memory.tokens <= budget // PERSONA_SHARE - sum(one.tokens for one in kept.values()):
            kept[memory.id] = memory
    left = budget - sum(one.tokens for one in kept.values())
    for memory in memories:
        if memory.id in kept:
            continue
        if memory.tokens > left and not kept and left >= SMALLEST_CUT:
            content = cut(memory.content, left)
            memory = replace(memory, content=content, tokens=count(content), cut=True)
        if memory.tokens <= left and len(kept) < MOST:
            kept[memory.id] = memory
            left -= memory.tokens
    return [kept[memory.id] for memory in memories if memory.id in kept]
