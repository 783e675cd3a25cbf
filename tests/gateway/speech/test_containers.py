"""Recordings are measured by what is in them."""

import math
import time

import pytest

from gateway.speech.containers import (
    MAX_PIECES,
    WAVES,
    file_name,
    kind_of,
    opus_seconds,
    opus_waveform,
)
from tests.support.speech import ogg_opus

TEN_HOURS = 36_000 * 48_000


def test_the_length_is_that_of_the_packets_whatever_the_header_claims() -> None:
    assert opus_seconds(ogg_opus(500)) == pytest.approx(10)
    assert opus_seconds(ogg_opus(50, granule=TEN_HOURS)) == pytest.approx(1)
    assert opus_seconds(ogg_opus(500, granule=48_000)) == pytest.approx(10)


@pytest.mark.parametrize(
    ("first", "seconds"),
    [
        (bytes([0x08]), 0.02),  # SILK, 20 ms, one frame
        (bytes([0x19]), 0.12),  # SILK, 60 ms, two frames
        (bytes([0x80]), 0.0025),  # CELT, 2.5 ms
        (bytes([0x7B, 5]), 0.1),  # hybrid, 20 ms, five frames
    ],
)
def test_every_kind_of_packet_has_its_length(first: bytes, seconds: float) -> None:
    assert opus_seconds(ogg_opus(10, first=first)) == pytest.approx(10 * seconds)


def test_a_cut_recording_has_the_length_of_its_beginning() -> None:
    whole = ogg_opus(500)
    measured = opus_seconds(whole[: len(whole) // 2])
    assert measured is not None
    assert 4 < measured < 6


@pytest.mark.parametrize("data", [b"", b"OggS", b"OggS" + bytes(200), b"\x1aE\xdf\xa3" + bytes(50)])
def test_other_content_has_no_length(data: bytes) -> None:
    assert opus_seconds(data) is None


def test_more_pieces_than_are_read_are_endless_and_take_little_time() -> None:
    page = b"OggS" + bytes(22) + bytes([255]) + bytes(255)
    began = time.process_time()
    assert opus_seconds(ogg_opus(10) + page * (2 * MAX_PIECES // 255)) == math.inf
    assert time.process_time() - began < 1


def test_the_kind_is_told_by_the_first_bytes() -> None:
    assert kind_of(ogg_opus(1)) == "ogg"
    assert kind_of(b"\x00\x00\x00\x20ftypM4A ") == "m4a"
    assert kind_of(b"#!AMR\n") == "amr"
    assert kind_of(b"#EXTM3U\n") == ""


def test_the_name_has_the_ending_of_the_content() -> None:
    assert file_name("voice.oga", "ogg") == "voice.ogg"
    assert file_name("../../etc/pässwd", "m4a") == "voice.m4a"
    assert file_name("", "webm") == "voice.webm"


def test_a_waveform_follows_the_sizes_of_the_packets() -> None:
    silent, loud = ogg_opus(200, size=10), ogg_opus(200, size=200)
    wave = opus_waveform(silent + loud[loud.find(b"OggS", 4) :])
    assert 2 <= len(wave) <= WAVES
    assert max(wave) == 255
    assert wave[0] < wave[-1]
