"""The deliverer: sends the outbox in order within a chat, and repeats a send until the platform
confirms it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.errors import (
    AddressGone,
    Ambiguous,
    DeliveryError,
    WindowClosed,
)
from gateway.message import Outbound, Place, Receipt
from gateway.observe.correlation import correlated
from gateway.outbound.expiring_buttons import ExpiringButtons
from gateway.outbound.live import final
from gateway.outbound.retry_decision import (
    ELSEWHERE_NOTE,
    LOST_NOTE,
    AccountSender,
    DeliveryRules,
    ReaderLanguage,
    Repetitions,
    Send,
    in_english,
    note,
    pause_after,
    reason_of,
    recognised,
    repeats_safely,
)
from gateway.ports import Clock
from gateway.ports.observer import CombinedObserver, Observer, SendAttempt
from gateway.ports.queues import Outbox, OutboxEntry, message_key
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from gateway.text import Text

T = TypeVar("T")
WRITE_PAUSE = 5.0
"""The longest pause between two attempts to write to an unavailable outbox, in seconds."""
AT_START = 10_000
"""Sends that are loaded from the outbox at the start."""
SEND_SECONDS = 5.0
"""The time for which a shutdown waits for running sends."""
MAX_ELSEWHERE = 1_000
"""Answers outside of their thread that are remembered, so that one note stands above all parts."""
QUARANTINED = "Quarantined: the program crashed each time it sent this"
CUT_SHORT = "Ambiguous: the program stopped while it sent this"
UNANNOUNCED = "Ambiguous: this may have arrived, and the note above a repetition was not sent"
log = structlog.get_logger(__name__)


class _NotHeld(Exception):
    """The outbox does not let this process send: another one does, or may have sent already."""


class Deliverer:
    """Sends the outbox, with one task per chat; a chat that waits delays no other."""

    def __init__(
        self,
        outbox: Outbox,
        senders: Mapping[tuple[str, str], AccountSender],
        clock: Clock,
        rules: DeliveryRules,
        count: Callable[[str, str], None],
        observer: Observer | None = None,
        *,
        external_source: bool = False,
        has_all: Callable[[tuple[str, str]], bool] = lambda _: True,
        guard: WorkGuard = UNGUARDED,
        note_sent: Callable[[Outbound, Receipt], Awaitable[None]] | None = None,
        language_of: ReaderLanguage = in_english,
    ) -> None:
        """`external_source`: another process passes the sends to `take`; `submit` does nothing.
        `note_sent` keeps the id of a message with the answer that it is a part of, on platforms
        where a reply gives nothing else. `language_of` is asked when a note is sent.
        `has_all` returns False while stored sends of a (platform, account) pair may still be on
        their way to `take`."""
        self._outbox = outbox
        self._external_source = external_source
        self._has_all = has_all
        self._guard = guard
        self._note_sent = note_sent
        self._senders = senders
        self._clock = clock
        self.expiring = ExpiringButtons(outbox, self.submit, clock)
        self._rules = rules
        self._language_of = language_of
        self._repetitions = Repetitions(rules, language_of)
        self._count = count
        self._observer = observer or CombinedObserver()
        self._chats: dict[tuple[str, str, str], deque[OutboxEntry]] = {}
        self._tasks = BackgroundTasks("delivery_failed")
        self._sending: set[asyncio.Task[Any] | None] = set()
        self._held: set[str] = set()
        self._begun: set[str] = set()
        self._elsewhere: deque[str] = deque(maxlen=MAX_ELSEWHERE)
        self._closed = False

    @property
    def idle(self) -> bool:
        """True if everything is sent."""
        return not self._chats

    @property
    def waiting(self) -> int:
        """The number of sends that wait or are running."""
        return sum(map(len, self._chats.values()))

    @property
    def held(self) -> Collection[str]:
        """The keys of waiting and running sends in this process, and of sends that failed with a
        bug."""
        return self._held

    def sender_for(self, place: Place) -> AccountSender | None:
        """Return the account of a place."""
        return self._senders.get((place.platform, place.account))

    def quiet(self, place: Place) -> bool:
        """Return True if no send to this chat waits."""
        waits = (place.platform, place.account, place.channel_id) in self._chats
        return not waits and self._has_all((place.platform, place.account))

    async def start(self) -> None:
        """Load the sends that an earlier run left in the outbox."""
        if self._external_source:
            return
        left = await self._outbox.waiting(AT_START)
        for entry in left:
            self._queue(entry)
        if len(left) == AT_START:
            log.warning("outbox_partly_loaded", hint="the rest is processed later")

    def immediate_send_key(self, outbound: Sequence[Outbound]) -> str:
        """Return the key of the send that `submit` would start without waiting, empty for none. The
        outbox may store it as begun, which saves a later write."""
        if (
            self._external_source
            or self._closed
            or not (outbound and self.quiet(outbound[0].place))
        ):
            return ""
        first, sender = outbound[0], self.sender_for(outbound[0].place)
        if sender is None or not (sender.connected.is_set() and sender.pacer.free(first.place)):
            return ""
        return "" if repeats_safely(sender.adapter.capabilities, first) else first.key

    def submit(self, outbound: Sequence[Outbound], begun: str = "") -> None:
        """Send items that the outbox has stored already; the one with the key `begun` is stored as
        begun."""
        if self._external_source:
            return
        for item in outbound:
            if item.key == begun and begun not in self._held:
                self._begun.add(begun)
            self._queue(OutboxEntry(0, item, 0, self._clock.now()))

    def take(self, entries: Sequence[OutboxEntry]) -> None:
        """Send entries that other processes queued."""
        for entry in entries:
            self._queue(entry)

    async def drain(self, timeout: float) -> bool:
        """Wait until everything is sent; False after `timeout` seconds."""
        return await self._tasks.drain(timeout)

    async def stop(self) -> None:
        """Start no further send; the outbox keeps the rest. Running sends get some seconds to
        finish, because they would be repeated at the next start."""
        self._closed = True
        sending = [task for task in self._sending if task is not None]
        if sending:
            await asyncio.wait(sending, timeout=SEND_SECONDS)
        await self._tasks.stop()

    def _queue(self, entry: OutboxEntry) -> None:
        place, key = entry.outbound.place, entry.outbound.key
        if key in self._held:
            return
        chat = (place.platform, place.account, place.channel_id)
        waiting = self._chats.get(chat)
        if waiting is not None:
            waiting.append(entry)
            self._held.add(key)
        elif not self._closed:
            self._held.add(key)
            self._chats[chat] = deque([entry])
            self._tasks.spawn(self._serve(chat))

    async def _serve(self, chat: tuple[str, str, str]) -> None:
        waiting = self._chats[chat]
        try:
            while waiting and not self._closed:
                try:
                    with correlated(waiting[0].outbound.turn_id):
                        await self._deliver(waiting[0], waiting)
                except StoreUnavailable:
                    raise
                except _NotHeld:
                    log.info("send_not_held", platform=chat[0], account=chat[1])
                    self._done(waiting.popleft().outbound.key)
                except Exception:  # a bug must not stop a chat
                    # The key stays reserved, because the send may have happened.
                    log.exception("delivery_failed", platform=chat[0], account=chat[1])
                    self._begun.discard(waiting.popleft().outbound.key)
                else:
                    self._done(waiting.popleft().outbound.key)
        except StoreUnavailable:
            log.exception("outbox_unavailable", platform=chat[0], account=chat[1])
        finally:
            left = {entry.outbound.key for entry in waiting}
            self._held -= left
            self._begun -= left
            del self._chats[chat]

    def _done(self, key: str) -> None:
        self._held.discard(key)
        self._begun.discard(key)

    async def _deliver(self, entry: OutboxEntry, waiting: deque[OutboxEntry]) -> None:
        sender = self._senders.get((entry.outbound.place.platform, entry.outbound.place.account))
        if sender is None:
            reason = "no adapter for this account is configured"
            await self._give_up(entry.outbound, waiting, reason)
            return
        item = WorkItem("send", entry.outbound.key)
        if self._guard.exhausted(item):
            await self._give_up(entry.outbound, waiting, QUARANTINED)
            self._guard.release(item)  # an operator may send it again
            return
        send = Send(entry.outbound, entry.attempts)
        send.begun = entry.begun or entry.outbound.key in self._begun
        if entry.not_before is not None:
            left = (entry.not_before - self._clock.now()).total_seconds()
            sender.pacer.penalise(entry.outbound.place, left)
        if entry.begun and not self._repetitions.prepare_repetition(
            sender, send, by_operator=entry.requeued, restored=entry.restored
        ):
            await self._give_up(send.outbound, waiting, CUT_SHORT)
            return
        problem = "never tried"
        while True:
            await sender.connected.wait()
            await sender.pacer.wait(send.outbound.place)
            if self._clock.now() - entry.created_at >= self._rules.lifetime:
                await self._give_up(send.outbound, waiting, f"too old; {problem}")
                return
            if not await self._repetitions.announce(sender, send):
                if send.unannounced:
                    await self._give_up(send.outbound, waiting, UNANNOUNCED)
                    return
                continue
            error = await self._try(sender, send)
            if error is None or self._closed:
                return
            problem = reason_of(error)
            if not self._repetitions.prepare_next(error, sender, send):
                await self._give_up(send.outbound, waiting, problem)
                await self._note_lost(sender, send, error)
                return
            await self._note_elsewhere(sender, send.outbound, error)

    async def _try(self, sender: AccountSender, send: Send) -> Exception | None:
        """Send once and record the result; returns the error, if there was one."""
        platform, key = send.outbound.place.platform, send.outbound.key
        task, began = asyncio.current_task(), self._clock.monotonic()
        self._sending.add(task)
        try:
            if not repeats_safely(sender.adapter.capabilities, send.outbound):
                await self._begin(sender, send)
                began = self._clock.monotonic()
            with self._guard.working(WorkItem("send", key)):
                begin = partial(self._begin_anew, sender, send)
                receipt = await final.deliver(sender.adapter, send.outbound, begin)
        except DeliveryError as error:
            self._observe_attempt(send, began, error)
            send.tries += 1
            self._count("send_failed", f"{platform}:{type(error).__name__}")
            send.begun = send.unsure > 0 or isinstance(error, Ambiguous)
            await self._write(partial(self._record_failure, send, error))
            return error
        except (StoreUnavailable, _NotHeld):
            raise
        except Exception as error:
            self._observe_attempt(send, began, error)
            log.exception("send_failed", platform=platform, key=key)
            return error
        else:
            self._observe_attempt(send, began)
            self._count("sent", platform)
            at = message_key(send.outbound.place, receipt.message_id)
            await self._write(lambda: self._outbox.sent(key, receipt, at))
            if send.outbound.clears:
                self.expiring.forget_removed(send.outbound)
            self.expiring.remember(send.outbound, receipt)
            if self._note_sent is not None and sender.adapter.capabilities.quotes_by_id:
                await self._note(self._note_sent, send.outbound, receipt)
            return None
        finally:
            self._sending.discard(task)

    async def _note(
        self,
        note_sent: Callable[[Outbound, Receipt], Awaitable[None]],
        outbound: Outbound,
        receipt: Receipt,
    ) -> None:
        """Keep the id of a sent message. Without it, only a reply to this message is not
        understood, so nothing waits for an unavailable store."""
        try:
            await note_sent(outbound, receipt)
        except StoreUnavailable as error:
            log.warning("sent_id_not_kept", platform=outbound.place.platform, error=str(error))

    async def _begin(self, sender: AccountSender, send: Send) -> None:
        """Record that an attempt starts whose repetition people would see. Raises `_NotHeld`."""
        stored = send.outbound.key in self._begun
        self._begun.discard(send.outbound.key)
        if stored or recognised(sender.adapter.capabilities, send.outbound):
            return
        begin = partial(self._outbox.begin, send.outbound, again=send.begun)
        if not await self._write(begin):
            raise _NotHeld
        send.begun = True

    async def _begin_anew(self, sender: AccountSender, send: Send, removed: bool) -> None:
        """Record that an answer is sent beside its live message, if that could not be removed below
        a note. Raises `Ambiguous` where the note is missing, and `_NotHeld`."""
        if not removed and self._repetitions.need_note(sender, send):
            raise Ambiguous("the beginning of this answer could not be removed")
        await self._begin(sender, send)

    async def _record_failure(self, send: Send, error: DeliveryError) -> None:
        """Record how an attempt ended."""
        pause = error.retry_after
        await self._outbox.tried(
            send.outbound.key,
            reason_of(error),
            unsure=send.begun,
            not_before=None if pause is None else self._time_in(pause),
        )

    def _time_in(self, seconds: float) -> datetime:
        return self._clock.now() + timedelta(seconds=self._repetitions.bounded(seconds))

    def _observe_attempt(self, send: Send, began: float, error: Exception | None = None) -> None:
        failed = "" if error is None else type(error).__name__
        seconds = self._clock.monotonic() - began
        self._observer.attempted(SendAttempt(send.outbound, began, seconds, failed))

    async def _note_lost(self, sender: AccountSender, send: Send, error: Exception) -> None:
        """Say that a part is missing, unless it may have arrived or the note cannot."""
        unclear = send.unsure or isinstance(error, Ambiguous | WindowClosed)
        if not (unclear or send.outbound.is_empty):
            await self._send_note(sender, send.outbound, LOST_NOTE)

    async def _note_elsewhere(
        self, sender: AccountSender, outbound: Outbound, error: Exception
    ) -> None:
        """Say once, above the first part, that an answer does not stand in its thread."""
        moved = isinstance(error, AddressGone) and error.thread and not outbound.is_empty
        if moved and outbound.group not in self._elsewhere:
            self._elsewhere.append(outbound.group)
            await self._send_note(sender, outbound, ELSEWHERE_NOTE)

    async def _send_note(self, sender: AccountSender, of: Outbound, said: Text) -> None:
        """Send a note about a send to the chat; one attempt."""
        try:
            await sender.adapter.send(note(of, said, await self._language_of(of)))
        except Exception as error:  # noqa: BLE001 - the answers matter more than this note
            log.warning("note_not_sent", platform=of.place.platform, error=error)

    async def _give_up(self, outbound: Outbound, waiting: deque[OutboxEntry], reason: str) -> None:
        """Give up a send with the remaining parts of the same reply."""
        rest = [e for e in list(waiting)[1:] if e.outbound.group == outbound.group]
        for entry in rest:
            waiting.remove(entry)
        keys = [outbound.key, *(entry.outbound.key for entry in rest)]
        self._count("dead_letter", outbound.place.platform)
        # The outbox has the full reason; a platform's text may quote people, so the log has not.
        kind = reason.partition(":")[0]
        log.error("dead_letter", platform=outbound.place.platform, keys=len(keys), reason=kind)
        try:
            await self._write(lambda: self._outbox.dead(keys, reason))
        finally:
            self._held.difference_update(keys[1:])

    async def _write(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write to the outbox, repeatedly while it is unavailable: a send that is not recorded
        would be sent again. The chat's other sends wait.

        Raises `StoreUnavailable` at shutdown, and after the lifetime of an answer.
        """
        began, tries = self._clock.monotonic(), 0
        while True:
            try:
                return await write()
            except StoreUnavailable as error:
                tries += 1
                waited = self._clock.monotonic() - began
                if self._closed or waited >= self._rules.lifetime.total_seconds():
                    raise
                log.warning("outbox_unavailable", error=str(error), tries=tries)
            await self._clock.sleep(min(pause_after(tries), WRITE_PAUSE))
