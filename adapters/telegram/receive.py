"""One raw update on its way to the gateway."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias

import structlog

from adapters.telegram.message_text import BotIdentity
from adapters.telegram.parse import kind_of, parse
from gateway.message import ButtonPressed, InboundEvent
from gateway.ports import Counter, EventSink
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem

log = structlog.get_logger(__name__)
MAX_ANSWERS: Final = 200
"""Answers to button presses under way; beyond that the spinner on the button times out."""

Answer: TypeAlias = Callable[[str], Awaitable[None]]


class Receiver:
    """Parses updates, hands their events to the sink, and lets buttons stop spinning."""

    def __init__(
        self,
        account: str,
        me: BotIdentity,
        sink: EventSink,
        count: Counter,
        answer_button: Answer,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self.account = account
        self.me = me
        self._sink = sink
        self._count = count
        self._guard = guard
        self._answer_button = answer_button
        self._answers: set[asyncio.Task[None]] = set()

    def read(self, update: Mapping[str, object]) -> list[InboundEvent]:
        """The update's events; one that has none is counted. An update that processes died of has
        none."""
        delivery = WorkItem("payload", f"telegram:{self.account}:{update.get('update_id')}")
        if self._guard.exhausted(delivery):
            self._count("quarantined", "telegram")
            return []
        with self._guard.working(delivery):
            events = parse(update, self.me, account=self.account)
        if not events:
            self._count("ignored", kind_of(update))
        return events

    async def store(self, events: Sequence[InboundEvent]) -> None:
        """Return when every event is stored. Raises `StoreUnavailable`."""
        for event in events:
            await self._sink(event)
            if isinstance(event, ButtonPressed) and len(self._answers) < MAX_ANSWERS:
                task = asyncio.create_task(self._stop_spinning(event.reply_handle))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

    async def _stop_spinning(self, handle: str) -> None:
        try:
            await self._answer_button(handle)
        except Exception as problem:  # noqa: BLE001 - cosmetic: the press itself is stored
            log.debug("press_not_answered", platform="telegram", error=problem)

    async def close(self) -> None:
        """Drop the answers that are still under way."""
        for task in list(self._answers):
            task.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)
