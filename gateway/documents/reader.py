"""Reads a document in a process of its own, within limits of size, time and memory."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import structlog
from msgspec import DecodeError, json, msgpack

from gateway.documents.formats import family_of
from gateway.documents.model import (
    MB,
    CannotRead,
    DocumentLimits,
    Read,
    ReadDocument,
    ReadRequest,
    Refused,
    UnreadableReason,
)
from gateway.documents.plain import read_plain
from gateway.documents.problems import UnreadableDocument
from safety.process_group import end_group, started_in_group

log = structlog.get_logger(__name__)

PLACES: Final = 2
"""Reading processes at a time."""
HELD: Final = 4
"""Documents that are fetched or read at a time: their bytes are in memory."""
WAIT_SECONDS: Final = 60.0
"""The longest wait for a place."""
_CHUNK: Final = 256 * 1024
_PER_PAGE: Final = 256
_ROOT: Final = Path(__file__).resolve().parents[2]
# Isolated from the environment, the working folder and packages of the user; the path is given,
# because the program may run from a folder that is not installed.
_PROGRAM: Final = (
    f"import sys; sys.path.append({str(_ROOT)!r}); from gateway.documents.child import main; main()"
)
_COMMAND: Final = (sys.executable, "-I", "-B", "-X", "utf8", "-c", _PROGRAM)
_ENDS: Final[dict[int, UnreadableReason]] = {
    -signal.SIGXCPU: "too_slow",
    -signal.SIGKILL: "too_slow",  # the hard limit of processor time
}
_ANSWER: Final = msgpack.Decoder(Read | Refused)


class DocumentReader:
    """Reads documents, a few at a time; the others wait for a bounded time."""

    def __init__(
        self, limits: DocumentLimits | None = None, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self.limits = limits or DocumentLimits()
        self._wait_seconds = wait_seconds
        self._places = asyncio.Semaphore(PLACES)
        self._held = asyncio.Semaphore(HELD)

    @asynccontextmanager
    async def holding(self) -> AsyncIterator[None]:
        """Hold the bytes of a document in memory, while it is fetched and read. Raises
        `UnreadableDocument` after a long wait."""
        await self._take(self._held)
        try:
            yield
        finally:
            self._held.release()

    async def read(self, data: bytes, name: str = "", mime: str = "") -> ReadDocument:
        """Return the document. Its bytes decide about its format, `name` and `mime` only between
        formats of plain text. Raises `UnreadableDocument`."""
        limits = self.limits
        if len(data) > limits.bytes:
            raise UnreadableDocument("too_large", limits.bytes)
        try:
            family = family_of(data, name, mime)
            if family == "text":
                return await asyncio.to_thread(read_plain, data, limits)
        except CannotRead as why:
            raise UnreadableDocument(why.reason) from None
        request = json.encode(ReadRequest(family, limits)) + b"\n"
        await self._take(self._places)
        try:
            answer = await _answer(request, data, limits)
        finally:
            self._places.release()
        if isinstance(answer, Refused):
            raise UnreadableDocument(answer.reason)
        return answer.document

    async def _take(self, places: asyncio.Semaphore) -> None:
        try:
            async with asyncio.timeout(self._wait_seconds):
                await places.acquire()
        except TimeoutError:
            raise UnreadableDocument("busy") from None


async def _answer(request: bytes, data: bytes, limits: DocumentLimits) -> Read | Refused:
    """Start the reading process, and return its answer; it is ended in any case."""
    try:
        process = await started_in_group(_COMMAND, {}, Path("/"), _CHUNK)
    except OSError as error:
        log.warning("document_reader_not_started", error=str(error))
        return Refused("broke_down")
    try:
        async with asyncio.timeout(limits.wall_seconds):
            output = await _exchanged(process, request, data, _most(limits))
            status = await process.wait()
    except TimeoutError:
        return Refused("too_slow")
    finally:
        await end_group(process)
    if status or output is None:
        log.warning("document_reader_failed", status=status, too_long=output is None)
        return Refused(_ENDS.get(status, "broke_down"))
    try:
        return await asyncio.to_thread(_ANSWER.decode, output)
    except DecodeError:
        log.warning("document_reader_answer_unreadable")
        return Refused("broke_down")


async def _exchanged(
    process: asyncio.subprocess.Process, request: bytes, data: bytes, most: int
) -> bytes | None:
    """Send the document, which the process reads before it answers; return what it writes, None if
    that is too long."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101 - both are pipes
    with contextlib.suppress(ConnectionError):  # it ended before it had read everything
        process.stdin.write(request)
        for at in range(0, len(data), _CHUNK):
            process.stdin.write(data[at : at + _CHUNK])
            await process.stdin.drain()
        process.stdin.close()
    output = bytearray()
    while chunk := await process.stdout.read(_CHUNK):
        output += chunk
        if len(output) > most:
            return None
    return bytes(output)


def _most(limits: DocumentLimits) -> int:
    """Return the length of the longest answer in bytes; a character has at most four."""
    return 4 * limits.characters + limits.picture_bytes + _PER_PAGE * limits.pages + MB
