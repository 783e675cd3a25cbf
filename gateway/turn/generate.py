"""Asks the model, with the tools that the person may use, and shows the answer while it grows."""

from gateway.observe.correlation import asking
from gateway.outbound.live.answer import LiveAnswer, LiveDependencies, LiveTarget
from gateway.policy.decision import Decision
from gateway.ports import ImageBlock
from gateway.turn.admission import with_sharing
from gateway.turn.history_and_summary import BackgroundSummary
from gateway.turn.progress_indicator import ProgressIndicator
from gateway.turn.services import Services
from gateway.turn.takeover import is_silenced
from gateway.turn.tool_loop import ToolLoop
from gateway.turn.toolbox import OverheardModel
from gateway.turn.turn_context import TurnContext
from gateway.turn.types import UNSEEN


async def generate(turn: TurnContext, services: Services) -> Decision:
    """Ask the model, which may call the tools that this person may use before these people."""
    meter, request, tools = turn.generation.meter, turn.generation.request, turn.generation.tools
    if meter is None or request is None or tools is None:
        raise AssertionError(
            "the model is called before its request is assembled and its cost reserved"
        )
    turn.generation.live = live = live_answer(turn, services)
    background_summary = BackgroundSummary(turn, services, meter, request.model)
    held = sum(len(file.data) for file in turn.inputs.files if isinstance(file, ImageBlock))
    async with ProgressIndicator(turn, services), background_summary:
        with asking(turn.asker.person):
            result = turn.generation.result = await ToolLoop(
                request,
                meter if turn.inputs.memory is None else OverheardModel(meter, turn.inputs.memory),
                tools,
                services.clock,
                live or UNSEEN,
                lambda seconds: services.slots.without(services.clock.sleep(seconds), held),
            ).run()
    model = request.model or services.assistant.default_model
    services.calibrations.learn(model, result.calibration)
    turn.answer.text = result.text
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
    line = services.deliverer.sender_for(place)
    style = shower.live_style(place)
    if line is None or style is None:
        return None
    oldest = turn.asked.inbox_ids[0] if turn.asked.inbox_ids else turn.id
    target = LiveTarget(
        key=f"live:{oldest}",
        place=place,
        renderer=turn.connected.renderer,
        reply_to_id=turn.asked.reply_to_id,
        reply_handle=turn.asked.reply_handle,
        again=turn.attempt.again,
        lead=turn.attempt.late.line if turn.attempt.late is not None else "",
    )
    means = LiveDependencies(
        adapter=turn.connected.adapter,
        shower=shower,
        pacer=line.pacer,
        free=lambda: line.connected.is_set() and services.deliverer.quiet(place),
        memory=services.stores.states.of(place.platform, place.account),
        clock=services.clock,
        count=services.count,
        silenced=lambda: is_silenced(turn, services),
    )
    return LiveAnswer(target, means, style)
