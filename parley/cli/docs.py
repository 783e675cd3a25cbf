"""`parley docs`: the documentation of the installed version on the terminal."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import BadInput, ParleyError
from gateway.platforms import discover
from parley.cli.chosen_configuration import own_configuration
from parley.cli.options import Config
from parley.cli.running_program import address_of
from parley.cli.terminal import print_lines, print_text
from parley.config import load
from parley.config.problems import suggestion
from parley.documentation.files import page_named, pages

MISSING: Final = "This installation has no documentation. Install Parley again."
AT: Final = (
    "While Parley runs, a browser on this machine shows the documentation at {address}/docs/."
)


def docs(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="A page, such as how-to/connect-whatsapp.")
    ] = "",
    config: Config = None,
) -> int:
    """Print a page, or the list of all pages. Raises `BadInput` for an unknown page."""
    listed = list(pages())
    if not listed:
        raise BadInput(MISSING)
    if not page:
        print_lines(f"{name:<40}  {title}" for name, title in listed)
        sys.stderr.write(f"`parley docs PAGE` prints a page. {_address(config)}\n")
        return 0
    file = page_named(page)
    if file is None:
        close = suggestion(page, [name for name, _ in listed])
        raise BadInput(f"There is no page {page}. {close} `parley docs` lists all pages.")
    print_text(file.read_text("utf-8"))
    return 0


def _address(config: Path | None) -> str:
    """Where a browser shows the documentation; empty if the configuration cannot be read."""
    try:
        settings = load(own_configuration(config), os.environ, discover())
    except (ParleyError, OSError):
        return ""
    return AT.format(address=address_of(settings)) if settings.server.port else ""
