"""`parley audit verify | show`: what happened to memory, which holds no content."""

import os
from typing import Annotated

import typer

from parley.cli.options import AsJson, Config, chosen

commands = typer.Typer(help="What happened to memory, without content.", no_args_is_help=True)


@commands.command()
def verify(
    begin: Annotated[
        int, typer.Option("--from", min=1, help="Begin with this entry, trusting those before.")
    ] = 1,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Check that no entry was changed, taken out or put in."""
    from parley.cli import audit_trail  # noqa: PLC0415 - start-up stays short

    raise typer.Exit(audit_trail.verify(begin, chosen(config), os.environ, as_json=as_json))


@commands.command()
def show(
    person: Annotated[
        str, typer.Option("--person", metavar="PLATFORM:ACCOUNT:ID", help="Of this person only.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The latest so many.")] = 50,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the latest entries, the oldest of them first."""
    from parley.cli import audit_trail  # noqa: PLC0415

    status = audit_trail.show(person, limit, chosen(config), os.environ, as_json=as_json)
    raise typer.Exit(status)
