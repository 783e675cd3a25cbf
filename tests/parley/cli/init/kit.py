"""Points `parley init` at simulated platforms, and types its answers on a pseudo-terminal."""

import os
import pty
import select
import signal
import socket
import struct
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path

from simulators.base import PlatformSimulator
from tests.parley.cli.kit import ROOT, environment
from tests.parley.cli.warm import warm
from tests.support.patience import LAUNCH

SECRET = {"token", "bot_token", "app_token", "signing_secret", "access_token", "app_secret",
          "verify_token"}  # fmt: skip
CREDENTIALS = SECRET | {"application_id", "phone_number_id"}
STATUS = 20
"""Bytes of an exit status."""
AGAIN = 3.0
"""Seconds after which a person presses Ctrl-C again."""


def pointed_at(simulator: PlatformSimulator) -> tuple[dict[str, str], list[str]]:
    """Credentials as variables, everything else as --set."""
    env, assign = {}, []
    for key, value in simulator.settings().items():
        if key in CREDENTIALS:
            env[f"{simulator.platform}_{key}".upper()] = str(value)
        else:
            assign += ["--set", f"platforms.{simulator.platform}.{key}={value}"]
    return env, assign


class Typing:
    """A person at a terminal of some width: reads what is printed, and types."""

    def __init__(self, descriptor: int, pid: int, status: socket.socket) -> None:
        self._descriptor = descriptor
        self.pid = pid
        self._status = status
        self.said = ""
        self._read = 0
        self._pressed = b""

    def until(self, text: str) -> str:
        """Wait for a text that was not read yet; return what was printed up to it."""
        deadline = time.monotonic() + LAUNCH
        while text not in self.said[self._read :]:
            left = deadline - time.monotonic()
            ready = select.select([self._descriptor], [], [], max(0.0, left))[0]
            piece = os.read(self._descriptor, 65_536) if ready else b""
            if not piece:
                raise AssertionError(f"no {text!r} in {self.said[self._read :]!r}")
            self.said += piece.decode(errors="replace").replace("\r\n", "\n")
        end = self.said.index(text, self._read) + len(text)
        seen, self._read = self.said[self._read : end], end
        return seen

    def enter(self, after: str, text: str = "") -> str:
        """Type a line after a prompt; return what was printed before."""
        seen = self.until(after)
        os.write(self._descriptor, f"{text}\n".encode())
        return seen

    def press(self, key: bytes) -> None:
        """Press a key such as Ctrl-C. `end` presses it again: Python notices a signal that comes
        between the print of a prompt and the wait for input only with the next key."""
        self._pressed = key
        os.write(self._descriptor, key)

    def end(self) -> int:
        """Wait for the end; return the exit status."""
        deadline, again = time.monotonic() + LAUNCH, time.monotonic() + AGAIN
        while (now := time.monotonic()) < deadline:
            if self._pressed and now > again:
                again = now + AGAIN
                with suppress(OSError):  # the other side is closed
                    os.write(self._descriptor, self._pressed)
            if select.select([self._descriptor], [], [], 0.05)[0]:
                try:
                    piece = os.read(self._descriptor, 65_536)
                except OSError:  # the other side is closed
                    piece = b""
                self.said += piece.decode(errors="replace").replace("\r\n", "\n")
            if select.select([self._status], [], [], 0)[0]:
                self.pid = 0
                return int(self._status.recv(STATUS))
        raise AssertionError(f"it did not end: {self.said}")


@contextmanager
def at_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, columns: int = 100
) -> Iterator[Typing]:
    """A running `parley` with a terminal of its own, in a process that has imported it already;
    killed at the end if it still runs."""
    imported = warm(os.environ["PATH"], str(ROOT))
    descriptor, terminal = pty.openpty()
    ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {**environment(env), "TERM": "dumb"}
    pid, status = imported.at_terminal(terminal, arguments, cwd=cwd, env=variables)
    person = Typing(descriptor, pid, status)
    with status:
        try:
            yield person
        finally:
            if person.pid:
                os.kill(person.pid, signal.SIGKILL)
                status.recv(STATUS)
            os.close(descriptor)
