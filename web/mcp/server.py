"""The server that the SDK runs: which tools a caller sees, and one way for all calls."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from uuid_utils import uuid7

from graph.errors import Forbidden, PalimpsestError
from web.errors import FAULT, told
from web.mcp.instructions import INSTRUCTIONS
from web.mcp.tool import Caller, Told, Tool, refused

if TYPE_CHECKING:
    from graph.keys import ApiKey
    from graph.packs import Verb

log = logging.getLogger(__name__)
MOST_ACTOR_BYTES = 1_024
Context = Any  # mcp.server.context.ServerRequestContext, whichever way the request came
Find = Callable[[Context, str | None], Caller]


def tools(profile: str) -> list[Tool]:
    """The tools of a profile; nothing needs to be open for it. What they need is loaded now, not before the handshake."""
    from graph.packs import installed, ordered
    from web.mcp import core, reference

    if profile == "reference":
        return reference.tools()
    verbs: Mapping[str, Verb] = {verb.name: verb for pack in ordered(installed()) for verb in pack.verbs}
    return core.tools(verbs)


class Tools:
    """Answers the SDK's requests. find: who calls, from a request's context and the client's name; may take its time.

    key: the key that a request came with, which decides on the tools that are listed.  begin: called when they are listed.
    """

    def __init__(
        self,
        profile: str,
        find: Find,
        key: Callable[[Context], ApiKey | None] = lambda _: None,
        begin: Callable[[], object] = lambda: None,
    ):
        self._profile, self._find, self._key, self._begin = profile, find, key, begin
        self._made: dict[str, Tool] | None = None

    async def list(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        self._begin()
        made, key = await to_thread.run_sync(self._tools), self._key(context)
        return types.ListToolsResult(tools=[_shown(tool) for tool in made.values() if _may(key, tool)])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = (await to_thread.run_sync(self._tools)).get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"no tool {params.name}; there are {', '.join(self._tools())}")
        actor = client_name(context)
        try:
            caller = await to_thread.run_sync(self._find, context, actor, abandon_on_cancel=True)
        except PalimpsestError as error:
            log.warning("%s: %s", error.code, error)
            return _result(tool, refused(error), failed=True)
        return await to_thread.run_sync(partial(answered, tool, caller, params.arguments or {}))

    def _tools(self) -> dict[str, Tool]:
        if self._made is None:
            self._made = {tool.name: tool for tool in tools(self._profile)}
        return self._made


def server(made: Tools, profile: str) -> Server[Any]:
    """The SDK's server over `made`."""
    return Server(
        "palimpsest",
        title="Palimpsest",
        version=version("palimpsest"),
        instructions=INSTRUCTIONS[profile],
        on_list_tools=made.list,
        on_call_tool=made.call,
    )


def answered(tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Runs a tool; whatever goes wrong is told to the model, and kept in the audit."""
    status, failed = 200, False
    try:
        if caller.key:
            caller.key.may(tool.role)
        found = tool.run(caller, arguments)
    except PalimpsestError as error:
        row = told(error)
        if row.status >= 500:
            log.error("%s: %s", error.code, error, exc_info=error, extra={"fields": {"request_id": caller.request_id}})
        found, status, failed = refused(error), row.status, True
    except Exception as error:
        log.error("internal: %s", error, exc_info=error, extra={"fields": {"request_id": caller.request_id}})
        found, status, failed = Told(FAULT, {"code": "internal", "detail": FAULT}), 500, True
    _recorded(tool, caller, status)
    return _result(tool, found, failed=failed)


def _recorded(tool: Tool, caller: Caller, status: int) -> None:
    """Has a call of a writing tool that came with a key kept, whatever became of it."""
    if (key := caller.key) and not tool.reads:
        audit, who = caller.service.audit, {"actor": caller.actor, "request_id": caller.request_id}
        audit.called(caller.ns, key, tool.verb, status, **who)


def client_name(context: Context) -> str | None:
    """Who acts: the name by which the client presented itself."""
    client = context.session.client_params
    name = "".join(char for char in client.client_info.name if char.isprintable()) if client else ""
    return name.encode()[:MOST_ACTOR_BYTES].decode("utf-8", "ignore") or None


def new_request_id() -> str:
    return str(uuid7())


def _may(key: ApiKey | None, tool: Tool) -> bool:
    try:
        if key:
            key.may(tool.role)
    except Forbidden:
        return False
    return True


def _shown(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input),
        output_schema=dict(tool.output) if tool.output else None,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent or tool.reads,
            open_world_hint=False,
        ),
    )


def _result(tool: Tool, found: Told, *, failed: bool) -> types.CallToolResult:
    """structured content must have the tool's form, so an error of a tool whose form has required fields has none."""
    fits = not failed or not (tool.output or {}).get("required")
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in _texts(found)],
        structured_content=dict(found.structured) if fits else None,
        is_error=failed,
    )


def _texts(found: Told) -> Sequence[str]:
    return [found.text, *found.notes]
