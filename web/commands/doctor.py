"""doctor and stop: looking after the graph and its Neo4j."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from web.commands.common import home_option, json_option, opened, printable, write_json


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be mended.")
@click.option("--ensure-memory-type", is_flag=True, help="Give neurons without a memory type theirs.")
@home_option
@json_option
@click.pass_context
def doctor(ctx: click.Context, repair: bool, ensure_memory_type: bool, home: str | None, as_json: bool) -> None:
    """Look for what is wrong in the graph. The exit code is 1 while problems remain."""
    from graph.settings import Settings
    from web.signals import interruptible

    with interruptible(130), opened(Settings.from_environment(home=home)) as service:
        found = service.doctor(repair=repair, ensure_memory_type=ensure_memory_type)
    if as_json:
        write_json(found)
    else:
        _show(found["problems"])
    if any(_remains(problem) for problem in found["problems"]):
        ctx.exit(1)


@click.command()
@home_option
@json_option
def stop(home: str | None, as_json: bool) -> None:
    """Stop the managed Neo4j that no process uses."""
    from graph.errors import ServerError
    from graph.server import ManagedServer
    from graph.settings import Settings

    server = ManagedServer(Settings.from_environment(home=home))
    before = server.status()
    server.stop()
    if server.running():
        raise ServerError(
            f"Neo4j of {before.home} is used by {before.users} other process(es): end them, it stops with the last"
        )
    if as_json:
        return write_json({"stopped": before.running, "home": str(before.home)})
    return click.echo(f"Neo4j of {before.home} {'is stopped' if before.running else 'was not running'}.")


def _remains(problem: Mapping[str, Any]) -> bool:
    return bool(problem["repaired"] < problem["count"])


def _show(problems: list[Mapping[str, Any]]) -> None:
    if not problems:
        click.echo("Nothing is wrong.")
    for problem in problems:
        click.echo(f"{problem['kind']}: {problem['count']}, {'remains' if _remains(problem) else 'repaired'}")
        for example in problem["examples"]:
            click.echo(f"    {printable(str(example))}")
    if any(_remains(problem) for problem in problems):
        click.echo("`palimpsest doctor --repair` mends what can be mended.", err=True)
