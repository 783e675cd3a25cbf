"""The transport compression a client asks for in the gateway's address."""

import importlib
import zlib
from collections.abc import Callable

Compressor = Callable[[str], bytes | str]
"""Makes of each message of a connection what goes over the wire."""


def compressor(kind: str) -> Compressor:
    """The compressor for `compress=` in the query: "zlib-stream", "zstd-stream" or "".

    A client only asks for zstd when it has a library for it, so the same library serves here.
    """
    if kind == "zlib-stream":
        return _zlib_stream()
    if kind == "zstd-stream":
        return _zstd_stream()
    return lambda text: text


def _zlib_stream() -> Compressor:
    stream = zlib.compressobj()

    def compress(text: str) -> bytes:
        return stream.compress(text.encode()) + stream.flush(zlib.Z_SYNC_FLUSH)

    return compress


def _zstd_stream() -> Compressor:
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        stream = importlib.import_module("zstandard").ZstdCompressor().compressobj()
        flush_block = 1

        def compress(text: str) -> bytes:
            return bytes(stream.compress(text.encode()) + stream.flush(flush_block))

        return compress
    encoder = zstd.ZstdCompressor()
    return lambda text: bytes(encoder.compress(text.encode(), mode=encoder.FLUSH_BLOCK))
