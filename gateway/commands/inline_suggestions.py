"""Inline suggestions, shown while a person types after the assistant's name: the question itself,
and memories that match."""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.conversation import key_of
from gateway.message import Button, InlineQueried
from gateway.people import Audience, Principal
from gateway.policy.history_redaction import redact_name
from gateway.ports.memory import Caller
from gateway.turn.services import Services

MAX_INLINE: Final = 250
"""Characters of an inline query (Telegram sends at most 256)."""
MAX_TITLE: Final = 60
SECONDS: Final = 1.0
"""The time limit of memory: the next keystroke comes soon."""
log = structlog.get_logger(__name__)


async def offers(event: InlineQueried, who: Principal, services: Services) -> tuple[Button, ...]:
    """Return the suggested texts, the question itself first; none for an empty query."""
    typed = event.query.strip()[:MAX_INLINE]
    if not typed:
        return ()
    ask = Button(f"Ask {services.assistant.name}", typed, description=typed)
    return (ask, *map(_offer, await _meant(event, typed, who, services)))


async def _meant(
    event: InlineQueried, typed: str, who: Principal, services: Services
) -> Sequence[str]:
    """Return matching memories, in private only: in other places, others would read a chosen
    text."""
    if event.place.audience is not Audience.DIRECT:
        return ()
    caller = Caller(
        id=f"inline:{event.event_id}",
        principal=who,
        name=redact_name(event.author.name),
        place=event.place,
        conversation=str(key_of(who.tenant, event.place)),
        at=services.clock.now(),
    )
    try:
        async with asyncio.timeout(SECONDS):
            return await services.memory.suggested(caller, typed)
    except (StoreUnavailable, TimeoutError) as error:
        log.warning("suggestions_unavailable", error=str(error) or "it took too long")
        return ()


def _offer(text: str) -> Button:
    line = " ".join(text.split())
    title = line if len(line) <= MAX_TITLE else f"{line[: MAX_TITLE - 1]}…"
    return Button(title, text, description=line)
