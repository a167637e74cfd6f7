"""demo: everything at once, on the sample graph."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from web.commands.common import console, home_option, json_option, opened, write_json
from web.commands.serve import port_option

if TYPE_CHECKING:
    from recall.service import Service
    from seeds.loader import SampleSummary
    from web.serve import Server

NAMESPACE = "sample"
OLD_TITLE = "Hypertext Transfer Protocol -- HTTP/1.1"
TRIVIAL = "what time is it"


@click.command()
@port_option
@home_option
@click.option("--no-serve", is_flag=True, help="Load the sample graph and end.")
@json_option
def demo(port: int | None, home: str | None, no_serve: bool, as_json: bool) -> None:
    """Start everything, load the sample graph, and serve.

    The sample is loaded once. Three things to try are shown, and where Neo4j Browser is.
    """
    from graph.settings import Settings
    from web.serve import Server, bind, configure_logging
    from web.signals import interruptible

    settings = Settings.from_environment(port=port, home=home)
    configure_logging("warning")
    with interruptible() as hand_over, bind(settings) as sock, opened(settings) as service:
        summary = _load(service)
        if no_serve:
            return _tell(service, summary, None, home, as_json)
        server = Server(service, settings, sock)
        hand_over(server.stop)
        _tell(service, summary, server, home, as_json)
        return server.run()


def _load(service: Service) -> SampleSummary:
    from seeds.loader import load_sample

    with _progress() as report:
        return load_sample(service, report)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, where that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    err = console(err=True)
    columns = (TextColumn("Loading the sample graph"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _tell(service: Service, summary: SampleSummary, server: Server | None, home: str | None, as_json: bool) -> None:
    """What there is now, and what to try."""
    endpoint = service.endpoint
    url, browser = server.url if server else None, endpoint.http_url if server else None
    tries = _tries(_newest(service), url, home)
    if as_json:
        counts = {"notes": summary.notes, "edges": summary.edges, "already_loaded": summary.already_loaded}
        return write_json(
            {"url": url, "browser": browser, "namespace": NAMESPACE, **counts, "try": [line for _, line in tries]}
        )
    was = "was there already" if summary.already_loaded else "is loaded"
    click.echo(f"\nThe sample graph {was}: {summary.notes:,} notes, {summary.edges:,} edges, namespace {NAMESPACE!r}.")
    click.echo(f"The page for people: {url}/?ns={NAMESPACE}" if url else "")
    click.echo(f"The service answers at {url}, its verbs are described at {url}/docs.\n" if url else "")
    click.echo("Three things to try, in another terminal:\n" if url else "Three things to try:\n")
    for number, (what, line) in enumerate(tries, 1):
        click.echo(f"{number}. {what}\n   {line}\n")
    if browser:
        click.echo(f"Neo4j Browser, to see the graph: {browser}/browser/")
        click.echo(f"   connect to {endpoint.uri} as {endpoint.username}, password {endpoint.password}\n")
    return click.echo("Ctrl-C stops everything." if url else "")


def _newest(service: Service) -> str | None:
    """The id of what answers to the old title."""
    asked = {"query": OLD_TITLE, "limit": 1}
    hits = service.dispatcher.call("memory.recall", asked, ns=NAMESPACE).body["results"]
    return hits[0]["id"] if hits else None


def _tries(newest: str | None, url: str | None, home: str | None) -> list[tuple[str, str]]:
    """What each shows, and its command line: curl where the service runs, else palimpsest."""
    layered = newest or "ID"
    return [
        (
            "An old title leads to what replaced it; the replaced documents are not among the results.",
            _line("memory/recall", {"query": OLD_TITLE, "limit": 3}, ["recall", OLD_TITLE, "--limit", "3"], url, home),
        ),
        ("The older layers are still there.", _line("kg/history", {"id": layered}, ["history", layered], url, home)),
        (
            "What nothing here answers brings nothing: it abstains.",
            _line("memory/recall", {"query": TRIVIAL}, ["recall", TRIVIAL], url, home),
        ),
    ]


def _line(verb: str, body: dict[str, object], words: list[str], url: str | None, home: str | None) -> str:
    if url is None:
        return shlex.join(["palimpsest", *words, "-n", NAMESPACE, *(["--home", home] if home else [])])
    headers = ["-H", "Content-Type: application/json", "-H", f"X-Namespace: {NAMESPACE}"]
    return shlex.join(["curl", "-s", f"{url}/v1/{verb}", *headers, "-d", json.dumps(body)])
