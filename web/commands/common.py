"""What the commands share: their options, the opened service, and how answers look."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from graph.settings import Settings
    from recall.service import Service

Command = TypeVar("Command", bound=Callable[..., Any])

home_option = click.option("--home", metavar="FOLDER", help="Folder of the managed Neo4j. [env: PALIMPSEST_HOME]")
json_option = click.option("--json", "as_json", is_flag=True, help="Write the answer as JSON.")
namespace_option = click.option("-n", "--namespace", default="default", show_default=True, help="The namespace.")


def verb_options(command: Command) -> Command:
    """The options of a command that calls a verb."""
    return namespace_option(home_option(json_option(command)))


@contextmanager
def opened(settings: Settings) -> Iterator[Service]:
    """The service of `settings`, closed at the end. Says on a terminal that it waits."""
    from recall.service import open_service

    with console(err=True).status("Opening the graph: Neo4j takes some seconds to start ..."):
        service = open_service(settings)
    try:
        yield service
    finally:
        service.close()


def call(home: str | None, namespace: str, verb: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer of `verb` to `body`, without the fields that are None."""
    from graph.settings import Settings
    from web.signals import interruptible

    given = {name: value for name, value in body.items() if value is not None}
    with interruptible(130), opened(Settings.from_environment(home=home)) as service:
        return service.dispatcher.call(verb, given, ns=namespace).body


def console(*, err: bool = False) -> Console:
    """stdout or stderr; lines are never cut where it is no terminal."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=True)


def write_json(found: Any) -> None:
    import orjson

    click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY).decode())


def printable(text: str) -> str:
    """`text` without the characters by which stored text could steer a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)


def shortened(text: str, most: int = 240) -> str:
    """One line of at most `most` characters."""
    line = " ".join(printable(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def text_or_stdin(text: str) -> str:
    """`text`; "-" means what comes on stdin."""
    return sys.stdin.read() if text == "-" else text


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on stderr, where that is a terminal. The value hears of what is done, and of how many if that is known."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    err = console(err=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
