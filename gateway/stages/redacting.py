"""The messages of an exchange as they may be kept, found once and used by every store."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.authorship import Material
from gateway.exchange import Exchange
from gateway.policy.history_redaction import RedactedMessages, redact_for_history, redact_messages
from gateway.policy.recent_secrets import LastMessage
from gateway.services import Services

DIRECT: Final = 2_000
"""Characters that are redacted at once: the worst known text takes 5 us for each of them and each
of at most four readings, 40 ms together."""


async def redact_aside(exchange: Exchange, services: Services) -> None:
    """Redact long texts of the exchange in a thread, so that they do not hold the event loop; the
    functions below find them done. No call of `re` takes long there, so the interpreter changes
    threads every 5 ms."""
    if exchange.kept is None and sum(map(len, exchange.contents)) > DIRECT:
        last, known = _before(exchange, services)
        earlier = last.text if last is not None else ""
        kept = await asyncio.to_thread(redact_messages, exchange.contents, known, earlier)
        _remember(exchange, services, kept, last)
    for piece in exchange.material:
        if len(piece.text) > DIRECT and piece.text not in exchange.redacted:
            exchange.redacted[piece.text] = await asyncio.to_thread(redact_for_history, piece.text)
    answer = exchange.answer
    if len(answer) > DIRECT and answer not in exchange.redacted:
        known = _told(exchange, services)
        exchange.redacted[answer] = await asyncio.to_thread(redact_for_history, answer, known)


def kept_of(exchange: Exchange, services: Services) -> RedactedMessages:
    """The messages without their secrets; of several calls the first one does the work."""
    if exchange.kept is not None:
        return exchange.kept
    last, known = _before(exchange, services)
    kept = redact_messages(exchange.contents, known, last.text if last is not None else "")
    _remember(exchange, services, kept, last)
    return kept


def kept_material(exchange: Exchange, material: Sequence[Material]) -> tuple[Material, ...]:
    """The text that a person shows, without secrets."""
    if not material:
        return ()
    for piece in material:
        if piece.text not in exchange.redacted:
            exchange.redacted[piece.text] = redact_for_history(piece.text)
    return tuple(replace(piece, text=exchange.redacted[piece.text]) for piece in material)


def kept_answer(exchange: Exchange, services: Services) -> str:
    """The answer without secrets, and without a copy of what may be one and was said before it."""
    answer = exchange.answer
    kept = exchange.redacted.get(answer)
    if kept is None:
        kept = exchange.redacted[answer] = redact_for_history(answer, _told(exchange, services))
    return kept


def _before(exchange: Exchange, services: Services) -> tuple[LastMessage | None, tuple[str, ...]]:
    """The author's message before, and the secrets that were said in the conversation."""
    conversation, now, recent = str(exchange.key), services.clock.now(), services.recent_secrets
    last = recent.last_words(conversation, str(exchange.who.person), now)
    return last, recent.of(conversation, now)


def _told(exchange: Exchange, services: Services) -> tuple[str, ...]:
    possible = exchange.kept.possible if exchange.kept is not None else ()
    return (*_known(exchange, services), *possible)


def _known(exchange: Exchange, services: Services) -> tuple[str, ...]:
    return services.recent_secrets.of(str(exchange.key), services.clock.now())


def _remember(
    exchange: Exchange, services: Services, kept: RedactedMessages, last: LastMessage | None
) -> None:
    now, conversation = services.clock.now(), str(exchange.key)
    recent = services.recent_secrets
    if kept.earlier is not None and last is not None:
        exchange.mended = (last.message_id, kept.earlier)
    person = str(exchange.who.person)
    recent.add(conversation, kept.secrets, now, person)
    recent.said(conversation, person, LastMessage(exchange.last.id, kept.texts[-1], now))
    exchange.kept = kept
