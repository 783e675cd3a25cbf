"""People write on four platforms while a store is unavailable."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from benchmarks.faults.program import Program
from benchmarks.faults.verdict import Verdict, judge
from benchmarks.faults.world import CHATS, PLATFORMS, World
from benchmarks.outages.readiness import Readiness, Told, readiness_of
from benchmarks.outages.stores import Outage, Stage, staged
from simulators.anthropic import AnthropicSimulator
from simulators.base import Fault
from tests.e2e.harness import configuration
from tests.support.ports import free_port

MODEL_SECONDS: Final = 0.05
BEFORE_SECONDS: Final = 5.0
AFTER_SECONDS: Final = 10.0
"""The time for which people write before the outage and after it."""
PATIENCE_SECONDS: Final = 120.0
"""The time limit for the last answers. Slack repeats what was not confirmed after a minute."""
SETTLE_SECONDS: Final = 3.0
"""Until what comes twice has come."""
LOOK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Plan:
    """`per_second` messages on each platform; the store is away for `seconds`."""

    outage: Outage
    seconds: float
    per_second: float
    platforms: tuple[str, ...] = tuple(PLATFORMS)


@dataclass(frozen=True, slots=True)
class Seen:
    """The results by platform and by role. `answered_again` is the time from the end of the outage
    to the first answer, `all_answered` to the last."""

    how: str
    verdicts: Mapping[str, Verdict]
    readiness: Mapping[str, Told]
    answered_again: float | None
    all_answered: float | None


class Life(Program):
    """A process that has to live through it."""

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        """True until it ends."""
        return self._process is not None and self._process.returncode is None


@dataclass
class Scene:
    """Platforms, stores and the processes of Parley between them."""

    plan: Plan
    stage: Stage
    worlds: dict[str, World]
    programs: list[Life] = field(default_factory=list)
    readiness: dict[str, Readiness] = field(default_factory=dict)

    async def run(self) -> Seen:
        """Write, take the store away, give it back; wait for what is still to come."""
        await self._introduce()
        seconds = BEFORE_SECONDS + self.plan.seconds + AFTER_SECONDS
        writing = [asyncio.create_task(self._write(w, seconds)) for w in self.worlds.values()]
        pids = [program.pid for program in self.programs]
        await asyncio.sleep(BEFORE_SECONDS)
        self.stage.trouble.begin(pids)
        began = time.monotonic()
        await asyncio.sleep(self.plan.seconds)
        answered_before = self._answered()
        ended = time.monotonic()
        await asyncio.to_thread(self.stage.trouble.end, pids)
        first = await self._until(lambda: self._answered() > answered_before, ended)
        await asyncio.gather(*writing)
        last = await self._until(lambda: self._answered() >= self._written(), ended)
        await asyncio.sleep(SETTLE_SECONDS)
        parts = self.stage.trouble.parts
        return Seen(
            self.stage.how,
            {name: judge(w.answers(), w.written, w.handed(), 0) for name, w in self.worlds.items()},
            {
                name: readiness_of(one.answers, parts, began, ended)
                for name, one in self.readiness.items()
            },
            first,
            last,
        )

    async def _introduce(self) -> None:
        """Discord tells nothing of a conversation that nobody began while the bot was there."""
        for world in self.worlds.values():
            await world.platform.wait_connected(PATIENCE_SECONDS)
            for _ in range(CHATS):
                await world.write()
        await self._until(lambda: self._answered() >= self._written(), time.monotonic())

    async def _write(self, world: World, seconds: float) -> None:
        for _ in range(round(seconds * self.plan.per_second)):
            await world.write()
            await asyncio.sleep(1 / self.plan.per_second)

    async def _until(self, done: Callable[[], bool], since: float) -> float | None:
        until = time.monotonic() + PATIENCE_SECONDS
        while not done():
            if time.monotonic() > until:
                return None
            await asyncio.sleep(LOOK_SECONDS)
        return time.monotonic() - since

    def _answered(self) -> int:
        return sum(world.answered() for world in self.worlds.values())

    def _written(self) -> int:
        return sum(world.written for world in self.worlds.values())


@asynccontextmanager
async def prepared(plan: Plan, log: Path) -> AsyncIterator[Scene]:
    """Everything started and ready."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stage = stack.enter_context(staged(plan.outage, folder))
        model, webhooks = AnthropicSimulator(), free_port()
        model.faults.add(Fault("*", "slow", times=10**9, delay=MODEL_SECONDS))
        platforms = {name: PLATFORMS[name]() for name in plan.platforms}
        await model.start()
        stack.push_async_callback(model.stop)
        for platform in platforms.values():
            await platform.start()
            stack.push_async_callback(platform.stop)
            platform.attach(f"http://127.0.0.1:{webhooks}")
        scene = Scene(plan, stage, {name: World(p) for name, p in platforms.items()})
        choice = {"provider": "anthropic", "api_key": model.api_key, "base_url": model.base_url}
        for role in stage.roles:
            port = free_port()
            settings = {
                "model": choice,
                "conversation": {"overlap": "queue"},
                "server": {"port": port},
                **stage.settings,
            }
            config = folder / f"{role}.yaml"
            whole = configuration(platforms, folder, webhooks, settings)
            config.write_text(yaml.safe_dump(whole))
            program = Life(config, log, "--role", role)
            stack.push_async_callback(program.stop)
            await program.start()
            await program.ready()
            scene.programs.append(program)
            readiness = Readiness(f"http://127.0.0.1:{port}/readyz")
            stack.push_async_callback(_end, asyncio.create_task(readiness.run()))
            scene.readiness[role] = readiness
        yield scene


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
