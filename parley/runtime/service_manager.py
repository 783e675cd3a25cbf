"""Tells systemd how the program is: the protocol of sd_notify(3), a datagram to a Unix socket."""

import os
import socket
from collections.abc import Mapping
from typing import Self

import structlog

log = structlog.get_logger(__name__)


class ServiceManager:
    """Sends to the socket of the service manager (`sd_notify`); no address: it sends nothing."""

    def __init__(self, address: str = "") -> None:
        """`address`: a path, or "@name" in the abstract namespace of Linux."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket: socket.socket | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """The one that `NOTIFY_SOCKET` names."""
        address = environment.get("NOTIFY_SOCKET", "")
        return cls(address if address.startswith(("/", "@")) else "")

    def ready(self) -> None:
        """The start is over."""
        self._send("READY=1")

    def alive(self) -> None:
        """The event loop turns."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """The end has begun."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Send nothing more. Safe to call twice."""
        self._address = ""
        opened, self._socket = self._socket, None
        if opened is not None:
            opened.close()

    def _send(self, state: str) -> None:
        if not self._address:
            return
        try:
            if self._socket is None:
                kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                self._socket = socket.socket(socket.AF_UNIX, kind)
            self._socket.sendto(state.encode(), self._address)
        except OSError as error:
            # Nobody listens, or not fast enough: the next second says it again.
            log.warning(
                "service_manager_not_told", state=state, error=os.strerror(error.errno or 0)
            )
