"""serve: the HTTP service."""

from __future__ import annotations

import logging

import click

from web.commands.common import home_option, json_option, opened, write_json

log = logging.getLogger(__name__)
host_option = click.option(
    "--host", metavar="ADDRESS", help="Beyond loopback only with an API key. [env: PALIMPSEST_HOST, default 127.0.0.1]"
)
port_option = click.option("--port", type=int, help="0 takes a free one. [env: PALIMPSEST_PORT, default 8765]")


@click.command()
@host_option
@port_option
@home_option
@json_option
def serve(host: str | None, port: int | None, home: str | None, as_json: bool) -> None:
    """Serve the verbs over HTTP until SIGTERM or Ctrl-C.

    The port is checked at once and opens when the graph is ready; log lines, as JSON, go to stderr.
    """
    from graph.settings import Settings
    from web.serve import Server, bind, configure_logging
    from web.signals import interruptible

    settings = Settings.from_environment(host=host, port=port, home=home)
    configure_logging(settings.log)
    with interruptible() as hand_over, bind(settings) as sock:
        log.info("opening the graph; the port opens when it is ready", extra={"fields": {"home": str(settings.home)}})
        with opened(settings) as service:
            server = Server(service, settings, sock)
            hand_over(server.stop)
            log.info("serving", extra={"fields": {"url": server.url, "browser": service.endpoint.http_url}})
            if as_json:
                write_json({"url": server.url, "browser": service.endpoint.http_url})
            server.run()
            log.info("stopping")
    log.info("stopped")
