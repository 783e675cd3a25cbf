"""A burst of messages during which the program is killed and restarted at random moments."""

import asyncio
import contextlib
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.faults.program import Program, unsent, write_config
from benchmarks.faults.verdict import Kills, Verdict, judge
from benchmarks.faults.world import CHATS, PLATFORMS, SEND, World, marks
from parley.runtime import Role
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from tests.support.ports import free_port
from tests.support.servers import postgres_server, redis_server

MODEL_SECONDS: Final = 0.05
PIECE_SECONDS: Final = 0.5
SEND_SECONDS: Final = 0.03
"""The time that the platform takes to answer a send."""
ALWAYS: Final = 10**9
PER_SECOND: Final = 100.0
"""Messages that people write, also while the program is down."""
EARLY: Final = 0.2
"""The share of the kills that come while the program still starts, within `START_SECONDS`. The
others come after a random number of the answers that are due."""
START_SECONDS: Final = 1.0
LIFE_SECONDS: Final = 10.0
"""A program that has not got as far by then is killed all the same."""
QUIET_SECONDS: Final = 0.1
QUIET_TIMES: Final = 3
ARRIVAL_SECONDS: Final = 10.0
"""A killed program's sends have reached the platform after this many consecutive periods without a
new one, on an unblocked loop; after the longest time in any case."""
LOOK_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 120.0
"""The time limit until the next answer, after the last start. On a machine that others use
up, all of them together take as long as they take."""
SETTLE_SECONDS: Final = 2.0
"""Until what comes twice has come."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run. `victim` is the role that is killed; one worker and one adapter stay alive
    beside it, unless it is "all". `live`: the model writes slowly, and people see the answer
    grow."""

    platform: str
    kills: int
    messages: int
    victim: Role = "all"
    seed: int = 1
    live: bool = False


