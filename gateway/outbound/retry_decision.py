"""Decides about a failed send: its next form, when the next attempt starts, and the note above one
that may have arrived."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeAlias

import structlog
from msgspec import Struct, field

from gateway.errors import (
    AddressGone,
    Ambiguous,
    DeliveryError,
    FormatRejected,
    PlatformFailed,
    Transient,
)
from gateway.immutable import replace
from gateway.message import Outbound, Part
from gateway.outbound.pacing import Pacer
from gateway.people import Audience
from gateway.ports import Capabilities, PlatformAdapter
from gateway.text import ENGLISH, Language, Text, text

REPEAT_NOTE: Final = text(
    "(You may see the next message twice: the connection broke while I sent it.)"
)
LOST_NOTE: Final = text("(A part of my answer could not be sent here.)")
ELSEWHERE_NOTE: Final = text(
    "(The topic of this question was closed or deleted meanwhile, so my answer follows here.)"
)
ReaderLanguage: TypeAlias = Callable[[Outbound], Awaitable[Language]]
"""Returns the language of the readers of a send, as it is now. Never raises."""


async def in_english(_outbound: Outbound) -> Language:
    """Return English, where nothing is known of people."""
    return ENGLISH


@dataclass(slots=True)
class Send:
    """A send with the results of its attempts.

    `begun`: the outbox records that an attempt may have reached the platform. `unsure` counts the
    attempts without a result. `announced` is false while the note that a repetition needs is not
    confirmed; `notes` counts notes without a result. `unannounced`: the note cannot be sent.
    """

    outbound: Outbound
    tries: int
    begun: bool = False
    unsure: int = 0
    announced: bool = True
    notes: int = 0
    unannounced: bool = False


def reason_of(error: Exception) -> str:
    """Return the text of an adapter's own error; other errors may quote what people wrote."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, DeliveryError) else f"bug in the adapter: {name}"


