"""Serves an ASGI application with uvicorn's protocol for HTTP/1.1, on connections that we accept.

Only uvicorn's protocol is used, not its `Server`: that installs signal handlers, ends the process
where it cannot bind, and wakes up ten times a second. Opening the port, the deadlines and bounds of
connections (`parley.http.connections`) and shutdown are ours. h11 reads the requests: it is part of
uvicorn's own requirements and in Python, so that `parley.http.strict_http` can refuse what it reads
leniently; httptools, the alternative, is an extension in C without a bound on headers.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from parley.http.asgi import EXCHANGE, HttpExchange
from parley.http.middlewares import SECURITY_HEADERS
from parley.http.refusal import ADVICE, refusal_body
from parley.http.strict_http import StrictConnection

LINGER_SECONDS: Final = 2.0


class LingeringTransport(asyncio.Transport):
    """Passes on what uvicorn's protocol uses of `inner`."""

    def __init__(self, inner: asyncio.Transport, is_unread: Callable[[], bool]) -> None:
        super().__init__()
        self.inner = inner
        self._is_unread = is_unread
        self._closing = False
        self._timer: asyncio.TimerHandle | None = None

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return a fact about the connection."""
        return self.inner.get_extra_info(name, default)

    def is_closing(self) -> bool:
        """Return True after the end of the answer."""
        return self._closing or self.inner.is_closing()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send, unless the answer has ended."""
        if not self.is_closing():
            self.inner.write(data)

    def pause_reading(self) -> None:
        """Let the client wait."""
        if not self.is_closing():
            self.inner.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        if not self.inner.is_closing():
            self.inner.resume_reading()

    def close(self) -> None:
        """End the answer, and close the connection: at once, or when the client has had time."""
        if self.is_closing():
            return
        self._closing = True
        if not self._is_unread() or not self.inner.can_write_eof():
            self.inner.close()
            return
        with suppress(OSError):  # the client is gone
            self.inner.write_eof()
        self.inner.resume_reading()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(LINGER_SECONDS, self.inner.close)

    def lost(self) -> None:
        """Forget the connection."""
        self._closing = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


GRACE_SECONDS: Final = 3.0
"""Seconds that requests in work have at shutdown; streams of events end at once."""
CANCEL_SECONDS: Final = 1.0
"""Seconds that a cancelled request has to end."""
_CLOSE: Final = (b"connection", b"close")


class AsgiServer:
    """The protocols of one port, and the requests in work."""

    def __init__(self, app: ASGIApp) -> None:
        self._state = ServerState()
        self._streams: set[asyncio.Task[object]] = set()
        self._config = Config(
            app,
            loop="none",
            http=_Protocol,
            ws="none",  # every upgrade is answered as an ordinary request
            lifespan="off",
            interface="asgi3",
            log_config=None,
            # `UnexpectedErrors` logs errors of the application; the rest is about strangers.
            log_level=logging.CRITICAL + 1,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
        )
        self._config.load()

    def protocol(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""
        return _Protocol(self._config, self._state, self._streams)

    async def stop(self) -> None:
        """Let the requests in work end, within `GRACE_SECONDS` and `CANCEL_SECONDS`."""
        for connection in list(self._state.connections):
            connection.shutdown()
        for stream in self._streams:
            stream.cancel()
        late = await _ended(self._state.tasks, GRACE_SECONDS)
        for task in late:
            task.cancel()
        await _ended(late, CANCEL_SECONDS)


async def _ended(tasks: Iterable[asyncio.Task[None]], seconds: float) -> set[asyncio.Task[None]]:
    """Wait for tasks; return those that did not end."""
    waiting = set(tasks)
    return (await asyncio.wait(waiting, timeout=seconds))[1] if waiting else set()


class _Protocol(H11Protocol):
    """uvicorn's protocol, which reads strictly, and answers what it cannot read as JSON."""

    conn: StrictConnection

    def __init__(
        self, config: Config, state: ServerState, streams: set[asyncio.Task[object]]
    ) -> None:
        super().__init__(config, state, {})
        self.conn = StrictConnection()
        self._served = self.app
        self.app = self._answer
        self._streams = streams

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Take a new connection."""
        self._lingering = LingeringTransport(transport, self._is_unread)
        super().connection_made(self._lingering)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the request in work."""
        super().connection_lost(exc)
        self._lingering.lost()

    def data_received(self, data: bytes) -> None:
        """Read; what arrives after the end is dropped."""
        if not self.transport.is_closing():
            super().data_received(data)

    def shutdown(self) -> None:
        """Close the connection, after the answer in work."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete:
            self.transport.close()
        else:
            cycle.keep_alive = False

    def timeout_keep_alive_handler(self) -> None:
        """Leave idle connections to `Connections`, which knows how slowly an answer is read."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what could not be read, unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_malformed(self.conn.refused_with))
        self.transport.close()

    def _is_unread(self) -> bool:
        """Return True if the client may still send parts of a request."""
        return bool(self.conn.refused_with) or self.conn.their_state is h11.SEND_BODY

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        cycle, task = self.cycle, asyncio.current_task()

        def is_complete() -> bool:
            return not cycle.more_body

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                if not is_complete() and _CLOSE not in headers:
                    message = {**message, "headers": [*headers, _CLOSE]}
                if task is not None and _is_event_stream(headers):
                    self._streams.add(task)
                    task.add_done_callback(self._streams.discard)
            await send(message)

        # Paths are matched as they were sent, so that an encoded slash separates nothing.
        scope["path"] = scope["raw_path"].decode("ascii")
        scope[EXCHANGE] = HttpExchange(self._lingering.inner, is_complete)
        try:
            await self._served(scope, receive, sending)
        except asyncio.CancelledError:
            if task in self._streams:
                with suppress(RuntimeError):  # the answer was complete
                    await send({"type": "http.response.body", "body": b""})
            raise


def _is_event_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in headers
    )


def _malformed(status: int) -> bytes:
    """Return the whole answer to a request that could not be read."""
    reason = "head_too_large" if status == 431 else "malformed"
    body = refusal_body(reason, ADVICE[reason], accept="").text.encode()
    phrase = {431: "Request Header Fields Too Large", 501: "Not Implemented"}
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **SECURITY_HEADERS,
    }
    lines = [f"HTTP/1.1 {status} {phrase.get(status, 'Bad Request')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode() + body
