"""Unpacks a response body step by step, so that its size is known before it is in memory."""

import zlib
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
