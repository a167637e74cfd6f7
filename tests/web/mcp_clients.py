"""The SDK's own client for tests that are not async."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client
from mcp_types import Implementation


class Session:
    """A connected client. `call("recall", query=..)` gives the result, `told(..)` its JSON where it is no error."""

    def __init__(self, portal: Any, client: Client):
        self._portal, self.client = portal, client

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._portal.call(self.client.list_tools).tools}

    def call(self, name: str, /, **arguments: Any) -> Any:
        return self._portal.call(self.client.call_tool, name, arguments)

    def told(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        result = self.call(name, **arguments)
        assert not result.is_error, text(result)
        return dict(result.structured_content)

    def refused(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        result = self.call(name, **arguments)
        assert result.is_error, text(result)
        return dict(result.structured_content) | {"text": text(result)}


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@contextmanager
def connected(server: Any, mode: str = "auto", name: str = "test-client") -> Iterator[Session]:
    """A client of `server`: what `mcp.client.client.Client` takes."""
    with start_blocking_portal() as portal:
        made = Client(server, mode=mode, client_info=Implementation(name=name, version="1"))
        with portal.wrap_async_context_manager(made) as client:
            yield Session(portal, client)
