"""The speech service of the demo, and the recording that its people send.

The service recognises nothing: it knows the one recording, which is silent, and the words that the
story has for it.
"""

import struct
from collections.abc import Iterator
from functools import cache
from typing import Final

from simulators.base import SimFile
from simulators.openai import OpenAISimulator

WORDS: Final = "What do you know about tabs?"
"""The words of the recording."""
ELSEWHERE: Final = "something that the speech service of the demo does not know"
MODEL: Final = "demo-speech"
SECONDS: Final = 3
SILENCE: Final = b"\xf8\xff\xfe"
"""A packet of Opus with 20 ms of silence."""
_SAMPLES: Final = 960
_PER_PAGE: Final = 50
_SERIAL: Final = 7


def speech_service() -> OpenAISimulator:
    """Return the service, not yet started."""
    service = OpenAISimulator(api_key="", lists_models=False)
    service.speech.hears = lambda data: WORDS if data == recording() else ELSEWHERE
    service.speech.spoken = recording()
    service.speech.seconds = float(SECONDS)
    return service


def voice_file() -> SimFile:
    """The voice message as Telegram's app sends it."""
    return SimFile("voice.oga", "audio/ogg", recording())


def section_of(service: OpenAISimulator) -> dict[str, object]:
    """The section `voice` of the demo's configuration."""
    return {
        "recogniser": "endpoint",
        "base_url": service.base_url,
        "model": MODEL,
        "speech": {"base_url": service.base_url, "model": MODEL, "price_per_thousand": 0},
    }


@cache
def recording() -> bytes:
    """OGG with Opus: some seconds of silence (RFC 3533, RFC 7845)."""
    head = struct.pack("<8sBBHIhB", b"OpusHead", 1, 1, 312, 48_000, 0, 0)
    tags = struct.pack("<8sI6sI", b"OpusTags", 6, b"parley", 0)
    pages = [_page([head], 0, 0, 2), _page([tags], 0, 1, 0)]
    count = SECONDS * 50 // _PER_PAGE
    for number in range(count):
        samples = (number + 1) * _PER_PAGE * _SAMPLES
        last = 4 if number == count - 1 else 0
        pages.append(_page([SILENCE] * _PER_PAGE, samples, number + 2, last))
    return b"".join(pages)


def _page(packets: list[bytes], samples: int, number: int, kind: int) -> bytes:
    sizes = bytes(len(one) for one in packets)
    head = struct.pack("<4sBBqII", b"OggS", 0, kind, samples, _SERIAL, number)
    rest = bytes([len(sizes)]) + sizes + b"".join(packets)
    return head + struct.pack("<I", _checksum(head + bytes(4) + rest)) + rest


def _checksum(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8 & 0xFFFFFFFF) ^ _TABLE[value >> 24 ^ byte]
    return value


def _table() -> Iterator[int]:
    for value in range(256):
        rest = value << 24
        for _ in range(8):
            rest = (rest << 1 ^ (0x04C11DB7 if rest & 0x80000000 else 0)) & 0xFFFFFFFF
        yield rest


_TABLE: Final = tuple(_table())
