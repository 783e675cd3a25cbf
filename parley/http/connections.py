"""Limits the open connections of a listener: their number, their number per address, and the time
of an unfinished request.

The code is between a server's protocol (aiohttp's or uvicorn's) and its socket. A connection is in
one of four phases: `HEAD` (a request's head has begun, or no data has come yet), `BODY` (the head
is complete and the body is not), `WORK` (the request is complete and is being answered) and `IDLE`
(answered, kept alive). Only a connection in `WORK` is never closed here. TLS ends at the proxy.
"""

import asyncio
import resource
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import Final, TypeAlias

from msgspec import Struct

from parley.http.client_address import Network, forwarded_for, is_one_of, rate_limit_key

SWEEP_SECONDS: Final = 0.25
"""Seconds between two checks of the deadlines."""
FILES_SHARE: Final = 4
"""The maximum share of the process's open files for one listener, so that two listeners leave half
of them to other uses."""
MANY_FILES: Final = 1_000_000
BACKLOG: Final = 256
"""Connections that the operating system accepts before the loop does."""

MakeProtocol: TypeAlias = Callable[[], asyncio.Protocol]


class ConnectionBounds(Struct, frozen=True):
    """The limits of a listener.

    Seconds are totals, so that a sender of one byte per second gains nothing. `connections` are
    open ones; `per_address` those of one sender; `held_bytes` is the total of unfinished requests
    of all connections. `idle_seconds` counts from one answer to the next request.
    """

    connections: int = 1024
    per_address: int = 64
    head_seconds: float = 5.0
    body_seconds: float = 10.0
    idle_seconds: float = 30.0
    held_bytes: int = 64 * 1024 * 1024


