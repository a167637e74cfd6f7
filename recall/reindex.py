"""Gives texts the vectors of a model that they lack: when a graph goes over to another model, and when one was added.

Reading, writing and recall go on meanwhile: a text is read, embedded, and given its vector unless it has changed since. What
is done is on the nodes themselves, so a run that was ended goes on where it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from graph import models, schema
from graph.store import Space, Store, vector
from recall.backgrounds import FIRST_AT, measure
from recall.embed import Embedder
from recall.index import packed
from recall.models import Model, Models
from recall.warm import plan

log = logging.getLogger(__name__)
Report = Callable[[int, int], None]
BATCH = 64  # notes read, embedded and written at once
PASSES = 5  # over all notes, while others write; what is left then, the service's start catches up


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What `reindex` did. ready: a service may be set to the model."""

    model: str
    dimensions: int
    embedded: int
    namespaces: int
    took_s: float


def reindex(store: Store, embedder: Embedder, *, batch: int = BATCH, report: Report = lambda _done, _all: None) -> Summary:
    """Makes `embedder` a model that a service can be set to. Raises EmbeddingError, StoreError.

    The passages of long notes stay as they are, whatever the new model's limit; it reads the beginning of each.
    """
    started = time.monotonic()
    held = models.building(store, embedder.name, embedder.dimensions)
    schema.await_online(store, held.slot)
    replan(store)
    model = Model(embedder=embedder, slot=held.slot)
    embedded = fill(store, Models(primary=model), model, batch=batch, report=report)
    spaces = [row for row in store.rows("schema.namespaces") if row["written"] >= FIRST_AT]
    for row in spaces:
        measure(store.within(row["name"]), row["written"], model)
    if held.state == "building":
        models.mark(store, held, "ready")
    took_s = time.monotonic() - started
    return Summary(
        model=embedder.name,
        dimensions=embedder.dimensions,
        embedded=embedded,
        namespaces=len(spaces),
        took_s=round(took_s, 1),
    )


def drop(store: Store, name: str, *, used: str) -> int:
    """Takes a model's vectors away; see `graph.models.drop`."""
    cleared = models.drop(store, name, used=used)
    replan(store)
    return cleared


def replan(store: Store) -> None:
    """Has recall planned again for each model that serves, so that its callers don't wait for it."""
    for model in models.stored(store):
        if model.state in models.SERVING:
            plan(store, model.slot, model.dimensions)


def fill(
    store: Store,
    reading: Models,
    model: Model,
    *,
    batch: int = BATCH,
    report: Report = lambda _done, _all: None,
    ended: Callable[[], bool] = lambda: False,
) -> int:
    """Embeds what `model` reads and has no vector of it, in every namespace. Returns how many texts that were.

    report: hears how many notes were looked at, of about how many.  ended: asked between batches whether to stop.
    """
    embedded = 0
    for turn in range(PASSES):
        spaces = store.rows("schema.namespaces")
        total, seen, found = sum(row["written"] for row in spaces), 0, 0
        for row in spaces:
            space = store.within(row["name"])
            for notes, texts in _pages(space, model, batch):
                wanted = [text for text in texts if reading.reads(model, text["content"] or "")]
                found += embed(space, model, wanted)
                seen += notes
                if not turn:
                    report(min(seen, total), total)
                if ended():
                    return embedded + found
        embedded += found
        if found < batch:  # so few came in the meantime that another pass would only meet new ones
            break
    return embedded


def _pages(space: Space, model: Model, batch: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Notes of a page, and its texts that lack the model's vector."""
    after = ""
    asked: dict[str, Any] = {"suffix": model.slot.suffix, "model": model.embedder.name, "limit": batch}
    while (row := space.one("note.unembedded", after=after, **asked)) and row["last"]:
        after = row["last"]
        yield row["notes"], row["texts"]


def embed(space: Space, model: Model, texts: Sequence[dict[str, Any]]) -> int:
    """Gives texts, as `note.unembedded` returns them, their vectors. Returns how many had not changed meanwhile."""
    done = 0
    for start in range(0, len(texts), BATCH):
        some = texts[start : start + BATCH]
        vectors = model.documents([text["content"] or "" for text in some])
        items = [
            {"id": text["id"], "passage": text["passage"], "hash": text["hash"], "embedding": vector(v), "packed": packed(v)}
            for text, v in zip(some, vectors, strict=True)
        ]
        asked = {"suffix": model.slot.suffix, "model": model.embedder.name, "items": items}
        done += space.write(lambda tx, asked=asked: tx.value("note.embed", **asked))  # type: ignore[misc]
    return done
