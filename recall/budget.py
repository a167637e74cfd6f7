"""What of a context fits: blocks by priority, the memory blocks within a budget of their own, all within the window."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from recall.sources import Selected
from recall.tokens import count

PRIORITIES: Final = {"user": 100, "persona_memories": 60, "memory": 50, "consolidated": 40, "history": 30}
MEMORY_BLOCKS: Final = frozenset({"memory", "persona_memories", "consolidated"})
MOST_MEMORY: Final = 1200  # tokens of memory in any window
MEMORY_SHARE: Final = 8  # and at most this part of it
MEMORY_BUDGET, INPUT_BUDGET = "memory budget", "input budget"  # reasons of a drop


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a context. sources: ids of what it tells.  rank: higher stays longer, among those of one priority."""

    name: str
    text: str
    sources: tuple[str, ...]
    tokens: int
    rank: float = 0.0
    memory: Selected | None = None

    @classmethod
    def of(cls, name: str, text: str, sources: Sequence[str], rank: float = 0.0, memory: Selected | None = None) -> Block:
        return cls(name=name, text=text, sources=tuple(sources), tokens=count(text), rank=rank, memory=memory)

    @property
    def priority(self) -> int:
        return PRIORITIES[self.name]


@dataclass(frozen=True, kw_only=True)
class Dropped:
    block: Block
    reason: str


def memory_budget(window: int) -> int:
    """Tokens that all memory blocks may have in a window of `window` tokens."""
    return min(MOST_MEMORY, window // MEMORY_SHARE)


def admit(blocks: Sequence[Block], *, window: int, memory_budget: int) -> tuple[list[Block], list[Dropped]]:
    """Blocks that fit, by priority, and those that went, in the order in which they did: the lowest first.

    The active task never goes, even where it is larger than the window; then everything else does.
    """
    kept = sorted(blocks, key=lambda block: (-block.priority, -block.rank, block.sources))
    dropped = _shed(kept, MEMORY_BLOCKS, memory_budget, MEMORY_BUDGET)
    user = sum(block.tokens for block in kept if block.name == "user")
    return kept, dropped + _shed(kept, PRIORITIES.keys() - {"user"}, window - user, INPUT_BUDGET)


def _shed(kept: list[Block], names: Collection[str], budget: int, reason: str) -> list[Dropped]:
    """Takes the lowest blocks of these names out of `kept` until the rest of them fit."""
    dropped = []
    over = sum(block.tokens for block in kept if block.name in names) - budget
    for block in [block for block in reversed(kept) if block.name in names]:
        if over <= 0:
            break
        kept.remove(block)
        over -= block.tokens
        dropped.append(Dropped(block=block, reason=reason))
    return dropped
