"""mcp: the tools for a model, over stdio or HTTP."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import click

from web.commands.common import home_option, json_option, opened, write_json
from web.commands.serve import host_option

if TYPE_CHECKING:
    from graph.settings import Settings
    from recall.service import Service

log = logging.getLogger(__name__)


@click.command()
@click.option("-n", "--namespace", envvar="PALIMPSEST_NAMESPACE", default="default", show_default=True, show_envvar=True)
@click.option(
    "--profile",
    type=click.Choice(["core", "reference"]),
    default="core",
    show_default=True,
    help="core: Palimpsest's own tools. reference: those of the reference memory server, on the same graph.",
)
@click.option("--http", is_flag=True, help="Streamable HTTP at /mcp, for many clients, instead of stdin and stdout.")
@host_option
@click.option("--port", type=int, default=8766, show_default=True, help="With --http; 0 takes a free one.")
@home_option
@json_option
def mcp(namespace: str, profile: str, http: bool, host: str | None, port: int, home: str | None, as_json: bool) -> None:
    """Serve the memory as tools to a model's client (MCP), which starts this command itself.

    On stdout there is only the protocol; log lines, as JSON, go to stderr. It ends when stdin does.
    """
    from graph.packs import checked_namespace
    from graph.settings import Settings
    from web.serve import configure_logging

    settings = Settings.from_environment(host=host, port=port if http else None, home=home)
    checked_namespace(namespace)
    configure_logging()
    if http:
        return _http(settings, profile, namespace, as_json)
    from web.mcp import stdio

    def open_it() -> Service:
        from recall.service import open_service  # in the main thread, while the protocol answers in another

        return open_service(settings)

    return stdio.run(open_it, profile=profile, ns=namespace)


def _http(settings: Settings, profile: str, namespace: str, as_json: bool) -> None:
    from web.mcp import http
    from web.serve import bind
    from web.signals import interruptible

    with interruptible() as hand_over, bind(settings) as sock:
        log.info("opening the graph; the port opens when it is ready", extra={"fields": {"home": str(settings.home)}})
        with opened(settings) as service:
            server = http.Server(service, settings, sock, profile=profile, ns=namespace)
            hand_over(server.stop)
            log.info("serving", extra={"fields": {"url": server.url, "profile": profile}})
            if as_json:
                write_json({"url": server.url})
            server.run()
            log.info("stopping")
    log.info("stopped")
