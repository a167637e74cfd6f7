"""export and import: a graph as JSON Lines, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from web.commands.common import home_option, json_option, opened, progress, write_json

FORMATS = ("auto", "palimpsest", "mcp-memory", "mem0", "graphiti")
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("file", type=FILE)
@click.option("-n", "--namespace", "namespaces", multiple=True, help="Only this namespace; may be repeated. [default: all]")
@click.option("--no-vectors", is_flag=True, help="Leave the vectors out; an import computes them anew.")
@home_option
@json_option
def export(file: Path, namespaces: tuple[str, ...], no_vectors: bool, home: str | None, as_json: bool) -> None:
    """Write notes, entities, edges and all else of the namespaces to FILE, as JSON Lines with a checksum.

    A service may go on meanwhile. Ended at any moment, the same command goes on where it was. Deleted nodes, API keys and
    what can be computed again are not in it.
    """
    from graph.settings import Settings
    from recall.exporting import export as run
    from recall.service import connected
    from web.signals import interruptible

    settings = Settings.from_environment(home=home)
    with interruptible(130), connected(settings) as store, progress("Exporting") as report:
        done = run(store, file, namespaces=namespaces, vectors=not no_vectors, report=lambda n: report(n, None))
    if as_json:
        return write_json(asdict(done))
    click.echo(f"{done.nodes:,} nodes and {done.edges:,} edges of {done.namespaces} namespace(s) are in {file}.")
    return click.echo(f"{done.size / 1e6:,.1f} MB in {done.took_s:g} s; sha256 {done.sha256}")


@click.command(name="import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="auto", show_default=True, help="What wrote FILE.")
@click.option("--into", metavar="NAMESPACE", help="Another namespace than the one that FILE names, or default.")
@home_option
@json_option
def import_(file: Path, form: str, into: str | None, home: str | None, as_json: bool) -> None:
    """Store what is in FILE: an export, or the memory of another program.

    What is there already stays as it is, so an import that was ended is simply run again. Formats of others: memory.jsonl of
    the reference MCP memory server, the memories of mem0 and the facts of Graphiti as JSON.
    """
    from graph.settings import Settings
    from recall.importers import run
    from web.signals import interruptible

    settings = Settings.from_environment(home=home)
    with interruptible(130), opened(settings) as service, progress("Importing") as report:
        done = run(service, file, form=form, into=into, report=report)
    found: dict[str, Any] = asdict(done)
    if as_json:
        return write_json(found)
    click.echo(
        f"{done.nodes:,} nodes and {done.edges:,} edges are new, {done.present:,} nodes were there; {done.took_s:g} s."
    )
    for name, told in LEFT.items():
        if found[name]:
            click.echo(f"{found[name]:,} {told}")
    return None


LEFT = {
    "other_content": "of those that were there say something else here; they stayed as they are.",
    "keys_taken": "notes came without their key, which another note has here.",
    "edges_left_out": "edges were left out: one end is not here.",
}
