"""Profiles: what a namespace has learned for whom, and which of them serves a recall.

A recall's one statement reads the version of what its namespace has learned; a profile is read again only when that version
is another than when it was read last. So a recall makes no round trip for it, and none serves what is no longer so.
"""

from __future__ import annotations

import datetime as dt
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph.errors import Conflict, NotFound, PalimpsestError, StoreError
from graph.fields import shown_time
from graph.packs import Runtime
from graph.store import Space
from recall.brain import MATTERS, BalancedRecallState, Evidence, Judged, PackTunable, Tunable, hit_means, tunable_name
from recall.config import RecallConfig, ScoringConfig

log = logging.getLogger(__name__)
DEFAULT_ID = "default"  # serves where no binding fits; every namespace has one, made with its first signal
UNATTRIBUTED = "unattributed"  # said where a profile should have served and could not be read
ACTIVE, INACTIVE, ARCHIVED = "active", "inactive", "archived"
LIFECYCLES = (ACTIVE, INACTIVE, ARCHIVED)
HELD = 4_096  # resolutions in memory
UNSEEN = -1  # a version that is none: who serves is read anew


class Unreadable(PalimpsestError):
    """A profile's node holds what no profile holds; never leaves this module."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A profile as the graph holds it.

    evidence: what was learned, by tunable.  epoch: how often it was reset.  signals: those it has taken in this epoch.
    """

    id: str
    lifecycle: str = ACTIVE
    epoch: int = 0
    signals: int = 0
    evidence: Evidence

    @classmethod
    def of(cls, node: Mapping[str, Any], tunables: Sequence[Tunable]) -> Profile:
        """Raises Unreadable."""
        evidence = {}
        for tunable in tunables:
            masses = tuple(node.get(name, 0.0) for name in mass_names(tunable.name))
            if not all(isinstance(mass, int | float) and math.isfinite(mass) and mass >= 0 for mass in masses):
                raise Unreadable(f"profile {node.get('id')}: {tunable.name} can't be {masses}")
            evidence[tunable.name] = (float(masses[0]), float(masses[1]))
        lifecycle, epoch, signals = (node.get(name) for name in ("lifecycle", "epoch", "signals"))
        if lifecycle not in LIFECYCLES or not isinstance(epoch, int) or not isinstance(signals, int):
            raise Unreadable(f"profile {node.get('id')}: lifecycle, epoch or signals are not what they must be")
        return cls(id=node["id"], lifecycle=lifecycle, epoch=epoch, signals=signals, evidence=evidence)


def fresh(description: str, consumer_kind: str, lifecycle: str = ACTIVE) -> dict[str, Any]:
    """`properties` and `event` of a profile that has learned nothing yet."""
    properties = {"description": description, "consumer_kind": consumer_kind, "lifecycle": lifecycle}
    return {"properties": properties | {"epoch": 0, "signals": 0}, "event": event("created")}


def event(what: str) -> str:
    """An entry of a profile's list of events: when, and what."""
    return f"{shown_time(dt.datetime.now(dt.UTC))} {what}"


def mass_names(tunable: str) -> tuple[str, str]:
    """The properties that hold what speaks for a tunable, and what against it."""
    return f"{tunable}.for", f"{tunable}.against"


