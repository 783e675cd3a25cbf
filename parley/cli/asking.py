"""Questions on the terminal, and what holds where there is none."""

import sys
from collections.abc import Sequence
from typing import Final

import typer

UNASKED: Final = "Nothing was deleted: there is nobody to ask here. {how} says yes beforehand."


def agreed(questions: Sequence[str], said_yes: int) -> bool:
    """Whether whoever sits here says yes to every question, or said so as often beforehand."""
    if said_yes >= len(questions):
        return True
    if not sys.stdin.isatty():
        how = " ".join(["--yes"] * len(questions))
        sys.stderr.write(UNASKED.format(how=how) + "\n")
        return False
    for question in questions[said_yes:]:
        if not typer.confirm(question):
            sys.stderr.write("Nothing was deleted.\n")
            return False
    return True


def choice(question: str, answers: str) -> str:
    """One of the letters; asked again until it is one. The last one where the input ends."""
    for _ in range(10):
        try:
            given = input(f"{question} ").strip().lower()[:1]
        except EOFError:
            break
        if given and given in answers:
            return given
    return answers[-1]
