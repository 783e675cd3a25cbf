"""Keeps every account connected, each in a task of its own: one failure never takes the others."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import structlog

from gateway.errors import StartError
from gateway.ports import Clock, EventSink, PlatformAdapter

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between attempts to connect, doubled each time."""

State = Literal["starting", "ready", "reconnecting", "failed", "stopped"]

log = structlog.get_logger(__name__)


class Supervisor:
    """Connects adapters and connects them again. `on_ready` is told each account that connected,
    `on_lost` each that no longer is."""

    def __init__(
        self,
        adapters: Mapping[str, PlatformAdapter],
        sink: EventSink,
        clock: Clock,
        on_ready: Callable[[str], Awaitable[None]],
        on_lost: Callable[[str], None],
    ) -> None:
        self._adapters = adapters
        self._sink = sink
        self._clock = clock
        self._on_ready = on_ready
        self._on_lost = on_lost
        self._tasks: list[asyncio.Task[None]] = []
        self._settled: dict[str, asyncio.Event] = {name: asyncio.Event() for name in adapters}
        self.states: dict[str, State] = dict.fromkeys(adapters, "starting")
        self.errors: dict[str, str] = {}
        """Why an account is not connected, in words for the person who runs the program."""

    async def start(self) -> None:
        """Begin connecting all accounts; returns once each has connected or failed once."""
        self._tasks = [
            asyncio.create_task(self._keep(name, adapter), name=f"adapter-{name}")
            for name, adapter in self._adapters.items()
        ]
        await asyncio.gather(*(settled.wait() for settled in self._settled.values()))

    async def stop(self) -> None:
        """Disconnect all accounts. Safe to call twice."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        results = await asyncio.gather(
            *(adapter.disconnect() for adapter in self._adapters.values()), return_exceptions=True
        )
        for name, result in zip(self._adapters, results, strict=True):
            self.states[name] = "stopped"
            if isinstance(result, Exception):
                log.warning("disconnect_failed", account=name, error=str(result))

    async def _keep(self, name: str, adapter: PlatformAdapter) -> None:
        attempt = 0
        while True:
            try:
                await adapter.connect(self._sink)
                attempt = 0
                await self._connected(name)
                await adapter.wait_closed()
                problem = StartError("the connection was closed")
            except StartError as error:
                problem = error
            except Exception as error:
                log.exception("adapter_crashed", account=name)
                problem = StartError(f"unexpected {type(error).__name__}: {error}")
            attempt += 1
            self._failed(name, problem)
            await adapter.disconnect()
            if problem.permanent:
                return
            await self._clock.sleep(min(FIRST_PAUSE * 2 ** min(attempt - 1, 10), LONGEST_PAUSE))

    async def _connected(self, name: str) -> None:
        self.states[name] = "ready"
        self.errors.pop(name, None)
        await self._on_ready(name)
        self._settled[name].set()

    def _failed(self, name: str, problem: StartError) -> None:
        self.states[name] = "failed" if problem.permanent else "reconnecting"
        self.errors[name] = str(problem)
        self._on_lost(name)
        log.error("adapter_not_connected", account=name, problem=str(problem))
        self._settled[name].set()
