"""A live message: its state machine without I/O or clock, and the text of the answer that it
may show.

Every transition returns the new state and, if there is one, the action. `Deliver` occurs exactly
once for an answer that ends, and once more only after the platform refused to change the live
message.
"""

from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from gateway.immutable import replace
from gateway.markdown.text_renderer import Renderer
from gateway.markdown.unfinished import close_unfinished
from gateway.message import Part
from gateway.people import Audience
from gateway.policy.response_filter import StreamFilter, joins_secret
from gateway.ports import LiveStyle
from gateway.render import render_unfinished, render_with

FIRST_CHARACTERS: Final = 24
"""The minimum for a first message: a single word looks like a complete answer."""
NEXT_CHARACTERS: Final = 32
"""New characters that justify another request."""
LINGER: Final = 3.0
"""Seconds after which any new text is shown."""
LOOK: Final = 0.3
"""Seconds until the next check if there is new text, but too little."""
REFRESH: Final = 0.65
"""The part of its lifetime after which a preview that expires is shown again."""
MAX_STRIKES: Final = 3
"""Consecutive refusals after which live text is given up."""


class LivePhase(Enum):
    """The phase of a live message. From FINALISING on, the outbox has the answer."""

    IDLE = "idle"
    PREVIEWING = "previewing"
    FINALISING = "finalising"
    CANCELLED = "cancelled"


class Show(Struct, frozen=True):
    """Show the text so far."""


class Wait(Struct, frozen=True):
    """Show nothing now; check again after `seconds`, with `news` also when there is any; None for
    "only then"."""

    seconds: float | None
    news: bool = False


class Deliver(Struct, frozen=True):
    """Send the final text. `replaces` is the message that it replaces, empty for none."""

    replaces: str


class Remove(Struct, frozen=True):
    """Delete a message that appeared too late."""

    handle: str


Look: TypeAlias = Show | Wait


class LiveMessage(Struct, frozen=True):
    """The state. `shown` counts the visible characters, times are monotonic.

    `asking`: a request is running; there is never more than one. `held`: a sentence explains why
    there is no text yet; `outdated`: another one does now. `given_up`: nothing more is shown; the
    final answer is still sent.
    """

    style: LiveStyle
    phase: LivePhase = LivePhase.IDLE
    handle: str = ""
    shown: int = 0
    shown_at: float = 0.0
    not_before: float = 0.0
    asking: bool = False
    held: bool = False
    strikes: int = 0
    given_up: bool = False
    outdated: bool = False

    @property
    def open(self) -> bool:
        """True until the answer has ended."""
        return self.phase in (LivePhase.IDLE, LivePhase.PREVIEWING)

    # --- while the answer is generated ----------------------------------------------------------

    def recall(self, handle: str) -> "LiveMessage":
        """Continue with the message that an earlier run left."""
        if not handle or self.phase is not LivePhase.IDLE:
            return self
        return replace(self, phase=LivePhase.PREVIEWING, handle=handle)

    def look(
        self, now: float, written: int, hold_at: float | None = None
    ) -> "tuple[LiveMessage, Look]":
        """Return the action for `written` characters that may be shown. From `hold_at` on a
        sentence may replace missing text."""
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
        can_hold = not (self.shown or self.style.appends) and (self.outdated or not self.held)
        if hold_at is not None and can_hold:
            if now < hold_at:
                return self, Wait(hold_at - now, news=True)
            return replace(self, asking=True), Show()
        fading = self._until_fading(now)
        return self, Wait(fading, news=fading is not None)

    def hold_again(self) -> "LiveMessage":
        """Record that another sentence explains now why there is no text."""
        return replace(self, outdated=self.held)

    def postpone(self, now: float, seconds: float) -> "LiveMessage":
        """Delay the next request: the chat is busy, or its budget is used up."""
        return replace(self, asking=False, not_before=max(self.not_before, now + seconds))

    def appeared(
        self, now: float, shown: int, handle: str, cost: float = 0.0
    ) -> "tuple[LiveMessage, Remove | None]":
        """Record that the platform shows it. `cost` is the minimum number of seconds until the next
        request."""
        state = replace(self, asking=False)
        if not self.open:
            # The final answer is queued and does not know this message.
            return state, Remove(handle) if handle and not self.handle else None
        pause = max(self.style.pause, cost)
        state = replace(
            state,
            phase=LivePhase.PREVIEWING,
            handle=handle or self.handle,  # a preview is shown beside the message of an earlier run
            shown=shown,
            held=shown == 0,
            outdated=False,
            shown_at=now,
            not_before=now + pause,
            strikes=0,
        )
        return state, None

    def refused(self, now: float, seconds: float) -> "LiveMessage":
        """Record a temporary refusal; the third in a row is final."""
        strikes = self.strikes + 1
        tired = strikes >= MAX_STRIKES
        state = replace(self, strikes=strikes, given_up=self.given_up or tired)
        return state.postpone(now, seconds)

    def give_up(self) -> "LiveMessage":
        """Show nothing more."""
        return replace(self, asking=False, given_up=True)

    # --- the end --------------------------------------------------------------------------------

    def finish(self) -> "tuple[LiveMessage, Deliver | None]":
        """The answer is complete; None if it had ended already."""
        if not self.open:
            return self, None
        so_far = self.handle, self.shown, self.shown_at, self.not_before, self.asking, self.held
        state = LiveMessage(self.style, LivePhase.FINALISING, *so_far, self.strikes, self.given_up)
        return state, Deliver(self.handle)

    def cancel(self) -> "tuple[LiveMessage, Deliver | None]":
        """The turn was stopped: close the live message, if there is one."""
        if not self.open:
            return self, None
        state = replace(self, phase=LivePhase.CANCELLED)
        seen = self.phase is LivePhase.PREVIEWING and (self.shown > 0 or bool(self.handle))
        return state, Deliver(self.handle) if seen else None

    def final_refused(self) -> "tuple[LiveMessage, Deliver | None]":
        """The message to change is gone or cannot be changed: send a new one."""
        if self.phase is not LivePhase.FINALISING or not self.handle:
            return self, None
        return replace(self, handle=""), Deliver("")

    def _fading(self, now: float) -> bool:
        left = self._until_fading(now)
        return left is not None and left <= 0

    def _until_fading(self, now: float) -> float | None:
        if not self.style.fades or self.phase is not LivePhase.PREVIEWING:
            return None
        if not (self.shown or self.held):
            return None
        return max(0.0, self.shown_at + self.style.fades * REFRESH - now)


