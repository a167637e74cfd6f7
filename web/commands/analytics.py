"""analytics: what the graph says about its own use."""

from __future__ import annotations

from typing import Any

import click

from web.commands.common import home_option, json_option, namespace_option, printable, write_json

SHOWN = 3  # entries of a list in a table


@click.command()
@click.argument("name", required=False)
@click.option("--days", type=int, help="Back from now. [default: 30]")
@click.option("--ahead", type=int, help="Days from now. [default: 30]")
@click.option("--limit", type=int, help="Rows at most, where a row is not a period. [default: 20]")
@click.option("--per", metavar="PERIOD", help="day, week or month. [default: day]")
@click.option("--percent", type=int, help="Hundredths of salience. [default: 5]")
@click.option("--profile", metavar="ID", help="Whose weights. [default: default]")
@click.option("--nodes", type=int, help="How many notes, and entities, are ranked at most. [default: 10000]")
@namespace_option
@home_option
@json_option
def analytics(name: str | None, namespace: str, home: str | None, as_json: bool, **options: Any) -> None:
    """Answer the question NAME about what memory did; without a name, list the questions.

    Each takes some of the options; the list says which. The statements are the files of cypher/analytics, which can be
    pasted into Neo4j Browser too.
    """
    from graph.analytics import Asked, AskedRequest, ask, listed, request_of
    from graph.packs import checked_namespace, validated
    from graph.settings import Settings
    from graph.statements import load
    from recall.service import connected
    from web.signals import interruptible

    given = {key: value for key, value in options.items() if value is not None}
    schema = request_of(load(), name) if name else AskedRequest(only=())
    asked: Asked = validated(schema, given)
    space = checked_namespace(namespace)
    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        found: dict[str, Any] = ask(store.within(space), name, asked) if name else _questions(listed(store))
    if as_json:
        return write_json(found)
    return _show(found["columns"], found["rows"])


def _questions(questions: list[dict[str, Any]]) -> dict[str, Any]:
    rows = [each | {"options": " ".join(f"--{option}" for option in each["parameters"])} for each in questions]
    return {"columns": ["name", "options", "about"], "rows": rows}


def _show(columns: list[str], rows: list[dict[str, Any]]) -> None:
    lines = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if not rows:
        click.echo("Nothing in that time.")


def _cell(value: object) -> str:
    """None is a dash; a list is cut after some."""
    if isinstance(value, list):
        return ", ".join(_cell(each) for each in value[:SHOWN]) + (", …" if len(value) > SHOWN else "")
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.3g}"
    return printable(str(value))
