"""The base of the listeners: a port of this machine, and the errors of an unusable one."""

import asyncio
import errno
import os
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from gateway.errors import StartError
from parley.http.client_address import Network
from parley.http.connections import ConnectionBounds, Connections, MakeProtocol

Finish: TypeAlias = Callable[[], Awaitable[None]]


class Listener:
    """One port with bounded connections. `title` names the listener in errors, `section` its part
    of the configuration."""

    def __init__(
        self,
        title: str,
        section: str,
        host: str,
        port: int,
        bounds: ConnectionBounds,
        proxies: Iterable[Network],
    ) -> None:
        self._names = title, section
        self._host = host
        self._wanted_port = port
        self._server: asyncio.Server | None = None
        self._finish: Finish | None = None
        self.connections = Connections(bounds, proxies)

    async def _listen(self, make: MakeProtocol, finish: Finish) -> None:
        """Open the port, with a protocol for each connection. `finish` lets the requests in work
        end; it is called once, also if there is no port. Raises `StartError`."""
        try:
            self._server = await self.connections.listen(make, self._host, self._wanted_port)
        except OSError as error:
            await finish()
            raise unusable(*self._names, self._host, self._wanted_port, error) from error
        self._finish = finish

    @property
    def listening(self) -> bool:
        """True while the port is open."""
        return self._server is not None

    async def stop(self) -> None:
        """Close the port and its connections. Safe to call twice, and before `start`."""
        server, self._server = self._server, None
        finish, self._finish = self._finish, None
        if server is not None:
            server.close()
        if finish is not None:
            await finish()
        self.connections.close()

    @property
    def port(self) -> int:
        """The port in use; before `start` the configured one."""
        if self._server is None:
            return self._wanted_port
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def base_url(self) -> str:
        """The listener's address for this machine, without a slash at the end."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self._host, self._host)  # noqa: S104 - names what to avoid
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


def refusal(host: str, port: int, error: OSError) -> str:
    """Return the reason of an error, without the address that asyncio adds to it."""
    known = error.errno in errno.errorcode
    reason = os.strerror(error.errno) if known and error.errno else error.strerror or str(error)
    return f"cannot listen on {host}:{port} ({reason})"


def unusable(listener: str, section: str, host: str, port: int, error: OSError) -> StartError:
    """Return the error of a listener without its port, which `section` of the configuration
    sets."""
    return StartError(
        f"{listener}: {refusal(host, port, error)}.",
        f"Choose another {section}.port, or stop the program that uses it.",
    )


def tried(host: str, port: int) -> str:
    """Return the reason why a listener cannot open this port now; empty if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return refusal(host, port, error)
    return ""
