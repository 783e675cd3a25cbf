"""Reads HTTP/1.1 requests with h11, and refuses what h11 reads leniently.

Servers and proxies that disagree on the end of a request can be made to read one request as two
(request smuggling, RFC 9112 section 11.2). So a head has one form only: lines that end in CRLF, no
folded lines, no control characters, one body length. h11 accepts line feeds alone, folded lines,
repeated lengths, and a length beside `Transfer-Encoding`.
"""

from typing import Final, TypeAlias

import h11

MAX_LINE: Final = 8190
"""Bytes of the request line, and of one header."""
MAX_HEADERS: Final = 64
MAX_HEAD: Final = 64 * 1024
"""Bytes of all lines together."""
MAX_CHUNK_LINE: Final = 256
"""Bytes of the line before a chunk, which are its length and extensions that nobody uses."""
FREE_CHUNKS: Final = 256
MIN_CHUNK: Final = 64
"""Bytes that the chunks of a body have on average after the first `FREE_CHUNKS`: a body of tiny
chunks takes a thousand times as long to read as one of the same size with a length."""

VERSIONS: Final = (b"HTTP/1.1", b"HTTP/1.0")
_CONTROLS: Final = bytes((*range(0x20), 0x7F))
_Read: TypeAlias = h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]


class StrictConnection(h11.Connection):
    """The server's side of one connection. `refused_with` is the status of what was refused."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self.refused_with = 0
        self._chunks: _Chunks | None = None

    def next_event(self) -> _Read:
        """Return what was read. Raises `h11.RemoteProtocolError`."""
        try:
            return self._next()
        except h11.RemoteProtocolError as error:
            self.refused_with = error.error_status_hint or 400
            raise

    def _next(self) -> _Read:
        if self.refused_with:
            raise h11.RemoteProtocolError("an earlier part of the request was refused")
        if self.their_state is h11.IDLE:
            _check_head(self.trailing_data[0])
        elif self._chunks is not None:
            self._chunks.check(self.trailing_data[0])
        event = super().next_event()
        if isinstance(event, h11.Request):
            chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
            self._chunks = _Chunks() if chunked else None
        elif isinstance(event, h11.Data) and self._chunks is not None:
            self._chunks.add(event)
        elif isinstance(event, h11.EndOfMessage):
            self._chunks = None
        return event


class _Chunks:
    """Follows a chunked body, so that h11 sees short lines of chunks, and an empty line as the
    end: its patterns take quadratic time for both."""

    def __init__(self) -> None:
        self._between = True
        self._ended = False
        self._count = self._bytes = 0

    def check(self, unread: bytes) -> None:
        """Check the line of the next chunk, as far as it has arrived, and the end after the last
        one. Raises `h11.RemoteProtocolError`."""
        if self._between and not self._ended:
            line, end, unread = unread.lstrip(b"\r\n").partition(b"\r\n")
            if len(line) > MAX_CHUNK_LINE:
                raise h11.RemoteProtocolError("a chunk's line is too long")
            self._ended = bool(end) and not line.partition(b";")[0].strip(b" \t0")
        if self._ended and not b"\r\n".startswith(unread[:2]):
            raise h11.RemoteProtocolError("the chunked body does not end in an empty line")

    def add(self, event: h11.Data) -> None:
        """Count a piece of a chunk. Raises `h11.RemoteProtocolError`."""
        self._between = event.chunk_end
        self._count += event.chunk_start
        self._bytes += len(event.data)
        if self._count > FREE_CHUNKS and self._bytes < self._count * MIN_CHUNK:
            raise h11.RemoteProtocolError("the chunks are too small")


def head_problem(head: bytes) -> tuple[int, str] | None:
    """Return the status and reason for which a complete head is refused, None for a valid one.

    `head` ends with its empty line.
    """
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    if not head.endswith(b"\r\n\r\n") or any(_has_controls(line) for line in lines):
        return 400, "a line has control characters, or does not end in CRLF"
    if len(head) > MAX_HEAD or any(len(line) > MAX_LINE for line in lines):
        return 431, "a line is too long"
    if len(lines) - 1 > MAX_HEADERS:
        return 431, "too many headers"
    version = lines[0].rpartition(b" ")[2]
    if version not in VERSIONS or lines[0].startswith(b"CONNECT "):
        return 400, "another version, or a tunnel"
    if any(line[:1] in (b" ", b"\t") for line in lines):
        return 400, "a folded line"
    return _framing_problem(lines[1:], version)


def _framing_problem(headers: list[bytes], version: bytes) -> tuple[int, str] | None:
    """Return why the end of the body is ambiguous."""
    named = [(name.lower(), value) for name, _, value in (line.partition(b":") for line in headers)]
    lengths = [value.strip() for name, value in named if name == b"content-length"]
    if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
        return 400, "more than one length, or none"
    if any(name == b"transfer-encoding" for name, _ in named) and (
        lengths or version == b"HTTP/1.0"
    ):
        return 400, "a transfer coding beside a length, or in HTTP/1.0"
    return None


def _has_controls(line: bytes) -> bool:
    plain = line.replace(b"\t", b" ")
    return len(plain.translate(None, _CONTROLS)) != len(plain)


def _check_head(received: bytes) -> None:
    """Check the head once it is complete, by the lenient rule of h11 or by ours."""
    ends = [at + len(end) for end in (b"\n\n", b"\n\r\n") if (at := received.find(end)) >= 0]
    if not ends:
        return
    problem = head_problem(received[: min(ends)])
    if problem is not None:
        raise h11.RemoteProtocolError(problem[1], error_status_hint=problem[0])
