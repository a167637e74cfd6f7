"""Two tenants at every verb: see `tests.tenants.fuzz`, which runs longer."""

from __future__ import annotations

import pytest

from graph.keys import KeyRing
from tests.tenants import over_http, over_mcp
from tests.tenants.fuzz import fuzz
from tests.tenants.tenant import Tenant


@pytest.fixture
def no_keys_stay(service, driver):
    yield
    driver.execute_query("MATCH (k:ApiKey) DELETE k")
    service.keys = KeyRing(service.store)


def test_no_tenant_is_shown_a_row_of_another(service, no_keys_stay):
    outcome = over_http.among(service, 400, seed=3)
    assert not outcome.leaks, outcome
    assert not outcome.failures, outcome
    done = {verb for verb, status in outcome.calls if status < 300}
    assert len(done) > 20, outcome  # it is no use if every call is refused


def test_no_tenant_is_shown_a_row_of_another_by_a_tool(service):
    outcome = over_mcp.among(service, 150, seed=3)
    assert not outcome.leaks, outcome
    done = {tool for tool, status in outcome.calls if status < 300}
    assert len(done) >= 7, outcome


def test_a_row_of_another_would_be_seen():
    def send(verb, body):
        return 200, '{"id": "01a23736-e773-772b-9b92-40176a728d22"}', {"serve_id": "", "results": []}

    tenants = [Tenant(ns=ns, marker=ns * 3, send=send, ids=["x"], known={ns}) for ns in "abc"]
    tenants[1].known.add("01a23736-e773-772b-9b92-40176a728d22")
    schema = {"properties": {"query": {"type": "string"}}, "required": ["query"]}
    outcome = fuzz(tenants[:1], tenants[1], {"memory.recall": schema}, 1, seed=1)
    assert len(outcome.leaks) == 1
