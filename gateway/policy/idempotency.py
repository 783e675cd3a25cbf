"""The deduplication key of an event."""

from gateway.message import InboundEvent, place_of


def dedupe_key(event: InboundEvent) -> str:
    """Return a key that is the same for every delivery of one event and different for any two
    events.

    The kind is part of it because some platforms number messages and edits alike.
    """
    place = place_of(event)
    return f"{place.platform}:{place.account}:{event.kind}:{event.event_id}"