def openable_files() -> int:
    """Return the number of files that this process may have open; `MANY_FILES` without a limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MANY_FILES if soft == resource.RLIM_INFINITY else soft


class ConnectionPhase(Enum):
    """The progress of the latest request of a connection."""

    HEAD = auto()
    BODY = auto()
    WORK = auto()
    IDLE = auto()


class Connections:
    """The open connections of one listener.

    At a limit, the connection that has been unfinished or idle for longest is closed: the newest
    one, perhaps a genuine request, is always accepted. `trusted` are the networks of proxies: only
    their `X-Forwarded-For` is used, and their own address has no limit.
    """

    def __init__(
        self,
        bounds: ConnectionBounds,
        trusted: Iterable[Network] = (),
        now: Callable[[], float] | None = None,
    ) -> None:
        self._bounds = bounds
        self._most = min(bounds.connections, openable_files() // FILES_SHARE)
        self._trusted = tuple(trusted)
        self._now = now or (lambda: asyncio.get_running_loop().time())
        self._open: dict[asyncio.BaseTransport, _Guarded] = {}
        self._waiting: dict[ConnectionPhase, OrderedDict[_Guarded, None]] = {
            phase: OrderedDict()
            for phase in (ConnectionPhase.HEAD, ConnectionPhase.BODY, ConnectionPhase.IDLE)
        }
        self._by_address: dict[str, OrderedDict[_Guarded, None]] = {}
        self._held = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self.ended = 0
        """The number of connections that were closed by a limit or a deadline."""

    def __len__(self) -> int:
        return len(self._open)

    def count(self, phase: ConnectionPhase) -> int:
        """Return the number of open connections in a phase."""
        if phase is not ConnectionPhase.WORK:
            return len(self._waiting[phase])
        return len(self._open) - sum(map(len, self._waiting.values()))

    async def listen(self, make: MakeProtocol, host: str, port: int) -> asyncio.Server:
        """Accept connections, each with a protocol of its own. Raises `OSError`."""
        return await asyncio.get_running_loop().create_server(
            lambda: _Guarded(self, make), host, port, backlog=BACKLOG
        )

    @contextmanager
    def answering(
        self,
        transport: asyncio.BaseTransport | None,
        body_is_complete: Callable[[], bool],
        hops: Sequence[str],
    ) -> Iterator[bool]:
        """Count the answer to a request within the block; False if its sender has too many of them
        at once. `hops` are the request's values of `X-Forwarded-For`."""
        connection = self._open.get(transport) if transport is not None else None
        if connection is None:
            yield True
            return
        connection.body_is_complete = body_is_complete
        self._enter(
            connection, ConnectionPhase.WORK if body_is_complete() else ConnectionPhase.BODY
        )
        behind = not connection.address
        if behind:
            connection.address = forwarded_for(hops, self._trusted)
        try:
            yield not behind or self._counted(connection)
        finally:
            if behind:
                self._uncount(connection)
                connection.address = ""
            connection.body_is_complete = _unknown
            if connection.transport in self._open:
                self._forget_bytes(connection)
                self._enter(
                    connection, ConnectionPhase.HEAD if connection.more else ConnectionPhase.IDLE
                )

    def sender(self, transport: asyncio.BaseTransport | None) -> str:
        """Return the sender of the request that is being answered on a connection, as a unit of
        limits; empty for this machine and for a proxy that names nobody."""
        connection = self._open.get(transport) if transport is not None else None
        return "" if connection is None else connection.address

    def close(self) -> None:
        """Close every connection, and stop checking deadlines."""
        for connection in list(self._open.values()):
            self._end(connection)
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None

    # --- called by connections ------------------------------------------------------------------

    def opened(self, connection: "_Guarded") -> bool:
        """Accept a new connection; False if there is no room and none can be closed for it."""
        peer = connection.transport.get_extra_info("peername")
        host = str(peer[0]) if peer else ""
        connection.address = "" if is_one_of(host, self._trusted) else rate_limit_key(host)
        if not self._counted(connection):
            return False
        if len(self._open) >= self._most and not self._end_oldest():
            self._uncount(connection)
            return False
        self._open[connection.transport] = connection
        self._enter(connection, ConnectionPhase.HEAD)
        if self._sweeping is None:
            self._sweep_later()
        return True

    def lost(self, connection: "_Guarded") -> None:
        """Forget a connection; known or not."""
        if self._open.pop(connection.transport, None) is not None:
            self._leave(connection)
            self._uncount(connection)
            self._forget_bytes(connection)

    def received(self, connection: "_Guarded", size: int) -> None:
        """Record received bytes."""
        if connection.phase is ConnectionPhase.WORK:
            connection.more = True
            return
        if connection.phase is ConnectionPhase.IDLE:
            self._enter(connection, ConnectionPhase.HEAD)
        connection.held += size
        self._held += size
        while self._held > self._bounds.held_bytes and self._end_oldest(
            ConnectionPhase.BODY, ConnectionPhase.HEAD
        ):
            pass

    # --- bounds ---------------------------------------------------------------------------------

    def _counted(self, connection: "_Guarded") -> bool:
        """Count it for its address; False if the address has reached its limit and all its
        connections are in use."""
        if not connection.address:
            return True
        beside = self._by_address.setdefault(connection.address, OrderedDict())
        if len(beside) >= self._bounds.per_address:
            oldest = next((one for one in beside if self._is_unfinished(one)), None)
            if oldest is None:
                return False
            self._end(oldest)
            beside = self._by_address.setdefault(connection.address, OrderedDict())
        beside[connection] = None
        return True

    def _uncount(self, connection: "_Guarded") -> None:
        beside = self._by_address.get(connection.address)
        if beside is not None:
            beside.pop(connection, None)
            if not beside:
                del self._by_address[connection.address]

    def _is_unfinished(self, connection: "_Guarded") -> bool:
        """Return False while the request is being answered. A complete body starts the answer."""
        if connection.phase is ConnectionPhase.BODY and connection.body_is_complete():
            self._enter(connection, ConnectionPhase.WORK)
        return connection.phase is not ConnectionPhase.WORK

    def _end_oldest(self, *phases: ConnectionPhase) -> bool:
        """Close the connection that has been unfinished or idle for longest; False if there is
        none."""
        while True:
            fronts = [
                next(iter(waiting))
                for phase, waiting in self._waiting.items()
                if waiting and (not phases or phase in phases)
            ]
            if not fronts:
                return False
            oldest = min(fronts, key=_since)
            if self._is_unfinished(oldest):
                self._end(oldest)
                return True

    def _end(self, connection: "_Guarded") -> None:
        self.lost(connection)
        self.ended += 1
        # What cannot be sent is not waited for.
        unsent = connection.transport.get_write_buffer_size()
        (connection.transport.abort if unsent else connection.transport.close)()

    def _enter(self, connection: "_Guarded", phase: ConnectionPhase) -> None:
        self._leave(connection)
        connection.phase, connection.since, connection.more = phase, self._now(), False
        connection.unsent = None
        if phase is not ConnectionPhase.WORK:
            self._waiting[phase][connection] = None
        beside = self._by_address.get(connection.address)
        if beside is not None and connection in beside:
            beside.move_to_end(connection)

    def _leave(self, connection: "_Guarded") -> None:
        if connection.phase is not ConnectionPhase.WORK:
            self._waiting[connection.phase].pop(connection, None)

    def _forget_bytes(self, connection: "_Guarded") -> None:
        self._held -= connection.held
        connection.held = 0

    # --- deadlines ------------------------------------------------------------------------------

    def _sweep_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweeping = loop.call_later(SWEEP_SECONDS, self._swept)

    def _swept(self) -> None:
        self._sweeping = None
        self.sweep()
        if self._open:
            self._sweep_later()

    def sweep(self) -> None:
        """Close connections that passed their deadline."""
        bounds, now = self._bounds, self._now()
        for phase, seconds in (
            (ConnectionPhase.HEAD, bounds.head_seconds),
            (ConnectionPhase.BODY, bounds.body_seconds),
            (ConnectionPhase.IDLE, bounds.idle_seconds),
        ):
            waiting = self._waiting[phase]
            while waiting:
                oldest = next(iter(waiting))
                if now - oldest.since < seconds:
                    break
                if self._is_unfinished(oldest) and not self._is_still_read(oldest):
                    self._end(oldest)

    def _is_still_read(self, connection: "_Guarded") -> bool:
        """Return True if a long answer is being sent and its reader receives some of it."""
        unsent = connection.transport.get_write_buffer_size()
        if connection.phase is not ConnectionPhase.IDLE or not unsent:
            return False
        before = connection.unsent
        if before is not None and unsent >= before:
            return False
        self._enter(connection, ConnectionPhase.IDLE)
        connection.unsent = unsent
        return True


