"""Measures what is lost and what comes twice when Redis loses its data, or data is restored.

    python -m benchmarks.losses                          every fault, 600 messages each
    python -m benchmarks.losses --fault empty --messages 1500

One adapter and two workers answer a simulated Telegram, with a real Redis, a real PostgreSQL and a
model that takes 300 ms. People write 15 messages a second. In the middle:

    empty        FLUSHALL
    older        Redis is stopped, and starts with a copy of its file from some seconds before
    restored     everything stops; PostgreSQL (pg_dump) and Redis are restored from copies made one
                 after the other while messages flowed, and everything starts again
    unmatched    the same with the copy of Redis made ten seconds before that of PostgreSQL

`after_copy` are messages without an answer that were accepted between the copy of Redis and the
stop: nothing that was restored knows them. `lost` are all others without an answer. `said` is what
`/readyz` says about it 5 and 30 seconds later.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import redis.asyncio
import yaml

from benchmarks.faults.program import Program, write_config
from benchmarks.faults.verdict import NOTE, judge
from benchmarks.faults.world import World
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.support.ports import free_port
from tests.support.servers import (
    PostgresServer,
    RedisServer,
    postgres_binary,
    postgres_server,
    redis_server,
)

FAULTS: Final = ("empty", "older", "restored", "unmatched")
PER_SECOND: Final = 15.0
MODEL_SECONDS: Final = 0.3
ALWAYS: Final = 10**9
PATIENCE: Final = 60.0
STEP: Final = 30.0
"""Seconds without a new answer after which no further one is expected."""


@dataclass
class Run:
    """One fault on one installation."""

    fault: str
    messages: int
    world: World
    config: Path
    log: Path
    redis: RedisServer
    postgres: PostgresServer
    folder: Path
    ports: list[int]
    programs: list[Program] = field(default_factory=list)
    copied_at: int = 0
    stopped_at: int = 0

    async def run(self) -> dict[str, object]:
        """Write, play the fault in the middle, wait, and count."""
        await self._start()
        writing = asyncio.create_task(self._write())
        await self._until(self.messages // 2)
        began = time.monotonic()
        await getattr(self, f"_{self.fault}")()
        said = [await self._said(began + 5), await self._said(began + 30)]
        await writing
        await self._settled()
        for program in self.programs:
            await program.stop()
        return self._counts(said)

    async def _write(self) -> None:
        while self.world.written < self.messages:
            await self.world.write()
            await asyncio.sleep(1 / PER_SECOND)

    async def _until(self, written: int) -> None:
        while self.world.written < written:  # noqa: ASYNC110 - people write at their own rate
            await asyncio.sleep(0.01)

    async def _settled(self) -> None:
        until, before = time.monotonic() + PATIENCE, -1
        while time.monotonic() < until and self.world.answered() < self.messages:
            if self.world.messages() != before:
                until, before = time.monotonic() + STEP, self.world.messages()
            await asyncio.sleep(0.2)
        await asyncio.sleep(2)

    # --- faults -----------------------------------------------------------------------------------

    async def _empty(self) -> None:
        async with redis.asyncio.from_url(self.redis.url) as client:
            await client.flushall()

    async def _older(self) -> None:
        copy = self._copy_redis()
        await self._until(self.world.written + 60)
        self.redis.stop()
        self.stopped_at = self.world.written
        self._put_back_redis(copy)
        self.redis.start()

    async def _restored(self) -> None:
        copy = self._copy_redis()
        dump = self._dump()
        await self._back(copy, dump)

    async def _unmatched(self) -> None:
        copy = self._copy_redis()
        await self._until(self.world.written + 150)
        dump = self._dump()
        await self._back(copy, dump)

    async def _back(self, copy: Path, dump: Path) -> None:
        await self._until(self.world.written + 60)
        for program in self.programs:
            await program.stop()
        self.stopped_at = self.world.written
        self.redis.stop()
        self._put_back_redis(copy)
        self.redis.start()
        self._pg(
            "pg_restore",
            "--clean",
            "--if-exists",
            "--single-transaction",
            "-d",
            self._url,
            str(dump),
        )
        await self._start()

    def _copy_redis(self) -> Path:
        self.copied_at = self.world.written
        target = Path(tempfile.mkdtemp(dir=self.folder)) / "redis"
        shutil.copytree(self.redis.folder, target)
        return target

    def _put_back_redis(self, copy: Path) -> None:
        for old in self.redis.folder.iterdir():
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copytree(copy, self.redis.folder, dirs_exist_ok=True)

    def _dump(self) -> Path:
        target = Path(tempfile.mkdtemp(dir=self.folder)) / "dump"
        self._pg("pg_dump", "--format=custom", f"--file={target}", self._url)
        return target

    def _pg(self, program: str, *arguments: str) -> None:
        subprocess.run([postgres_binary(program), *arguments], check=True, capture_output=True)

    @property
    def _url(self) -> str:
        return self.postgres.url

    # --- processes --------------------------------------------------------------------------------

    async def _start(self) -> None:
        self.programs = []
        for role, port in zip(("adapter", "worker", "worker"), self.ports, strict=True):
            config = self.config.with_name(f"{role}-{port}.yaml")
            settings = yaml.safe_load(self.config.read_text())
            settings["server"] = {"port": port}
            config.write_text(yaml.safe_dump(settings))
            program = Program(config, self.log, "--role", role)
            await program.start()
            self.programs.append(program)
        for program in self.programs:
            await program.ready()

    async def _said(self, at: float) -> str:
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        return await asyncio.to_thread(_readiness, self.ports[1])

    def _counts(self, said: list[str]) -> dict[str, object]:
        answers, written = self.world.answers(), self.world.written
        verdict = judge(answers, written, self.world.handed(), ALWAYS)
        given = Counter(n for numbers in answers.values() for n in numbers)
        unanswered = set(range(written)) - set(given)
        between = set(range(self.copied_at, self.stopped_at))
        return {
            "benchmark": "losses",
            "fault": self.fault,
            "messages": written,
            "lost": len(unanswered - between),
            "after_copy": len(unanswered & between),
            "twice": verdict.answered_twice,
            "twice_without_note": verdict.twice_without_note,
            "notes": given[NOTE],
            "out_of_order": verdict.out_of_order,
            "said_after_5_s": said[0],
            "said_after_30_s": said[1],
        }


def _readiness(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=3) as answer:
            state = json.load(answer)
    except OSError as error:
        return str(error)
    return json.dumps(state.get("problems", {}))


async def measure(fault: str, messages: int, log: Path) -> dict[str, object]:
    """One fault."""
    async with AsyncExitStack() as stack:
        platform, model, port = TelegramSimulator(), AnthropicSimulator(), free_port()
        model.faults.add(Fault("*", "slow", times=ALWAYS, delay=MODEL_SECONDS))
        await platform.start()
        stack.push_async_callback(platform.stop)
        await model.start()
        stack.push_async_callback(model.stop)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = stack.enter_context(redis_server())
        postgres = stack.enter_context(postgres_server())
        stores = {"storage": {"url": store.url}, "database": {"url": postgres.url}}
        config = write_config(folder, platform, model, port, stores)
        ports = [free_port() for _ in range(3)]
        run = Run(fault, messages, World(platform), config, log, store, postgres, folder, ports)
        try:
            return await run.run()
        finally:
            for program in run.programs:
                await program.kill()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.losses")
    parser.add_argument("--fault", choices=FAULTS, action="append")
    parser.add_argument("--messages", type=int, default=600)
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    for fault in arguments.fault or FAULTS:
        log = arguments.log or Path(tempfile.mkstemp(suffix=".log")[1])
        print(json.dumps(asyncio.run(measure(fault, arguments.messages, log))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
