"""context: what a model would be given for a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from web.commands.common import opened, printable, shortened, text_or_stdin, verb_options, write_json


@click.command()
@click.argument("task")
@click.option("--window", type=int, help="Tokens that all of it may have. [default: 8000]")
@click.option("--conversation", help="Keep the task as the active one of a conversation.")
@verb_options
def context(
    task: str, window: int | None, conversation: str | None, home: str | None, namespace: str, as_json: bool
) -> None:
    """Show the context of TASK ("-": from stdin): what is let in, what was dropped and why, and the trace.

    Without a conversation the task is completed at once.
    """
    from graph.settings import Settings
    from web.signals import interruptible

    with interruptible(130), opened(Settings.from_environment(home=home)) as service:

        def call(verb: str, **body: Any) -> Mapping[str, Any]:
            given = {name: value for name, value in body.items() if value is not None}
            return service.dispatcher.call(verb, given, ns=namespace).body

        started = call("context.task_start", description=text_or_stdin(task), conversation=conversation)
        found = call("context.build", task_id=started["id"], window=window)
        if conversation is None:
            call("context.task_complete", task_id=started["id"])
    if as_json:
        return write_json(found)
    return _show(found)


def _show(found: Mapping[str, Any]) -> None:
    for block in found["blocks"]:
        click.echo(f"{block['name']:<16} {block['tokens']:>5}  {_told(block)}")
    for drop in found["dropped"]:
        click.echo(f"{drop['name']:<16} {drop['tokens']:>5}  dropped: {drop['reason']}; {drop['sources'][0]}")
    trace = found["trace"]
    why = f" ({trace['memory_reason']})" if trace.get("memory_reason") else ""
    click.echo(
        f"{found['tokens']} tokens of {trace['window']}; memory {trace['memory_tokens']} of {found['memory_budget']}: "
        f"{trace['memory_selected']} of {trace['memory_candidates']} candidates{why}; trace {trace['id']}"
    )
    if found["degraded"]:
        click.echo(f"Without {', '.join(found['degraded'])}.", err=True)


def _told(block: Mapping[str, Any]) -> str:
    """The first line that is not a heading, in short; for a memory how probable a true match it is."""
    lines = printable(block["text"]).splitlines()
    told = shortened(next((line for line in lines[1:] if line.startswith("> ")), lines[0]), 96)
    return f"{block['relevance']:.2f} {told}" if "relevance" in block else told
