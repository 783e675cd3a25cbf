"""The restart of this process from within: the same command starts anew, and reads the
configuration again."""

import asyncio
import os
import sys
from collections.abc import Callable

from parley.config import Settings


class Restart:
    """Ends the program as a signal does, and then starts its command again in the same process."""

    def __init__(self, load: Callable[[], Settings]) -> None:
        """`load` reads the configuration as the start does. It raises `SettingsError`."""
        self._load = load
        self._stopping: asyncio.Event | None = None
        self.requested = False

    def attach(self, stopping: asyncio.Event) -> None:
        """Name the event that ends the program."""
        self._stopping = stopping

    async def check(self) -> None:
        """Raise `SettingsError` for a configuration with which the program would not start."""
        await asyncio.to_thread(self._load)

    def request(self) -> None:
        """End the program; its command then starts anew."""
        self.requested = True
        if self._stopping is not None:
            self._stopping.set()


def begin_again() -> None:
    """Replace this process by a new run of its own command. Supervisors see the same process."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - no shell, and the command that runs already
