"""`parley outbox list | resend | drop`: answers that could not be sent."""

import os
from typing import Annotated

import typer

from parley.cli.options import Config, chosen

commands = typer.Typer(help="Answers that could not be sent.", no_args_is_help=True)
Keys = Annotated[list[str] | None, typer.Argument(help="As `parley outbox list` shows them.")]
All = Annotated[bool, typer.Option("--all", help="Everything that was given up.")]


@commands.command("list")
def list_(
    config: Config = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The latest so many.")] = 50,
) -> None:
    """Show what was given up, and why; without its text."""
    from parley.cli import dead_letters  # noqa: PLC0415 - start-up stays short

    raise typer.Exit(dead_letters.show(limit, chosen(config), os.environ))


@commands.command()
def resend(keys: Keys = None, config: Config = None, every: All = False) -> None:
    """Send it again, also while Parley runs."""
    from parley.cli import dead_letters  # noqa: PLC0415

    wanted = _named(keys, every)
    raise typer.Exit(dead_letters.resend(wanted, chosen(config), os.environ))


@commands.command()
def drop(keys: Keys = None, config: Config = None, every: All = False) -> None:
    """Forget it, and what it says."""
    from parley.cli import dead_letters  # noqa: PLC0415

    wanted = _named(keys, every)
    raise typer.Exit(dead_letters.drop(wanted, chosen(config), os.environ))


def _named(keys: list[str] | None, every: bool) -> list[str] | None:
    """The keys, None for all of them; one or the other has to be said."""
    if bool(keys) == every:
        raise typer.BadParameter("name keys, or --all", param_hint="KEY")
    return None if every else keys
