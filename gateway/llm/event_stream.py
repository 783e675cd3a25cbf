"""Decodes the body of an answer: server-sent events, as "Server-sent events" of the HTML standard
describes them, lines of JSON, or one JSON document.

Servers send a document where they do not stream, or report an error with status 200.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

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


DONE: Final = b"[DONE]"
END: Final = b"[END]"
"""The data of the event that this decoder adds at the end of a body."""
MAX_ITEMS: Final = 100_000
"""Values of a list that is the whole body."""
_MARK: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r\n"


class AnswerBody(EventDecoder):
    """Decodes one body, of which `feed` gets the next bytes. The data of an event is one JSON
    value, `DONE`, or `END` for the last one."""

    def __init__(self) -> None:
        super().__init__()
        self._begun = False
        self._lines: bytearray | None = None
        self._document = False

    def feed(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that these bytes complete. Raises `EventTooLong`."""
        if not self._begun:
            return self._begin(data)
        return self._events(data) if self._lines is None else self._json(data)

    def end(self) -> Iterator[ServerSentEvent]:
        """Yield what the end of the body completes, and `END`."""
        if self._lines is not None:
            yield from self._whole(bytes(self._lines))
        else:
            yield from self._events(b"\n\n")
        yield ServerSentEvent(b"", END)

    def _begin(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Choose the format by the first bytes."""
        self._buffer += data
        first = bytes(self._buffer).removeprefix(_MARK).lstrip(_BLANK)
        if not first or (len(self._buffer) < 3 and _MARK.startswith(self._buffer)):
            return
        self._begun = True
        self._buffer.clear()
        if first[:1] in (b"{", b"["):
            self._lines = bytearray()
            yield from self._json(first)
        else:
            yield from self._events(first)

    def _events(self, data: bytes) -> Iterator[ServerSentEvent]:
        for lines in self.blocks(data):
            event = event_of_lines(lines)
            if event is not None and (b"\n" not in event.data or _is_json(event.data)):
                yield event
            else:
                yield from _each_line(lines)

    def _json(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield the lines that are JSON; a document of several lines waits for its end."""
        if self._lines is None:
            return
        self._lines += data
        while not self._document and (end := self._lines.find(b"\n")) >= 0:
            line = bytes(self._lines[:end]).strip(_BLANK)
            if line == DONE:
                yield ServerSentEvent(b"", DONE)
            elif line and not _is_json(line) and not line.startswith(b"data:"):
                self._document = True
                break
            del self._lines[: end + 1]
            yield from _each_line(line)
        if len(self._lines) > MAX_EVENT:
            raise EventTooLong(f"the answer has more than {MAX_EVENT} bytes")

    def _whole(self, data: bytes) -> Iterator[ServerSentEvent]:
        """Yield a document. It is a complete answer, as far as it can be read."""
        data = data.strip(_BLANK)
        if not data:
            return
        value = _parsed(data)
        if not isinstance(value, list):
            yield ServerSentEvent(b"", data)
        else:
            for item in value[:MAX_ITEMS]:
                yield ServerSentEvent(b"", json.dumps(item).encode())
        if value is not None:
            yield ServerSentEvent(b"", DONE)


def _each_line(lines: bytes) -> Iterator[ServerSentEvent]:
    """Yield the events of lines that no empty line parts, or that have no field."""
    name = b""
    for line in lines.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"event":
            name = value.strip(_BLANK)
        elif field in (b"data", b"error"):
            yield ServerSentEvent(b"error" if field == b"error" else name, value.strip(_BLANK))
        elif line[:1] == b"{":
            yield ServerSentEvent(name, line)


def _is_json(data: bytes) -> bool:
    return _parsed(data) is not None


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
