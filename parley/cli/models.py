"""`parley models list | pull`: the models of recall on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from parley.cli.options import AsJson, Config, chosen

commands = typer.Typer(help="The models of recall on this machine.", no_args_is_help=True)

Folder = Annotated[
    Path | None, typer.Option("--folder", help="Instead of the configured folder of models.")
]


@commands.command("list")
def list_(folder: Folder = None, config: Config = None, as_json: AsJson = False) -> None:
    """Show which models are here, and how many memories have vectors."""
    from parley.cli import model_files  # noqa: PLC0415 - start-up stays short

    raise typer.Exit(model_files.show(folder, chosen(config), os.environ, as_json=as_json))


@commands.command()
def pull(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Default: what is configured.")
    ] = None,
    folder: Folder = None,
    published: Annotated[
        str, typer.Option("--from", envvar="HF_ENDPOINT", help="A mirror of huggingface.co.")
    ] = "",
    config: Config = None,
) -> None:
    """Fetch what is missing of a model, with a progress bar."""
    from parley.cli import model_files  # noqa: PLC0415

    names = tuple(name or ())
    raise typer.Exit(model_files.download_all(names, folder, published, chosen(config), os.environ))
