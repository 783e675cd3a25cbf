"""The process that recognises speech on this machine: `python -m gateway.speech.local_child FOLDER
THREADS`.

It reads a request from its standard input and writes one line of JSON for each to its standard
output; the first line tells that the model is loaded. A request is the length of its head in four
bytes, the head as JSON (`size`, `kind`, `language`, `most_seconds`), and the recording. After the
first line the process can open no further file and no connection: the recordings are of strangers.
"""

import io
import json
import os
import struct
import sys
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

RATE: Final = 16_000
"""Samples a second, as the model takes them."""
MAX_MEMORY: Final = 4 * 1024**3
"""Bytes of address space: the libraries reserve much more than they use."""
MAX_HEAD: Final = 10_000
FORMATS: Final = {
    "ogg": "ogg", "webm": "matroska", "m4a": "mov", "wav": "wav", "flac": "flac", "mp3": "mp3",
    "aac": "aac", "amr": "amr", "caf": "caf",
}  # fmt: skip
"""The library's names of formats. Each recording is read as the one that it begins as: other
formats of the library are lists of further files."""


class Unusable(Exception):
    """The recording is not recognised; the text is a `SpeechProblem`."""


def samples_of(data: bytes, kind: str, most_seconds: float) -> "np.ndarray[Any, Any]":
    """Return a recording as samples. It is decoded frame by frame, and no further than it may be
    long, whatever its header says. Raises `Unusable`."""
    import av  # noqa: PLC0415 - of an extra
    import numpy as np  # noqa: PLC0415 - of an extra

    name = FORMATS.get(kind)
    if name is None:
        raise Unusable("unreadable")
    pieces: list[np.ndarray[Any, Any]] = []
    count, most = 0, int(most_seconds * RATE)
    try:
        with av.open(io.BytesIO(data), mode="r", format=name, metadata_errors="ignore") as opened:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            stream = opened.streams.audio[0]
            for frame in opened.decode(stream):
                for made in resampler.resample(frame):
                    pieces.append(made.to_ndarray().reshape(-1))
                    count += pieces[-1].size
                if count > most:
                    raise Unusable("too_long")
    except (av.FFmpegError, IndexError, ValueError) as error:
        if not count:
            raise Unusable("unreadable") from error
    if not count:
        raise Unusable("silent")
    return np.concatenate(pieces).astype(np.float32) / 32_768.0


def heard(model: Any, data: bytes, head: dict[str, Any]) -> dict[str, object]:
    """Return the answer to a request."""
    try:
        samples = samples_of(data, head["kind"], head["most_seconds"])
        segments, told = model.transcribe(
            samples,
            language=head["language"] or None,
            beam_size=5,
            vad_filter=True,
            condition_on_previous_text=False,
        )
        text = " ".join(" ".join(one.text for one in segments).split())
    except Unusable as error:
        return {"problem": str(error)}
    except Exception as error:  # noqa: BLE001 - the parent logs it; the next recording may be sound
        return {"problem": "failed", "reason": f"{type(error).__name__}: {error}"[:300]}
    if not text:
        return {"problem": "silent"}
    return {"text": text, "language": told.language, "seconds": len(samples) / RATE}


def main(folder: str, threads: str) -> None:
    """Load the model and answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library may print
    _limit("AS", MAX_MEMORY)
    _limit("CORE", 0)
    from faster_whisper import WhisperModel  # noqa: PLC0415 - of an extra

    model = WhisperModel(
        folder, device="cpu", compute_type="int8", cpu_threads=int(threads), local_files_only=True
    )
    _warm(model)
    _limit("FSIZE", 0)
    _limit("NOFILE", 1 + max(int(name) for name in os.listdir("/proc/self/fd")))
    _write(answers, {"ready": True})
    while (request := _request(sys.stdin.buffer)) is not None:
        head, data = request
        _write(answers, heard(model, data, head))


def _warm(model: Any) -> None:
    """Let the libraries read what they read late, while files can still be opened."""
    import wave  # noqa: PLC0415 - for this alone

    made = io.BytesIO()
    with wave.open(made, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(48_000)
        sound.writeframes(os.urandom(96_000))
    head = {"kind": "wav", "language": "", "most_seconds": 10.0}
    heard(model, made.getvalue(), head)
    for _ in model.transcribe(samples_of(made.getvalue(), "wav", 10.0), language="en")[0]:
        pass  # without the search for speech, so that the model itself runs once


def _limit(name: str, most: int) -> None:
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - of this system

        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))


def _request(source: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    length = source.read(4)
    if len(length) < 4:
        return None
    (size,) = struct.unpack(">I", length)
    if size > MAX_HEAD:
        return None
    head = json.loads(source.read(size))
    data = source.read(head["size"])
    return (head, data) if len(data) == head["size"] else None


def _write(target: IO[str], answer: dict[str, object]) -> None:
    target.write(json.dumps(answer) + "\n")
    target.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])
