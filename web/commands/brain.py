"""brain: what profiles have learned, told by replaying it and by simulating users."""

from __future__ import annotations

from collections.abc import Sequence

import click

from web.commands.common import home_option, json_option, verb_options, write_json


@click.group()
def brain() -> None:
    """Look into what the brain has learned."""


@brain.command()
@click.option("--profile", metavar="ID", help="Only what this profile served.")
@click.option(
    "--folds", type=click.IntRange(2, 100), default=5, show_default=True, help="Parts that the queries are dealt into."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the dealing.")
@verb_options
def replay(profile: str | None, folds: int, seed: int, home: str | None, namespace: str, as_json: bool) -> None:
    """Rank what was served again, by the defaults and by what was learned from the signals about other queries.

    Each query is held out once. nDCG@10 and MRR are of the hits that were judged; "pairs" is how many of the pairs of a
    useful and a useless hit are in order. Nothing is changed.
    """
    from graph.settings import Settings
    from recall.replay import as_rows, read
    from recall.replay import replay as run
    from recall.service import connected
    from web.signals import interruptible

    with interruptible(130), connected(Settings.from_environment(home=home)) as store:
        rows = run(read(store.within(namespace), profile=profile), folds=folds, seed=seed)
    if as_json:
        return write_json({"namespace": namespace, "folds": folds, "profiles": as_rows(rows)})
    if not rows:
        return click.echo(f"No signal in {namespace} names a serve yet.")
    head = ("profile", "queries", "signals", "weights learned", "nDCG@10", "MRR", "pairs", "better/same/worse")
    return _table(
        head,
        [
            (
                row.profile_id,
                f"{row.queries}",
                f"{row.signals}",
                _weights(row.after.weights),
                _change(row.before.ndcg, row.after.ndcg),
                _change(row.before.mrr, row.after.mrr),
                _change(row.before.pairs, row.after.pairs),
                f"{row.better}/{row.same}/{row.worse}",
            )
            for row in rows
        ],
    )


@brain.command()
@click.option(
    "--signals", type=click.IntRange(1, 100_000), default=200, show_default=True, help="Signals that a profile gets."
)
@click.option("--seeds", type=click.IntRange(1, 1000), default=10, show_default=True, help="Runs of each row.")
@click.option("--noise", type=click.FloatRange(0, 0.5), default=0.1, show_default=True, help="Share of wrong signals.")
@home_option
@json_option
def simulate(signals: int, seeds: int, noise: float, home: str | None, as_json: bool) -> None:
    """Let simulated users of known taste teach a profile, and rank queries that none of them judged.

    Needs no database.
    """
    from recall.simulation import table

    rows = table(seeds=seeds, signals=signals, noise=noise)
    if as_json:
        return write_json(
            [
                {
                    "users": row.crowd.name,
                    "weights": row.weights,
                    "before": row.before,
                    "after": row.after,
                    "worst": row.worst,
                }
                for row in rows
            ]
        )
    return _table(
        ("users", "weights learned", "nDCG@10, never judged", "worst run"),
        [(row.crowd.name, _weights(row.weights), _change(row.before, row.after), f"{row.worst:+.3f}") for row in rows],
    )


def _weights(weights: Sequence[float]) -> str:
    return " / ".join(f"{weight:.2f}" for weight in weights)


def _change(before: float | None, after: float | None) -> str:
    return "-" if before is None or after is None else f"{before:.3f} -> {after:.3f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """As Markdown, which reads well in a terminal too."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        click.echo(f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |")
