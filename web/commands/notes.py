"""remember, recall, link, history: the verbs one needs by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from web.commands.common import call, console, printable, shortened, text_or_stdin, verb_options, write_json

BAR = 10


@click.command()
@click.argument("text")
@click.option("--type", "memory_type", help="episodic (the default) or semantic.")
@click.option("--key", help="Makes it idempotent: the same key and text is one note.")
@click.option("--supersedes", multiple=True, metavar="ID", help="A note that this one replaces; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="May be repeated.")
@click.option("--source", help="Where it comes from.")
@verb_options
def remember(text: str, home: str | None, namespace: str, as_json: bool, **given: Any) -> None:
    """Keep TEXT as a note ("-": from stdin)."""
    found = call(home, namespace, "memory.remember", {"content": text_or_stdin(text), **_given(given)})
    if as_json:
        return write_json(found)
    return click.echo(f"{found['id']} {'was there already' if found.get('unchanged') else 'is kept'}")


@click.command()
@click.argument("query")
@click.option("--limit", type=int, help="At most so many notes. [1 to 200, default 10]")
@click.option("--type", "memory_type", multiple=True, help="Only notes of this type, and untyped ones; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="May be repeated.")
@click.option("--min-score", type=float, help="Another floor than the calibrated one; 0 shows everything.")
@click.option("--as-of", metavar="TIME", help="What was current then, as 2026-03-01T10:00:00Z.")
@click.option("--profile", metavar="ID", help="The profile that serves, instead of the one that is bound.")
@click.option("--actor", metavar="NAME", help="Whom a binding is looked up for.")
@click.option("--include-superseded", is_flag=True, default=None, help="Show what was replaced, too.")
@click.option("--explain", is_flag=True, default=None, help="Show what each score is made of.")
@verb_options
def recall(query: str, home: str | None, namespace: str, as_json: bool, **given: Any) -> None:
    """Find what is current about QUERY, or abstain ("-": from stdin)."""
    found = call(home, namespace, "memory.recall", {"query": text_or_stdin(query), **_given(given)})
    if as_json:
        return write_json(found)
    for rank, hit in enumerate(found["results"], 1):
        _show_hit(rank, hit)
    if not found["results"]:
        reason = found.get("reason") or "the token budget is too small"
        click.echo(f"Nothing to say ({reason}); {found['candidates_evaluated']} candidates looked at.")
    if found.get("degraded"):
        click.echo(f"Without {', '.join(found['degraded'])}, which failed or took too long.", err=True)
    return None


@click.command()
@click.argument("source")
@click.argument("relation")
@click.argument("target")
@click.option("--weight", type=float, help="How strong; 0 or more.")
@verb_options
def link(
    source: str, relation: str, target: str, weight: float | None, home: str | None, namespace: str, as_json: bool
) -> None:
    """Draw an edge RELATION from SOURCE to TARGET (ids). With "supersedes", SOURCE is the newer."""
    body = {"source": source, "relation": relation, "target": target, "weight": weight}
    found = call(home, namespace, "kg.link", body)
    if as_json:
        return write_json(found)
    return click.echo(f"{source} {relation} {target}")


@click.command()
@click.argument("id")
@verb_options
def history(id: str, home: str | None, namespace: str, as_json: bool) -> None:
    """Show every layer of the note ID, oldest first."""
    found = call(home, namespace, "kg.history", {"id": id})
    if as_json:
        return write_json(found)
    for layer in found["results"]:
        until = layer.get("superseded_at")
        click.echo(f"{layer['id']}  {layer.get('created_at') or ''}  {f'until {until}' if until else 'current'}")
        click.echo(f"    {shortened(layer.get('content') or '')}")
    return None


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """`options` as fields: a repeated one as a list, one that was not given left out."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in options.items()
        if value not in (None, ())
    }


def _show_hit(rank: int, hit: Mapping[str, Any]) -> None:
    from rich.text import Text

    out, score = console(), float(hit["score"])
    filled = round(max(0.0, min(score, 1.0)) * BAR)
    line = Text(f"{rank:>3}  {score:.3f} ").append("━" * filled, "green").append("╌" * (BAR - filled), "bright_black")
    out.print(line.append(f"  {shortened(hit['content'])}"))
    facts = [hit["id"], hit.get("created_at"), hit.get("memory_type"), f"relevance {hit['relevance']:.2f}"]
    facts += [f"superseded {hit['superseded_at']}"] if hit.get("superseded_at") else []
    lines = [" · ".join(str(fact) for fact in facts if fact)]
    lines += [f"found by an older note: {shortened(step['content'])}" for step in hit.get("path", ()) if step.get("content")]
    lines += [f"{name}: {_amounts(part)}" for name, part in (hit.get("breakdown") or {}).items()]
    for line in (Text(f"     {printable(words)}", "bright_black") for words in lines):
        out.print(line)


def _amounts(part: Any) -> str:
    """Numbers by name, or one number, to three digits."""
    if isinstance(part, Mapping):
        return ", ".join(f"{name} {_amounts(inner)}" for name, inner in part.items())
    return f"{part:.3f}" if isinstance(part, float) else str(part)
