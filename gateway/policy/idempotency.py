"""Which events are the same event."""

from gateway.message import InboundEvent, place_of


def dedupe_key(event: InboundEvent) -> str:
    """The same for every delivery of one event, different for any two events.

    Kinds are part of it because some platforms number messages and edits alike.
    """
    place = place_of(event)
    return f"{place.platform}:{place.account}:{event.kind}:{event.event_id}"
