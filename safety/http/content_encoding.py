"""Unpacks a response body step by step, so that its size is known before it is in memory."""

import zlib
from typing import Final

_GZIP: Final = zlib.MAX_WBITS | 16


class Undecodable(Exception):
    """The body has an encoding that is not read, or is not valid in its encoding."""


class Unpacker:
    """Unpacks one body with the value of its `Content-Encoding`. Raises `Undecodable` for another
    encoding than gzip and deflate, also for several at once."""

    def __init__(self, encoding: str) -> None:
        match encoding.strip().lower():
            case "" | "identity":
                self._unpack = None
            case "gzip" | "x-gzip":
                self._unpack = zlib.decompressobj(_GZIP)
            case "deflate":
                self._unpack = zlib.decompressobj()
            case _:
                raise Undecodable("the response has an unrequested encoding")

    def feed(self, data: bytes, room: int) -> bytes:
        """Return the next bytes; of packed ones at most `room` (from 1 on), and the others are left
        out. Raises `Undecodable`."""
        if self._unpack is None:
            return data
        try:
            return self._unpack.decompress(data, room)
        except zlib.error:
            raise Undecodable("the response cannot be decompressed") from None

    @property
    def complete(self) -> bool:
        """True when the body ended where its encoding says."""
        return self._unpack is None or self._unpack.eof
