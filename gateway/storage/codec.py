"""Events and sends as JSON, and back: what the inbox and the outbox hold."""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

import structlog
from pydantic import Discriminator, TypeAdapter, ValidationError

from gateway.authorship import Material
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

T = TypeVar("T")

log = structlog.get_logger(__name__)

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
_MATERIAL: TypeAdapter[tuple[Material, ...]] = TypeAdapter(tuple[Material, ...])


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


def material_to_json(material: tuple[Material, ...]) -> str:
    """What a person showed as JSON, empty for nothing."""
    return _MATERIAL.dump_json(material).decode() if material else ""


def material_from_json(data: str) -> tuple[Material, ...]:
    """The same again. What another version wrote and this one cannot read is left out."""
    if not data:
        return ()
    try:
        return _MATERIAL.validate_json(data)
    except ValidationError as error:
        log.error("material_unreadable", problems=error.error_count())
        return ()


def readable(rows: Iterable[tuple[Any, ...]], read: Callable[..., T]) -> list[T]:
    """What `read` makes of each row. A row that cannot be read (another version wrote it) is named
    in the log by its first column and left where it is: it must not keep the rest from starting."""
    found = []
    for row in rows:
        try:
            found.append(read(*row))
        except ValidationError as error:
            log.error("row_unreadable", row=str(row[0]), problems=error.error_count())
    return found
