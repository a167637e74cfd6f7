"""The tenants at the doors of the real service, each with a key of its own."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from typing import Any

import neo4j
from flask.testing import FlaskClient

from graph import keys
from graph.keys import KeyRing
from graph.settings import Settings
from recall.service import Service
from tests.tenants.fuzz import Outcome, fuzz
from tests.tenants.tenant import Tenant
from web.app import create_app


def among(service: Service, calls: int, seed: int) -> Outcome:
    """Fuzzes over HTTP, and sees that no edge joins two tenants and that who never called is as it was."""
    service.keys = KeyRing(service.store, fresh_s=60.0)
    client = create_app(service, Settings(auth="on", rate_per_minute=0)).test_client()
    tenants = [_tenant(service, client, marker) for marker in ("quokka", "wombat", "numbat")]
    for tenant in tenants:
        tenant.settle()
    *active, silent = tenants
    before = _graph_of(service, silent.ns)
    outcome = fuzz(active, silent, _verbs(client, silent), calls, seed)
    if _graph_of(service, silent.ns) != before:
        outcome.leaks.append(f"{silent.ns} was changed, and never called")
    outcome.leaks += joined(service, [tenant.ns for tenant in tenants])
    return outcome


def _tenant(service: Service, client: FlaskClient, name: str) -> Tenant:
    ns = f"{name}-{uuid.uuid4().hex[:6]}"
    key = keys.create(service.store, name=name, role="admin", namespaces=(ns,))[1]
    headers = {"Authorization": f"Bearer {key}"}

    def send(verb: str, body: dict[str, Any]) -> tuple[int, str, Any]:
        answer = client.post(f"/v1/{verb.replace('.', '/')}", json=body, headers=headers)
        return answer.status_code, answer.get_data(as_text=True), answer.json

    return Tenant(ns=ns, marker=f"{name}{uuid.uuid4().hex[:8]}", send=send)


def _verbs(client: FlaskClient, tenant: Tenant) -> Mapping[str, Mapping[str, Any]]:
    """Request schemas by the names of all verbs, from the OpenAPI document."""
    found = client.get("/openapi.json").json["components"]["schemas"]
    ending = ".request"
    return {name.removesuffix(ending): schema for name, schema in found.items() if name.endswith(ending)}


def _driver(service: Service) -> neo4j.Driver:
    endpoint = service.endpoint
    return neo4j.GraphDatabase.driver(
        endpoint.uri, auth=(endpoint.username, endpoint.password), notifications_min_severity="OFF"
    )


def _graph_of(service: Service, ns: str) -> str:
    """A digest of every node and edge of a namespace, but for what keeps itself up to date in the background."""
    with _driver(service) as driver:
        nodes = driver.execute_query(
            "MATCH (n) WHERE n.ns = $ns AND NOT n:Serve AND NOT n:Audit AND NOT n:Background "
            "RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties ORDER BY id",
            {"ns": ns},
        ).records
        edges = driver.execute_query(
            "MATCH (a)-[r]->(b) WHERE a.ns = $ns AND NOT a:Serve RETURN elementId(a) AS a, type(r) AS r, elementId(b) AS b, "
            "properties(r) AS properties ORDER BY a, r, b",
            {"ns": ns},
        ).records
    rows = [record.data() for record in [*nodes, *edges]]
    assert len(rows) > 20
    return hashlib.sha256(json.dumps(rows, default=str, sort_keys=True).encode()).hexdigest()


def joined(service: Service, namespaces: list[str]) -> list[str]:
    """Edges between namespaces, in words."""
    with _driver(service) as driver:
        found = driver.execute_query(
            "MATCH (a)-[r]->(b) WHERE a.ns IN $all AND a.ns <> b.ns RETURN a.ns AS a, type(r) AS r, b.ns AS b LIMIT 5",
            {"all": namespaces},
        ).records
    return [f"an edge {row['r']} goes from {row['a']} to {row['b']}" for row in found]
