"""The command `palimpsest`. Commands live in `web.commands`; an error is one line on stderr, never a traceback."""

from __future__ import annotations

import logging
from typing import Any

import click

from graph.errors import NotAllowed, PalimpsestError, SettingsError, ValidationFailed
from web.commands import (
    analytics,
    backup,
    brain,
    browser,
    calibrate,
    context,
    demo,
    doctor,
    fetch,
    forget,
    key,
    mcp,
    moving,
    notes,
    reindex,
    serve,
)

log = logging.getLogger(__name__)
YOURS = (SettingsError, ValidationFailed, NotAllowed)  # mended on the command line or in the environment: exit code 2


class Failed(click.ClickException):
    """One line on stderr, and an exit code."""

    def __init__(self, message: str, exit_code: int):
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click means it to be set

    def show(self, file: Any = None) -> None:
        click.echo(f"palimpsest: {self.message}", err=True)


class Commands(click.Group):
    """The group that turns every error into `Failed`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PalimpsestError as error:
            raise Failed(str(error), 2 if isinstance(error, YOURS) else 1) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            log.debug("internal", exc_info=True)
            words = f"{type(error).__name__}: {error}".splitlines()[0]
            raise Failed(f"internal error: {words} (palimpsest --verbose shows where)", 1) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="palimpsest", prog_name="palimpsest")
@click.option("-v", "--verbose", is_flag=True, help="Log everything to stderr.")
def main(verbose: bool) -> None:
    """A memory for agents and people, kept in Neo4j: what is new supersedes what is old, and the old stays legible.

    Each command opens the graph of PALIMPSEST_HOME, and starts its Neo4j where it isn't running.
    """
    if verbose:
        logging.basicConfig(level=logging.DEBUG)


for command in (
    serve.serve,
    demo.demo,
    notes.remember,
    notes.recall,
    notes.link,
    notes.history,
    doctor.doctor,
    fetch.fetch,
    doctor.stop,
    calibrate.calibrate,
    reindex.reindex,
    analytics.analytics,
    context.context,
    brain.brain,
    moving.export,
    moving.import_,
    forget.forget,
    backup.backup,
    backup.restore,
    key.key,
    browser.browser,
    mcp.mcp,
):
    main.add_command(command)

if __name__ == "__main__":
    main()
