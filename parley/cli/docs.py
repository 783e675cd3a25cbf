"""`parley docs`: the documentation of the installed version on the terminal."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import ParleyError, UsageError
from gateway.platforms import discover
from parley.cli.chosen_configuration import own_configuration
from parley.cli.options import Config
from parley.cli.running_program import address_of
from parley.cli.terminal import print_lines, print_text
from parley.config import load
from parley.config.problems import suggestion
from parley.documentation.files import KINDS, START, page_named, pages

MISSING: Final = "This installation has no documentation. Install Parley again."
WIDEST: Final = 56
"""Characters of a title before its page is in the next column."""
TITLES: Final[Mapping[str, str]] = {
    "tutorials": "Tutorials, to learn",
    "how-to": "How-to guides, to do something",
    "reference": "Reference, to look something up",
    "explanation": "Explanation, to understand",
}
"""The heading of each of `KINDS`."""
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
        raise UsageError(MISSING)
    if not page:
        print_lines(_contents(listed))
        sys.stderr.write(f"`parley docs PAGE` prints a page. {_address(config)}\n")
        return 0
    file = page_named(page)
    if file is None:
        close = suggestion(page, [name for name, _ in listed]).english
        raise UsageError(f"There is no page {page}. {close} `parley docs` lists all pages.")
    print_text(file.read_text("utf-8"))
    return 0


def _contents(listed: list[tuple[str, str]]) -> Iterator[str]:
    """The pages by title, below a heading for each kind; the start page and the index of a kind
    only repeat this list."""
    for kind in KINDS:
        prefix = f"{kind}/"
        found = [
            (title, name)
            for name, title in listed
            if name.startswith(prefix) and not name.endswith(f"/{START}")
        ]
        if found:
            yield f"{TITLES[kind]}:"
            for title, name in sorted(found, key=_place):
                yield f"  {title:<{WIDEST}}  {name}"
            yield ""


def _place(page: tuple[str, str]) -> tuple[bool, str]:
    """Where a page stands in the list of its kind: numbered pages come last, in their order."""
    title, name = page
    numbered = title[:1].isdigit()
    return numbered, name if numbered else title.strip("`").casefold()


def _address(config: Path | None) -> str:
    """Where a browser shows the documentation; empty if the configuration cannot be read."""
    try:
        settings = load(own_configuration(config), os.environ, discover())
    except (ParleyError, OSError):
        return ""
    return AT.format(address=address_of(settings)) if settings.server.port else ""
