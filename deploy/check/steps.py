"""The report of a check: one line for each step, with its duration and what it found."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


class CheckFailed(Exception):
    """A step of the check has another result than it must have."""


@dataclass
class Report:
    """The commands that a user types, the questions that they answer, and the seconds."""

    commands: list[str] = field(default_factory=list)
    questions: int = 0
    began: float = field(default_factory=time.monotonic)

    def typed(self, command: str) -> None:
        """Note a command that a user types."""
        self.commands.append(command)
        say(f"$ {command}")

    def summary(self, **figures: str) -> None:
        """Print the totals."""
        rest = ", ".join(f"{name} {value}" for name, value in figures.items())
        seconds = time.monotonic() - self.began
        say(f"{len(self.commands)} commands, {self.questions} questions, {seconds:.0f} s, {rest}")


@contextmanager
def step(title: str) -> Iterator[list[str]]:
    """Time a step; what it appends to the list stands behind its title."""
    began, details = time.monotonic(), list[str]()
    yield details
    seconds = f"{time.monotonic() - began:6.1f} s"
    say(f"  ok {seconds}  {title}" + (f": {', '.join(details)}" if details else ""))


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def require(true: object, problem: str) -> None:
    """Raise `CheckFailed` with the problem unless the first argument is true."""
    if not true:
        raise CheckFailed(problem)


def program(name: str) -> str:
    """The path of a program of this machine. Raises `CheckFailed`."""
    path = shutil.which(name)
    if path is None:
        raise CheckFailed(f"{name} is not installed; it is part of util-linux, iproute2 or git")
    return path


def megabytes(folder: Path) -> float:
    """The size of all files below a folder, each counted once, in 10^6 bytes."""
    sizes: dict[tuple[int, int], int] = {}
    for path in folder.rglob("*"):
        state = path.lstat()
        sizes[state.st_dev, state.st_ino] = state.st_size
    return sum(sizes.values()) / 1e6
