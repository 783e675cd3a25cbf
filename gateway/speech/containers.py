"""Measures recordings without decoding them, by what is in them and not by what their headers say.

OGG: RFC 3533; Opus in OGG: RFC 7845; packets of Opus: RFC 6716, section 3.1.
"""

import math
from collections.abc import Iterator
from math import inf
from typing import Final

_PAGE: Final = b"OggS"
_PAGE_HEAD: Final = 27
_RATE: Final = 48_000
MAX_PIECES: Final = 250_000
"""Pieces of packets that are read, which takes less than 100 ms; an hour of a platform's voice
message has 180,000."""
_FRAME_SAMPLES: Final = (
    *(480, 960, 1_920, 2_880) * 3,  # SILK
    *(480, 960) * 2,  # hybrid
    *(120, 240, 480, 960) * 4,  # CELT
)
"""Samples of a frame by the upper five bits of a packet's first byte."""
WAVES: Final = 100
"""Parts of a waveform."""
MAX_FRAMES: Final = 48
"""Frames of one packet."""
_KINDS: Final = (
    (b"OggS", 0, "ogg"),
    (b"\x1aE\xdf\xa3", 0, "webm"),
    (b"ftyp", 4, "m4a"),
    (b"RIFF", 0, "wav"),
    (b"fLaC", 0, "flac"),
    (b"ID3", 0, "mp3"),
    (b"\xff\xfb", 0, "mp3"),
    (b"\xff\xf3", 0, "mp3"),
    (b"\xff\xf1", 0, "aac"),
    (b"\xff\xf9", 0, "aac"),
    (b"#!AMR", 0, "amr"),
    (b"caff", 0, "caf"),
)


def kind_of(data: bytes) -> str:
    """Return the kind of a recording ("ogg", "webm", "m4a", …), by its first bytes; empty for
    anything that is not known."""
    return next((kind for lead, at, kind in _KINDS if data[at : at + len(lead)] == lead), "")


def opus_seconds(data: bytes) -> float | None:
    """Return the length of OGG with Opus: that of its packets, which no header can shorten. None
    for other content, and infinity for more pieces than are read."""
    samples, heads, known = 0, 2, False
    for packet in _packets(data):
        if packet is None:
            return inf
        if heads:
            known |= packet.startswith(b"OpusHead")
            heads -= 1
            continue
        samples += _samples(packet)
    return samples / _RATE if known else None


def _packets(data: bytes) -> Iterator[bytes | None]:
    """Yield the first bytes of each packet, as many as tell its length; None at last if there are
    more than are read."""
    at, begun, left = 0, b"", MAX_PIECES
    while left > 0:
        if data[at : at + 4] != _PAGE or len(data) < at + _PAGE_HEAD:
            at = data.find(_PAGE, at)
            if at < 0 or len(data) < at + _PAGE_HEAD:
                return
        count = data[at + 26]
        sizes = data[at + _PAGE_HEAD : at + _PAGE_HEAD + count]
        at += _PAGE_HEAD + count
        left -= count + 1
        for size in sizes:
            if len(begun) < 8:
                begun += data[at : at + min(size, 8)]
            at += size
            if size < 255:
                if begun:
                    yield begun
                begun = b""
    yield None


def opus_waveform(data: bytes) -> bytes:
    """Return the loudness of OGG with Opus from its beginning to its end, in at most `WAVES` bytes.
    It follows the sizes of the packets, which are larger where more is heard."""
    sizes = [size for size in _packet_sizes(data) if size][2:]
    if not sizes:
        return b""
    step = max(1, math.ceil(len(sizes) / WAVES))
    parts = [sum(sizes[at : at + step]) / step for at in range(0, len(sizes), step)]
    loudest = max(parts)
    return bytes(round(255 * part / loudest) for part in parts)


def _packet_sizes(data: bytes) -> Iterator[int]:
    at, size = data.find(_PAGE), 0
    for _ in range(MAX_PIECES):
        if at < 0 or data[at : at + 4] != _PAGE or len(data) < at + _PAGE_HEAD:
            return
        count = data[at + 26]
        pieces = data[at + _PAGE_HEAD : at + _PAGE_HEAD + count]
        for piece in pieces:
            size += piece
            if piece < 255:
                yield size
                size = 0
        at += _PAGE_HEAD + count + sum(pieces)


def _samples(packet: bytes) -> int:
    frame = _FRAME_SAMPLES[packet[0] >> 3]
    code = packet[0] & 3
    frames = (1, 2, 2)[code] if code < 3 else packet[1] & 63 if len(packet) > 1 else 0
    return frame * min(frames, MAX_FRAMES)


def file_name(name: str, kind: str) -> str:
    """Return a plain name whose ending tells the kind: services look at it before the content."""
    stem = "".join(char for char in name.rpartition(".")[0] or name if char.isascii())
    stem = "".join(char for char in stem if char.isalnum() or char in "-_")[:40]
    return f"{stem or 'voice'}.{kind}"
