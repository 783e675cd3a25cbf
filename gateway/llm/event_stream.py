"""Decodes server-sent events, as "Server-sent events" of the HTML standard describes them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_EVENT: Final = 4 * 1024 * 1024
"""Bytes of one event. Services send at most some kilobytes."""
_USUAL: Final = re.compile(rb"(?:event: ?([^\n]*)\n)?data: ?([^\n]*)")
"""An event as the services send it: at most a name, and one line of data."""


class EventTooLong(ValueError):
    """An event is longer than `MAX_EVENT`."""


class ServerSentEvent(NamedTuple):
    """One event; `name` is empty if the service gives none."""

    name: bytes
    data: bytes


class EventDecoder:
    """Decodes one response body, of which `feed` gets the next bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._ends_with_return = False

    @property
    def waiting(self) -> int:
        """Bytes of the event that is not complete yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that these bytes complete; an event without data is none.

        Raises `EventTooLong`.
        """
        for lines in self.blocks(data):
            event = event_of_lines(lines)
            if event is not None:
                yield event

    def end(self) -> Iterator[ServerSentEvent]:
        """Yield what the end of the body completes: nothing, an event ends with its empty line."""
        return iter(())

    def blocks(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines of each event that these bytes complete, with line feeds between them.

        Raises `EventTooLong`.
        """
        begin = max(0, len(self._buffer) - 1)
        self._buffer += self._with_line_feeds(data)
        if (end := self._buffer.rfind(b"\n\n", begin)) >= 0:
            complete = bytes(self._buffer[:end])
            del self._buffer[: end + 2]
            yield from complete.split(b"\n\n")
        if len(self._buffer) > MAX_EVENT:
            raise EventTooLong(f"an event has more than {MAX_EVENT} bytes")

    def _with_line_feeds(self, data: bytes) -> bytes:
        """Return the bytes with every line end as a line feed; a last carriage return waits for
        the next bytes, because a line feed may belong to it."""
        if self._ends_with_return:
            data = b"\r" + data
        elif b"\r" not in data:
            return data
        self._ends_with_return = data.endswith(b"\r")
        if self._ends_with_return:
            data = data[:-1]
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def event_of_lines(lines: bytes) -> ServerSentEvent | None:
    """Return the event of these lines; None if they have no data."""
    if usual := _USUAL.fullmatch(lines):
        return ServerSentEvent(usual[1] or b"", usual[2])
    name, data = b"", []
    for line in lines.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return ServerSentEvent(name, b"\n".join(data)) if data else None
