"""Programs that are MCP servers: their start and end, and bounds for what they write.

The `mcp` library's own transport keeps a line of any length, and searches all of it at each piece.
"""

import asyncio
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import structlog
from anyio.abc import Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import StdioServerParameters
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from gateway.turn.mcp_bounds import (
    MAX_MESSAGE,
    TOO_LARGE,
    Bounded,
    Rate,
    Refusals,
    UnusableAnswer,
    read_message,
    refusal,
)
from safety.unicode import safe_unicode

log = structlog.get_logger(__name__)

MAX_SKIPPED: Final = 64 * 1024 * 1024
"""Bytes of a too long line that are passed over before the program is ended."""
MAX_MINUTE: Final = 128 * 1024 * 1024
"""Bytes that a program may write in a minute."""
MAX_LINES: Final = 6_000
"""Messages that a program may write in a minute."""
MAX_REPLIES: Final = 60
"""Replies in a minute to requests of a program, such as pings."""
MAX_ERROR_LINES: Final = 100
MAX_ERROR_LINE: Final = 1_000
"""Lines of standard error that the log shows in a minute, and characters of one."""
_STEP: Final = 65_536
_ERROR_PAUSE: Final = 0.1
"""Between two readings of standard error once the log shows no more in this minute."""
_EXIT_SECONDS: Final = 2.0
_POLL_SECONDS: Final = 0.02

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]


class ProgramEnded(Exception):
    """A program was ended because of what it wrote; the text is the reason."""


@asynccontextmanager
async def bounded_program(
    server: StdioServerParameters, name: str, refusals: Refusals
) -> AsyncIterator[Streams]:
    """Start the program, and carry its messages. Implements the library's `Transport`.

    Raises OSError if it cannot be started.
    """
    process = await _started(server)
    into, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    program = _Program(process, name, refusals, into, outgoing)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(program.read)
        tasks.start_soon(program.write)
        tasks.start_soon(program.report_errors)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            for stream in (read_stream, write_stream, into, outgoing):
                stream.close()
            tasks.cancel_scope.cancel()


