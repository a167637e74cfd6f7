"""key: who may use the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from web.commands.common import home_option, json_option, printable, verb_options, write_json

if TYPE_CHECKING:
    from graph.keys import ApiKey


@click.group()
def key() -> None:
    """Make, list and revoke API keys. From the first one on, every request needs one."""


@key.command()
@click.argument("name")
@click.option("--role", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True)
@click.option("-n", "--namespace", "namespaces", multiple=True, help="One that it reaches; may be repeated. * reaches all.")
@home_option
@json_option
def create(name: str, role: str, namespaces: Sequence[str], home: str | None, as_json: bool) -> None:
    """Make a key for NAME, and show it, this once.

    Without --namespace it reaches the namespace `default`.
    """
    from graph import keys
    from graph.settings import Settings
    from recall.service import connected
    from web.signals import interruptible

    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        made, text = keys.create(store, name=name, role=role, namespaces=namespaces or ("default",))
    if as_json:
        return write_json(_shown(made) | {"key": text})
    click.echo(f"The key {made.id} of {printable(name)}: {role} in {', '.join(made.namespaces)}.", err=True)
    click.echo("It is not kept, so put it away now:", err=True)
    return click.echo(text)


@key.command("list")
@home_option
@json_option
def list_(home: str | None, as_json: bool) -> None:
    """List all keys, revoked ones too. None shows its secret: only a hash is kept."""
    from graph import keys
    from graph.settings import Settings
    from recall.service import connected
    from web.signals import interruptible

    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        found = keys.every(store)
    if as_json:
        return write_json({"keys": [_shown(one) for one in found]})
    for one in found:
        state = f"  revoked {one.revoked_at:%Y-%m-%d %H:%M}" if one.revoked_at else ""
        made = f"{one.created_at:%Y-%m-%d}" if one.created_at else ""
        click.echo(f"{one.id}  {one.role:5}  {made}  {printable(one.name)}: {', '.join(one.namespaces)}{state}")
    return None if found else click.echo("There is no key.")


@key.command()
@click.argument("id")
@home_option
@json_option
def revoke(id: str, home: str | None, as_json: bool) -> None:
    """Revoke the key ID for good. A running service sees it within five seconds."""
    from graph import keys
    from graph.settings import Settings
    from recall.service import connected
    from web.signals import interruptible

    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        gone = keys.revoke(store, id)
    if as_json:
        return write_json(_shown(gone))
    return click.echo(f"The key {gone.id} of {printable(gone.name)} is revoked.")


@key.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many, the newest.")
@verb_options
def log(limit: int, home: str | None, namespace: str, as_json: bool) -> None:
    """Show who wrote what in a namespace: the calls of writing verbs that came with a key."""
    from graph import audit
    from graph.packs import checked_namespace
    from graph.settings import Settings
    from recall.service import connected
    from web.signals import interruptible

    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        found = audit.newest(store.within(checked_namespace(namespace)), limit)
    if as_json:
        return write_json({"done": found})
    for done in found:
        who = printable(done["key_name"]) + (f" ({printable(done['actor'])})" if done.get("actor") else "")
        click.echo(f"{done['created_at']:%Y-%m-%d %H:%M:%S}  {done['status']}  {done['verb']}  {done['key_id']} {who}")
    return None if found else click.echo("Nothing was written with a key.")


def _shown(one: ApiKey) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "role": one.role,
        "namespaces": list(one.namespaces),
        "created_at": one.created_at,
        "revoked_at": one.revoked_at,
    }
