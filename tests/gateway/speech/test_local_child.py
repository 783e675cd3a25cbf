"""Decoding of recordings: real formats, and hostile ones. They need the libraries of the extra."""

import io
import struct
import wave
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.speech.containers import kind_of, opus_seconds
from gateway.speech.local_child import RATE, Unusable, heard, samples_of

av = pytest.importorskip("av")
np = pytest.importorskip("numpy")

CODECS = {"ogg": ("ogg", "libopus"), "webm": ("webm", "libopus"), "m4a": ("mp4", "aac")}


def tone(kind: str, seconds: float = 1.0, *, rate: int = 48_000) -> bytes:
    """A tone in a format of the platforms."""
    made = io.BytesIO()
    name, codec = CODECS[kind]
    with av.open(made, "w", format=name) as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        whole = np.sin(np.arange(int(seconds * rate)) * 0.05) * 8_000
        for at in range(0, len(whole), 960):
            piece = whole[at : at + 960].astype(np.int16).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, at
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return made.getvalue()


def wav(seconds: float, *, claimed: int | None = None) -> bytes:
    made = io.BytesIO()
    with wave.open(made, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(bytes(int(seconds * RATE) * 2))
    data = bytearray(made.getvalue())
    if claimed is not None:
        data[40:44] = struct.pack("<I", claimed)
    return bytes(data)


@pytest.mark.parametrize("kind", CODECS)
def test_the_formats_of_the_platforms_are_decoded(kind: str) -> None:
    data = tone(kind)
    assert kind_of(data) == kind
    samples = samples_of(data, kind, 10.0)
    assert len(samples) / RATE == pytest.approx(1.0, abs=0.1)
    assert np.abs(samples).max() > 0.1


def test_the_measured_length_is_that_of_the_decoder() -> None:
    data = tone("ogg", 2.5)
    assert opus_seconds(data) == pytest.approx(len(samples_of(data, "ogg", 10.0)) / RATE, abs=0.1)


@pytest.mark.parametrize("kind", CODECS)
def test_a_recording_is_decoded_no_further_than_it_may_be_long(kind: str) -> None:
    with pytest.raises(Unusable, match="too_long"):
        samples_of(tone(kind, 3.0), kind, 1.0)


def test_a_header_that_claims_hours_takes_no_memory() -> None:
    samples = samples_of(wav(1.0, claimed=2**31 - 1), "wav", 10.0)
    assert len(samples) / RATE == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"OggS" + bytes(500), "ogg"),
        (b"\x1aE\xdf\xa3" + bytes(500), "webm"),
        (b"#EXTM3U\nfile:///etc/passwd\n", "ogg"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "wav"),
        (b"of no known kind", ""),
    ],
    ids=["ogg", "webm", "playlist", "list", "unknown"],
)
def test_what_is_no_recording_is_unreadable(data: bytes, kind: str) -> None:
    with pytest.raises(Unusable, match="unreadable"):
        samples_of(data, kind, 10.0)


def test_a_cut_recording_gives_its_beginning() -> None:
    data = tone("ogg", 3.0)
    samples = samples_of(data[: len(data) * 2 // 3], "ogg", 10.0)
    assert 1 < len(samples) / RATE < 2.9


class _Model:
    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def transcribe(self, samples: Any, **options: object) -> tuple[list[Any], Any]:
        if self._texts == ("fail",):
            raise RuntimeError("out of memory")
        return [SimpleNamespace(text=one) for one in self._texts], SimpleNamespace(language="de")


def test_the_answer_has_text_language_and_length_or_a_problem() -> None:
    head = {"kind": "wav", "language": "", "most_seconds": 10.0}
    answer = heard(_Model(" Guten", " Tag. "), wav(1.0), head)
    assert (answer["text"], answer["language"]) == ("Guten Tag.", "de")
    assert answer["seconds"] == pytest.approx(1.0, abs=0.1)
    assert heard(_Model(), wav(1.0), head) == {"problem": "silent"}
    assert heard(_Model("fail"), wav(1.0), head)["problem"] == "failed"
    assert heard(_Model("x"), b"OggS", {**head, "kind": "ogg"}) == {"problem": "unreadable"}
