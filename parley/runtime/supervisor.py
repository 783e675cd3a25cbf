"""Keeps every account connected, each in its own task, so that a failure affects one account
only."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Literal

import structlog

from gateway.errors import StartError
from gateway.message import InboundEvent
from gateway.ports import (
    CanCheckLiveness,
    CanReconnect,
    Clock,
    EventSink,
    Liveness,
    PlatformAdapter,
)
from gateway.text import Span, Text, as_text, text, verbatim

CHECK_EVERY = 5.0
"""Seconds between two checks."""
RESTART_AFTER = 60.0
"""Seconds after which the adapter of an unresponsive connection is restarted. Until then it may
recover by itself, which loses less."""
REVIVE_SECONDS = 10.0
"""Time limit for an adapter to cut an unresponsive connection."""

log = structlog.get_logger(__name__)


async def wait_until_unresponsive(
    name: str, adapter: CanCheckLiveness, clock: Clock, report: Callable[[Liveness], None]
) -> StartError:
    """Check repeatedly, pass each result to `report`, and return when a restart is necessary.

    A connection without proof is unresponsive. Silence in its chats is no sign of that.
    """
    since: float | None = None
    while True:
        await clock.sleep(CHECK_EVERY)
        liveness = look(name, adapter)
        report(liveness)
        if liveness.ok:
            if since is not None:
                log.info("adapter_recovered", account=name)
            since = None
            continue
        if since is None:
            since = clock.monotonic()
            log.warning(
                "adapter_unresponsive",
                account=name,
                detail=str(liveness.detail),
                seconds=round(liveness.seconds_since, 1),
            )
            await _revive(name, adapter)
        elif clock.monotonic() - since >= RESTART_AFTER:
            said = text(
                "The connection receives no events: {reason}.", reason=as_text(liveness.detail)
            )
            return StartError(said, text("It is restarted."))


def look(name: str, adapter: CanCheckLiveness) -> Liveness:
    """The adapter's report on its connection; an adapter that fails to report counts as
    connected."""
    try:
        return adapter.alive()
    except Exception:
        log.exception("liveness_check_failed", account=name)
        return Liveness(True)


async def _revive(name: str, adapter: CanCheckLiveness) -> None:
    if not isinstance(adapter, CanReconnect):
        return
    try:
        async with asyncio.timeout(REVIVE_SECONDS):
            await adapter.reconnect()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        log.warning("account_restart_failed", account=name, error=error)


FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds between attempts to connect, doubled each time."""
JITTER = 0.5
"""Maximum share by which a pause is shortened at random, so that accounts do not reconnect all at
once."""
STABLE_SECONDS = 60.0
"""A connection of this length counts as a success. After a shorter one the pauses keep growing,
because platforms limit connections (Discord revokes the token after 1,000 in a day)."""
CONNECT_SECONDS = 120.0
"""Time limit for one attempt to connect."""
DISCONNECT_SECONDS = 10.0
"""Time limit for an adapter to disconnect."""
START_SECONDS = 30.0
"""Time for which a start waits for accounts; slower ones continue in the background."""

State = Literal["starting", "ready", "unresponsive", "reconnecting", "failed", "stopped"]


