"""A recogniser and a speaker that do what a test wants, and recordings of known lengths."""

import struct
from dataclasses import dataclass, field

from gateway.ports.speech import Clip, Heard, SpeechError, Spoken
from gateway.speech.containers import opus_seconds

TWENTY_MS = bytes([0x78])
"""The first byte of a packet of CELT with one frame of 20 ms."""


def ogg_opus(packets: int, *, first: bytes = TWENTY_MS, granule: int = 0, size: int = 40) -> bytes:
    """OGG with Opus of so many packets. `granule` is the length that the last page claims."""
    made = [_page([b"OpusHead" + bytes(11)], 0), _page([b"OpusTags" + bytes(8)], 0)]
    bodies = [(first + bytes(size - len(first)))] * packets
    made += [_page(bodies[at : at + 50], granule) for at in range(0, packets, 50)]
    return b"".join(made)


def _page(packets: list[bytes], granule: int) -> bytes:
    pieces = b"".join(bytes([255] * (len(one) // 255) + [len(one) % 255]) for one in packets)
    head = struct.pack("<4sBBqIIIB", b"OggS", 0, 0, granule, 1, 0, 0, len(pieces))
    return head + pieces + b"".join(packets)


@dataclass
class StubRecogniser:
    """Hears the same in every recording, or fails with a problem."""

    heard: Heard | SpeechError = field(default_factory=lambda: Heard("hello", "en", 1.0))
    clips: list[Clip] = field(default_factory=list)

    async def recognise(self, clip: Clip) -> Heard:
        self.clips.append(clip)
        if isinstance(self.heard, SpeechError):
            raise self.heard
        return self.heard

    async def close(self) -> None:
        pass


@dataclass
class StubSpeaker:
    """Speaks a second for every text, or fails with a problem."""

    problem: SpeechError | None = None
    texts: list[tuple[str, str]] = field(default_factory=list)

    async def speak(self, text: str, language: str) -> Spoken:
        self.texts.append((text, language))
        if self.problem is not None:
            raise self.problem
        data = ogg_opus(50)
        return Spoken(data, opus_seconds(data) or 0.0, b"\x10\x20")

    async def close(self) -> None:
        pass
