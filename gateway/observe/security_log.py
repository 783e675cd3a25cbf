"""The log of security events: refusals, withheld answers, tool calls. No content, no secrets.

Repetitions within an hour are counted instead of logged, so that a flood of refused requests leaves
a bounded number of entries with their counts. The lines are written whatever `observe.log_level`
says.
"""

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from datetime import datetime, timedelta
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.immutable import replace
from gateway.observe.logs import AUDIT
from gateway.ports import AlarmClock
from gateway.ports.clock import SystemClock
from gateway.ports.observer import SecurityEvent, SecuritySink
from gateway.store_retry import uninterrupted

WINDOW: Final = timedelta(hours=1)
"""The time within which a repeated event is only counted."""
MAX_NAMED: Final = 32
"""Different entries of one event with one reason in one tenant per window; the rest is counted
together."""
MAX_GROUPS: Final = 64
"""Different reasons and tenants of one event per window that get entries of their own."""
MAX_EVENTS: Final = 16
"""Different events per window that get entries of their own."""
MAX_QUEUED: Final = 2_000
"""Entries that wait for the database; beyond that the oldest is dropped, the log has it."""
FLUSH_SECONDS: Final = 2.0
OTHERS: Final = "others"
"""Stands for everything without an entry of its own."""
log = structlog.get_logger(__name__)
audit_log = structlog.wrap_logger(
    None, wrapper_class=structlog.make_filtering_bound_logger(logging.INFO)
)
"""Writes at any configured level."""


class SecurityLog:
    """Logs events at once, and writes them to the sink within seconds, once it is started."""

    def __init__(self, clock: AlarmClock | None = None, sink: SecuritySink | None = None) -> None:
        self._clock = clock or SystemClock()
        self._sink = sink
        self._since: datetime | None = None
        self._seen: OrderedDict[SecurityEvent, int] = OrderedDict()
        self._named: Counter[tuple[str, str, str]] = Counter()
        self._groups: Counter[str] = Counter()
        self._queue: deque[tuple[SecurityEvent, int]] = deque(maxlen=MAX_QUEUED)
        self._waits = False
        self._flushing = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def note(self, event: SecurityEvent) -> None:
        """Log an event, or count it if an equal one was logged within the last hour."""
        self._close_window_if_over()
        known = self._seen.get(event)
        if known is not None:
            self._seen[event] = known + 1
            return
        rest = self._beyond(event)
        if rest is None:
            self._seen[event] = 0
            self._write(event, 1)
            return
        self._seen[rest] = self._seen.get(rest, 0) + 1

    def _beyond(self, event: SecurityEvent) -> SecurityEvent | None:
        """Return None if a new event gets an entry of its own, otherwise the entry under which it
        is counted. No flood of one reason, or in one tenant, hides refusals of another."""
        group = (event.event, event.reason, event.tenant)
        if group not in self._named:
            if event.event not in self._groups and len(self._groups) >= MAX_EVENTS:
                return SecurityEvent(OTHERS, OTHERS, "")
            if self._groups[event.event] >= MAX_GROUPS:
                return SecurityEvent(event.event, OTHERS, "")
            self._groups[event.event] += 1
        if self._named[group] >= MAX_NAMED:
            return SecurityEvent(event.event, OTHERS, event.tenant)
        self._named[group] += 1
        return None

    def start(self) -> None:
        """Start to write to the sink."""
        if self._sink is not None and self._task is None:
            self._task = asyncio.create_task(self._run(), name="security log")

    async def stop(self) -> None:
        """Write the counts so far, and end. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is None:
            return
        await stop_task(task)
        self._close_window()
        await self.flush()

    async def flush(self) -> None:
        """Write the queue to the sink, once. Refused entries stay in the queue."""
        if self._sink is None:
            self._queue.clear()
            return
        async with self._flushing:  # two concurrent flushes would both write the first entry
            await self._hand_on(self._sink)

    async def _hand_on(self, sink: SecuritySink) -> None:
        while self._queue:
            first = self._queue[0]
            try:
                await uninterrupted(sink(*first))
            except StoreUnavailable as error:
                if not self._waits:
                    log.warning("security_events_delayed", error=str(error))
                self._waits = True
                return
            self._waits = False
            if self._queue and self._queue[0] is first:  # unless a full queue dropped it meanwhile
                self._queue.popleft()

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(FLUSH_SECONDS)
            self._close_window_if_over()
            try:
                await self.flush()
            except Exception:
                log.exception("security_events_not_stored")

    def _close_window_if_over(self) -> None:
        now = self._clock.now()
        if self._since is None:
            self._since = now
        elif now - self._since >= WINDOW:
            self._close_window()
            self._since = now

    def _close_window(self) -> None:
        """Write how often each event was repeated."""
        seen, self._seen = self._seen, OrderedDict()
        self._named.clear()
        self._groups.clear()
        for event, times in seen.items():
            if times:
                self._write(event, times, again=event.reason != OTHERS)

    def _write(self, event: SecurityEvent, times: int, *, again: bool = False) -> None:
        entry = replace(event, event=f"{event.event}_again") if again else event
        named = {
            name: value
            for name in ("reason", "tenant", "person", "agent", "channel", "address")
            if (value := getattr(entry, name))
        }
        audit_log.info(AUDIT, event_name=entry.event, times=times, **named)
        if self._sink is not None:
            self._queue.append((entry, times))
