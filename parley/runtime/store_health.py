"""Whether the stores take and give, asked of them again and again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

import structlog

from gateway.policy.budgets import Account
from gateway.ports import Clock
from gateway.ports.buckets import Buckets
from gateway.ports.usage import UsageLedger

EVERY = 5.0
"""Seconds between two rounds."""
ANSWER_SECONDS = 3.0
"""How long a store may take to answer."""

log = structlog.get_logger(__name__)

Probe = Callable[[], Awaitable[object]]


class StoreMonitor:
    """Asks each store by its probe. `problems` has, by store, why one is not available."""

    def __init__(self, probes: Mapping[str, Probe], clock: Clock) -> None:
        self._probes = probes
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self.problems: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What is asked."""
        return tuple(self._probes)

    def start(self) -> None:
        """Begin, the first round at once."""
        self._task = asyncio.create_task(self._run(), name="store-watch")

    async def stop(self) -> None:
        """End. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def round(self) -> None:
        """Ask all of them, side by side."""
        await asyncio.gather(*(self._ask(name, probe) for name, probe in self._probes.items()))

    async def _run(self) -> None:
        while True:
            await self.round()
            await self._clock.sleep(EVERY)

    async def _ask(self, name: str, probe: Probe) -> None:
        asked = asyncio.ensure_future(probe())
        try:
            await asyncio.wait((asked,), timeout=ANSWER_SECONDS)
            if not asked.done():  # told first: giving up may take a driver seconds more
                self._down(name, f"no answer within {ANSWER_SECONDS:.0f} s")
            else:
                self._answered(name, asked)
        finally:
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    def _answered(self, name: str, asked: "asyncio.Future[object]") -> None:
        try:
            asked.result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the store is not available
            self._down(name, str(error).partition("\n")[0][:200])
        else:
            if self.problems.pop(name, None) is not None:
                log.info("store_available_again", store=name)

    def _down(self, name: str, problem: str) -> None:
        if name not in self.problems:
            log.error("store_unavailable", store=name, problem=problem)
        self.problems[name] = problem


def storage_probe(buckets: Buckets, also: Probe | None = None) -> Probe:
    """Writes a row that is gone a second later: a full disk can still be read. `also` is asked
    after that."""

    async def ask() -> None:
        await buckets.once("watch", timedelta(seconds=1))
        if also is not None:
            await also()

    return ask


def database_probe(usage: UsageLedger) -> Probe:
    """Writes a row, always the same, that sets nothing aside: a database that can only be read, a
    standby for one, keeps no answer."""
    return lambda: usage.reserve("watch", (Account("watch", "watch", 0),), 0)
