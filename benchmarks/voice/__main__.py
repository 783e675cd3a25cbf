"""`python -m benchmarks.voice FOLDER`: recognises the clips with the model of a folder, each once,
and prints the words wrong by language, the seconds and the memory of the process.

The clips are made: sentences of ours, spoken by Kokoro-82M (Apache 2.0) with its Japanese voices,
which give other languages an accent (French more than a listener follows); with noise 15 dB below
the voice, as OGG with Opus of 24 kbit/s.
"""

import argparse
import asyncio
import json
import re
import sys
import time
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from gateway.ports.clock import SystemClock
from gateway.ports.speech import Clip, SpeechError
from gateway.speech.local import LocalRecogniser, missing

CLIPS: Final = Path(__file__).with_name("clips")
BY_LETTER: Final = frozenset({"ja"})
"""Languages without spaces: letters are counted instead of words."""


@dataclass
class Result:
    """The result of one language. `wrong` of `words`: words (letters) that were replaced, added or
    left out."""

    words: int = 0
    wrong: int = 0
    spoken: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    examples: list[str] = field(default_factory=list)


def words_of(text: str, language: str) -> list[str]:
    """The words to compare: without case, marks and accents."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    found = re.findall(r"[^\W_]+", plain)
    return list("".join(found)) if language in BY_LETTER else found


def wrong_words(said: list[str], heard: list[str]) -> int:
    """The edit distance of two lists of words."""
    row = list(range(len(heard) + 1))
    for i, one in enumerate(said, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]


async def measured(folder: Path) -> None:
    """Recognise each clip, and print the result."""
    recogniser = LocalRecogniser(folder, SystemClock())
    clips = json.loads((CLIPS / "clips.json").read_text(encoding="utf-8"))
    results: dict[str, Result] = defaultdict(Result)
    began = time.monotonic()
    await _recognised(recogniser, clips[0], Result())
    started = time.monotonic() - began
    for clip in clips:
        await _recognised(recogniser, clip, results[clip["language"]])
    process = psutil.Process(recogniser.process_id)
    memory = process.memory_info()
    await recogniser.close()
    print("| language | words | wrong | seconds spoken | seconds | processor |")
    print("|---|--:|--:|--:|--:|--:|")
    total = Result()
    for language, one in results.items():
        print(_line(language, one))
        for name in ("words", "wrong", "spoken", "seconds", "cpu"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    print(_line("all", total))
    resident = memory.rss / 2**20
    print(f"\nStart with the first clip {started:.1f} s; {resident:.0f} MB resident.")
    for one in results.values():
        print("\n".join(one.examples))


async def _recognised(recogniser: LocalRecogniser, clip: dict[str, str], result: Result) -> None:
    data = (CLIPS / clip["file"]).read_bytes()
    began, used = time.monotonic(), _cpu(recogniser.process_id)
    try:
        heard = await recogniser.recognise(Clip(data, "audio/ogg", clip["file"]))
    except SpeechError as error:
        print(f"{clip['file']}: {error}", file=sys.stderr)
        text, seconds = "", 0.0
    else:
        text, seconds = heard.text, heard.seconds or 0.0
    said = words_of(clip["text"], clip["language"])
    wrong = wrong_words(said, words_of(text, clip["language"]))
    result.words += len(said)
    result.wrong += wrong
    result.spoken += seconds
    result.seconds += time.monotonic() - began
    result.cpu += _cpu(recogniser.process_id) - used
    if wrong:
        result.examples.append(f"{clip['file']}: {clip['text']} -> {text}")


def _cpu(process_id: int | None) -> float:
    if process_id is None:
        return 0.0
    times = psutil.Process(process_id).cpu_times()
    return float(times.user + times.system)


def _line(name: str, one: Result) -> str:
    return (
        f"| {name} | {one.words} | {one.wrong} | {one.spoken:.0f} | {one.seconds:.1f}"
        f" | {one.cpu:.1f} |"
    )


def main() -> int:
    """Measure; 2 where something is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder with a model of faster-whisper")
    folder = parser.parse_args().folder
    if problem := missing(folder):
        print(problem, file=sys.stderr)
        return 2
    asyncio.run(measured(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
