"""The packs of this project, whatever else is installed beside them."""

from __future__ import annotations

from graph.kg import pack as kg
from graph.packs import Pack
from recall.brain_pack import pack as brain
from recall.context import pack as context
from recall.memory import pack as memory


def packs() -> list[Pack]:
    return [brain, context, kg, memory]