def recognised(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Return True if the platform recognises a repetition. It does not where it shows a message to
    one person alone, in a room or as the answer to a command."""
    room = outbound.place.audience is not Audience.DIRECT
    alone = outbound.private_to and (room or outbound.reply_handle)
    return capabilities.idempotent_sends and not alone


def repeats_safely(capabilities: Capabilities, outbound: Outbound) -> bool:
    """Return True if a repetition is never visible: the platform recognises it, it edits an
    existing message, or it has no content."""
    return recognised(capabilities, outbound) or bool(outbound.replaces) or outbound.is_empty


def simpler(outbound: Outbound) -> Outbound | None:
    """Return a simpler form of a rejected send: first without markup, then without buttons; None if
    there is none."""
    part = outbound.part
    if part is not None and part.payload != part.text:
        return replace(outbound, part=Part(part.text, part.text))
    if part is not None and outbound.buttons:
        return replace(outbound, buttons=())
    return None


def readdressed(outbound: Outbound, error: AddressGone) -> Outbound | None:
    """Return the send without what is gone: without the message it replies to, or to the channel of
    its thread; None if the channel has other readers than the thread, or there is nothing left."""
    place = outbound.place
    if not error.thread:
        return replace(outbound, reply_to_id="") if outbound.reply_to_id else None
    if not place.thread_id or place.closed_thread:
        return None
    # A reply to a message of the thread would lead there again.
    outside = replace(place, thread_id="")
    return replace(outbound, place=outside, reply_to_id="", replaces="")


def note(outbound: Outbound, said: Text, language: Language) -> Outbound:
    """Return a note about a send to the same recipients, under a key of its own."""
    words = language.shown(said)
    part = Part(words, words)
    return replace(outbound, key=f"{outbound.key}~", part=part, file=None, buttons=())


REPEATS = 5
"""Repetitions of a send whose result is unknown. Where the platform recognises repetitions, their
pauses stay within the minutes for which it remembers a key; elsewhere each may be shown once more.
"""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0
"""Seconds between attempts where the platform names no time; doubled each time."""
NOTES = 20
"""Attempts without a response to send the note of one repetition, in about a quarter of an hour.
Errors of the platform do not count: the note is then repeated for the lifetime of the answer."""
log = structlog.get_logger(__name__)


class DeliveryRules(Struct, frozen=True):
    """`lifetime`: how long an answer may be sent. `repeat_ambiguous`: repeat a send with an unknown
    result, below a note."""

    lifetime: timedelta = timedelta(hours=24)
    repeat_ambiguous: bool = True


class AccountSender(Struct, frozen=True):
    """An account with its adapter and send budget. Sends wait while it is not `connected`."""

    adapter: PlatformAdapter
    pacer: Pacer
    connected: asyncio.Event = field(default_factory=asyncio.Event)


def pause_after(tries: int) -> float:
    """Return the seconds until the next attempt after so many failed ones."""
    return float(min(FIRST_PAUSE * 2 ** min(tries - 1, 10), LONGEST_PAUSE))


class Repetitions:
    """Decides about further attempts by the rules of an installation."""

    def __init__(self, rules: DeliveryRules, language_of: ReaderLanguage = in_english) -> None:
        self._rules = rules
        self._language_of = language_of

    def bounded(self, seconds: float) -> float:
        """Return a pause that does not exceed the lifetime of an answer."""
        return min(seconds, self._rules.lifetime.total_seconds())

    def need_note(self, sender: AccountSender, send: Send) -> bool:
        """Return True if this attempt would repeat what is shown, and no note stands above it."""
        known = recognised(sender.adapter.capabilities, send.outbound)
        return not (send.unsure or known) and self._rules.repeat_ambiguous

    def prepare_next(self, error: Exception, sender: AccountSender, send: Send) -> bool:
        """Prepare another attempt after a failed one; False if there is none."""
        match error:
            case Transient():
                self.pause(sender, send, error)
                return True
            case FormatRejected():
                form = simpler(send.outbound)
                send.outbound = form or send.outbound
                return form is not None
            case AddressGone():
                form = readdressed(send.outbound, error)
                send.outbound = form or send.outbound
                return form is not None
            case Ambiguous():
                return self.prepare_repetition(sender, send, error)
            case _:
                return False

    def pause(self, sender: AccountSender, send: Send, error: DeliveryError | None) -> None:
        """Delay the chat, for as long as the platform asks for."""
        retry_after = None if error is None else error.retry_after
        sender.pacer.penalise(
            send.outbound.place,
            self.bounded(pause_after(send.tries) if retry_after is None else retry_after),
            whole_account=isinstance(error, Transient) and error.whole_account,
        )

    def prepare_repetition(
        self,
        sender: AccountSender,
        send: Send,
        error: Ambiguous | None = None,
        *,
        by_operator: bool = False,
        restored: bool = False,
    ) -> bool:
        """Return True if a send with an unknown result is repeated: below a note, unless the
        platform recognises the repetition. `by_operator`: an operator wants it to be sent.
        `restored`: the attempt may be so old that no platform recognises its repetition."""
        send.unsure += 1
        safe = recognised(sender.adapter.capabilities, send.outbound) and not restored
        if send.unsure > REPEATS or not (safe or by_operator or self._rules.repeat_ambiguous):
            return False
        self.pause(sender, send, error)
        send.announced = safe
        return True

    async def announce(self, sender: AccountSender, send: Send) -> bool:
        """Send the note that the next message may appear twice, if it is due. False if it has to be
        sent again after a pause, or cannot be sent: without the note a reader could take a
        repetition for a new answer."""
        if send.announced:
            return True
        language = await self._language_of(send.outbound)
        try:
            await sender.adapter.send(note(send.outbound, REPEAT_NOTE, language))
        except (Transient, Ambiguous) as error:
            send.tries += 1
            send.notes += isinstance(error, Ambiguous) and not isinstance(error, PlatformFailed)
            self.pause(sender, send, error)
            send.unannounced = send.notes > NOTES
        except Exception as error:  # noqa: BLE001 - its type is logged, the send is given up
            log.warning("note_not_sent", platform=send.outbound.place.platform, error=error)
            send.unannounced = True
        else:
            send.announced = True
        return send.announced
