"""JSON for events and sends, as the inbox and the outbox store them."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, TypeVar

import structlog
from msgspec.json import Encoder
from pydantic import Discriminator, TypeAdapter, ValidationError

from gateway.authorship import Material
from gateway.message import (
    Attachment,
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
_ENCODER: Final = Encoder()
_OUTBOUND: TypeAdapter[Outbound] = TypeAdapter(Outbound)
_MATERIAL: TypeAdapter[tuple[Material, ...]] = TypeAdapter(tuple[Material, ...])
_FILES: TypeAdapter[tuple[Attachment, ...]] = TypeAdapter(tuple[Attachment, ...])


def event_to_json(event: InboundEvent) -> bytes:
    return _ENCODER.encode(event)


def event_from_json(data: bytes | str) -> InboundEvent:
    """Parse an event; raises pydantic's ValidationError on anything else."""
    return _EVENTS.validate_json(data)


def outbound_to_json(outbound: Outbound) -> bytes:
    return _OUTBOUND.dump_json(outbound)


def outbound_from_json(data: bytes | str) -> Outbound:
    """Parse a send; raises pydantic's ValidationError on anything else."""
    return _OUTBOUND.validate_json(data)


def material_to_json(material: tuple[Material, ...]) -> str:
    """Return the material of a message as JSON, empty for none."""
    return _ENCODER.encode(material).decode() if material else ""


def files_to_json(files: tuple[Attachment, ...]) -> str:
    """Return the files of a message as JSON, empty for none."""
    return _ENCODER.encode(files).decode() if files else ""


def material_from_json(data: str) -> tuple[Material, ...]:
    """Parse material. Content of another version that cannot be read is left out."""
    return _pieces(_MATERIAL, data, "material_unreadable")


def files_from_json(data: str) -> tuple[Attachment, ...]:
    """Parse files. Content of another version that cannot be read is left out."""
    return _pieces(_FILES, data, "files_unreadable")


def _pieces(adapter: TypeAdapter[tuple[T, ...]], data: str, problem: str) -> tuple[T, ...]:
    if not data:
        return ()
    try:
        return adapter.validate_json(data)
    except ValidationError as error:
        log.error(problem, problems=error.error_count())
        return ()


def parse_rows(rows: Iterable[tuple[Any, ...]], read: Callable[..., T]) -> list[T]:
    """Return the result of `read` for each row. An unreadable row (written by another version) is
    logged by its first column and skipped, so that the rest can be used."""
    results = []
    for row in rows:
        try:
            results.append(read(*row))
        except ValidationError as error:
            log.error("row_unreadable", row=str(row[0]), problems=error.error_count())
    return results


def time_of(seconds: float | None) -> datetime | None:
    """Return the moment so many seconds after the epoch; None for a column without a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
