"""The questions of `parley init` that the kinds of models share: the key, the name, and what to do
after a check that failed."""

from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

from gateway.errors import BadInput
from parley.cli.init.credential_format import CredentialFormat, cleaned, problem_of
from parley.cli.init.session import InitSession

SHOWN: Final = 15
"""Models of a server that are listed; more are found by a part of their name."""
SKIP: Final = "skip"
KEEP: Final = "keep"
AGAIN: Final = (
    "  Press Enter to ask again, write keep to store the values for later, or skip for another"
    " model"
)
NOT_CHECKED: Final = (
    "The model did not answer during the setup. `parley doctor{option}` asks it again."
)


def ask_for_key(session: InitSession, expected: CredentialFormat | None, variable: str) -> str:
    """The key that a person enters, `SKIP` for another model; empty in a run without questions.
    Raises `Stopped`."""
    if session.given.yes:
        return ""

    def parse(text: str) -> str:
        value = cleaned(text)
        if not value:
            raise BadInput("Nothing was entered. Paste the key, or write skip for another model.")
        if value.lower() == SKIP:
            return SKIP
        if expected is not None and (problem := problem_of(value, expected)):
            raise BadInput(problem)
        return value

    return session.terminal.read(f"  API key (stored as {variable})", parse, hidden=True)


def ask_after_failure(session: InitSession, question: str = AGAIN) -> Literal["", "keep", "skip"]:
    """The answer after a check that failed although the values may be right: nothing, so that it is
    repeated, or store them for later, or skip what they are for. Raises `Stopped`."""

    def parse(text: str) -> Literal["", "keep", "skip"]:
        word = text.strip().lower()
        if word in ("", KEEP, SKIP):
            return "keep" if word == KEEP else "skip" if word == SKIP else ""
        raise BadInput("Press Enter, or write keep or skip.")

    return session.terminal.read(question, parse)


def note_unchecked(session: InitSession) -> None:
    """Note that the stored values of the model are still to be checked."""
    session.broken = True
    session.left_to_do.append(NOT_CHECKED.format(option=session.option))


def ask_for_model_name(session: InitSession, names: Sequence[str], default: str) -> str:
    """The name of one of these models, or any name without them; `SKIP` for another model. Raises
    `Stopped`."""
    if not names:
        return session.terminal.read("  Name of the model", _filled, default)
    for number, name in enumerate(names[:SHOWN], 1):
        session.say(f"{number:>3}  {name}", 2)
    if len(names) > SHOWN:
        session.say(f"and {len(names) - SHOWN} more: write a part of the name to see them", 5)
    return session.terminal.read("  Model", partial(_picked, names=names), default)


def few(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _picked(text: str, names: Sequence[str]) -> str:
    if text in names:
        return text
    if text.lower() == SKIP:
        return SKIP
    if text.isascii() and text.isdecimal() and len(text) < 5:
        number = int(text)
        if 0 < number <= len(names[:SHOWN]):
            return names[number - 1]
    near = [name for name in names if text and text.lower() in name.lower()]
    if len(near) == 1:
        return near[0]
    if near:
        raise BadInput(f"Several names contain it: {few(near)}. Write the whole name.")
    raise BadInput("The server has no such model. Write a number or a name from the list.")


def _filled(text: str) -> str:
    if not text:
        raise BadInput("Write the name of the model, or skip for another model.")
    return SKIP if text.lower() == SKIP else text
