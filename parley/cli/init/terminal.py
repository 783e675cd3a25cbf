"""Questions on a terminal, or on a pipe that holds the answers."""

import getpass
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Final, TypeVar, overload

from msgspec import Struct

from gateway.errors import BadInput, UsageError
from parley.config.problems import closest

MAX_TRIES: Final = 5
MAX_ANSWER: Final = 10_000
"""Characters of one answer."""
NARROWEST, WIDEST, ROOMY = 40, 100, 60

T = TypeVar("T")


class Stopped(Exception):
    """The questions ended early. `interrupted`: by Ctrl-C; otherwise the text says why."""

    def __init__(self, reason: str = "", *, interrupted: bool = False) -> None:
        super().__init__(reason)
        self.interrupted = interrupted


class MenuOption(Struct, frozen=True):
    """One line of a choice; `key` is what a person may type instead of its number."""

    key: str
    title: str
    hint: str = ""


class Terminal:
    """Asks on standard input and answers on standard output, within the width of the terminal."""

    def say(self, text: str = "", indent: int = 0, hang: int = 0) -> None:
        """Print a paragraph; words, such as addresses and commands, are never broken. Its further
        lines begin `hang` columns after the first one."""
        sys.stdout.write("\n".join(_wrapped(text, indent, hang)) + "\n")
        sys.stdout.flush()

    def ask(self, question: str, default: str = "", *, hidden: bool = False) -> str:
        """One answer without surrounding space; empty input is the default. Raises `Stopped`."""
        hides = hidden and sys.stdin.isatty()
        marks = (f" [{default}]" if default else "") + (" (not shown)" if hides else "")
        prompt = "\n".join(_wrapped(f"{question}{marks}")) + ": "
        try:
            answer = _hidden(prompt) if hides else self._line(prompt)
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            raise Stopped(interrupted=True) from None
        if len(answer) > MAX_ANSWER:
            raise Stopped(f"An answer has more than {MAX_ANSWER} characters.")
        return answer.strip() or default

    def read(
        self, question: str, parse: Callable[[str], T], default: str = "", *, hidden: bool = False
    ) -> T:
        """The answer as `parse` reads it, asked again while it raises `BadInput`. Raises
        `Stopped` after `MAX_TRIES`."""
        for _ in range(MAX_TRIES):
            try:
                return parse(self.ask(question, default, hidden=hidden))
            except BadInput as error:
                self.say(str(error), 2)
        raise Stopped(f"{MAX_TRIES} answers could not be used.")

    def yes(self, question: str, *, default: bool) -> bool:
        """Yes or no. Raises `Stopped`."""
        return self.read(f"{question} {'[Y/n]' if default else '[y/N]'}", _yes_or_no(default))

    @overload
    def choose(self, question: str, options: Sequence[MenuOption], default: str) -> str: ...
    @overload
    def choose(
        self, question: str, options: Sequence[MenuOption], default: str, parse: Callable[[str], T]
    ) -> T: ...
    def choose(
        self,
        question: str,
        options: Sequence[MenuOption],
        default: str,
        parse: Callable[[str], T] | None = None,
    ) -> T | str:
        """The key of one option, or the answer as `parse` reads it. Raises `Stopped`."""
        self._list(options)
        read: Callable[[str], T | str] = parse or (lambda text: one_of(text, options))
        return self.read(question, read, _shown(options, [default]))

    def choose_many(
        self, question: str, options: Sequence[MenuOption], default: Sequence[str]
    ) -> list[str]:
        """The keys of at least one option, in the order of the list. Raises `Stopped`."""
        self._list(options)
        return self.read(question, lambda text: some_of(text, options), _shown(options, default))

    def _list(self, options: Sequence[MenuOption]) -> None:
        widest = max(len(option.title) for option in options)
        for number, option in enumerate(options, 1):
            line = f"{number:>3}  {option.title:<{widest}}  {option.hint}".rstrip()
            self.say(line, hang=widest + 7 if _width() >= ROOMY else 5)

    def _line(self, prompt: str) -> str:
        sys.stdout.write(prompt)
        sys.stdout.flush()
        text = sys.stdin.readline(MAX_ANSWER + 2)
        if not sys.stdin.isatty():
            sys.stdout.write("\n")  # nobody's Enter ends the line of the question
        if not text:
            raise Stopped("The input ended before this question was answered.")
        return text


def _width() -> int:
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def _wrapped(text: str, indent: int = 0, hang: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        _width(),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _hidden(prompt: str) -> str:
    """One answer without an echo; the echo is off before the prompt appears."""
    try:
        return getpass.getpass(prompt, sys.stdout)
    except EOFError:
        raise Stopped("The input ended before this question was answered.") from None


def _yes_or_no(default: bool) -> Callable[[str], bool]:
    def parse(text: str) -> bool:
        word = text.lower()
        if not word:
            return default
        if word in ("y", "yes", "n", "no"):
            return word.startswith("y")
        raise UsageError("Please answer y or n.")

    return parse


def one_of(text: str, options: Sequence[MenuOption]) -> str:
    """The key that a number, a key, a title or an unambiguous beginning means. Raises
    `BadInput`."""
    word = text.strip().lower()
    if word.isascii() and word.isdecimal() and len(word) < 4 and 0 < int(word) <= len(options):
        return options[int(word) - 1].key
    names = [(option.key.lower(), option.title.lower(), option.key) for option in options]
    exact = [key for lower, title, key in names if word in (lower, title)]
    near = [key for lower, title, key in names if word and (lower.startswith(word) or
            title.startswith(word))]  # fmt: skip
    matches = exact or near
    if len(matches) == 1:
        return matches[0]
    shown = text.strip()[:40]
    close = closest(word, [option.key for option in options]) if word else ""
    meant = f" Did you mean {close}?" if close else ""
    if matches:
        raise UsageError(f"{shown} can mean {' or '.join(matches)}: please write the number.")
    reason = f"{shown or 'An empty answer'} is not in the list.{meant}"
    raise UsageError(f"{reason} Please write a number from 1 to {len(options)}.")


def some_of(text: str, options: Sequence[MenuOption]) -> list[str]:
    """The keys of several options, separated by spaces or commas. Raises `BadInput`."""
    try:
        return [one_of(text, options)]
    except BadInput:
        words = text.replace(",", " ").split()
        if len(words) < 2:
            raise
    chosen = {one_of(word, options) for word in words if word.lower() != "and"}
    return [option.key for option in options if option.key in chosen]


def _shown(options: Sequence[MenuOption], keys: Sequence[str]) -> str:
    numbers = [str(n) for n, option in enumerate(options, 1) if option.key in keys]
    return " ".join(numbers)
