"""A live message from nothing to the final answer, as a state machine: no I/O, no clock.

Every transition returns the new state, and where there is something to do, what it is. Whatever
fails in between, `Deliver` comes exactly once for an answer that ends, and once more only after
the platform has refused to change what stood there.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, TypeAlias

from gateway.ports import LiveStyle

FIRST_CHARACTERS: Final = 24
"""Fewer are not worth a message: a word alone looks like an answer that is over."""
NEXT_CHARACTERS: Final = 32
"""New characters that are worth another request."""
LINGER: Final = 3.0
"""Seconds after which anything new is shown, however little."""
LOOK: Final = 0.3
"""Seconds until it is worth looking again while there is something new, but too little."""
REFRESH: Final = 0.65
"""The part of its lifetime after which a preview that fades is shown again."""
MAX_STRIKES: Final = 3
"""Refusals for now after which no live text is tried any more."""


class Phase(Enum):
    """Where a live message is. From FINALISING on, the outbox has the answer."""

    IDLE = "idle"
    PREVIEWING = "previewing"
    FINALISING = "finalising"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Show:
    """Show what is written so far."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to show now; look again after so many seconds, None for "when more is written"."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send the last word. `replaces` is the message that it takes the place of, empty for none."""

    replaces: str


@dataclass(frozen=True, slots=True)
class Remove:
    """Take a message away that appeared when it was too late."""

    handle: str


Look: TypeAlias = Show | Wait


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """The state. `shown` counts the characters on the screen, times are of a monotonic clock.

    `asking`: a request is under way; there is never more than one. `held`: a sentence stands there
    that says why there is no text yet. `given_up`: nothing more is
    shown, the final answer comes all the same.
    """

    style: LiveStyle
    phase: Phase = Phase.IDLE
    handle: str = ""
    shown: int = 0
    shown_at: float = 0.0
    not_before: float = 0.0
    asking: bool = False
    held: bool = False
    strikes: int = 0
    given_up: bool = False

    @property
    def open(self) -> bool:
        """True until the answer has ended."""
        return self.phase in (Phase.IDLE, Phase.PREVIEWING)

    # --- while it is written --------------------------------------------------------------------

    def recall(self, handle: str) -> "LiveMessage":
        """An earlier run left this message: it is the one to change."""
        if not handle or self.phase is not Phase.IDLE:
            return self
        return replace(self, phase=Phase.PREVIEWING, handle=handle)

    def look(
        self, now: float, written: int, hold_at: float | None = None
    ) -> "tuple[LiveMessage, Look]":
        """What to do now that `written` characters may be shown. From `hold_at` on a sentence may
        stand for text that is not there."""
        if not self.open or self.asking or self.given_up:
            return self, Wait(None)
        if now < self.not_before:
            return self, Wait(self.not_before - now)
        new = written - self.shown
        enough = new >= (NEXT_CHARACTERS if self.shown else FIRST_CHARACTERS)
        lingering = new > 0 and self.shown > 0 and now - self.shown_at >= LINGER
        if enough or lingering or self._fading(now):
            return replace(self, asking=True), Show()
        if new > 0:
            return self, Wait(LOOK)
        if hold_at is not None and not (self.held or self.shown or self.style.appends):
            if now < hold_at:
                return self, Wait(hold_at - now)
            return replace(self, asking=True), Show()
        return self, Wait(self._until_fading(now))

    def postpone(self, now: float, seconds: float) -> "LiveMessage":
        """It cannot be shown at this moment: the chat is busy, or its budget is used up."""
        return replace(self, asking=False, not_before=max(self.not_before, now + seconds))

    def appeared(
        self, now: float, shown: int, handle: str, cost: float = 0.0
    ) -> "tuple[LiveMessage, Remove | None]":
        """The platform shows it. `cost` are the seconds to leave between two at least."""
        state = replace(self, asking=False)
        if not self.open:
            # The final answer is on its way without knowing of this message.
            return state, Remove(handle) if handle and not self.handle else None
        pause = max(self.style.pause, cost)
        state = replace(
            state,
            phase=Phase.PREVIEWING,
            handle=handle or self.handle,  # a preview that fades stands beside what was left
            shown=shown,
            held=shown == 0,
            shown_at=now,
            not_before=now + pause,
            strikes=0,
        )
        return state, None

    def refused(self, now: float, seconds: float) -> "LiveMessage":
        """Refused for now; after the third time in a row for good."""
        strikes = self.strikes + 1
        tired = strikes >= MAX_STRIKES
        state = replace(self, strikes=strikes, given_up=self.given_up or tired)
        return state.postpone(now, seconds)

    def give_up(self) -> "LiveMessage":
        """Nothing more is shown."""
        return replace(self, asking=False, given_up=True)

    # --- the end --------------------------------------------------------------------------------

    def finish(self) -> "tuple[LiveMessage, Deliver | None]":
        """The answer is complete; None when it had ended already."""
        if not self.open:
            return self, None
        so_far = self.handle, self.shown, self.shown_at, self.not_before, self.asking, self.held
        state = LiveMessage(self.style, Phase.FINALISING, *so_far, self.strikes, self.given_up)
        return state, Deliver(self.handle)

    def cancel(self) -> "tuple[LiveMessage, Deliver | None]":
        """The turn was stopped: what was shown is closed, if anything was."""
        if not self.open:
            return self, None
        state = replace(self, phase=Phase.CANCELLED)
        seen = self.phase is Phase.PREVIEWING and (self.shown > 0 or bool(self.handle))
        return state, Deliver(self.handle) if seen else None

    def final_refused(self) -> "tuple[LiveMessage, Deliver | None]":
        """The message to change is not there any more, or cannot be changed: send a new one."""
        if self.phase is not Phase.FINALISING or not self.handle:
            return self, None
        return replace(self, handle=""), Deliver("")

    def _fading(self, now: float) -> bool:
        left = self._until_fading(now)
        return left is not None and left <= 0

    def _until_fading(self, now: float) -> float | None:
        if not self.style.fades or self.phase is not Phase.PREVIEWING:
            return None
        if not (self.shown or self.held):
            return None
        return max(0.0, self.shown_at + self.style.fades * REFRESH - now)
