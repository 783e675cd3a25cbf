"""Shows an answer while it is written: one task per answer, which starts only if it takes long.

The model never waits for it, and a request that fails costs the live text, never the answer.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from gateway.errors import Ambiguous, Busy, DeliveryError, StoreUnavailable, Transient
from gateway.message import Outbound, Place
from gateway.outbound.live import final
from gateway.outbound.live.page import Page, Sheet
from gateway.outbound.live.state import LiveMessage, Phase, Show
from gateway.outbound.pacing import Pacer
from gateway.ports import (
    AdapterState,
    CanShowLive,
    Clock,
    LiveStyle,
    LiveView,
    PlatformAdapter,
)
from gateway.ports.renderer import Renderer

FIRST_AFTER: Final = 0.7
"""Seconds: an answer that is complete sooner is sent as it is, without any further request."""
LAST_WAIT: Final = 2.0
"""Seconds that the final answer waits for a request that is under way. Without waiting, it could
be overtaken; with waiting longer, a deaf platform would hold it up."""
BUSY: Final = 1.0
"""Seconds until the next try where the chat has no room for it."""
REFUSED: Final = 5.0
"""Seconds without live text after a refusal that names no time."""
MAX_LOOKS: Final = 5_000
RENDER_SHARE: Final = 20.0
"""Rendering takes at most one part in so many of the time."""
KEEP: Final = timedelta(hours=24)
BEGUN: Final = "?"
"""In place of a handle: something was about to be shown, and nobody knows whether it was."""

HELD_AFTER: Final = 4.0
"""Seconds of a turn after which a wait for the model is said, where nothing else is shown."""
HELD: Final = "_(My language model is not answering at the moment. I keep trying.)_"
STOPPED: Final = "_(Stopped.)_"
BROKEN: Final = "_(The answer broke off here.)_"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LiveTarget:
    """Which answer it is and where it goes. `key` is the same when the work is done again after a
    crash; `again` when an earlier run may have shown something already."""

    key: str
    place: Place
    renderer: Renderer
    reply_to_id: str = ""
    reply_handle: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class LiveDependencies:
    """What it is shown with. `free`: the account is connected, and nothing else is on its
    way to the chat."""

    adapter: PlatformAdapter
    shower: CanShowLive
    pacer: Pacer
    free: Callable[[], bool]
    memory: AdapterState
    clock: Clock
    count: Callable[[str, str], None]


class LiveAnswer:
    """One answer that grows."""

    def __init__(self, target: LiveTarget, means: LiveDependencies, style: LiveStyle) -> None:
        self._target = target
        self._means = means
        self._page = Page(target.place.audience, target.renderer)
        now = means.clock.monotonic()
        self._state = LiveMessage(style, not_before=now + FIRST_AFTER)
        self._hold_from = now + HELD_AFTER
        self._waits = False
        self._asked = 0
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._request: asyncio.Task[None] | None = None
        self._recalled = not target.again
        self._left = False

    @property
    def visible(self) -> bool:
        """True once something is shown."""
        return self._state.shown > 0

    async def on_text(self, piece: str) -> None:
        """The model wrote this."""
        self._waits = False
        self._page.write(piece)
        self._news.set()

    def waits(self) -> None:
        """The model does not answer, and is asked again."""
        self._waits = True
        self._news.set()

    def take_back(self, kept: str) -> bool:
        """Forget what the model wrote, but for `kept`; False once some of it is shown, or about to
        be."""
        shows = self._asked if self._state.asking else self._state.shown
        held = self._state.phase is Phase.PREVIEWING and self._state.held
        if shows or not (held or self._state.phase is Phase.IDLE):
            return False
        self._page = Page(self._target.place.audience, self._target.renderer)
        self._page.write(kept)
        return True

    def begin(self) -> None:
        """Watch from now on what is written."""
        if self._task is None:
            self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Show nothing more. What is under way gets a moment to arrive."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        if self._request is not None and not self._request.done():
            await asyncio.wait((self._request,), timeout=LAST_WAIT)
        if self._request is not None and not self._request.done() and self._state.handle:
            # An old text must not overtake the final one. A first post may go on: it is removed.
            self._request.cancel()
        await self._recall()
        await self._find()

    def finished(self, outbound: tuple[Outbound, ...]) -> tuple[Outbound, ...]:
        """The sends of the answer, the first of them in the place of what is shown."""
        self._state, action = self._state.finish()
        if self._left and outbound:
            outbound = (final.announced(outbound[0], self._target.key), *outbound)
        broken = f"{self._target.key}-broken"
        return final.joined(outbound, action, lambda: self._closing(BROKEN, broken))

    def stopped(self, reply: str) -> tuple[Outbound, ...]:
        """The sends that close what was shown, marked as stopped; none where nothing was."""
        self._state, action = self._state.cancel()
        return final.closed(self._closing(STOPPED, reply), action) if action else ()

    def _closing(self, mark: str, reply: str) -> list[Outbound]:
        parts = self._page.closed(mark)
        target = self._target
        return final.sends(reply, target.place, parts, target.reply_to_id, target.reply_handle)

    # --- while it is written --------------------------------------------------------------------

    async def _watch(self) -> None:
        try:
            for _ in range(MAX_LOOKS):
                self._news.clear()
                written = self._page.read()
                now, hold_at = self._means.clock.monotonic(), self._hold_from
                self._state, look = self._state.look(now, written, hold_at if self._waits else None)
                if isinstance(look, Show):
                    await self._show()
                elif look.seconds is None:
                    await self._news.wait()
                else:
                    await self._means.clock.sleep(look.seconds)
        except Exception:
            log.exception("live_failed", platform=self._target.place.platform)
            self._state = self._state.give_up()

    async def _show(self) -> None:
        """Show what there is, if the chat has room for it now."""
        clock, began = self._means.clock, self._means.clock.monotonic()
        await self._recall()
        sheet = await self._page.sheet()
        if sheet is None and self._waits:
            sheet = self._page.holding(HELD)
        self._asked = sheet.length if sheet is not None else 0
        cost = (clock.monotonic() - began) * RENDER_SHARE
        if sheet is None or not self._room():
            self._state = self._state.postpone(clock.monotonic(), max(BUSY, cost))
            return
        self._request = asyncio.create_task(self._ask(sheet, cost))
        await asyncio.shield(self._request)

    def _room(self) -> bool:
        """Whether the chat can take a request that is not needed."""
        style, place = self._state.style, self._target.place
        if not self._means.free() or self._means.pacer.penalised(place):
            return False
        return not style.costs or self._means.pacer.spare(place)

    async def _ask(self, sheet: Sheet, cost: float) -> None:
        """One request, and what becomes of it."""
        target, means, clock = self._target, self._means, self._means.clock
        if not (self._state.handle or self._known or self._state.style.fades):
            await self._remember(BEGUN)
        try:
            handle = await means.shower.show_live(self._view(sheet))
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
            means.count("live_given_up", target.place.platform)
            log.info("live_given_up", platform=target.place.platform, reason=type(error).__name__)
            again = isinstance(error, Ambiguous) and means.adapter.capabilities.idempotent_sends
            now = clock.monotonic()
            self._state = self._state.refused(now, BUSY) if again else self._state.give_up()
        except Exception:
            log.exception("live_failed", platform=target.place.platform)
            self._state = self._state.give_up()
        else:
            await self._appeared(sheet, handle, cost)

    def _view(self, sheet: Sheet) -> LiveView:
        target = self._target
        return LiveView(
            target.key,
            target.place,
            sheet.part,
            sheet.added,
            self._state.handle,
            target.reply_to_id,
            target.reply_handle,
        )

    async def _appeared(self, sheet: Sheet, handle: str, cost: float) -> None:
        first = bool(handle) and handle != self._state.handle
        now = self._means.clock.monotonic()
        self._state, late = self._state.appeared(now, sheet.length, handle, cost)
        if late is not None:
            await final.take_away(self._means.adapter, self._target.place, late.handle)
            return
        self._page.showed(sheet)
        self._means.count("live_shown", self._target.place.platform)
        if first:
            await self._remember(handle)

    # --- over a crash ---------------------------------------------------------------------------

    async def _remember(self, handle: str) -> None:
        """Keep the handle, so that a run after a crash changes this message."""
        try:
            await self._means.memory.put(memory_key(self._target.key), handle, KEEP)
        except StoreUnavailable as error:
            log.warning("live_not_remembered", error=str(error))

    async def _recall(self) -> None:
        """Find the message that an earlier run left, once."""
        if self._recalled:
            return
        self._recalled = True
        try:
            handle = await self._means.memory.get(memory_key(self._target.key))
        except StoreUnavailable as error:
            log.warning("live_not_recalled", error=str(error))
            return
        self._left = handle == BEGUN
        self._state = self._state.give_up() if self._left else self._state.recall(handle or "")

    @property
    def _known(self) -> bool:
        """Whether the platform recognises what is shown again."""
        return self._means.adapter.capabilities.idempotent_sends

    async def _find(self) -> None:
        """Find the message that an earlier run left without having written down where: a platform
        that recognises repetitions tells it when it is asked to show it once more."""
        idle = self._state.phase is Phase.IDLE and not self._state.given_up
        if not (self._target.again and idle and self._known):
            return
        self._page.read()
        sheet = await self._page.sheet()
        if sheet is None:
            return
        try:
            async with asyncio.timeout(LAST_WAIT):
                handle = await self._means.shower.show_live(self._view(sheet))
        except Exception as error:  # noqa: BLE001 - the answer is sent anew then
            log.info("live_not_found", platform=self._target.place.platform, error=error)
            return
        if handle:
            self._state = self._state.recall(handle)
            await self._remember(handle)


def memory_key(key: str) -> str:
    """Under which an account's state keeps the handle of a live answer, or `BEGUN`."""
    return f"live:{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}"
