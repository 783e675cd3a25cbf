"""Questions on the terminal, and what holds where there is none."""

import sys
from collections.abc import Sequence
from typing import Final

import typer

NO_TERMINAL: Final = "Nothing was deleted: there is nobody to ask here. {how} says yes beforehand."


def confirmed(questions: Sequence[str], confirmations: int) -> bool:
    """Whether whoever sits here says yes to every question, or said so as often beforehand."""
    if confirmations >= len(questions):
        return True
    if not sys.stdin.isatty():
        how = " ".join(["--yes"] * len(questions))
        sys.stderr.write(NO_TERMINAL.format(how=how) + "\n")
        return False
    for question in questions[confirmations:]:
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
