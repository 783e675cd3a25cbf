"""Unpacks a response body step by step and with a bound, so that its size is known before it is in
memory; for libraries that read a body as a whole."""

import asyncio
import zlib
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

_GZIP: Final = zlib.MAX_WBITS | 16
_MAGIC: Final = b"\x1f\x8b"
MAX_MEMBERS: Final = 1_000
"""Parts of one gzip body (RFC 1952 section 2.2), such as one for each flush of a server. To begin
one takes longer than to read its bytes."""


class Undecodable(Exception):
    """The body has an encoding that is not read, or is not valid in its encoding."""


class Unpacker:
    """Unpacks one body with the value of its `Content-Encoding`. Raises `Undecodable` for another
    encoding than gzip and deflate, also for several at once."""

    def __init__(self, encoding: str) -> None:
        self._members = 0
        match encoding.strip().lower():
            case "" | "identity":
                self._unpack = None
            case "gzip" | "x-gzip":
                self._unpack = zlib.decompressobj(_GZIP)
                self._members = 1
            case "deflate":
                self._unpack = zlib.decompressobj()
            case _:
                raise Undecodable("the response has an unrequested encoding")

    def feed(self, data: bytes, room: int) -> bytes:
        """Return the next bytes; of packed ones at most `room` (from 1 on), and the others are left
        out. Raises `Undecodable`."""
        if self._unpack is None:
            return data
        pieces: list[bytes] = []
        while data and room > 0 and self._begin_next(data):
            try:
                pieces.append(self._unpack.decompress(data, room))
            except zlib.error:
                raise Undecodable("the response cannot be decompressed") from None
            room -= len(pieces[-1])
            data = self._unpack.unused_data
        return b"".join(pieces)

    def _begin_next(self, data: bytes) -> bool:
        """Begin the next part of a gzip body after the end of one. False for anything else behind
        the body, which is left out. Raises `Undecodable`."""
        if self._unpack is None or not self._unpack.eof:
            return True
        if not self._members or not data.startswith(_MAGIC[: len(data)]):
            return False
        self._members += 1
        if self._members > MAX_MEMBERS:
            raise Undecodable(f"the response has more than {MAX_MEMBERS:,} compressed parts")
        self._unpack = zlib.decompressobj(_GZIP)
        return True

    @property
    def complete(self) -> bool:
        """True when the body ended where its encoding says."""
        return self._unpack is None or self._unpack.eof


MAX_PIECES: Final = 20_000
"""Pieces in which one answer arrives: a server chooses its chunks, and each costs time."""
PIECES_AT_ONCE: Final = 100
"""Pieces after which other tasks have a turn: about 6 ms."""
_STEP: Final = 65_536


class TooManyPieces(Exception):
    """The body comes in more than `MAX_PIECES` pieces."""

    def __init__(self) -> None:
        super().__init__(f"it comes in more than {MAX_PIECES:,} pieces")


class ResponseTooLarge(Exception):
    """The body has more than `most` bytes, as it is sent or unpacked."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the answer is larger than {most:,} bytes")


async def unpacked(source: AsyncIterable[bytes], encoding: str, most: int) -> AsyncIterator[bytes]:
    """Yield a body unpacked, in parts, at most `most` bytes before and after. `encoding` is the
    value of its `Content-Encoding`. Raises `ResponseTooLarge`, `TooManyPieces` and
    `Undecodable`."""
    taken = given = count = 0
    unpacker = Unpacker(encoding)
    async for data in source:
        count += 1
        if count > MAX_PIECES:
            raise TooManyPieces
        if count % PIECES_AT_ONCE == 0:  # pieces that have arrived do not wait
            await asyncio.sleep(0)
        for start in range(0, len(data), _STEP):
            taken += len(part := data[start : start + _STEP])
            piece = unpacker.feed(part, most + 1 - given)
            given += len(piece)
            if max(taken, given) > most:
                raise ResponseTooLarge(most)
            if piece:
                yield piece
