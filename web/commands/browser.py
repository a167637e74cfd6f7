"""browser: Neo4j Browser, with a statement filled in."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from web.commands.common import home_option, json_option, write_json

if TYPE_CHECKING:
    from graph.settings import Settings
    from graph.statements import Statement
    from web.neo4j_browser import Browser

SAMPLE = "'sample'"  # the namespace that the favourites look into


@click.command()
@click.option("--memory", metavar="ID", help="A memory with its layers and its neighbours.")
@click.option("--statement", metavar="NAME", help="A favourite, or a question of `palimpsest analytics`; LIST lists them.")
@click.option("--query", metavar="CYPHER", help="A statement of your own.")
@click.option("-n", "--namespace", help="The namespace. [default: default; of favourites: sample]")
@click.option("--print", "only_print", is_flag=True, help="Print the link, and open nothing.")
@home_option
@json_option
def browser(
    memory: str | None,
    statement: str | None,
    query: str | None,
    namespace: str | None,
    only_print: bool,
    home: str | None,
    as_json: bool,
) -> None:
    """Open Neo4j Browser, the statement in its editor; there Ctrl-Enter runs it.

    Where Neo4j isn't running it is started, and runs until Ctrl-C; with --print it has to run.
    """
    from graph.settings import Settings
    from graph.statements import load
    from web.signals import interruptible

    statements = load()
    if statement == "LIST":
        return _list(statements, as_json)
    text = _text(statements, memory, statement, query, namespace)
    settings = Settings.from_environment(home=home)
    with interruptible(130), _reached(settings, start=not only_print) as (found, ours):
        link = found.address(text)
        if as_json:
            write_json({"url": link, "statement": text, "style": str(_folder() / "style.grass")})
        else:
            click.echo(link)
            click.echo(f"Login: {found.login}, password in {settings.home / 'neo4j' / 'password'}", err=True)
            click.echo(f"Style, to drop on its window once: {_folder() / 'style.grass'}", err=True)
        if not only_print:
            webbrowser.open(link)
            if ours:
                click.echo("Neo4j runs until Ctrl-C.", err=True)
                _wait()
        return None


def _text(
    statements: dict[str, Statement], memory: str | None, statement: str | None, query: str | None, namespace: str | None
) -> str:
    """The text for the editor; "" for none. Raises ValidationFailed, NotFound."""
    from graph.errors import NotFound, ValidationFailed
    from graph.packs import DEFAULT_NAMESPACE, checked_namespace
    from web.neo4j_browser import filled, literal

    if sum(given is not None for given in (memory, statement, query)) > 1:
        raise ValidationFailed.of("memory, statement, query", "give one of them")
    ns = checked_namespace(namespace or DEFAULT_NAMESPACE)
    if memory is not None:
        return filled(statements["browser.memory"], {"ns": ns, "id": memory})
    if statement is None:
        return query or ""
    if (favourite := _favourites().get(statement)) is not None:
        text = favourite.read_text("utf-8").strip()
        return text.replace(SAMPLE, literal(ns)) if namespace else text
    if (question := _questions(statements).get(statement.removeprefix("analytics."))) is None:
        raise NotFound(f"no statement {statement!r}; `palimpsest browser --statement LIST` lists them", "statement")
    return filled(question, {**question.defaults, "ns": ns})


def _list(statements: dict[str, Statement], as_json: bool) -> None:
    """The names that --statement takes, with what each is about."""
    told = {name: path.read_text("utf-8").splitlines()[0].partition(": ")[2] for name, path in _favourites().items()}
    told |= {name: one.purpose for name, one in _questions(statements).items()}
    if as_json:
        return write_json({"statements": [{"name": name, "about": about} for name, about in told.items()]})
    width = max(map(len, told))
    for name, about in told.items():
        click.echo(f"{name.ljust(width)}  {about}")
    return None


def _questions(statements: dict[str, Statement]) -> dict[str, Statement]:
    """Those of analytics, which all have values for their parameters."""
    return {name.removeprefix("analytics."): one for name, one in statements.items() if name.startswith("analytics.")}


def _folder() -> Path:
    import seeds

    return Path(seeds.__file__).parent / "browser"


def _favourites() -> dict[str, Path]:
    return {path.stem: path for path in sorted((_folder() / "favorites").glob("*.cypher"))}


@contextmanager
def _reached(settings: Settings, *, start: bool) -> Iterator[tuple[Browser, bool]]:
    """Where Neo4j Browser is, and whether Neo4j runs for this command alone. Raises SettingsError, ServerError."""
    from graph.errors import SettingsError, StartFailed
    from graph.server import ManagedServer
    from web.neo4j_browser import Browser, login

    if settings.neo4j_uri:
        raise SettingsError("NEO4J_URI names a Neo4j of your own: open its own Browser; `palimpsest browser` knows no other")
    server = ManagedServer(settings)
    alone = not server.running()
    if alone and not start:
        raise StartFailed(f"Neo4j isn't running for {settings.home}: start it with `palimpsest serve`, or leave --print off")
    endpoint = server.start()
    try:
        yield Browser(base=endpoint.http_url, login=login(endpoint)), alone
    finally:
        server.stop()


def _wait() -> None:
    """Until Ctrl-C or SIGTERM."""
    import threading

    threading.Event().wait()
