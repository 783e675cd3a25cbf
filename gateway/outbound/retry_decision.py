"""Decides about a failed send: when the next attempt starts, and the note above a send that may
have arrived."""

import asyncio
from datetime import timedelta
from typing import Final

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
from gateway.outbound.pacing import Pacer
from gateway.outbound.send_attempt import (
    REPEAT_NOTE,
    Send,
    note,
    readdressed,
    recognised,
    simpler,
)
from gateway.ports import PlatformAdapter

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

    def __init__(self, rules: DeliveryRules) -> None:
        self._rules = rules

    def bounded(self, seconds: float) -> float:
        """Return a pause that does not exceed the lifetime of an answer."""
        return min(seconds, self._rules.lifetime.total_seconds())

    def need_note(self, line: AccountSender, send: Send) -> bool:
        """Return True if this attempt would repeat what is shown, and no note stands above it."""
        known = recognised(line.adapter.capabilities, send.outbound)
        return not (send.unsure or known) and self._rules.repeat_ambiguous

    def prepare_next(self, error: Exception, line: AccountSender, send: Send) -> bool:
        """Prepare another attempt after a failed one; False if there is none."""
        match error:
            case Transient():
                self.pause(line, send, error)
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
                return self.prepare_repetition(line, send, error)
            case _:
                return False

    def pause(self, line: AccountSender, send: Send, error: DeliveryError | None) -> None:
        """Delay the chat, for as long as the platform asks for."""
        retry_after = None if error is None else error.retry_after
        line.pacer.penalise(
            send.outbound.place,
            self.bounded(pause_after(send.tries) if retry_after is None else retry_after),
            whole_account=isinstance(error, Transient) and error.whole_account,
        )

    def prepare_repetition(
        self,
        line: AccountSender,
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
        safe = recognised(line.adapter.capabilities, send.outbound) and not restored
        if send.unsure > REPEATS or not (safe or by_operator or self._rules.repeat_ambiguous):
            return False
        self.pause(line, send, error)
        send.announced = safe
        return True

    async def announce(self, line: AccountSender, send: Send) -> bool:
        """Send the note that the next message may appear twice, if it is due. False if it has to be
        sent again after a pause, or cannot be sent: without the note a reader could take a
        repetition for a new answer."""
        if send.announced:
            return True
        try:
            await line.adapter.send(note(send.outbound, REPEAT_NOTE))
        except (Transient, Ambiguous) as error:
            send.tries += 1
            send.notes += isinstance(error, Ambiguous) and not isinstance(error, PlatformFailed)
            self.pause(line, send, error)
            send.unannounced = send.notes > NOTES
        except Exception as error:  # noqa: BLE001 - its type is logged, the send is given up
            log.warning("note_not_sent", platform=send.outbound.place.platform, error=error)
            send.unannounced = True
        else:
            send.announced = True
        return send.announced
