"""Shows an answer while it is generated: one task per answer, which starts only if it takes long.

The model never waits for it, and a failed request costs the live text, never the answer.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import Ambiguous, Busy, DeliveryError, Transient
from gateway.markdown.text_renderer import Renderer
from gateway.message import NOTHING_SHOWN, Outbound, Place
from gateway.outbound.live import final
from gateway.outbound.live.message import LiveMessage, LivePhase, PartialText, RenderedText, Show
from gateway.outbound.pacing import Pacer
from gateway.ports import (
    AdapterState,
    AlarmClock,
    CanShowLive,
    LiveStyle,
    LiveView,
    PlatformAdapter,
    Wait,
)
from gateway.render import address
from gateway.text import ENGLISH, NO_TEXT, Language, Text, text

FIRST_AFTER: Final = 0.7
"""Seconds: an answer that is complete sooner is sent without a live message."""
LAST_WAIT: Final = 2.0
"""Seconds that the final answer waits for a running request. Without waiting, the request could
overtake it; a longer wait would let a hanging platform delay the answer."""
FIND_SECONDS: Final = 30.0
"""Seconds for which an answer waits for its first message where a repeated request finds it: after
a crash, or while that request runs. A busy machine or a platform that reconnects needs some."""
FREE_AFTER: Final = 0.1
"""Seconds until the next look for earlier sends of the chat."""
BUSY: Final = 1.0
"""Seconds until the next attempt when the chat has no capacity."""
REFUSED: Final = 5.0
"""Seconds without live text after a refusal that names no time."""
MAX_LOOKS: Final = 5_000
RENDER_SHARE: Final = 20.0
"""Rendering takes at most one part in this many of the time."""
KEEP: Final = timedelta(hours=24)
BEGUN: Final = "?"
"""Replaces a handle: something was about to be shown, and the result is unknown."""
ENDED: Final = "!"
"""Replaces `BEGUN` once the answer is sent without the handle: nothing more may be shown. A call of
a killed worker may still wait for the process that is connected."""
HELD_AFTER: Final = 4.0
"""Seconds of a turn after which failed calls of the model are announced, if nothing else is
shown."""
SLOW_AFTER: Final = 15.0
"""Seconds without a first token, or of a turn without a word, after which people are told what they
wait for."""
HELD: Final = text("_(My language model is not answering at the moment. I keep trying.)_")
SLOW: Final = text("_(My language model is slow at the moment. I am waiting for its answer.)_")
WORKING: Final = text("_(I am still working on the answer.)_")
STOPPED: Final = text("_(Stopped.)_")
BROKEN: Final = text("_(The answer was interrupted here.)_")
log = structlog.get_logger(__name__)


class LiveTarget(Struct, frozen=True):
    """The answer and its destination. `key` is the same when the work is repeated after a crash;
    `again` is set if an earlier run may have shown something already; `lead` stands above the
    answer."""

    key: str
    place: Place
    renderer: Renderer
    reply_to_id: str = ""
    reply_handle: str = ""
    again: bool = False
    lead: str = ""
    language: Language = ENGLISH
    """The language of its readers."""


async def _never() -> bool:
    return False


class LiveDependencies(Struct, frozen=True):
    """The dependencies of a live answer. `free`: the account is connected, and no send to the chat
    waits. `silenced` returns True if the answer will not be sent; it raises `StoreUnavailable`."""

    adapter: PlatformAdapter
    shower: CanShowLive
    pacer: Pacer
    free: Callable[[], bool]
    memory: AdapterState
    clock: AlarmClock
    count: Callable[[str, str], None]
    silenced: Callable[[], Awaitable[bool]] = _never


class LiveAnswer:
    """One live answer."""

    def __init__(self, target: LiveTarget, means: LiveDependencies, style: LiveStyle) -> None:
        self._target = target
        self._means = means
        self._text = PartialText(target.place.audience, target.renderer)
        now = means.clock.monotonic()
        self._state = LiveMessage(style, not_before=now + FIRST_AFTER)
        self._began = self._waits_since = now
        self._waits_for: Wait = "model"
        self._sentence: Text = NO_TEXT
        self._requested_length = 0
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._request: asyncio.Task[None] | None = None
        self._recalled = not target.again
        self._unknown = False
        self._led = False

    @property
    def visible(self) -> bool:
        """True once something is shown."""
        return self._state.shown > 0

    @property
    def began(self) -> bool:
        """True once a request to the platform was made."""
        return self._request is not None or self._state.handle != ""

    @property
    def shows_text(self) -> bool:
        """True if some of the answer is shown, or about to be."""
        return (self._requested_length if self._state.asking else self._state.shown) > 0

    async def on_text(self, piece: str) -> None:
        """Take a piece of the answer."""
        self._waits_for = "working"
        self._write(piece)
        self._news.set()

    def waits(self, wait: Wait) -> None:
        """Record what the turn waits for. A first token after failed calls is no news: people were
        told that the model does not answer."""
        if wait == self._waits_for or (wait == "model" and self._waits_for == "again"):
            return
        self._waits_for, self._waits_since = wait, self._means.clock.monotonic()
        if self._sentence and self._sentence != self._hold()[0]:
            self._state = self._state.hold_again()
        self._news.set()

    def _hold(self) -> tuple[Text, float]:
        """Return the sentence that explains why there is no text, and when it may be shown."""
        match self._waits_for:
            case "model":
                return SLOW, self._waits_since + SLOW_AFTER
            case "working":
                return WORKING, self._began + SLOW_AFTER
            case "again":
                return HELD, self._began + HELD_AFTER

    def take_back(self, kept: str) -> bool:
        """Discard the text so far, except for `kept`; False if some of it is shown, or about to
        be."""
        held = self._state.phase is LivePhase.PREVIEWING and self._state.held
        if self.shows_text or not (held or self._state.phase is LivePhase.IDLE):
            return False
        self._text = PartialText(self._target.place.audience, self._target.renderer)
        self._led = False
        self._write(kept)
        return True

    def _write(self, piece: str) -> None:
        if piece and self._target.lead and not self._led:
            self._led = True
            self._text.write(f"{self._target.lead}\n\n")
        self._text.write(piece)

    def begin(self) -> None:
        """Start to show the answer."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Show nothing more. A running request gets a moment to finish."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        if self._request is not None and not self._request.done():
            can_be_found = self._is_first and self._known
            seconds = FIND_SECONDS if can_be_found else LAST_WAIT
            await asyncio.wait((self._request,), timeout=seconds)
        if self._request is not None and not self._request.done() and self._state.handle:
            # An old text must not overtake the final one. A first post may finish: it is removed.
            self._request.cancel()
        await self._recall()
        await self._find()
        if self._may_stand:
            await self._remember(ENDED)

    def finished(self, outbound: tuple[Outbound, ...]) -> tuple[Outbound, ...]:
        """Return the sends of the answer, the first of them in place of the live message. They
        follow a repeat note if a live message may stand that cannot be replaced."""
        may_stand = self._may_stand
        self._state, action = self._state.finish()
        if may_stand and outbound and not (action and action.replaces):
            note = final.announced(outbound[0], self._target.key, self._target.language)
            outbound = (note, *outbound)
        broken = f"{self._target.key}-broken"
        return final.joined(outbound, action, lambda: self._closing(BROKEN, broken))

    def stopped(self, reply: str) -> tuple[Outbound, ...]:
        """Return the sends that close the live message, marked as stopped; empty if nothing was
        shown."""
        self._state, action = self._state.cancel()
        return final.closed(self._closing(STOPPED, reply), action) if action else ()

    def _closing(self, mark: Text, reply: str) -> tuple[Outbound, ...]:
        target = self._target
        return address(
            reply,
            target.place,
            self._text.closed(target.language.shown(mark)),
            NOTHING_SHOWN,
            reply_to_id=target.reply_to_id,
            reply_handle=target.reply_handle,
        )

    # --- while the answer is generated ----------------------------------------------------------

    async def _watch(self) -> None:
        try:
            for _ in range(MAX_LOOKS):
                self._news.clear()
                written = self._text.read()
                self._state, look = self._state.look(
                    self._means.clock.monotonic(), written, self._hold()[1]
                )
                if isinstance(look, Show):
                    await self._show()
                elif look.news or look.seconds is None:
                    await self._news_within(look.seconds)
                else:
                    await self._means.clock.sleep(look.seconds)
        except Exception:
            log.exception("live_answer_failed", platform=self._target.place.platform)
            self._state = self._state.give_up()

    async def _news_within(self, seconds: float | None) -> None:
        """Wait for news, for so many seconds."""
        if seconds is None:
            await self._news.wait()
            return
        cancel = self._means.clock.after(seconds, self._news.set)
        try:
            await self._news.wait()
        finally:
            cancel()

    async def _show(self) -> None:
        """Show the current text, if the chat has capacity."""
        clock, began = self._means.clock, self._means.clock.monotonic()
        await self._recall()
        if self._state.given_up:
            return
        if not await self._may_speak():
            return
        rendered = await self._text.render()
        has_text = rendered is not None and rendered.length > 0
        if not has_text and clock.monotonic() >= self._hold()[1]:
            self._sentence = self._hold()[0]
            rendered = self._placeholder(self._sentence)
        self._requested_length = rendered.length if rendered is not None else 0
        cost = (clock.monotonic() - began) * RENDER_SHARE
        if rendered is None or not self._room():
            self._state = self._state.postpone(clock.monotonic(), max(BUSY, cost))
            return
        self._request = asyncio.create_task(self._ask(rendered, cost))
        await asyncio.shield(self._request)

    def _placeholder(self, said: Text) -> RenderedText:
        return self._text.placeholder(self._target.language.shown(said))

    async def _may_speak(self) -> bool:
        """Return False if nothing may be shown: for the whole answer, or while that is unknown."""
        try:
            silenced = await self._means.silenced()
        except StoreUnavailable as error:
            log.warning("live_answer_not_checked", error=str(error))
            self._state = self._state.postpone(self._means.clock.monotonic(), BUSY)
            return False
        if silenced:
            self._state = self._state.give_up()
        return not silenced

    def _room(self) -> bool:
        """Return True if the chat can take an optional request."""
        style, place = self._state.style, self._target.place
        if not self._means.free() or self._means.pacer.penalised(place):
            return False
        return not style.costs or self._means.pacer.spare(place)

    async def _ask(self, rendered: RenderedText, cost: float) -> None:
        """Send one request and handle its result."""
        target, means, clock = self._target, self._means, self._means.clock
        first = self._is_first
        if first and not (self._known or await self._remember(BEGUN)):
            self._state = self._state.postpone(clock.monotonic(), BUSY)
            return
        try:
            handle = await means.shower.show_live(self._view(rendered))
        except Busy:
            self._state = self._state.postpone(clock.monotonic(), BUSY)
        except Transient as error:
            pause = REFUSED if error.retry_after is None else error.retry_after
            if error.retry_after is not None:
                means.pacer.penalise(
                    target.place, error.retry_after, whole_account=error.whole_account
                )
            means.count("live_refused", target.place.platform)
            self._state = self._state.refused(clock.monotonic(), pause)
        except DeliveryError as error:
            means.count("live_answer_given_up", target.place.platform)
            log.info(
                "live_answer_given_up", platform=target.place.platform, reason=type(error).__name__
            )
            ambiguous, now = isinstance(error, Ambiguous), clock.monotonic()
            self._unknown = self._unknown or (first and ambiguous)
            again = ambiguous and self._known
            self._state = self._state.refused(now, BUSY) if again else self._state.give_up()
        except Exception:
            log.exception("live_answer_failed", platform=target.place.platform)
            self._unknown = self._unknown or first
            self._state = self._state.give_up()
        else:
            await self._appeared(rendered, handle, cost)

    def _view(self, rendered: RenderedText) -> LiveView:
        target = self._target
        return LiveView(
            target.key,
            target.place,
            rendered.part,
            rendered.added,
            self._state.handle,
            target.reply_to_id,
            target.reply_handle,
        )

    async def _appeared(self, rendered: RenderedText, handle: str, cost: float) -> None:
        first = bool(handle) and handle != self._state.handle
        now = self._means.clock.monotonic()
        self._state, late = self._state.appeared(now, rendered.length, handle, cost)
        if late is not None:
            await final.take_away(self._means.adapter, self._target.place, late.handle)
            return
        self._text.mark_shown(rendered)
        self._means.count("live_shown", self._target.place.platform)
        if first:
            self._unknown = False
            await self._remember(handle)

    @property
    def _is_first(self) -> bool:
        """True if the next request posts a message that stays."""
        return not (self._state.handle or self._state.style.fades)

    @property
    def _may_stand(self) -> bool:
        """True if a message may stand, or appear, whose handle is unknown."""
        asked = self._is_first and self._request is not None and not self._request.done()
        return self._unknown or asked

    # --- after a crash --------------------------------------------------------------------------

    async def _remember(self, handle: str) -> bool:
        return await store_handle(self._means.memory, self._target.key, handle)

    async def _recall(self) -> None:
        """Find the message that an earlier run left, once."""
        if self._recalled:
            return
        self._recalled = True
        try:
            handle = await self._means.memory.get(memory_key(self._target.key))
        except StoreUnavailable as error:
            log.warning("live_handle_not_loaded", error=str(error))
            handle = BEGUN if self._is_first and not self._known else ""
        self._unknown = handle in (BEGUN, ENDED)
        self._state = self._state.give_up() if self._unknown else self._state.recall(handle or "")

    @property
    def _known(self) -> bool:
        """True if the platform recognises a repeated request."""
        return self._means.adapter.capabilities.idempotent_sends

    async def _find(self) -> None:
        """Find the message that an earlier run left without storing its handle: a platform that
        recognises repetitions returns the handle when the request is repeated."""
        idle = self._state.phase is LivePhase.IDLE and not self._state.given_up
        if not (self._target.again and idle and self._known):
            return
        self._text.read()
        rendered = await self._text.render()
        if rendered is None:
            return
        try:
            async with asyncio.timeout(FIND_SECONDS):
                handle = await self._ask_again(rendered)
        except Exception as error:  # noqa: BLE001 - the answer is then sent as a new message
            log.info("live_answer_not_found", platform=self._target.place.platform, error=error)
            self._unknown = self._is_first
            return
        if handle:
            self._state = self._state.recall(handle)
            await self._remember(handle)

    async def _ask_again(self, rendered: RenderedText) -> str:
        """Repeat the first request when every earlier answer of the chat is sent: it posts the
        message if the earlier run did not, and that would appear above them. The request has none
        of the text if the answer will not be sent."""
        means = self._means
        while True:  # the caller has a time limit
            while not means.free():
                await means.clock.sleep(FREE_AFTER)
            try:
                shown = self._placeholder(STOPPED) if await means.silenced() else rendered
                return await means.shower.show_live(self._view(shown))
            except StoreUnavailable:
                await means.clock.sleep(BUSY)
            except (Ambiguous, Transient) as error:
                await means.clock.sleep(error.retry_after or BUSY)


async def store_handle(state: AdapterState, key: str, handle: str) -> bool:
    """Store the handle of a live answer, so that a run after a crash edits the same message; False
    if that failed."""
    try:
        await state.put(memory_key(key), handle, KEEP)
    except StoreUnavailable as error:
        log.warning("live_handle_not_stored", error=str(error))
        return False
    return True


async def has_ended(state: AdapterState, key: str) -> bool:
    """Return True if a live answer was sent without its live message, which must not appear now.
    Raises `StoreUnavailable`."""
    return await state.get(memory_key(key)) == ENDED


def memory_key(key: str) -> str:
    """Return the key under which an account's state keeps the handle of a live answer, `BEGUN` or
    `ENDED`."""
    return f"live:{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"
