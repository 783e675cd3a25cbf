"""Reading of HTTP/1.1: one form of a head, one length of a body."""

import h11
import pytest

from parley.http.strict_http import (
    FREE_CHUNKS,
    MAX_HEAD,
    MAX_HEADERS,
    MAX_LINE,
    StrictConnection,
    head_problem,
)
from tests.support.processor_time import seconds

GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes) -> tuple[list[type], bytes]:
    """The events of a request that comes in pieces, and its body. Raises what it is refused
    with."""
    connection, events, body = StrictConnection(), list[type](), b""
    for piece in pieces:
        connection.receive_data(piece)
        while True:
            event = connection.next_event()
            if event in (h11.NEED_DATA, h11.PAUSED):
                break
            events.append(type(event))
            body += event.data if isinstance(event, h11.Data) else b""
    return events, body


def deliveries(request: bytes) -> tuple[list[bytes], list[bytes]]:
    """The pieces of a request that arrives at once, and of one that arrives byte by byte."""
    return [request], [bytes([byte]) for byte in request]


@pytest.mark.parametrize(
    ("request_bytes", "body"),
    [
        (GET + b"\r\n", b""),
        (b"GET / HTTP/1.0\r\n\r\n", b""),
        (GET + b"X-Tabs:\ta \t b\t\r\n\r\n", b""),
        (GET + b"X-Text: caf\xc3\xa9\r\n\r\n", b""),
        (POST + b"Content-Length: 5\r\n\r\nhello", b"hello"),
        (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (CHUNKED + b"5;note=1\r\nhello\r\n00\r\n\r\n", b"hello"),
        (CHUNKED + b"0\r\n\r\n", b""),
    ],
)
def test_a_request_is_read_the_same_in_one_piece_and_byte_by_byte(
    request_bytes: bytes, body: bytes
) -> None:
    for pieces in deliveries(request_bytes):
        events, result = read(*pieces)
        assert result == body
        assert events[0] is h11.Request
        assert events[-1] is h11.EndOfMessage


REFUSED = [
    (b"GET / HTTP/1.1\nHost: x\n\n", "line feeds alone"),
    (b"GET / HTTP/1.1\r\nHost: x\n\r\n", "one line feed alone"),
    (b"GET / HTTP/1.1\r\nHost: x\r\n\n", "an empty line of a line feed alone"),
    (GET + b"X: a\rb\r\n\r\n", "a carriage return alone"),
    (GET + b"X: a\r\n b\r\n\r\n", "a folded line"),
    (b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", "a folded request line"),
    (GET + b"X: a\x00b\r\n\r\n", "a zero byte"),
    (GET + b"X: a\x01b\r\n\r\n", "a control character"),
    (GET + b"X : a\r\n\r\n", "a blank before the colon"),
    (GET + b"no colon\r\n\r\n", "a line without a name"),
    (b"\r\n" + GET + b"\r\n", "an empty line first"),
    (b"GET /\r\n\r\n", "HTTP/0.9"),
    (b"GET / HTTP/0.9\r\nHost: x\r\n\r\n", "version 0.9"),
    (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "version 2.0"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "the preface of HTTP/2"),
    (b"CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n", "a tunnel"),
    (b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", "a tunnel to a host"),
    (b"\x16\x03\x01\x02\x00\x01\x00", "TLS"),
    (POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "a length twice"),
    (POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "two lengths"),
    (POST + b"Content-Length: 5, 5\r\n\r\nhello", "a list of lengths"),
    (POST + b"Content-Length: +5\r\n\r\nhello", "a sign"),
    (POST + b"Content-Length: 0x5\r\n\r\nhello", "another base"),
    (POST + b"Content-Length: \r\n\r\nhello", "an empty length"),
    (POST + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", "a length without end"),
    (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "both"),
    (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "both, reversed"),
    (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "chunks in HTTP/1.0"),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "another coding"),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "a coding twice"),
    (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "a hidden coding"),
    (CHUNKED + b"5\nhello\r\n0\r\n\r\n", "a chunk's length in a line feed"),
    (CHUNKED + b"5\r\nhello\n0\r\n\r\n", "a chunk that ends in a line feed"),
    (CHUNKED + b"5\r\nhelloXX0\r\n\r\n", "a chunk that is longer"),
    (CHUNKED + b"0\r\n\nGET /stolen HTTP/1.1\r\n", "an end in a line feed"),
    (CHUNKED + b"0\r\nX: y\r\n\r\n", "fields after the body"),
    (CHUNKED + b"-1\r\n\r\n", "a negative length"),
    (CHUNKED + b"f" * 30 + b"\r\n", "a chunk without end"),
]


@pytest.mark.parametrize("sent", [sent for sent, _ in REFUSED], ids=[name for _, name in REFUSED])
def test_an_ambiguous_or_malformed_request_is_refused(sent: bytes) -> None:
    for pieces in deliveries(sent):
        with pytest.raises(h11.RemoteProtocolError):
            read(*pieces)


def test_nothing_more_is_read_after_a_refusal() -> None:
    connection = StrictConnection()
    connection.receive_data(b"GET / HTTP/1.1\nHost: x\n\n")
    for _ in range(2):
        with pytest.raises(h11.RemoteProtocolError):
            connection.next_event()
        connection.receive_data(GET + b"\r\n")
    assert connection.refused_with == 400


def test_the_size_of_a_head_is_bounded() -> None:
    line = b"X-A: " + b"a" * (MAX_LINE - 5) + b"\r\n"
    assert head_problem(GET + line + b"\r\n") is None
    assert head_problem(GET + b"a" + line + b"\r\n") == (431, "a line is too long")
    assert head_problem(GET + line * 9 + b"\r\n") == (431, "a line is too long")
    fields = b"X-A: 1\r\n" * (MAX_HEADERS - 1)
    assert head_problem(GET + fields + b"\r\n") is None
    assert head_problem(GET + fields + b"X-A: 1\r\n\r\n") == (431, "too many headers")


def test_a_head_without_end_is_refused_at_its_bound() -> None:
    with pytest.raises(h11.RemoteProtocolError) as refused:
        read(GET + b"X: " + b"a" * MAX_HEAD)
    assert refused.value.error_status_hint == 431


@pytest.mark.parametrize(
    "line",
    [b"0;" + b" " * 60_000 + b"\n\r\n", b"0\r\na:" + b" " * 60_000 + b"\x0b\r\n\r\n"],
    ids=["a chunk", "a field after the body"],
)
def test_lines_that_h11_reads_in_quadratic_time_are_refused(line: bytes) -> None:
    def refused() -> None:
        for pieces in ([line], [line[:9], line[9:]]):
            with pytest.raises(h11.RemoteProtocolError):
                read(CHUNKED, *pieces)

    assert seconds(refused, 0.1) < 0.1


def test_a_body_of_tiny_chunks_is_refused() -> None:
    few = b"1\r\na\r\n" * FREE_CHUNKS
    assert read(CHUNKED + few + b"0\r\n\r\n")[1] == b"a" * FREE_CHUNKS
    with pytest.raises(h11.RemoteProtocolError, match="too small"):
        read(CHUNKED + few + b"1\r\na\r\n")
    large = b"80\r\n" + b"a" * 128 + b"\r\n"
    assert len(read(CHUNKED + large * 1000 + b"0\r\n\r\n")[1]) == 128_000
