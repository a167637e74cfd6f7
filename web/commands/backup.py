"""backup and restore: the managed Neo4j's files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from web.commands.common import home_option, json_option, write_json

if TYPE_CHECKING:
    from graph.settings import Settings


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@home_option
@json_option
def backup(file: Path, home: str | None, as_json: bool) -> None:
    """Write the whole graph to FILE, a tar (or .tar.gz), the password of its Neo4j included.

    Neo4j stops while its files are copied; services that use it answer 503 for those seconds, and go on by themselves.
    `palimpsest export` takes the contents along without a stop.
    """
    from graph.backup import backup as run

    done = run(_managed(home), file)
    if as_json:
        return write_json(asdict(done))
    click.echo(f"{done.files} files, {done.size / 1e6:,.1f} MB, are in {file}; {done.took_s:g} s.")
    was = f"was away for {done.away_s:g} s" if done.away_s else "was not running"
    return click.echo(f"Neo4j {was}. The file holds its password: keep it as you keep the graph.")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Put a graph that is there aside.")
@home_option
@json_option
def restore(file: Path, replace: bool, home: str | None, as_json: bool) -> None:
    """Put the graph of a backup FILE into the home. Ended in the middle, it is run again."""
    from graph.backup import restore as run
    from recall.service import connected

    settings = _managed(home)
    done = run(settings, file, replace=replace)
    with connected(settings) as store:
        spaces = store.rows("schema.namespaces")
    found = asdict(done) | {"namespaces": [row["name"] for row in spaces]}
    if as_json:
        return write_json(found)
    click.echo(f"{done.files} files, {done.size / 1e6:,.1f} MB, are in {settings.home}; {done.took_s:g} s.")
    click.echo(f"Neo4j opens it; it has {len(spaces)} namespace(s).")
    return click.echo(f"What was there is in {done.kept}.") if done.kept else None


def _managed(home: str | None) -> Settings:
    from graph.errors import SettingsError
    from graph.settings import Settings

    settings = Settings.from_environment(home=home)
    if settings.neo4j_uri:
        raise SettingsError(
            "NEO4J_URI names a server of your own: back it up with its own tools, or use `palimpsest export`"
        )
    return settings
