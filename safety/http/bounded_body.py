"""Reads a response body unpacked and with a bound, for libraries that read a body as a whole."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

from safety.http.content_encoding import Unpacker

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
