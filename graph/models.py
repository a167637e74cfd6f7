"""Which embedding models a database holds vectors of, and in which slot: kept as `Model` nodes, which no namespace owns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph import schema
from graph.errors import EmbeddingError
from graph.slots import FIRST, MULTILINGUAL, PRIMARY, Slot, slot
from graph.store import Row, Store

SERVING = ("ready", "filling")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A model of the database. state: `ready`, `filling`, `building` or `dropping` (see cypher/schema/models.cypher)."""

    slot: Slot
    name: str
    dimensions: int
    state: str

    @classmethod
    def of(cls, row: Row) -> Stored:
        return cls(slot=slot(row["slot"]), name=row["name"], dimensions=row["dimensions"], state=row["state"])


def stored(store: Store) -> list[Stored]:
    """All of them, the first slot's first."""
    return [Stored.of(row) for row in store.rows("schema.models")]


def primary(store: Store, name: str, dimensions: int) -> Stored:
    """The model to serve from, its indexes made where they are missing.

    An empty database takes any model.  Raises EmbeddingError where nodes have the vectors of another one.
    """
    known = _adopted(store)
    mine = next((model for model in known if model.name == name and model.state in SERVING), None)
    if mine is None:
        if not _empty(store):
            raise EmbeddingError(_other(known, name))
        for model in known:
            forget(store, model)
        mine = keep(store, FIRST, name, dimensions, "ready")
    return _usable(store, mine, dimensions)


def beside(store: Store, name: str, dimensions: int) -> Stored:
    """The model that reads what the primary one does not. `filling` where older nodes may lack its vectors."""
    found = keep(store, MULTILINGUAL, name, dimensions, "ready" if _empty(store) else "filling")
    return _usable(store, found, dimensions)


def building(store: Store, name: str, dimensions: int) -> Stored:
    """The slot that `name` is to be served from: its own, else a free one.

    Raises EmbeddingError where no slot is free, saying how to free one.
    """
    known = _adopted(store)
    mine = next((model for model in known if model.name == name), None)
    if mine and mine.state == "dropping":
        raise EmbeddingError(f"the vectors of {name} are being dropped: finish it with `palimpsest reindex --drop {name}`")
    if mine is None:
        free = [each for each in PRIMARY if each not in {model.slot for model in known}]
        if not free:
            raise EmbeddingError(
                f"the database holds vectors of {_listed(known)}, and has room for two models: free one that no service "
                "uses with `palimpsest reindex --drop MODEL`"
            )
        mine = keep(store, free[0], name, dimensions, "building")
    return _usable(store, mine, dimensions)


def mark(store: Store, model: Stored, state: str) -> Stored:
    """Says how far a model is."""
    asked = {"slot": model.slot.embedding, "name": model.name, "state": state}
    store.write(lambda tx: tx.rows("schema.model_state", **asked))
    return replace(model, state=state)


def drop(store: Store, name: str, *, used: str) -> int:
    """Takes a model's vectors away and frees its slot. Returns how many nodes had one; may be run again when it was ended.

    used: the model that services are set to, which stays.  Raises EmbeddingError where the model isn't there or must stay.
    """
    known = [model for model in reversed(stored(store)) if model.name == name]  # beside the primary one goes before it
    if not known:
        raise EmbeddingError(f"the database holds no vectors of {name}; it holds those of {_listed(stored(store))}")
    model = known[0]
    others = [each for each in stored(store) if each.slot in PRIMARY and each != model and each.state in SERVING]
    if model.slot in PRIMARY and model.state in SERVING and (name == used or not others):
        raise EmbeddingError(f"{name} is what services are set to, or the only model there is; its vectors stay")
    mark(store, model, "dropping")
    for index in model.slot.indexes:
        store.auto("schema.drop_index", name=index)
    cleared: int = store.auto("schema.drop_vectors", suffix=model.slot.suffix)[0]["cleared"]
    forget(store, model)
    return cleared


def forget(store: Store, model: Stored) -> None:
    """Takes away a model's indexes and its node; vectors that are still on nodes are found by no one."""
    for name in model.slot.indexes:
        store.auto("schema.drop_index", name=name)
    store.write(lambda tx: tx.rows("schema.model_forget", slot=model.slot.embedding, name=model.name))


def keep(store: Store, where: Slot, name: str, dimensions: int, state: str) -> Stored:
    """The model of a slot, which is the one given unless another has it. Raises EmbeddingError then."""
    asked = {"slot": where.embedding, "name": name, "dimensions": dimensions, "state": state}
    found = Stored.of(store.write(lambda tx: tx.rows("schema.model_keep", **asked))[0])
    if found.name != name:
        raise EmbeddingError(f"the slot {where.embedding} holds vectors of {found.name}, not of {name}")
    return found


def _usable(store: Store, model: Stored, dimensions: int) -> Stored:
    if model.dimensions != dimensions:
        raise EmbeddingError(
            f"the database holds vectors of {model.name} with {model.dimensions} dimensions, this {model.name} makes "
            f"{dimensions}: it is another model of the same name"
        )
    schema.vector_indexes(store, model.slot, dimensions)
    return model


def _adopted(store: Store) -> list[Stored]:
    """The models of the primary slots. A database of before they were kept has one, whose name is on its nodes."""
    known = [model for model in stored(store) if model.slot in PRIMARY]
    held = None if known else next((row for row in store.rows("schema.model_found") if row["model"]), None)
    dimensions = schema.indexed_dimensions(store, FIRST) if held else None
    if held and dimensions:
        known = [keep(store, FIRST, held["model"], dimensions, "ready")]
    return known


def _empty(store: Store) -> bool:
    return not store.rows("schema.model_found")


def _other(known: Sequence[Stored], name: str) -> str:
    ready = [model for model in known if model.state in SERVING]
    begun = ", whose reindexing was begun and not finished" if any(model.name == name for model in known) else ""
    return (
        f"the database holds vectors of {_listed(ready)}, not of {name}{begun}: set PALIMPSEST_EMBEDDER to what it holds, "
        f"or run `palimpsest reindex {name}` first; a service of the old model may go on meanwhile"
    )


def _listed(known: Sequence[Stored]) -> str:
    return " and ".join(f"{model.name} ({model.dimensions} dimensions)" for model in known) or "no known model"