def shown(node: Mapping[str, Any], tunables: Sequence[Tunable]) -> dict[str, Any]:
    """A profile as callers see it. One that holds what no profile holds is shown without a state."""
    found = {name: node.get(name) for name in ("id", "description", "consumer_kind", "lifecycle", "epoch", "signals")}
    found |= {name: shown_time(node[name].to_native()) if name in node else None for name in ("created_at", "updated_at")}
    lines = [line.partition(" ") for line in node.get("events") or ()]
    found["events"] = [{"at": at, "event": what} for at, _, what in lines]
    try:
        evidence = Profile.of(node, tunables).evidence
    except Unreadable:
        return found | {"state": {}, "weights": {}}
    state = {one.name: one.prior.learned(*evidence[one.name]) for one in tunables}
    found["state"] = {
        name: {"alpha": learned.alpha, "beta": learned.beta, "mean": learned.mean} for name, learned in state.items()
    }
    means = {matter: state[tunable_name(matter)].mean for matter in MATTERS if tunable_name(matter) in state}
    found["weights"] = {matter: mean / sum(means.values()) for matter, mean in means.items()}
    return found


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Who serves a recall, with what weights.

    profile_id: None where there is no brain.  epoch: the profile's.  evidence: whether feedback about notes is to be asked.
    degraded: a profile should have served and could not be read.
    """

    scoring: ScoringConfig
    profile_id: str | None = None
    epoch: int = 0
    evidence: bool = False
    degraded: bool = False


class Brain:
    """The brain pack's state. Safe for any number of threads."""

    OWN = "the namespace's own, which serves where no other is bound"  # description of the default profile

    def __init__(self, runtime: Runtime):
        self._runtime = runtime
        self._planning = threading.Thread(target=self._plan, name="plan-brain", daemon=True)
        self._planning.start()
        self._held: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        self._planning.join()

    def _plan(self) -> None:
        """Has Neo4j plan what a recall may read of it, so that the first recall after a change does not wait for that."""
        space = self._runtime.store.within("warm")
        try:
            space.rows("brain.resolve", profile="", actor="warm", consumer="warm", default=DEFAULT_ID)
            entity_means(space, ["warm"] * 10, timeout_s=60.0)
        except PalimpsestError as error:
            log.warning("what recall reads of the brain could not be planned ahead: %s", error)

    @property
    def packs(self) -> list[PackTunable]:
        return [pack for pack in self._runtime.packs if isinstance(pack, PackTunable)]

    @cached_property
    def tunables(self) -> tuple[Tunable, ...]:
        """Of every pack that lets itself be tuned."""
        return tuple(one for pack in self.packs for one in pack.tunables(self._runtime.states[pack.name]))

    def evidence(self, judged: Judged) -> dict[str, float]:
        """What a judgement says about every tunable."""
        found: dict[str, float] = {}
        for pack in self.packs:
            found |= pack.evidence(judged)
        return found

    def serving(
        self,
        space: Space,
        config: RecallConfig,
        *,
        version: int,
        timeout_s: float,
        explicit: str | None = None,
        actor: str | None = None,
        consumer: str | None = None,
    ) -> Serving:
        """Who serves. version: of what the namespace has learned, as a recall has just seen it; 0: nothing yet, or UNSEEN.

        Raises NotFound where `explicit` names no profile, and Conflict where it names an archived one.
        """
        scoring = config.scoring
        if version == 0 and explicit is None:
            return self._applied(scoring, Profile(id=DEFAULT_ID, evidence={}), evidence=False)
        try:
            row = self._resolved(space, version, timeout_s, (explicit or "", actor or "", consumer or ""))
        except StoreError as error:
            if explicit is not None:
                raise
            log.warning("recall: which profile serves could not be read: %s", error)
            return Serving(scoring=scoring, profile_id=UNATTRIBUTED, degraded=True)
        if explicit is not None and explicit != DEFAULT_ID:
            _must_serve(explicit, row["profile"])
        if row["profile"] is None and row["wanted"] == DEFAULT_ID:
            return self._applied(scoring, Profile(id=DEFAULT_ID, evidence={}), evidence=row["evidence"])
        try:
            if row["profile"] is None:
                raise Unreadable(f"profile {row['wanted']} is bound and is not there")
            return self._applied(scoring, Profile.of(row["profile"], self.tunables), evidence=row["evidence"])
        except Unreadable as error:
            log.warning("recall: %s", error)
            return Serving(scoring=scoring, profile_id=UNATTRIBUTED, evidence=row["evidence"], degraded=True)

    def _applied(self, scoring: ScoringConfig, profile: Profile, *, evidence: bool) -> Serving:
        learned = BalancedRecallState.configured(scoring).learned(profile.evidence)
        return Serving(scoring=learned.over(scoring), profile_id=profile.id, epoch=profile.epoch, evidence=evidence)

    def _resolved(self, space: Space, version: int, timeout_s: float, asked: tuple[str, str, str]) -> dict[str, Any]:
        key = (space.ns, *asked)
        with self._lock:
            held = self._held.get(key)
            if held and held["version"] == version:
                self._held.move_to_end(key)
                return held
        profile, actor, consumer = asked
        found = space.one(
            "brain.resolve", timeout_s=timeout_s, profile=profile, actor=actor, consumer=consumer, default=DEFAULT_ID
        )
        assert found is not None  # the statement always gives a row
        with self._lock:
            self._held[key] = found
            self._held.move_to_end(key)
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        return found


def _must_serve(id: str, node: Mapping[str, Any] | None) -> None:
    if node is None:
        raise NotFound(f"no profile {id!r} here", "profile")
    if node.get("lifecycle") == ARCHIVED:
        raise Conflict(f"profile {id!r} is archived, and never serves again")


def entity_means(space: Space, ids: Sequence[str], *, timeout_s: float) -> dict[str, float]:
    """The means of hits that feedback has been given about, or about entities that they mention; see `recall.brain`."""
    row = space.one("brain.evidence", timeout_s=timeout_s, ids=list(ids)) if ids else None
    if row is None:
        return {}
    now = time.time_ns() // 1000
    return hit_means(row["ids"], row["supporting"], row["opposing"], [now - since for since in row["since"]])
