"""Server-sent events, decoded as the libraries of the services decode them."""

from collections.abc import Iterable, Iterator

import pytest
from anthropic._streaming import SSEDecoder
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm import event_stream
from gateway.llm.event_stream import EventDecoder, EventTooLong, ServerSentEvent

LINES = st.sampled_from(
    [
        "data: a",
        "data:b",
        "data: ü 漢",
        "data",
        "data: ",
        "event: ping",
        "event:",
        ": note",
        "id: 1",
        "",
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """The body of a response, in which every event is complete."""
    lines = draw(st.lists(st.tuples(LINES, ENDS), max_size=30))
    return ("".join(line + end for line, end in lines) + "\n\n").encode()


def decoded(parts: Iterable[bytes]) -> list[ServerSentEvent]:
    events = EventDecoder()
    return [event for part in parts for event in events.feed(part)]


def parts_of(body: bytes, size: int) -> Iterator[bytes]:
    return (body[begin : begin + size] for begin in range(0, len(body), size))


def by_library(body: bytes) -> list[ServerSentEvent]:
    """The events with data, as Anthropic's library decodes them."""
    found = SSEDecoder().iter_bytes(iter([body]))
    return [
        ServerSentEvent((one.event or "").encode(), one.data.encode()) for one in found if one.data
    ]


@given(bodies(), st.integers(1, 12))
def test_events_are_those_of_the_library_however_they_are_cut(body: bytes, size: int) -> None:
    events = [event for event in decoded(parts_of(body, size)) if event.data]
    assert events == by_library(body)


def test_an_event_is_complete_with_its_empty_line() -> None:
    events = EventDecoder()
    assert list(events.feed(b"event: x\ndata: 1\n")) == []
    assert list(events.feed(b"\nda")) == [ServerSentEvent(b"x", b"1")]
    assert list(events.feed(b"ta: 2\ndata: 3\r\n\r")) == []
    assert list(events.feed(b"\n")) == [ServerSentEvent(b"", b"2\n3")]


def test_an_event_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MAX_EVENT", 100)
    events = EventDecoder()
    with pytest.raises(EventTooLong):
        list(events.feed(b"data: " + b"x" * 100))
