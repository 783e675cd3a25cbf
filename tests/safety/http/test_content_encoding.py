"""Packed bodies are unpacked whole, within the room that is given."""

import gzip
import zlib

import pytest

from safety.http.bounded_body import MAX_MEMBERS, Undecodable, Unpacker

TEXT = b"one two three " * 50
PARTS = gzip.compress(TEXT) + gzip.compress(b"") + gzip.compress(b"four")


def unpacked(body: bytes, step: int, encoding: str = "gzip", room: int = 10_000) -> bytes:
    unpacker = Unpacker(encoding)
    steps = range(0, len(body), step)
    return b"".join(unpacker.feed(body[at : at + step], room) for at in steps)


@pytest.mark.parametrize("step", [1, 7, 64, 100_000])
def test_all_parts_of_a_gzip_body_are_read(step: int) -> None:
    assert unpacked(PARTS, step) == TEXT + b"four"


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "identity"])
def test_a_body_in_one_part_is_read(encoding: str) -> None:
    packed = {"deflate": zlib.compress(TEXT), "identity": TEXT}.get(encoding, gzip.compress(TEXT))
    assert unpacked(packed, 64, encoding) == TEXT


def test_the_room_counts_for_all_parts_together() -> None:
    body = gzip.compress(b"a" * 5_000) * 10
    assert len(Unpacker("gzip").feed(body, 12_000)) == 12_000


def test_what_stands_behind_the_body_is_left_out() -> None:
    assert unpacked(gzip.compress(TEXT) + b"\0\0\0garbage", 100_000) == TEXT


def test_too_many_parts_are_refused() -> None:
    body = gzip.compress(b"") * (MAX_MEMBERS + 1)
    with pytest.raises(Undecodable, match="parts"):
        unpacked(body, 65_536)


def test_a_body_that_ends_too_early_is_not_complete() -> None:
    unpacker = Unpacker("gzip")
    unpacker.feed(gzip.compress(TEXT)[:-6], 10_000)
    assert not unpacker.complete
