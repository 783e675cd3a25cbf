"""The record of security events: refusals, answers withheld, tools used. No content, no secrets.

What happens again within an hour is counted instead of written again, so that a flood of refused
requests leaves a bounded number of entries and their number. The lines are written whatever
`observe.log_level` says.
"""

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from gateway.clock import SystemClock
from gateway.errors import StoreUnavailable
from gateway.observe.logs import AUDIT
from gateway.people import DEFAULT_TENANT
from gateway.ports import AlarmClock

WINDOW: Final = timedelta(hours=1)
"""For how long an event that happens again is only counted."""
MAX_NAMED: Final = 32
"""Different entries of one event in a window; what is beyond them is counted together."""
MAX_EVENTS: Final = 16
"""Different events in a window, for which there are entries of their own."""
MAX_QUEUED: Final = 2_000
"""Entries that wait for the database; the oldest is dropped beyond that, the log has it."""
FLUSH_SECONDS: Final = 2.0
OTHERS: Final = "others"
"""Stands for everything that a window has no entry of its own for."""

log = structlog.get_logger(__name__)
audit_log = structlog.wrap_logger(
    None, wrapper_class=structlog.make_filtering_bound_logger(logging.INFO)
)
"""Writes at any configured level."""


@dataclass(frozen=True, slots=True)
class SecurityEvent:
    """What was refused, and why: codes and ids only.

    `person` is a `str(PersonId)`, empty where nobody knows who it was; `channel` is
    "platform:account:channel" or the part of the program that refused; `address` is the network
    address of who asked over HTTP.
    """

    event: str
    reason: str
    tenant: str = DEFAULT_TENANT
    person: str = ""
    channel: str = ""
    address: str = ""


class SecuritySink(Protocol):
    """Where entries are kept for good."""

    async def keep(self, event: SecurityEvent, times: int) -> None:
        """Append an entry. Raises `StoreUnavailable`."""
        ...


class SecurityLog:
    """Notes events at once, in the log; in the sink within seconds, once it is started."""

    def __init__(self, clock: AlarmClock | None = None, sink: SecuritySink | None = None) -> None:
        self._clock = clock or SystemClock()
        self._sink = sink
        self._since: datetime | None = None
        self._seen: OrderedDict[SecurityEvent, int] = OrderedDict()
        self._named: Counter[str] = Counter()
        self._queue: deque[tuple[SecurityEvent, int]] = deque(maxlen=MAX_QUEUED)
        self._waits = False
        self._task: asyncio.Task[None] | None = None

    def note(self, event: SecurityEvent) -> None:
        """Record an event, or count it where the like was recorded within the last hour."""
        self._close_window_if_over()
        known = self._seen.get(event)
        if known is not None:
            self._seen[event] = known + 1
            return
        has_room = event.event in self._named or len(self._named) < MAX_EVENTS
        if has_room and self._named[event.event] < MAX_NAMED:
            self._named[event.event] += 1
            self._seen[event] = 0
            self._write(event, 1)
            return
        rest = SecurityEvent(event.event if has_room else OTHERS, OTHERS, "")
        self._seen[rest] = self._seen.get(rest, 0) + 1

    def start(self) -> None:
        """Begin to hand entries to the sink."""
        if self._sink is not None and self._task is None:
            self._task = asyncio.create_task(self._run(), name="security log")

    async def stop(self) -> None:
        """Write what was counted so far, and end. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        self._close_window()
        await self.flush()

    async def flush(self) -> None:
        """Hand to the sink what waits for it. What it does not take waits on."""
        if self._sink is None:
            self._queue.clear()
        while self._queue and self._sink is not None:
            first = self._queue[0]
            try:
                await self._sink.keep(*first)
            except StoreUnavailable as error:
                if not self._waits:
                    log.warning("security_events_wait", error=str(error))
                self._waits = True
                return
            self._waits = False
            if self._queue and self._queue[0] is first:  # not dropped meanwhile by a full queue
                self._queue.popleft()

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(FLUSH_SECONDS)
            self._close_window_if_over()
            try:
                await self.flush()
            except Exception:
                log.exception("security_events_not_kept")

    def _close_window_if_over(self) -> None:
        now = self._clock.now()
        if self._since is None:
            self._since = now
        elif now - self._since >= WINDOW:
            self._close_window()
            self._since = now

    def _close_window(self) -> None:
        """Write how often each event happened again."""
        seen, self._seen = self._seen, OrderedDict()
        self._named.clear()
        for event, times in seen.items():
            if times:
                self._write(event, times, again=event.reason != OTHERS)

    def _write(self, event: SecurityEvent, times: int, *, again: bool = False) -> None:
        told = replace(event, event=f"{event.event}_again") if again else event
        named = {
            name: value
            for name in ("reason", "tenant", "person", "channel", "address")
            if (value := getattr(told, name))
        }
        audit_log.info(AUDIT, event_name=told.event, times=times, **named)
        if self._sink is not None:
            self._queue.append((told, times))
