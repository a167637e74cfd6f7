"""Traces by OpenTelemetry, with the extra `palimpsest[otel]`, where the standard variables name a receiver.

Without `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` nothing is imported and nothing is sent. Spans
carry names, numbers and ids of requests; never what people wrote, no namespace, and of an error its code alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from flask import Flask, Response, g, request

from graph.errors import RequestError, SettingsError
from graph.tracing import Span, Value, trace_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"


def wanted(environ: Mapping[str, str]) -> bool:
    """Whether the variables ask for traces. Raises SettingsError for what they ask and nobody can do."""
    endpoint = next((name for name in ENDPOINTS if environ.get(name, "").strip()), None)
    if endpoint is None or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if environ.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower() == "none":
        return False
    for name in PROTOCOLS:
        if environ.get(name, PROTOCOL) != PROTOCOL:
            raise SettingsError(f"{name}={environ[name]!r}: must be {PROTOCOL}")
    if not (find_spec("opentelemetry") and find_spec("opentelemetry.sdk") and find_spec("opentelemetry.exporter.otlp")):
        raise SettingsError(f"{endpoint} is set: traces need the extra, pip install 'palimpsest[otel]'")
    return True


def start() -> Tracing | None:
    """Traces this process from now on, if the variables ask for it. Raises SettingsError."""
    if not wanted(os.environ):
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about: dict[str, Any] = {"service.version": version("palimpsest")}
    if "OTEL_SERVICE_NAME" not in os.environ and "service.name=" not in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        about["service.name"] = "palimpsest"
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider)


class Tracing:
    """Spans of `graph.tracing` and of requests, by a provider."""

    def __init__(self, provider: TracerProvider):
        self._provider = provider
        self._tracer = provider.get_tracer("palimpsest", version("palimpsest"))
        trace_with(self._started)

    def close(self) -> None:
        """Sends what waits, and ends tracing."""
        trace_with(None)
        self._provider.shutdown()

    def follow(self, app: Flask) -> None:
        """Has each request of `app` be a span, under the caller's where `traceparent` names one."""
        app.wsgi_app = _Requests(app.wsgi_app, self._served)  # type: ignore[method-assign]
        app.after_request(_named)

    def _started(self, name: str, attributes: Mapping[str, Value]) -> AbstractContextManager[Span]:
        return self._span(name, attributes=attributes)

    def _served(self, environ: Mapping[str, Any]) -> AbstractContextManager[Span]:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind

        headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")}
        return self._span("request", context=extract(headers), kind=SpanKind.SERVER)

    @contextmanager
    def _span(self, name: str, **more: Any) -> Iterator[Span]:
        """An error's words may quote what people wrote: its code stands for it. What a caller did wrong is no failure."""
        from opentelemetry.trace import StatusCode

        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False, **more) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute("error.type", str(getattr(error, "code", None) or type(error).__name__))
                if not isinstance(error, RequestError):
                    span.set_status(StatusCode.ERROR)
                raise


class _Requests:
    """WSGI around WSGI: the span is over when the application has answered."""

    def __init__(self, inner: Callable[..., Iterable[bytes]], span: Callable[[Mapping[str, Any]], Any]):
        self._inner, self._span = inner, span

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._span(environ):
            return self._inner(environ, start_response)


def _named(response: Response) -> Response:
    from opentelemetry.trace import StatusCode, get_current_span

    span, route = get_current_span(), request.url_rule.rule if request.url_rule else None
    span.update_name(f"{request.method} {route}" if route else request.method)
    span.set_attributes({"http.request.method": request.method, "http.response.status_code": response.status_code})
    span.set_attributes({"palimpsest.request_id": g.request_id} | ({"http.route": route} if route else {}))
    if response.status_code >= 500:
        span.set_status(StatusCode.ERROR)
    return response