class _Program:
    def __init__(
        self,
        process: Process,
        name: str,
        refusals: Refusals,
        into: MemoryObjectSendStream[SessionMessage | Exception],
        outgoing: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._process = process
        self._name = name
        self._refusals = refusals
        self._into = into
        self._outgoing = outgoing
        self._open: set[int | str] = set()
        """The ids of our requests without an answer."""
        self._lines, self._bytes = Rate(MAX_LINES), Rate(MAX_MINUTE)
        self._replies = Rate(MAX_REPLIES)
        self._ignored = Rate(1)

    async def read(self) -> None:
        """Pass on messages until the program ends, or is ended because of what it writes."""
        assert self._process.stdout is not None  # noqa: S101 - started with pipes
        lines = BoundedLines()
        with self._into, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            try:
                async for piece in self._process.stdout:
                    if not self._bytes.take(len(piece)):
                        raise ProgramEnded(f"it wrote more than {MAX_MINUTE >> 20} MB in a minute")
                    for line in lines.feed(piece):
                        await self._pass_on(line)
            except ProgramEnded as ended:
                self._refusals.note(str(ended))
                await terminate_posix_process_tree(self._process, _EXIT_SECONDS)

    async def _pass_on(self, line: bytes | None) -> None:
        if not self._lines.take():
            raise ProgramEnded(f"it wrote more than {MAX_LINES:,} messages in a minute")
        if line is not None:
            line = line.removeprefix(BOM_UTF8)
            if not _may_be_message(line):
                self._ignore(line)
                return
        try:
            if line is None:
                raise UnusableAnswer(TOO_LARGE)
            message = read_message(line)
        except UnusableAnswer as refused:
            await self._refuse(str(refused))
            return
        if message is not None and (message.answers or self._replies.take()):
            self._open.discard(message.value["id"])
            await self._into.send(SessionMessage(_parsed(message)))

    def _ignore(self, line: bytes) -> None:
        """Pass over a line that is no message: many servers also write their log to standard
        output."""
        if line.strip() and self._ignored.take():
            log.warning("mcp_line_ignored", server=self._name, line=_shown(line))

    async def _refuse(self, reason: str) -> None:
        """Answer all requests that wait: it is not known which one this line answers."""
        self._refusals.note(reason)
        waiting, self._open = self._open, set()
        for number in waiting:
            error = JSONRPCError.model_validate(refusal(number, reason))
            await self._into.send(SessionMessage(error))

    async def write(self) -> None:
        assert self._process.stdin is not None  # noqa: S101 - started with pipes
        closed = (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError)
        with suppress(*closed):
            async for item in self._outgoing:
                if isinstance(item.message, JSONRPCRequest):
                    self._open.add(item.message.id)
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await self._process.stdin.send(text.encode("utf-8", "replace") + b"\n")
            return
        await self._into.aclose()  # nothing is answered any more

    async def report_errors(self) -> None:
        """Write standard error into the log, line by line, and no more than a part of a flood."""
        assert self._process.stderr is not None  # noqa: S101 - started with pipes
        lines, shown = BoundedLines(), Rate(MAX_ERROR_LINES)
        reported = Rate(1)
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for piece in self._process.stderr:
                for line in lines.feed(piece):
                    if not shown.take():
                        break
                    if text := _shown(line or b""):
                        log.info("mcp_server_stderr", server=self._name, line=text)
                else:
                    continue
                if reported.take():
                    log.warning(
                        "mcp_server_stderr_left_out", server=self._name, most=MAX_ERROR_LINES
                    )
                await asyncio.sleep(_ERROR_PAUSE)


class BoundedLines:
    """Cuts bytes into lines. A line of more than `most` bytes is passed over."""

    def __init__(self, most: int = MAX_MESSAGE) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes | None]:
        """Yield the lines that these bytes complete, and None once for a line that becomes too
        long. Raises `ProgramEnded` for one that does not end."""
        *complete, rest = piece.split(b"\n")
        for part in complete:
            if self._becomes_too_long(part):
                yield None
            elif self._size <= self._most:
                yield b"".join(self._parts)
            self._parts, self._size = [], 0
        if self._becomes_too_long(rest):
            yield None
        if self._size > MAX_SKIPPED:
            raise ProgramEnded(f"it wrote a line of more than {MAX_SKIPPED >> 20} MB")

    def _becomes_too_long(self, part: bytes) -> bool:
        before = self._size
        self._size += len(part)
        if self._size > self._most:
            self._parts = []
        elif part:
            self._parts.append(part)
        return before <= self._most < self._size


def _may_be_message(line: bytes) -> bool:
    """Return False for a line of a log, also for one that quotes a message."""
    return line.lstrip()[:1] in (b"{", b"[") and b'"jsonrpc"' in line


def _shown(line: bytes) -> str:
    """Return a line as the log shows it."""
    return safe_unicode(line[:MAX_ERROR_LINE].decode("utf-8", "replace")).strip()


def _parsed(message: Bounded) -> JSONRPCResponse | JSONRPCError | JSONRPCRequest:
    if not message.answers:
        return JSONRPCRequest.model_validate(message.value)
    kind: Any = JSONRPCResponse if "result" in message.value else JSONRPCError
    parsed: JSONRPCResponse | JSONRPCError = kind.model_validate(message.value)
    return parsed


async def _started(server: StdioServerParameters) -> Process:
    """Start the program. A cancellation waits for the start: a start that is cancelled before its
    pipes are connected can hang in asyncio (CPython issue 125502)."""
    starting = asyncio.create_task(
        anyio.open_process(
            [server.command, *server.args],
            env=get_default_environment() | (server.env or {}),
            cwd=server.cwd,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):  # then there is no process
            await _end(await starting)
        raise


async def _end(process: Process) -> None:
    """Close the program's input, and end it and what it started if that does not."""
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    await _ended(process)
    # A launcher may have ended before the server that it started.
    await terminate_posix_process_tree(process, _EXIT_SECONDS)
    await _ended(process)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
    # Pipes that are not read to their end stay open otherwise; nothing public closes them.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


async def _ended(process: Process) -> bool:
    with anyio.move_on_after(_EXIT_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 - `wait` also waits for those it started
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None