def _since(connection: "_Guarded") -> float:
    return connection.since


def _unknown() -> bool:
    """Return that no body is known to be complete."""
    return False


class _Guarded(asyncio.Protocol):
    """Passes everything on to the server's protocol, and reports it to `Connections` first."""

    __slots__ = (
        "_guard",
        "_inner",
        "_make",
        "address",
        "body_is_complete",
        "held",
        "more",
        "phase",
        "since",
        "transport",
        "unsent",
    )

    transport: asyncio.Transport

    def __init__(self, guard: Connections, make: MakeProtocol) -> None:
        self._guard = guard
        self._make = make
        self._inner: asyncio.Protocol | None = None
        self.phase = ConnectionPhase.HEAD
        self.since = 0.0
        self.held = 0
        self.more = False
        self.address = ""
        self.unsent: int | None = None
        self.body_is_complete: Callable[[], bool] = _unknown

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("a stream is expected")
        self.transport = transport
        if self._guard.opened(self):
            self._inner = self._make()
            self._inner.connection_made(transport)
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        self._guard.received(self, len(data))
        if self._inner is not None and not self.transport.is_closing():
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._inner is not None else None

    def connection_lost(self, exc: Exception | None) -> None:
        self._guard.lost(self)
        if self._inner is not None:
            self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        if self._inner is not None:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        if self._inner is not None:
            self._inner.resume_writing()
