"""Whether and how an answer is shown while it is written: ties a turn to `delivery/live`."""

from gateway.exchange import Exchange
from gateway.outbound.live.answer import LiveAnswer, LiveDependencies, LiveTarget
from gateway.services import Services


def live_answer(exchange: Exchange, services: Services) -> LiveAnswer | None:
    """The live answer of this turn; None where the platform, the place or a setting has none."""
    shower, place = exchange.connected.live, exchange.place
    if shower is None or not services.policies.live:
        return None
    line = services.deliverer.sender_for(place)
    style = shower.live_style(place)
    if line is None or style is None:
        return None
    oldest = exchange.inbox_ids[0] if exchange.inbox_ids else exchange.id
    target = LiveTarget(
        key=f"live:{oldest}",
        place=place,
        renderer=exchange.connected.renderer,
        reply_to_id=exchange.last.id if exchange.kind == "message" else "",
        reply_handle=exchange.reply_handle,
        again=exchange.again,
    )
    means = LiveDependencies(
        adapter=exchange.connected.adapter,
        shower=shower,
        pacer=line.pacer,
        free=lambda: line.connected.is_set() and services.deliverer.quiet(place),
        memory=services.stores.states.of(place.platform, place.account),
        clock=services.clock,
        count=services.count,
    )
    return LiveAnswer(target, means, style)
