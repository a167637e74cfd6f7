"""Where recall meets the brain: who serves, what feedback says about hits, and the stamps on the answer.

Without the brain pack the configured defaults serve, and nothing is stamped but the serve.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from graph.errors import NotFound, StoreError
from graph.packs import Call
from recall.config import RecallConfig
from recall.hits import RecallRequest
from recall.profiles import Brain, Serving, entity_means

log = logging.getLogger(__name__)
MOST_MEANS = 2_000  # hits that feedback is read for


class Configured(Protocol):
    """What is needed of recall's state."""

    @property
    def config(self) -> RecallConfig: ...


def served_by(call: Call, request: RecallRequest, state: Configured, version: int) -> Serving:
    """Who serves this recall. version: of what the namespace has learned. Raises NotFound, Conflict."""
    brain: Brain | None = call.runtime.states.get("brain")
    if brain is None:
        if request.profile is not None:
            raise NotFound(f"no profile {request.profile!r}: the brain pack is not there", "profile")
        return Serving(scoring=state.config.scoring)
    return brain.serving(
        call.space,
        state.config,
        version=version,
        timeout_s=call.left_s(state.config.leg_timeout_s),
        explicit=request.profile,
        actor=request.actor or call.actor,
        consumer=request.consumer,
    )


class Means:
    """What feedback says about hits, read where there has been any; without an answer it says nothing, and `failed`."""

    def __init__(self, call: Call, serving: Serving, state: Configured):
        self._call, self._state = call, state
        self._asked = serving.evidence
        self.failed = False

    def __call__(self, ids: Sequence[str]) -> Mapping[str, float]:
        """The means of hits by id, of those that there is evidence about."""
        if not self._asked:
            return {}
        timeout_s = self._call.left_s(self._state.config.leg_timeout_s)
        try:
            return entity_means(self._call.space, ids[:MOST_MEANS], timeout_s=timeout_s)
        except StoreError as error:
            log.warning("recall: feedback about the hits is left out: %s", error)
            self.failed = True
            return {}


def no_means(_ids: Sequence[str]) -> Mapping[str, float]:
    """Nothing is known about any hit."""
    return {}


def stamped(answer: dict[str, Any], serve: Mapping[str, Any], serving: Serving, means: Means) -> dict[str, Any]:
    """The answer with the serve's id and the profile's, on itself and on each result, and with what could not be read."""
    stamp = {"serve_id": serve["id"], "served_by_profile_id": serving.profile_id}
    answer["results"] = [hit | stamp for hit in answer["results"]]
    missing = [name for name, gone in (("profile", serving.degraded), ("feedback", means.failed)) if gone]
    answer["degraded"] = [*answer["degraded"], *missing]
    fields = stamp | {"actor": serve["actor"], "results": len(answer["results"]), "weights": serve["weights"]}
    log.debug("served", extra={"fields": fields})
    return answer | stamp
