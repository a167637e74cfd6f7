"""forget: everything of a namespace, or of a source, for good."""

from __future__ import annotations

from dataclasses import asdict

import click

from web.commands.common import home_option, json_option, opened, progress, write_json


@click.command()
@click.option("-n", "--namespace", required=True, help="The namespace.")
@click.option("--source", help="Only what came from this source.")
@click.option("--dry-run", is_flag=True, help="Count, and change nothing.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@home_option
@json_option
def forget(namespace: str, source: str | None, dry_run: bool, yes: bool, home: str | None, as_json: bool) -> None:
    """Remove everything of a namespace, or what came into it from a source, for good.

    Notes in every layer go, what was drawn from them, serves and traces that tell of them, and entities that nothing else
    mentions. Exports and backups that were made before keep what they have.
    """
    from graph.packs import checked_namespace
    from graph.settings import Settings
    from recall.forgetting import forget_namespace, forget_source
    from web.signals import interruptible

    checked_namespace(namespace)
    what = f"everything of namespace {namespace!r}" if source is None else f"what came into {namespace!r} from {source!r}"
    if not dry_run and not yes:
        click.confirm(f"Remove {what} for good?", abort=True, err=True)
    settings = Settings.from_environment(home=home)
    with interruptible(130), opened(settings) as service, progress("Forgetting") as report:
        if source is None:
            done = forget_namespace(service.store, namespace, dry_run=dry_run, report=report)
        else:
            done = forget_source(service.store, service.models, namespace, source, dry_run=dry_run, report=report)
    if as_json:
        return write_json(asdict(done))
    names = {"Recallable": "notes", "Entity": "entities"}
    counted = ", ".join(f"{n:,} {names.get(label, label)}" for label, n in done.labels.items()) or "nothing was there"
    click.echo(f"{'Would go' if dry_run else 'Gone'}: {counted}.")
    if done.restored:
        click.echo(f"Current again, since what superseded them went: {', '.join(done.restored)}")
    return None
