"""The embedding models that a service works with: which of them reads a text, and which is asked a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph import models
from graph.models import Stored
from graph.settings import Settings
from graph.slots import FIRST, Slot
from graph.store import Store
from recall.embed import MULTILINGUAL_NAME, Embedder, Vectors, checked, embedder, is_multilingual, route
from recall.extras import multilingual_installed
from recall.text import non_ascii_letter_share

TEXT_SHARE = 0.15  # share of non-ASCII letters from which a text gets the multilingual vector too


@dataclass(frozen=True, kw_only=True)
class Model:
    """An embedder, and the slot of the graph that holds its vectors."""

    embedder: Embedder
    slot: Slot = FIRST

    def documents(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text. Raises EmbeddingError where the model gives something else than it says."""
        if not texts:
            return np.zeros((0, self.embedder.dimensions), dtype=np.float32)
        return checked(self.embedder, self.embedder.documents(texts))


@dataclass(frozen=True, kw_only=True)
class Models:
    """primary reads every text; multilingual, if there is one, those in other scripts, or with `every_text` all."""

    primary: Model
    multilingual: Model | None = None
    every_text: bool = False

    @property
    def all(self) -> tuple[Model, ...]:
        return (self.primary,) if self.multilingual is None else (self.primary, self.multilingual)

    def reads(self, model: Model, text: str) -> bool:
        """Whether a text gets a vector of `model`."""
        return model is not self.multilingual or self.every_text or non_ascii_letter_share(text) > TEXT_SHARE

    def asked(self, query: str, multilingual: str | None = None) -> Model:
        """The model that a query is asked of; `multilingual` names the one to prefer for other scripts."""
        if self.multilingual is None:
            return self.primary
        by_name = {model.embedder.name: model for model in reversed(self.all)}
        return by_name[route(query, [model.embedder.name for model in self.all], multilingual)]


def beside(settings: Settings) -> Embedder | None:
    """The multilingual embedder of these settings; None where the extra is not installed, or not wanted."""
    if settings.multilingual == "off" or not multilingual_installed() or is_multilingual(settings.embedder):
        return None
    return embedder(MULTILINGUAL_NAME, settings)


def opened(store: Store, settings: Settings, main: Embedder, other: Embedder | None) -> tuple[Models, list[Stored]]:
    """The models with their slots, and those of them that older nodes may lack vectors of. Raises EmbeddingError."""
    held = [models.primary(store, main.name, main.dimensions)]
    if other is not None:
        held.append(models.beside(store, other.name, other.dimensions))
    found = Models(
        primary=Model(embedder=main, slot=held[0].slot),
        multilingual=None if other is None else Model(embedder=other, slot=held[1].slot),
        every_text=settings.multilingual == "all",
    )
    return found, held
