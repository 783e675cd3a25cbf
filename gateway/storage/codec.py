"""Events and sends as JSON, and back: what the inbox and the outbox hold."""

from typing import Annotated

from pydantic import Discriminator, TypeAdapter

from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Outbound,
    ReactionChanged,
)

_EVENTS: TypeAdapter[InboundEvent] = TypeAdapter(
    Annotated[
        MessageReceived
        | MessageEdited
        | MessageDeleted
        | ButtonPressed
        | CommandInvoked
        | ReactionChanged
        | MembershipChanged
        | InlineQueried,
        Discriminator("kind"),
    ]
)
_OUTBOUND: TypeAdapter[Outbound] = TypeAdapter(Outbound)


def event_to_json(event: InboundEvent) -> bytes:
    """An event as JSON."""
    return _EVENTS.dump_json(event)


def event_from_json(data: bytes | str) -> InboundEvent:
    """The event again; raises pydantic's ValidationError on anything else."""
    return _EVENTS.validate_json(data)


def outbound_to_json(outbound: Outbound) -> bytes:
    """A send as JSON, files included."""
    return _OUTBOUND.dump_json(outbound)


def outbound_from_json(data: bytes | str) -> Outbound:
    """The send again; raises pydantic's ValidationError on anything else."""
    return _OUTBOUND.validate_json(data)
