"""Traces: to a real receiver of OTLP over HTTP, where the standard variables name one; else nothing at all."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse

from graph import tracing
from graph.errors import SettingsError
from graph.settings import Settings
from web import otel
from web.app import create_app

CALLER = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{CALLER}-b7ad6b7169203331-01"
NOTE = "The combination of the vault is twelve, forty, three."
QUERY = "combination of the vault"


class Receiver:
    """What came to `POST /v1/traces`."""

    def __init__(self):
        self.bodies, self.paths = [], []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.paths.append(self.path)
                receiver.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(ExportTraceServiceResponse().SerializeToString())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def resources(self):
        return [resource for body in self.bodies for resource in ExportTraceServiceRequest.FromString(body).resource_spans]

    def spans(self):
        return [span for resource in self.resources() for scope in resource.scope_spans for span in scope.spans]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def receiver(monkeypatch):
    for name in [*otel.ENDPOINTS, *otel.PROTOCOLS, "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SDK_DISABLED"]:
        monkeypatch.delenv(name, raising=False)
    receiver = Receiver()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
    yield receiver
    receiver.close()


@pytest.fixture
def traced(receiver, service, ns):
    """Sends verbs to a traced application; `close` has the spans sent."""
    found = otel.start()
    assert found is not None
    app = create_app(service, Settings(port=0))
    found.follow(app)
    client = app.test_client()

    def post(verb, headers=None, **body):
        return client.post(f"/v1/{verb}", json=body, headers={"X-Namespace": ns} | (headers or {}))

    post.close = found.close
    yield post
    found.close()


def attributes(span):
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def test_a_recall_is_a_tree_of_spans_under_the_caller_s(traced, receiver):
    assert traced("memory/remember", content=NOTE).status_code == 201
    headers = {"traceparent": PARENT, "X-Request-Id": "r-17"}
    assert traced("memory/recall", headers, query=QUERY, min_score=0).json["results"]
    traced.close()
    assert set(receiver.paths) == {"/v1/traces"}
    spans = {span.name: span for span in receiver.spans() if span.trace_id.hex() == CALLER}
    request, verb = spans["POST /v1/memory/recall"], spans["verb memory.recall"]
    assert request.parent_span_id.hex() == PARENT.split("-")[2]
    assert verb.parent_span_id == request.span_id
    for stage in ("embed", "candidates", "fuse", "score", "serve"):
        assert spans[f"recall {stage}"].parent_span_id == verb.span_id
    statement = spans["neo4j recall.candidates"]
    assert statement.parent_span_id == spans["recall candidates"].span_id
    assert attributes(statement) == {"db.system.name": "neo4j", "db.query.summary": "recall.candidates"}
    found = attributes(request)
    assert found == {
        "http.request.method": "POST",
        "http.route": "/v1/memory/recall",
        "http.response.status_code": 200,
        "palimpsest.request_id": "r-17",
    }


def test_a_write_shows_its_embedding_and_its_statements_though_they_run_in_another_thread(traced, receiver):
    traced("memory/remember", {"traceparent": PARENT}, content=NOTE)
    traced.close()
    spans = {span.name: span for span in receiver.spans() if span.trace_id.hex() == CALLER}
    verb = spans["verb memory.remember"]
    assert spans["embed documents"].parent_span_id == verb.span_id
    assert attributes(spans["embed documents"]) == {"palimpsest.model": "hashing", "palimpsest.texts": 1}
    assert spans["neo4j note.create"].parent_span_id == verb.span_id


def test_the_sources_of_a_selection_are_under_it(traced, receiver):
    traced("memory/remember", content=NOTE)
    traced("context/select", {"traceparent": PARENT}, task_description=QUERY, budget=200)
    traced.close()
    names = [span.name for span in receiver.spans() if span.trace_id.hex() == CALLER]
    assert names.count("neo4j recall.candidates") >= 2


def test_no_span_holds_what_people_wrote_nor_a_namespace(traced, receiver, ns):
    traced("memory/remember", {"X-Actor": "ada-lovelace"}, content=NOTE, key="the-vault", tags=["secret-tag"])
    traced("memory/remember", content="Another.", key="the-vault")
    traced("memory/recall", query=QUERY, memory_type="a mood")
    traced("kg/get", id="zzz-unknown-id")
    traced.close()
    sent = b"".join(receiver.bodies)
    for word in (ns, "combination", "vault", "secret-tag", "ada-lovelace", "a mood", "zzz-unknown"):
        assert word.encode() not in sent, word


def test_of_an_error_its_code_is_told_and_a_caller_s_fault_is_no_failure(traced, receiver):
    traced("kg/get", {"traceparent": PARENT}, id="nobody")
    traced.close()
    spans = {span.name: span for span in receiver.spans() if span.trace_id.hex() == CALLER}
    assert attributes(spans["verb kg.get"])["error.type"] == "not_found"
    assert spans["verb kg.get"].status.code == 0
    assert attributes(spans["POST /v1/kg/get"])["http.response.status_code"] == 404


def test_the_service_has_a_name_and_a_version_which_the_variables_may_change(traced, receiver, monkeypatch):
    def resource():
        return {each.key: each.value.string_value for each in receiver.resources()[-1].resource.attributes}

    traced("kg/get", id="nobody")
    traced.close()
    assert resource()["service.name"] == "palimpsest"
    assert resource()["service.version"]
    monkeypatch.setenv("OTEL_SERVICE_NAME", "memory-of-ada")
    again = otel.start()
    with tracing.span("alone"):
        pass
    again.close()
    assert resource()["service.name"] == "memory-of-ada"


def test_after_the_end_and_before_the_start_a_span_is_nothing(receiver):
    with tracing.span("nobody looks", {"a": 1}) as span:
        span.set_attribute("b", 2)
    found = otel.start()
    found.close()
    assert tracing.span("x") is tracing.span("y")
    assert receiver.spans() == []


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_traced_unless_it_is_asked_for(environ):
    assert otel.wanted(environ) is False


def test_a_protocol_that_is_not_there_is_named():
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with pytest.raises(SettingsError, match=r"OTEL_EXPORTER_OTLP_PROTOCOL='grpc': must be http/protobuf"):
        otel.wanted(environ)


def test_without_the_extra_the_start_says_what_to_install(monkeypatch):
    monkeypatch.setattr(otel, "find_spec", lambda _: None)
    with pytest.raises(SettingsError, match=r"pip install 'palimpsest\[otel\]'"):
        otel.wanted({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1"})


def test_without_the_variables_nothing_of_opentelemetry_is_imported():
    code = (
        "import sys, os; [os.environ.pop(n) for n in list(os.environ) if n.startswith('OTEL_')]\n"
        "import web.serve, web.cli, recall.service, recall.memory, recall.context, graph.kg\n"
        "from web import otel; assert otel.start() is None\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
