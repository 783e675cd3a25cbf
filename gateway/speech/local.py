"""Speech recognised on this machine, in a process of its own: a recording of a stranger is decoded
there, and the model takes no memory of this process.

The process starts with the first recording and ends after `IDLE_SECONDS` without one. It takes one
recording at a time, and is killed when one takes too long.
"""

import asyncio
import json
import os
import struct
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast, get_args

import structlog

from gateway.ports.clock import AlarmClock
from gateway.ports.speech import MAX_HEARD, Clip, Heard, SpeechError, SpeechProblem
from gateway.speech.containers import kind_of
from safety.process_group import end_group, kill_group, started_in_group

LIBRARIES: Final = ("faster_whisper",)
FILES: Final = ("model.bin", "config.json", "tokenizer.json")
START_SECONDS: Final = 60.0
"""Seconds for the start of the process, in which it loads the libraries and the model."""
BASE_SECONDS: Final = 30.0
FACTOR: Final = 2.0
"""Seconds that a recording may take: `BASE_SECONDS`, and so many for each second of it."""
IDLE_SECONDS: Final = 300.0
WAIT_SECONDS: Final = 120.0
MAX_WAITING: Final = 8
"""Recordings that wait at once for those before them, and how long."""
MAX_LINE: Final = 1024 * 1024
MAX_THREADS: Final = 4
_KEPT: Final = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR")
"""Variables of the environment that the process gets: none with a key or a password."""

log = structlog.get_logger(__name__)


def missing(folder: Path) -> str:
    """Return what is missing to recognise speech with a model, empty for nothing: a file of its
    folder, or a library."""
    if absent := [name for name in FILES if not (folder / name).is_file()]:
        return f"{folder} has no {absent[0]}"
    return next(
        (f"the library {one} is not installed" for one in LIBRARIES if not find_spec(one)), ""
    )


class LocalRecogniser:
    """Implements `Recogniser` with the model of a folder."""

    def __init__(
        self,
        folder: Path,
        clock: AlarmClock,
        *,
        most_seconds: float = 300.0,
        threads: int = 0,
        command: tuple[str, ...] = (sys.executable, "-m", "gateway.speech.local_child"),
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._most = most_seconds
        self._threads = threads or min(MAX_THREADS, os.cpu_count() or 1)
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._one = asyncio.Lock()
        self._waiting = 0
        self._not_idle: Callable[[], object] | None = None

    @property
    def process_id(self) -> int | None:
        """The id of the process, None while there is none."""
        return self._process.pid if self._process is not None else None

    async def recognise(self, clip: Clip) -> Heard:
        kind = kind_of(clip.data)
        if not kind:
            raise SpeechError("unreadable", "the format is not known")
        if self._waiting >= MAX_WAITING:
            raise SpeechError("busy", f"{self._waiting} recordings wait already")
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._one.acquire()
        except TimeoutError:
            raise SpeechError("busy", "the recordings before took too long") from None
        finally:
            self._waiting -= 1
        try:
            return await self._recognised(clip, kind)
        finally:
            self._one.release()

    async def _recognised(self, clip: Clip, kind: str) -> Heard:
        if self._not_idle is not None:
            self._not_idle()
            self._not_idle = None
        done = False
        try:
            answer = await self._answered(clip, kind)
            done = True
        except TimeoutError:
            raise SpeechError("too_slow", "the process was not finished in time") from None
        except (OSError, ValueError, EOFError) as error:
            raise SpeechError("failed", f"the process ended: {error}") from error
        finally:
            if not done:  # also when the turn is stopped: the answer of this one would come next
                await self._end()
        self._not_idle = self._clock.after(IDLE_SECONDS, self._end_idle)
        return _heard(answer)

    async def _answered(self, clip: Clip, kind: str) -> dict[str, Any]:
        process = self._process
        if process is None or process.returncode is not None:
            process = await self._start()
        head = {
            "size": len(clip.data),
            "kind": kind,
            "language": clip.language,
            "most_seconds": self._most,
        }
        written = json.dumps(head).encode()
        long = self._most if clip.seconds is None else min(clip.seconds, self._most)
        async with asyncio.timeout(BASE_SECONDS + FACTOR * long):
            assert process.stdin is not None  # noqa: S101 - it is a pipe
            process.stdin.write(struct.pack(">I", len(written)) + written)
            process.stdin.write(clip.data)
            await process.stdin.drain()
            return await _line(process)

    async def _start(self) -> asyncio.subprocess.Process:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        command = (*self._command, str(self._folder), str(self._threads))
        environment["HF_HUB_OFFLINE"] = "1"
        process = await started_in_group(command, environment, Path.cwd(), MAX_LINE)
        self._process = process
        async with asyncio.timeout(START_SECONDS):
            if not (await _line(process)).get("ready"):
                raise ValueError("the model was not loaded")
        log.info("speech_process_started", folder=str(self._folder))
        return process

    def _end_idle(self) -> None:
        process = self._process
        if process is not None and not self._one.locked():
            kill_group(process.pid)
            self._process = None

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await end_group(process)

    async def close(self) -> None:
        if self._not_idle is not None:
            self._not_idle()
        await self._end()


async def _line(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise EOFError("without an answer")
    answer = json.loads(line)
    if not isinstance(answer, dict):
        raise ValueError("an answer that is no object")
    return answer


def _heard(answer: dict[str, Any]) -> Heard:
    if problem := answer.get("problem"):
        known = problem if problem in get_args(SpeechProblem) else "failed"
        raise SpeechError(cast("SpeechProblem", known), str(answer.get("reason", ""))[:300])
    text = str(answer.get("text", "")).strip()[:MAX_HEARD]
    if not text:
        raise SpeechError("silent")
    return Heard(text, str(answer.get("language", ""))[:20], float(answer.get("seconds", 0.0)))