MAX_SOURCE: Final = 12_000
"""Characters of Markdown that are rendered live; the rest waits for the final answer."""
MAX_PIECES: Final = 100_000
"""Unread pieces; an answer of a model has some thousands."""


class RenderedText(Struct, frozen=True):
    """A rendered state: `length` characters of Markdown, of which `added` are new."""

    part: Part
    length: int
    added: str


class PartialText:
    """Collects the pieces of an answer and reads them on demand.

    In public rooms it holds only text that the response filter released. A live answer is always
    one message: text that would need a second one waits for the final answer.
    """

    def __init__(self, audience: Audience, renderer: Renderer) -> None:
        self._audience = audience
        self._filter = StreamFilter(audience)
        self._renderer = renderer
        self._pieces: list[str] = []
        self._passed = ""
        self._full = False
        self._shown = 0
        self._rendered: RenderedText | None = None

    def write(self, piece: str) -> None:
        """Add a piece of the answer."""
        if len(self._pieces) < MAX_PIECES and not self._full:
            self._pieces.append(piece)

    def read(self) -> int:
        """Read the new pieces; returns how many characters may be shown."""
        if self._pieces and not self._full:
            written, self._pieces = "".join(self._pieces), []
            self._passed += self._filter.feed(written)
            if len(self._passed) > MAX_SOURCE:
                self._passed = self._passed[:MAX_SOURCE]
                self._full = True
        return len(self._passed)

    async def render(self) -> RenderedText | None:
        """Render the text so far as one message; None if it is empty. In public rooms a text waits
        in which rendering makes what may be a secret: it is joined of several parts, for example.
        """
        if len(self._passed) == self._shown and self._rendered is not None:
            return self._rendered
        passed = self._passed
        parts = await render_unfinished(passed, self._renderer)
        if len(parts) > 1:
            self._full, self._pieces = True, []
        if not parts or self._joins_secret(parts[0].text, passed):
            return self._rendered
        self._rendered = RenderedText(parts[0], len(passed), passed[self._shown :])
        return self._rendered

    def _joins_secret(self, seen: str, passed: str) -> bool:
        # Text for a second message does not continue the first one.
        return joins_secret(f"{seen} " if self._full else seen, passed, self._audience)

    def placeholder(self, sentence: str) -> RenderedText:
        """A sentence in the place of text that is not there yet."""
        return RenderedText(render_with(self._renderer, sentence)[0], 0, "")

    def mark_shown(self, rendered: RenderedText) -> None:
        """Record that this state is shown."""
        self._shown = rendered.length
        self._rendered = RenderedText(rendered.part, rendered.length, "")

    def closed(self, mark: str) -> list[Part]:
        """Render the text that was shown, with a mark at its end."""
        shown = close_unfinished(self._passed[: self._shown])
        return render_with(self._renderer, f"{shown}\n\n{mark}" if shown.strip() else mark)
