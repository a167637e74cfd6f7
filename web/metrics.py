"""GET /metrics: what Prometheus reads. Each application has a registry of its own; no label is anything that people wrote.

Calls of verbs are counted in the dispatcher, so those that come by MCP count too. Nothing here asks Neo4j but, when nothing
else has for a while, whether it is there.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from graph.packs import Answer, Verb
from graph.settings import Settings

if TYPE_CHECKING:
    from recall.service import Service

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS: Final = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
STAGES: Final = frozenset({"embed", "candidates", "fuse", "score", "serve"})
LEGS: Final = frozenset({"vector", "text", "superseded", "walk"})
REASONS: Final = frozenset({"below_floor", "no_candidates", "meaningless_query", "token_budget"})
OTHER: Final = "other"  # what is not among the values that a label may have


class Metrics:
    """Counts what happens. Safe for any number of threads."""

    def __init__(self, service: Service):
        self.registry = CollectorRegistry()
        of: dict[str, Any] = {"registry": self.registry}
        self._requests = Counter("palimpsest_http_requests", "HTTP requests.", ["route", "method", "status"], **of)
        self._request_s = Histogram("palimpsest_http_request_seconds", "Of HTTP requests.", ["route"], buckets=SECONDS, **of)
        self._limited = Counter("palimpsest_rate_limited", "HTTP requests that came too often for their key.", **of)
        self._calls = Counter("palimpsest_verb_calls", "Calls of verbs, by any door.", ["verb", "outcome"], **of)
        self._call_s = Histogram("palimpsest_verb_seconds", "Of calls of verbs.", ["verb"], buckets=SECONDS, **of)
        self._writes = Counter("palimpsest_writes", "Calls of writing verbs that were done.", ["verb"], **of)
        self._recalls = Counter("palimpsest_recalls", "Recalls, by what became of them.", ["outcome", "reason"], **of)
        self._degraded = Counter("palimpsest_recall_degraded", "Recalls that went without a leg.", ["leg"], **of)
        self._stage_s = Histogram(
            "palimpsest_recall_stage_seconds", "Of a recall's stages.", ["stage"], buckets=SECONDS, **of
        )
        self._feedback = Counter("palimpsest_feedback", "Signals of feedback.", ["signal", "counted"], **of)
        self.registry.register(ServiceState(service))
        ProcessCollector(registry=self.registry)

    def requested(self, route: str, method: str, status: int, seconds: float) -> None:
        """Counts an HTTP request."""
        self._requests.labels(route, method if method in METHODS else OTHER, str(status)).inc()
        self._request_s.labels(route).observe(seconds)
        if status == 429:
            self._limited.inc()

    def called(self, verb: Verb, answer: Answer | None, fault: Exception | None, seconds: float) -> None:
        """Counts the call of a verb."""
        self._calls.labels(verb.name, "ok" if fault is None else getattr(fault, "code", "internal")).inc()
        self._call_s.labels(verb.name).observe(seconds)
        if answer is None:
            return
        if verb.role != "read":
            self._writes.labels(verb.name).inc()
        if verb.name == "memory.recall":
            self._recalled(answer)
        elif verb.name == "memory.feedback":
            self._feedback.labels(answer.body["signal"], str(answer.body["counted"]).lower()).inc()

    def _recalled(self, answer: Answer) -> None:
        body, reason = answer.body, answer.body.get("reason")
        outcome = "abstained" if body.get("abstained") else "empty" if reason else "answered"
        self._recalls.labels(outcome, _among(REASONS, reason) if reason else "").inc()
        for leg in body.get("degraded") or ():
            self._degraded.labels(_among(LEGS, leg)).inc()
        for stage, took_ms in (body.get("took_ms") or {}).items():
            self._stage_s.labels(_among(STAGES, stage)).observe(took_ms / 1000)


class ServiceState(Collector):
    """What the service knows of itself when somebody reads."""

    def __init__(self, service: Service):
        self._service = service

    def collect(self) -> Iterator[Any]:
        service, states = self._service, self._service.dispatcher.runtime.states
        up = GaugeMetricFamily("palimpsest_neo4j_up", "Whether Neo4j answered when it was last asked.")
        up.add_metric([], float(service.store.up()))
        yield up
        working = GaugeMetricFamily("palimpsest_neo4j_sessions", "Statements and transactions that run: connections in use.")
        working.add_metric([], service.store.working)
        yield working
        serves = states["memory"].serves if "memory" in states else None
        waiting = GaugeMetricFamily("palimpsest_waiting", "What waits to be written or read.", labels=["queue"])
        lost = CounterMetricFamily("palimpsest_lost", "Records that could not be kept.", labels=["queue"])
        for queue, found in (
            ("writes", states.get("kg")),
            ("serves", serves),
            ("audit", service.audit),
            ("filling", service.filler),
        ):
            if found is not None:
                waiting.add_metric([queue], found.waiting)
        for queue, kept in (("serves", serves), ("audit", service.audit)):
            if kept is not None:
                lost.add_metric([queue], kept.lost)
        yield waiting
        yield lost
        about = {
            "version": version("palimpsest"),
            "python": platform.python_version(),
            "embedder": service.settings.embedder,
        }
        yield InfoMetricFamily("palimpsest_build", "What runs.", value=about)


def register(app: Flask, service: Service, settings: Settings) -> None:
    """Counts the requests of `app` and the calls of its service, and adds the route, unless they are off."""
    if settings.metrics == "off":
        return
    metrics = Metrics(service)
    service.dispatcher.listeners.append(metrics.called)

    def read() -> Response:
        if settings.metrics == "key" and g.key is not None:
            g.key.may("admin")
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return Response(encode(metrics.registry), content_type=content_type)

    def count(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else OTHER
        metrics.requested(route, request.method, response.status_code, time.perf_counter() - g.started)
        return response

    app.add_url_rule("/metrics", "metrics", read)
    app.after_request(count)


def _among(allowed: frozenset[str], value: Any) -> str:
    return value if value in allowed else OTHER
