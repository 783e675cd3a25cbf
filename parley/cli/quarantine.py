"""`parley quarantine list | show | retry | discard`: work that stopped the program."""

import os
from typing import Annotated

import typer

from parley.cli.options import Config, chosen

commands = typer.Typer(
    help="Work that stopped the program again and again.",
    no_args_is_help=True,
)
Key = Annotated[str, typer.Argument(help="As `parley quarantine list` shows it.")]
Keys = Annotated[list[str], typer.Argument(help="As `parley quarantine list` shows them.")]


@commands.command("list")
def list_(
    config: Config = None,
    limit: Annotated[
        int, typer.Option(min=1, max=1_000, help="Number of entries, the newest first.")
    ] = 50,
) -> None:
    """List the entries without their content."""
    from parley.cli import quarantined  # noqa: PLC0415 - start-up stays short

    raise typer.Exit(quarantined.show(limit, chosen(config), os.environ))


@commands.command()
def show(key: Key, config: Config = None) -> None:
    """Show one entry, its meaning and the next commands."""
    from parley.cli import quarantined  # noqa: PLC0415

    raise typer.Exit(quarantined.explain(key, chosen(config), os.environ))


@commands.command()
def retry(keys: Keys, config: Config = None) -> None:
    """Try entries again, within five minutes: for after an update."""
    from parley.cli import quarantined  # noqa: PLC0415

    raise typer.Exit(quarantined.remove(keys, chosen(config), os.environ, discard=False))


@commands.command()
def discard(keys: Keys, config: Config = None) -> None:
    """Delete entries, and turns that memory could not store."""
    from parley.cli import quarantined  # noqa: PLC0415

    raise typer.Exit(quarantined.remove(keys, chosen(config), os.environ, discard=True))
