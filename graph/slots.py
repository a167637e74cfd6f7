"""Slots: the places in the graph where the vectors of one embedding model live, beside those of another.

A slot is a suffix. It is behind the names of the properties that hold a vector (`embedding`), its packed bytes (`vector`)
and its model's name (`embedding_model`), of the two indexes over the vectors, of the properties of a namespace's
background, and of the statements that search it. The list is closed, because an index's name can't be a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Slot:
    """One of `SLOTS`. suffix: "" or one that begins with `_`."""

    suffix: str

    @property
    def embedding(self) -> str:
        """The property that the indexes are on; it also names the slot."""
        return f"embedding{self.suffix}"

    @property
    def indexes(self) -> tuple[str, str]:
        """Names of the vector indexes of the current and of the superseded layer."""
        return f"current_embedding{self.suffix}", f"superseded_embedding{self.suffix}"

    def held(self, model: str, packed: bytes) -> dict[str, object]:
        """What a node has beside the vector: its bytes, and who made it."""
        return {f"vector{self.suffix}": packed, f"embedding_model{self.suffix}": model}


FIRST: Final = Slot("")
SECOND: Final = Slot("_b")
MULTILINGUAL: Final = Slot("_multilingual")
PRIMARY: Final = (FIRST, SECOND)  # what serves is in one of them; changing to another model fills the other
SLOTS: Final = (*PRIMARY, MULTILINGUAL)
BESIDE: Final = tuple(f"{name}{slot.suffix}" for slot in SLOTS for name in ("vector", "embedding_model"))
STORED: Final = (*BESIDE, *(slot.embedding for slot in SLOTS))  # every property that a node may have of any slot


def slot(embedding: str) -> Slot:
    """The slot of that name."""
    return next(each for each in SLOTS if each.embedding == embedding)
