"""Runs the steps of a check: commands with a time limit, each reported in one line."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
UV: Final = Path(sys.executable).with_name("uv")
UVX: Final = Path(sys.executable).with_name("uvx")
SECONDS: Final = 300.0
"""The time limit of one command; the first run downloads packages."""
SHOWN: Final = 3_000
"""Characters of a failed command's output that are shown."""


class Failed(Exception):
    """A step had another result than expected; the text says which."""


@contextmanager
def step(title: str) -> Iterator[None]:
    """Print a step with its result and its time in seconds. Raises `Failed` as it is."""
    started = time.monotonic()
    sys.stdout.write(f"{title} … ")
    sys.stdout.flush()
    try:
        yield
    except BaseException:
        sys.stdout.write("FAILED\n")
        raise
    sys.stdout.write(f"ok ({time.monotonic() - started:.1f} s)\n")


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> str:
    """Return the standard output of a command. Raises `Failed` for an exit status other than 0, for
    a command that cannot be started, and after `SECONDS`."""
    try:
        ended = subprocess.run(
            [str(word) for word in command],
            cwd=cwd,
            env=os.environ if env is None else env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{shown(command)} took longer than {SECONDS:.0f} s") from error
    except OSError as error:
        raise Failed(f"{shown(command)} cannot be started: {error}") from error
    if ended.returncode != 0:
        output = (ended.stdout + ended.stderr)[-SHOWN:]
        raise Failed(f"{shown(command)} ended with {ended.returncode}:\n{output}")
    return ended.stdout


def shown(command: Sequence[str | Path]) -> str:
    """A command for people, with the paths of the checkout shortened."""
    return " ".join(str(word) for word in command).replace(f"{ROOT}/", "")


def require(condition: bool, problem: str) -> None:
    """Raises `Failed` with `problem` unless the condition holds."""
    if not condition:
        raise Failed(problem)
