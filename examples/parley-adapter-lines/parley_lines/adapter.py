"""A TCP server: the first line is "NAME PASSWORD", every further line is a message."""

import asyncio
import hmac
import re
from contextlib import suppress
from typing import Final
from uuid import uuid4

from db.errors import StoreUnavailable
from gateway.errors import Permanent, StartError, Transient
from gateway.message import (
    ChatMessage,
    MessageAuthor,
    MessageReceived,
    Outbound,
    Place,
    Receipt,
)
from gateway.people import Audience
from gateway.ports import AdapterContext, Capabilities, Check, EventSink
from parley_lines.manifest import MANIFEST, LinesSettings

MAX_LINE: Final = 4_000
"""Bytes of one line; a longer one ends the connection."""
MAX_CONNECTIONS: Final = 50
GREETING_SECONDS: Final = 10.0
SEND_SECONDS: Final = 5.0
_NAME: Final = re.compile(r"^[a-z0-9_-]{1,40}$")


class LinesAdapter:
    """One listening port."""

    platform = MANIFEST.platform

    def __init__(self, settings: LinesSettings, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._server: asyncio.Server | None = None
        self._closed = asyncio.Event()
        self._writers: dict[str, asyncio.StreamWriter] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def account(self) -> str:
        """The account's name in the configuration."""
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of the manifest."""
        return MANIFEST.capabilities

    @property
    def port(self) -> int:
        """The port that is listened on, 0 when not connected."""
        return self._server.sockets[0].getsockname()[1] if self._server is not None else 0

    async def connect(self, sink: EventSink) -> None:
        """Listen. Raises `StartError` when the port is taken."""
        await self.disconnect()

        def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._serve(reader, writer, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        host, port = self._settings.host, self._settings.port
        self._closed.clear()
        try:
            self._server = await asyncio.start_server(serve, host, port, limit=MAX_LINE)
        except OSError as error:
            problem = f"Cannot listen on {host}:{port}: {error.strerror}."
            raise StartError(problem, "Choose another platforms.lines.port.") from error

    async def wait_closed(self) -> None:
        """Return after `disconnect`."""
        await self._closed.wait()

    async def disconnect(self) -> None:
        """Close the port and every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._closed.set()

    async def send(self, outbound: Outbound) -> Receipt:
        """Write a text to the person, who has to be connected."""
        if outbound.part is None or not isinstance(outbound.part.payload, str):
            raise Permanent("only text can be sent as lines")
        writer = self._writers.get(outbound.place.channel_id)
        if writer is None:
            raise Transient("the person is not connected", retry_after=5.0)
        try:
            writer.write(outbound.part.payload.encode() + b"\n")
            async with asyncio.timeout(SEND_SECONDS):
                await writer.drain()
        except (OSError, TimeoutError) as error:
            raise Transient("the connection broke") from error
        return Receipt(outbound.key, self._context.clock.now())

    async def diagnose(self) -> list[Check]:
        """Check that the port can be opened."""
        if self._server is not None:
            return [Check("port", True, f"listening on {self.port}")]
        host, port = self._settings.host, self._settings.port
        try:
            server = await asyncio.start_server(lambda *_: None, host, port)
        except OSError as error:
            detail = f"{host}:{port}: {error.strerror}"
            return [Check("port", False, detail, "Choose another platforms.lines.port.")]
        server.close()
        return [Check("port", True, f"{host}:{port} is free")]

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sink: EventSink
    ) -> None:
        name = ""
        try:
            name = await self._greet(reader, writer)
            if name:
                self._writers[name] = writer
                await self._listen(name, reader, writer, sink)
        except (OSError, ValueError, TimeoutError, UnicodeDecodeError):
            self._context.count("lines_closed", "broken or too long")
        finally:
            if self._writers.get(name) is writer:
                del self._writers[name]
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """The name of the person, empty when they are not let in."""
        async with asyncio.timeout(GREETING_SECONDS):
            line = (await reader.readline()).decode()
        name, _, password = line.strip().partition(" ")
        known = self._settings.password.get_secret_value() if self._settings.password else ""
        right = hmac.compare_digest(password.strip().encode(), known.encode()) and bool(known)
        if not right or not _NAME.match(name) or len(self._writers) >= MAX_CONNECTIONS:
            writer.write(b"Write your name and the password.\n")
            return ""
        writer.write(f"Hello {name}, this is {self._context.assistant_name}.\n".encode())
        return name

    async def _listen(
        self,
        name: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        sink: EventSink,
    ) -> None:
        place = Place(self.platform, self.account, channel_id=name, audience=Audience.DIRECT)
        while line := await reader.readline():
            text = line.decode().strip()
            if not text:
                continue
            message = ChatMessage(
                id=uuid4().hex,
                content=text,
                author=MessageAuthor(id=name, name=name),
                place=place,
                timestamp=self._context.clock.now(),
            )
            try:
                await sink(MessageReceived(event_id=message.id, message=message))
            except Exception as error:  # noqa: BLE001 -- whatever it was, the next line may succeed
                if not isinstance(error, StoreUnavailable):
                    self._context.count("failed", type(error).__name__)
                writer.write(b"That could not be stored; write it again.\n")
