"""calibrate: relevance fitted on labels of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from web.commands.common import home_option, json_option, write_json


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--measure",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labels to measure on and not to fit on; may be repeated.",
)
@click.option("--only", is_flag=True, help="Leave the labels that ship out of the fit.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The file to write.")
@home_option
@json_option
def calibrate(
    files: tuple[Path, ...], measure: tuple[Path, ...], only: bool, out: Path, home: str | None, as_json: bool
) -> None:
    """Fit relevance on labelled FILES, beside the labels that ship.

    A file is a list of corpora: {name, notes: [{key, content}], follows, supersedes: [[newer, older]], queries: [{q, kind,
    answerable, relevant: [key]}]}. Set PALIMPSEST_CALIBRATION to the file that is written, and recall uses it.
    """
    from graph.settings import Settings
    from recall.calibrate_fit import fit
    from recall.embed import embedder

    settings = Settings.from_environment(home=home)
    content, rows = fit(files, embedder(settings.embedder, settings), measure=measure, shipped=not only)
    out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if as_json:
        return write_json({"file": str(out), "figures": rows})
    for row in rows:
        shown = "  ".join(f"{name} {value:.3f}" if isinstance(value, float) else f"{value}" for name, value in row.items())
        click.echo(shown)
    return click.echo(f"{out} is written; PALIMPSEST_CALIBRATION={out} puts it to use.")
