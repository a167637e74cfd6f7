"""The tenants at the tools of MCP, each in a session of its own."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from recall.service import Service
from tests.tenants.fuzz import Outcome, fuzz
from tests.tenants.over_http import joined
from tests.tenants.tenant import Tenant
from tests.web.mcp_clients import Session, connected, text
from web.mcp.server import Tools, server
from web.mcp.tool import Caller


def among(service: Service, calls: int, seed: int) -> Outcome:
    """Fuzzes the core tools, and sees that no edge joins two tenants. What the tenants have is stored by the verbs."""
    with ExitStack() as stack:
        tenants, schemas = [], {}
        for name in ("quokka", "wombat", "numbat"):
            ns = f"{name}-{uuid.uuid4().hex[:6]}"
            tenant = Tenant(ns=ns, marker=f"{name}{uuid.uuid4().hex[:8]}", send=_verbs(service, ns))
            tenant.settle()
            tools = Tools("core", lambda _, actor, ns=ns: Caller(service=service, ns=ns, actor=actor))  # type: ignore[misc]
            session = stack.enter_context(connected(server(tools, "core")))
            tenant.send = _tools(session)
            schemas = {name: tool.input_schema for name, tool in session.tools().items()}
            tenants.append(tenant)
        outcome = fuzz(tenants[:2], tenants[2], schemas, calls, seed)
    outcome.leaks += joined(service, [tenant.ns for tenant in tenants])
    return outcome


def _verbs(service: Service, ns: str) -> Any:
    def send(verb: str, body: dict[str, Any]) -> tuple[int, str, Any]:
        answer = service.dispatcher.call(verb, body, ns=ns).body
        return 200, json.dumps(answer, default=str), answer

    return send


def _tools(session: Session) -> Any:
    def send(tool: str, body: Mapping[str, Any]) -> tuple[int, str, Any]:
        result = session.call(tool, **body)
        told = text(result) + json.dumps(result.structured_content, default=str)
        return 400 if result.is_error else 200, told, result.structured_content

    return send
