"""What canaries fill a namespace with, and how they ask."""

from __future__ import annotations

from typing import Any

from recall.budget import MEMORY_BLOCKS
from tests.conftest import Caller

TASK = "Find out why the greenhouse fan trips its breaker"
FACT = "The greenhouse fan in bay four trips its breaker whenever humidity passes ninety percent."
OTHERS = (
    "Marta prefers the window seat on the early train to Leeds.",
    "Quarterly invoices for the bakery are sent on the second Tuesday.",
    "The telescope mirror was recoated in spring and needs a dust cover.",
    "Our ferry timetable changes after the harbour festival.",
    "Pump station seven uses a backup generator with forty litres of diesel.",
)


def fill(call: Caller) -> str:
    """Stores the fact, and notes about other matters, all as salient as can be. Returns the fact's id."""
    call("memory.remember", items=[{"content": content, "salience": 1.0, "decay_factor": 0} for content in OTHERS])
    return call.note(FACT, salience=1.0, decay_factor=0)


def start(call: Caller, description: str = TASK, **fields: Any) -> str:
    return str(call("context.task_start", description=description, **fields)["id"])


def build(call: Caller, task: str, window: int = 8000) -> dict[str, Any]:
    """A context with memory. One that had to do without says nothing of what memory would bring: it is asked for again."""
    for _ in range(10):
        built = call("context.build", task_id=task, window=window)
        if not built["degraded"]:
            return built
    raise RuntimeError(f"memory does not answer: {built['degraded']}")


def memories(built: dict[str, Any]) -> list[dict[str, Any]]:
    """The memory blocks of a context."""
    return [block for block in built["blocks"] if block["name"] in MEMORY_BLOCKS]


def ids(built: dict[str, Any]) -> set[str]:
    """Ids of the memories of a context."""
    return {id for block in memories(built) for id in block["sources"]}
