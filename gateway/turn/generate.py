"""Asks the model, with the tools that the person may use, and shows the answer while it grows,
after a read mark and a typing indicator."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from types import TracebackType
from typing import Final, Self

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.errors import DeliveryError
from gateway.message import Place
from gateway.observe.correlation import asking
from gateway.outbound.live.answer import LiveAnswer, LiveDependencies, LiveTarget
from gateway.policy.decision import Decision
from gateway.ports import AlarmClock, CanMarkRead, CanReact, DocumentBlock, ImageBlock
from gateway.turn.admission import with_sharing
from gateway.turn.history_and_summary import BackgroundSummary
from gateway.turn.model_turn import UNSEEN
from gateway.turn.services import Services
from gateway.turn.takeover import is_silenced
from gateway.turn.tool_loop import ToolLoop
from gateway.turn.tools import OverheardModel
from gateway.turn.turn_context import TurnContext


async def generate(turn: TurnContext, services: Services) -> Decision:
    """Ask the model, which may call the tools that this person may use before these people."""
    meter, request, tools = turn.generation.meter, turn.generation.request, turn.generation.tools
    if meter is None or request is None or tools is None:
        raise AssertionError(
            "the model is called before its request is assembled and its cost reserved"
        )
    turn.generation.live = live = live_answer(turn, services)
    background_summary = BackgroundSummary(turn, services, meter, request.model)
    seen = (file for file in turn.inputs.files if isinstance(file, ImageBlock | DocumentBlock))
    held = sum(len(file.data) for file in seen)
    async with ProgressIndicator(turn, services), background_summary:
        with asking(turn.asker.person):
            result = turn.generation.result = await ToolLoop(
                request,
                meter if turn.inputs.memory is None else OverheardModel(meter, turn.inputs.memory),
                tools,
                services.clock,
                live or UNSEEN,
                lambda seconds: services.slots.without(services.clock.sleep(seconds), held),
                turn.language_of(),
            ).run()
    model = request.model or services.assistant.default_model
    services.calibrations.learn(model, result.calibration)
    turn.answer.text, turn.answer.closing = result.text, result.closing
    for use in result.calls:
        seconds = {"seconds": round(use.seconds, 3)}
        turn.note(Decision("tool", use.ok, use.name, use.note, data=seconds))
    if meter.refusal is not None:
        return await with_sharing(meter.refusal, turn, services)
    return Decision("model", True, result.outcome, result.model)


def live_answer(turn: TurnContext, services: Services) -> LiveAnswer | None:
    """Return the live answer of this turn; None if the platform, the place or a setting excludes
    it."""
    shower, place = turn.connected.live, turn.place
    if shower is None or not services.policies.live or turn.attempt.may_repeat:
        return None
    sender = services.deliverer.sender_for(place)
    style = shower.live_style(place)
    if sender is None or style is None:
        return None
    late = turn.attempt.late
    oldest = turn.asked.inbox_ids[0] if turn.asked.inbox_ids else turn.id
    target = LiveTarget(
        key=f"live:{oldest}",
        place=place,
        renderer=turn.connected.renderer,
        reply_to_id=turn.asked.reply_to_id,
        reply_handle=turn.asked.reply_handle,
        again=turn.attempt.again,
        lead=turn.language_of().shown(late.line) if late is not None else "",
        language=turn.language_of(),
    )
    means = LiveDependencies(
        adapter=turn.connected.adapter,
        shower=shower,
        pacer=sender.pacer,
        free=lambda: sender.connected.is_set() and services.deliverer.quiet(place),
        memory=services.stores.states.of(place.platform, place.account),
        clock=services.clock,
        count=services.count,
        silenced=lambda: is_silenced(turn, services),
    )
    return LiveAnswer(target, means, style)


AFTER: Final = 1.0
"""Seconds: an answer that is ready sooner needs no sign, which would cost two requests."""
LONGEST: Final = 3_600.0
"""Seconds after which it goes in any case; no turn takes longer (`model.turn_seconds`)."""

log = structlog.get_logger(__name__)


class Acknowledgement:
    """A sign of progress, from `begin` to `end`; neither waits for the platform, and neither fails.

    `refused` returns True while the platform accepts no requests for this chat.
    """

    def __init__(
        self,
        reactions: CanReact,
        clock: AlarmClock,
        tasks: BackgroundTasks,
        *,
        place: Place,
        message_id: str,
        emoji: str,
        refused: Callable[[], bool],
    ) -> None:
        self._reactions = reactions
        self._clock = clock
        self._tasks = tasks
        self._place = place
        self._message_id = message_id
        self._emoji = emoji
        self._refused = refused
        self._over = asyncio.Event()
        self._not_yet: Callable[[], object] | None = None

    def begin(self) -> None:
        """Show the sign after a delay, unless the work is finished before."""
        self._not_yet = self._clock.after(AFTER, partial(self._tasks.begin, self._show))

    def end(self) -> None:
        """Remove the sign, or cancel it if it was not shown yet."""
        if self._not_yet is not None:
            self._not_yet()
        self._over.set()

    async def _show(self) -> None:
        if self._refused():
            return
        try:
            await self._reactions.react(self._place, self._message_id, self._emoji)
            try:
                async with asyncio.timeout(LONGEST):
                    await self._over.wait()
            finally:
                await self._reactions.unreact(self._place, self._message_id, self._emoji)
        except (DeliveryError, TimeoutError) as error:
            log.debug("acknowledgement_failed", platform=self._place.platform, error=str(error))


FIRST_AFTER = 0.3
"""Seconds: a faster answer needs no indicator, which would cost a request."""
AGAIN_AFTER = 4.5
"""Seconds: Telegram shows an indicator for 5, Discord for 10, WhatsApp for 25."""
MAX_SIGNS = 800
"""Signs of one turn: an hour, the longest that a turn can take."""

Indication = Callable[[], Awaitable[None]]


class ProgressIndicator:
    """A context that shows progress; its failures never affect the turn."""

    def __init__(self, turn: TurnContext, services: Services) -> None:
        self._turn = turn
        self._services = services
        self._clock = services.clock
        self._deliverer = services.deliverer
        self._tasks: list[asyncio.Task[None]] = []
        self._not_yet: Callable[[], object] | None = None
        self._acknowledgement = _acknowledgement(turn, services, self._refused)

    async def __aenter__(self) -> Self:
        connected = self._turn.connected
        if connected.read_marks is not None:
            self._begin(partial(self._mark, connected.read_marks))
        if connected.typing is not None or self._turn.generation.live is not None:
            # No task before it is due: most answers come sooner.
            self._not_yet = self._clock.after(FIRST_AFTER, partial(self._begin, self._show))
        if self._acknowledgement is not None:
            self._acknowledgement.begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._not_yet is not None:
            self._not_yet()
        for task in self._tasks:
            task.cancel()
        if self._acknowledgement is not None:
            self._acknowledgement.end()
        # A cancelled task refers to this object: a cycle would keep the whole turn in memory.
        self._tasks, self._not_yet, self._acknowledgement = [], None, None
        if self._turn.generation.live is not None:
            await self._turn.generation.live.close()

    def _begin(self, indicate: Indication) -> None:
        self._tasks.append(asyncio.create_task(self._unfailing(indicate)))

    async def _mark(self, marks: CanMarkRead) -> None:
        await marks.mark_read(self._turn.place, self._turn.asked.last.id)

    async def _show(self) -> None:
        typing, place = self._turn.connected.typing, self._turn.place
        message_id, live = self._turn.asked.last.id, self._turn.generation.live
        if live is not None:
            live.begin()
        if typing is None:
            return
        for _ in range(MAX_SIGNS):
            if await is_silenced(self._turn, self._services):
                return
            if not (self._refused() or (live is not None and live.visible)):
                await typing.typing(place, message_id)
            await self._clock.sleep(AGAIN_AFTER)

    def _refused(self) -> bool:
        """Return True while the platform accepts no requests for this chat, signs included."""
        sender = self._deliverer.sender_for(self._turn.place)
        return sender is not None and sender.pacer.penalised(self._turn.place)

    async def _unfailing(self, indicate: Indication) -> None:
        platform = self._turn.place.platform
        try:
            await indicate()
        except (DeliveryError, StoreUnavailable) as error:
            log.debug("progress_indicator_failed", platform=platform, error=str(error))
        except Exception:
            log.exception("progress_indicator_failed", platform=platform)


def _acknowledgement(
    turn: TurnContext, services: Services, refused: Callable[[], bool]
) -> Acknowledgement | None:
    """Return the reaction under the answered message; None if it is switched off, or the event is
    not a message."""
    emoji, reactions = services.policies.acknowledge, turn.connected.reactions
    if not emoji or reactions is None or turn.asked.kind not in ("message", "edit"):
        return None
    return Acknowledgement(
        reactions,
        services.clock,
        services.indicators,
        place=turn.asked.last.place,
        message_id=turn.asked.last.id,
        emoji=emoji,
        refused=refused,
    )
