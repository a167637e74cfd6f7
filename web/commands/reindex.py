"""reindex: another embedding model for the graph, while recall goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import click

from web.commands.common import console, home_option, json_option, write_json


@click.command()
@click.argument("model")
@click.option("--batch", type=click.IntRange(1, 1000), default=64, show_default=True, help="Notes worked on at once.")
@click.option("--drop", is_flag=True, help="Take the vectors of MODEL away, which no service is set to any more.")
@home_option
@json_option
def reindex(model: str, batch: int, drop: bool, home: str | None, as_json: bool) -> None:
    """Compute the vectors of MODEL beside those of the model that serves.

    A service may go on with the old model meanwhile. Ended at any moment, the command goes on where it was. When it is done,
    start services with PALIMPSEST_EMBEDDER=MODEL, and when none uses the old model any more, take its vectors away with
    --drop OLD.
    """
    from graph.settings import Settings
    from recall.embed import embedder
    from recall.reindex import drop as drop_vectors
    from recall.reindex import reindex as run
    from recall.service import connected
    from web.signals import interruptible

    settings = Settings.from_environment(home=home)
    if drop:
        with interruptible(130), connected(settings) as store:
            cleared = drop_vectors(store, model, used=settings.embedder)
        return (
            write_json({"model": model, "cleared": cleared})
            if as_json
            else click.echo(f"{model} is dropped: {cleared:,} nodes had something of it.")
        )
    new = embedder(model, settings)
    with interruptible(130), connected(settings) as store, _progress(model) as report:
        done = run(store, new, batch=batch, report=report)
    if as_json:
        return write_json(asdict(done))
    click.echo(f"{done.embedded:,} texts got their vector of {model} ({done.dimensions} dimensions) in {done.took_s:g} s.")
    return click.echo(f"PALIMPSEST_EMBEDDER={model} puts it to use; the vectors of the model before stay until --drop.")


@contextmanager
def _progress(model: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, where that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    err = console(err=True)
    columns = (TextColumn(f"Notes read by {model}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
