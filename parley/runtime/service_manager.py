"""Reports the state of the program to systemd: sd_notify(3), a datagram to a Unix socket."""

import os
import socket
from collections.abc import Mapping
from typing import Self

import structlog

log = structlog.get_logger(__name__)


class ServiceManager:
    """Sends states to the socket of the service manager; without an address it sends nothing."""

    def __init__(self, address: str = "") -> None:
        """`address`: a path, or "@name" in the abstract namespace of Linux."""
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self._socket: socket.socket | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """The service manager of `NOTIFY_SOCKET`."""
        address = environment.get("NOTIFY_SOCKET", "")
        return cls(address if address.startswith(("/", "@")) else "")

    def ready(self) -> None:
        """Report the end of the start."""
        self._send("READY=1")

    def alive(self) -> None:
        """Report that the event loop runs."""
        self._send("WATCHDOG=1")

    def stopping(self) -> None:
        """Report the beginning of the stop."""
        self._send("STOPPING=1")

    def close(self) -> None:
        """Close the socket. Safe to call twice."""
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
            # The socket has no reader or is full: the state is sent again a second later.
            log.warning(
                "service_manager_unreachable", state=state, error=os.strerror(error.errno or 0)
            )