class Supervisor:
    """Connects adapters and reconnects them. `on_ready` and `on_lost` receive the name of an
    account; `chance` returns numbers from 0 to 1 that vary the pauses."""

    def __init__(
        self,
        adapters: Mapping[str, PlatformAdapter],
        sink: EventSink,
        clock: Clock,
        on_ready: Callable[[str], Awaitable[None]],
        on_lost: Callable[[str], None],
        *,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._adapters = adapters
        self._sink = sink
        self._clock = clock
        self._on_ready = on_ready
        self._on_lost = on_lost
        self._chance = chance
        self._tasks: list[asyncio.Task[None]] = []
        self._settled: dict[str, asyncio.Event] = {name: asyncio.Event() for name in adapters}
        self.states: dict[str, State] = dict.fromkeys(adapters, "starting")
        self.errors: dict[str, Text] = {}
        """By account: the reason why it is not connected, for the operator."""
        self.proofs: dict[str, Liveness] = {}
        """By account: the last proof of its connection, where its adapter can prove it."""
        self.reconnects: dict[str, int] = dict.fromkeys(adapters, 0)
        """By account: the number of lost connections."""
        self.connected_at: dict[str, datetime] = {}
        """By account: the time since which it is connected; absent without a connection."""
        self.last_events: dict[str, datetime] = {}
        """By account: the time of the last event, whoever it was meant for."""

    async def start(self) -> None:
        """Start to connect all accounts. Returns once each has connected or failed once, after
        `START_SECONDS` at the latest."""
        self._tasks = [
            asyncio.create_task(self._keep_connected(name, adapter), name=f"adapter-{name}")
            for name, adapter in self._adapters.items()
        ]
        try:
            async with asyncio.timeout(START_SECONDS):
                for settled in self._settled.values():
                    await settled.wait()
        except TimeoutError:
            for name, settled in self._settled.items():
                if not settled.is_set():
                    self.errors[name] = text(
                        "still connecting after {time}", time=Span(START_SECONDS)
                    )
                    log.warning("adapter_still_connecting", account=name)

    async def stop(self) -> None:
        """Disconnect all accounts. Safe to call twice."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=DISCONNECT_SECONDS)
        await asyncio.gather(*(self._disconnect(*account) for account in self._adapters.items()))
        self.states.update(dict.fromkeys(self._adapters, "stopped"))

    async def _keep_connected(self, name: str, adapter: PlatformAdapter) -> None:
        attempt = 0
        while True:
            connected = math.inf
            try:
                await self._connect(name, adapter)
                connected = self._clock.monotonic()
                problem = await self._until_lost(name, adapter)
            except StartError as error:
                problem = error
            except Exception as error:
                log.exception("adapter_crashed", account=name)
                name_ = verbatim(type(error).__name__)
                said = text("unexpected error: {error}.", error=name_)
                problem = StartError(said, text("See the log of the program."))
            duration = self._clock.monotonic() - connected
            attempt = 1 if duration >= STABLE_SECONDS else attempt + 1
            self._failed(name, problem)
            await self._disconnect(name, adapter)
            if problem.permanent:
                return
            self.reconnects[name] += 1
            pause = min(FIRST_PAUSE * 2 ** min(attempt - 1, 10), LONGEST_PAUSE)
            await self._clock.sleep(pause * (1 - JITTER * self._chance()))

    async def _connect(self, name: str, adapter: PlatformAdapter) -> None:
        """Connect once. Raises `StartError`, and anything that an adapter raises."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS) as bound:
                await adapter.connect(self._sink_of(name))
        except TimeoutError:
            if not bound.expired():
                raise
            raise StartError(
                text("no connection within {time}", time=Span(CONNECT_SECONDS))
            ) from None
        await self._on_ready(name)
        self.states[name] = "ready"
        self.connected_at[name] = self._clock.now()
        self.errors.pop(name, None)
        self._settled[name].set()

    def _sink_of(self, name: str) -> EventSink:
        async def sink(event: InboundEvent) -> None:
            self.last_events[name] = self._clock.now()
            await self._sink(event)

        return sink

    async def _until_lost(self, name: str, adapter: PlatformAdapter) -> StartError:
        """The reason why the connection ended. Raises anything that the adapter raises."""
        waiting: list[asyncio.Task[StartError]] = [asyncio.create_task(_end_of(adapter))]
        if isinstance(adapter, CanCheckLiveness):
            checks = wait_until_unresponsive(
                name, adapter, self._clock, lambda liveness: self._on_liveness(name, liveness)
            )
            waiting.append(asyncio.create_task(checks, name=f"liveness-{name}"))
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    def _on_liveness(self, name: str, liveness: Liveness) -> None:
        self.proofs[name] = liveness
        self.states[name] = "ready" if liveness.ok else "unresponsive"
        if liveness.ok:
            self.errors.pop(name, None)
        else:
            self.errors[name] = as_text(liveness.detail)

    async def _disconnect(self, name: str, adapter: PlatformAdapter) -> None:
        """Disconnect; an adapter that fails to is abandoned."""
        try:
            async with asyncio.timeout(DISCONNECT_SECONDS):
                await adapter.disconnect()
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            log.warning("disconnect_failed", account=name, error=error)

    def _failed(self, name: str, problem: StartError) -> None:
        self.states[name] = "failed" if problem.permanent else "reconnecting"
        self.errors[name] = problem.sentences
        self.connected_at.pop(name, None)
        self._on_lost(name)
        log.error("adapter_not_connected", account=name, problem=str(problem))
        self._settled[name].set()


async def _end_of(adapter: PlatformAdapter) -> StartError:
    await adapter.wait_closed()
    return StartError(text("the connection was closed"))
