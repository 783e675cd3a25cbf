"""Options that commands share, and the confirmation of a deletion."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from parley.cli.chosen_configuration import DEFAULT_CONFIG
from parley.cli.terminal import escaped

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="PARLEY_CONFIG",
        help=f"The configuration. Default: {DEFAULT_CONFIG}, if it exists.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line, for scripts.")
]
Person = Annotated[
    str,
    typer.Option(
        "--person",
        metavar="PLATFORM:ACCOUNT:ID",
        help="A person, as `parley memory people` shows it.",
    ),
]
OfPerson = Annotated[
    str, typer.Option("--person", metavar="PLATFORM:ACCOUNT:ID", help="Only of this person.")
]
Tenant = Annotated[str, typer.Option(help="Only this tenant, if the program serves several.")]
Yes = Annotated[
    int,
    typer.Option(
        "--yes", "-y", count=True, show_default=False, help="Do not ask for confirmation."
    ),
]
SearchLimit = Annotated[int, typer.Option("--limit", min=1, max=100, help="Maximum of results.")]
QueryText = Annotated[str, typer.Argument(metavar="QUERY", help="A question or words.")]
NO_TERMINAL: Final = (
    "Nothing was deleted: there is no terminal to ask for confirmation. {options} confirms."
)


def confirmed(questions: Sequence[str], given: int) -> bool:
    """True when the user confirms every question; `given` confirmations come from the options."""
    if given >= len(questions):
        return True
    if not sys.stdin.isatty():
        options = " ".join(["--yes"] * len(questions))
        sys.stderr.write(NO_TERMINAL.format(options=options) + "\n")
        return False
    for question in questions[given:]:
        if not typer.confirm(escaped(question)):
            sys.stderr.write("Nothing was deleted.\n")
            return False
    return True


def choice(question: str, answers: str) -> str:
    """One of the letters in `answers`, asked again until it is one; the last where input ends."""
    for _ in range(10):
        try:
            letter = input(f"{question} ").strip().lower()[:1]
        except EOFError:
            break
        if letter and letter in answers:
            return letter
    return answers[-1]
