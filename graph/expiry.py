"""When a namespace is looked through again for what is older than it is kept."""

from __future__ import annotations

import time

EVERY_S = 3_600.0
HELD = 20_000  # namespaces that are remembered; past it all are due again


class Due:
    """Whether a namespace was not looked through for `EVERY_S`. For one thread."""

    def __init__(self) -> None:
        self._looked_through: dict[str, float] = {}

    def now(self, ns: str) -> bool:
        """Whether it is due; if so it counts as looked through."""
        now = time.monotonic()
        if now - self._looked_through.get(ns, -EVERY_S) < EVERY_S:
            return False
        if len(self._looked_through) > HELD:
            self._looked_through.clear()
        self._looked_through[ns] = now
        return True
