"""analytics: what the graph says about its own use."""

from __future__ import annotations

from typing import Any

import click

from web.commands.common import home_option, json_option, namespace_option, printable, write_json


@click.command()
@click.argument("name", required=False)
@click.option("--days", type=int, help="Back from now. [default: 30]")
@click.option("--limit", type=int, help="Rows at most, where a row is not a day. [default: 20]")
@namespace_option
@home_option
@json_option
def analytics(
    name: str | None, days: int | None, limit: int | None, namespace: str, home: str | None, as_json: bool
) -> None:
    """Answer the question NAME about what memory did; without a name, list the questions.

    The statements are the files of cypher/analytics, which can be pasted into Neo4j Browser too.
    """
    from graph.analytics import AskedRequest, ask, listed
    from graph.packs import checked_namespace, validated
    from graph.settings import Settings
    from recall.service import connected
    from web.signals import interruptible

    given = {key: value for key, value in (("days", days), ("limit", limit)) if value is not None}
    asked = validated(AskedRequest(), given)
    space = checked_namespace(namespace)
    found: dict[str, Any]
    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        every: dict[str, Any] = {"columns": ["name", "about"], "rows": listed(store)}
        found = ask(store.within(space), name, asked) if name else every
    if as_json:
        return write_json(found)
    return _show(found["columns"], found["rows"])


def _show(columns: list[str], rows: list[dict[str, Any]]) -> None:
    lines = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if not rows:
        click.echo("Nothing in that time.")


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))