@dataclass
class Burst:
    """One run of a plan."""

    plan: Plan
    world: World
    config: Path
    log: Path
    due: int = 0
    in_flight: list[int] = field(default_factory=list)
    unanswered: list[int] = field(default_factory=list)
    restarts: list[float] = field(default_factory=list)
    while_starting: int = 0
    standing: Counter[int] = field(default_factory=Counter)

    async def run(self) -> tuple[Verdict, Kills]:
        """Write, kill, start again; in the end wait for what is still to come."""
        moments = random.Random(self.plan.seed)
        others = {"all": (), "worker": ("adapter", "worker"), "adapter": ("worker", "worker")}
        async with AsyncExitStack() as stack:
            for role in others[self.plan.victim]:
                beside = self._program(role)
                stack.push_async_callback(beside.stop)
                await beside.start()
                await beside.ready()
            writing = asyncio.create_task(self._write())
            stack.push_async_callback(_end, writing)
            for number in range(self.plan.kills):
                await self._life(number, moments)
            last = self._program(self.plan.victim)
            stack.push_async_callback(last.stop)
            await self._start(last)
            await writing
            await self._until_answered(self.plan.messages)
            await asyncio.sleep(SETTLE_SECONDS)
        kills = Kills(self.in_flight, self.unanswered, self.restarts, self.while_starting)
        allowed = 0 if self.plan.platform == "discord" else sum(self.in_flight)
        world = self.world
        return judge(world.answers(), world.written, world.handed(), allowed), kills

    async def _life(self, number: int, moments: random.Random) -> None:
        """Start the program and kill it, the first time after everybody has an answer."""
        program = self._program(self.plan.victim)
        early = number > 0 and moments.random() < EARLY
        try:
            if early:
                await program.start()
                await asyncio.sleep(moments.uniform(0.0, START_SECONDS))
                self.while_starting += 1
            else:
                await self._start(program)
                if not number:
                    await self._introduce()
                    self._go_on(number)
                await self._work(moments)
        finally:
            await program.kill()
        self.unanswered.append(self.world.written - self.world.answered())
        self._go_on(number + 1)
        await self._arrived()
        self.in_flight.append(await self._sent_unnoted())

    async def _start(self, program: Program) -> None:
        began = time.perf_counter()
        await program.start()
        await program.ready()
        self.restarts.append(time.perf_counter() - began)

    async def _work(self, moments: random.Random) -> None:
        """Return at some moment while answers go out."""
        due = self.due - self.world.answered()
        until = time.monotonic() + LIFE_SECONDS
        enough = self.world.sends() + moments.uniform(0, due)
        while self.world.sends() < enough:
            await asyncio.sleep(0.001)  # waking up with a send would make that the moment
            if time.monotonic() > until:
                break
        await asyncio.sleep(moments.uniform(0.0, SEND_SECONDS))

    async def _introduce(self) -> None:
        """Discord never tells of a first direct message that came while the bot was down."""
        await self.world.platform.wait_connected(PATIENCE_SECONDS)
        self.due = CHATS
        await self._until_answered(CHATS)

    def _go_on(self, life: int) -> None:
        """Let the messages of this life be written. The last life, which nobody ends, has some."""
        rest = self.plan.messages - CHATS
        self.due = CHATS + rest * (life + 1) // (self.plan.kills + 1)

    async def _write(self) -> None:
        while self.world.written < self.plan.messages:
            if self.world.written < self.due:
                await self.world.write()
            await asyncio.sleep(1 / PER_SECOND)

    async def _arrived(self) -> None:
        """Return when nothing that the killed program sent is on its way any more."""
        loop = asyncio.get_running_loop()
        until, quiet, stood = loop.time() + ARRIVAL_SECONDS, 0, -1
        while quiet < QUIET_TIMES and loop.time() < until:
            began = loop.time()
            await asyncio.sleep(QUIET_SECONDS)
            prompt = loop.time() - began < 2 * QUIET_SECONDS
            before, stood = stood, self.world.messages()
            quiet = quiet + 1 if prompt and stood == before else 0

    async def _sent_unnoted(self) -> int:
        """Sends that stand on the platform and, for the program, are still to be made; each copy
        counts at the kill that left it."""
        if self.plan.victim == "worker":
            return 0  # workers do not send
        answers = self.world.answers()
        copies = Counter(number for numbers in answers.values() for number in numbers)
        new = 0
        for body in await unsent(self.config):
            for number in marks(body)[:1]:
                new += copies[number] - self.standing[number]
                self.standing[number] = copies[number]
        return new

    async def _until_answered(self, count: int) -> None:
        until, before = time.monotonic() + PATIENCE_SECONDS, -1
        while (answered := self.world.answered()) < count:
            if answered > before:
                until, before = time.monotonic() + PATIENCE_SECONDS, answered
            await asyncio.sleep(LOOK_SECONDS)  # looking costs more than it is worth at each change
            if time.monotonic() > until:
                return

    def _program(self, role: str) -> Program:
        return Program(self.config, self.log, *(() if role == "all" else ("--role", role)))


@asynccontextmanager
async def prepared(plan: Plan, log: Path) -> AsyncIterator[Burst]:
    """The platform, the model and the databases of a plan."""
    async with AsyncExitStack() as stack:
        platform, model, port = PLATFORMS[plan.platform](), AnthropicSimulator(), free_port()
        model.faults.add(
            Fault("*", "slow_stream", times=ALWAYS, delay=PIECE_SECONDS)
            if plan.live
            else Fault("*", "slow", times=ALWAYS, delay=MODEL_SECONDS)
        )
        platform.faults.add(Fault(SEND[plan.platform], "slow", times=ALWAYS, delay=SEND_SECONDS))
        await platform.start()
        stack.push_async_callback(platform.stop)
        await model.start()
        stack.push_async_callback(model.stop)
        platform.attach(f"http://127.0.0.1:{port}")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        stores: dict[str, object] = {"database": {"url": f"sqlite:///{folder}/parley.db"}}
        if plan.victim != "all":
            redis = stack.enter_context(redis_server())
            postgres = stack.enter_context(postgres_server())
            stores = {"storage": {"url": redis.url}, "database": {"url": postgres.url}}
        config = write_config(Path(folder), platform, model, port, stores)
        yield Burst(plan, World(platform), config, log)


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
