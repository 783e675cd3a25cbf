"""Opens memory for the person who asks, and keeps the turn when it is over."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gateway.authorship import Material, without_quotations
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.kept_words import Kept, kept_messages, kept_words
from gateway.policy.recent_secrets import LastWords
from gateway.ports.memory import REDACTION_NOTICE, AnswerFooter, Asker
from gateway.turn.prompt import said_in
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from safety.cut import REDACTED


async def open_memory(exchange: TurnContext, services: Services) -> Decision:
    """Bind memory to whoever asks, and to whoever reads along."""
    await redact_aside(exchange, services)
    exchange.memory = await services.memory.turn(asker_of(exchange, services))
    if exchange.unkept:
        services.recent_secrets.forget_person(str(exchange.key), str(exchange.who.person))
        return Decision("memory", True, "off")
    return Decision("memory", True, "opened")


async def close_memory(exchange: TurnContext, services: Services) -> Decision:
    """Keep the turn, and learn what there is to tell about it."""
    if exchange.memory is None or exchange.result is None:
        return Decision("memory", True, "nothing_kept")
    await redact_aside(exchange, services)
    note = note_of(exchange, services)
    if note and not reads_alone(exchange):
        covered = (REDACTION_NOTICE,) if note == REMOVED else ()
        await exchange.memory.tell_later(LATER[note], instead_of=covered)
    if exchange.result.failed:
        exchange.footer = noted(exchange.footer, note)
        return Decision("memory", True, "nothing_kept")
    used = [call.name for call in exchange.result.calls]
    after = await exchange.memory.finish(kept_answer(exchange, services), used)
    exchange.footer = noted(after, note)
    return Decision("memory", True, "kept")


def note_of(exchange: TurnContext, services: Services) -> str:
    """What the person is told of the secrets in what they wrote and showed; nothing where they
    switched memory off, and nothing is kept anyway."""
    if exchange.unkept:
        return ""
    shown = exchange.material
    return secret_note(kept_of(exchange, services), shown, kept_material(exchange, shown))


def asker_of(exchange: TurnContext, services: Services) -> Asker:
    """Who asks, as memory knows them."""
    return Asker(
        id=exchange.id,
        principal=exchange.who,
        name=exchange.last.author.name,
        place=exchange.place,
        conversation=str(exchange.key),
        at=services.clock.now(),
        message_ids=tuple(message.id for message in exchange.messages),
        words=tuple(without_quotations(content) for content in exchange.contents),
        said=said_of(exchange, services),
        material=kept_material(exchange, exchange.material),
        alone=reads_alone(exchange),
    )


def reads_alone(exchange: TurnContext) -> bool:
    """True where something can be said to the author that nobody else reads."""
    direct = exchange.place.audience is Audience.DIRECT
    return direct or exchange.connected.manifest.capabilities.ephemeral


def said_of(exchange: TurnContext, services: Services) -> str:
    """The author's own text as it is kept, without secrets; empty where there is none."""
    if not exchange.content.strip():
        return ""
    texts = kept_of(exchange, services).texts
    return said_in(exchange.place, exchange.last.author.name, "\n".join(texts))


DIRECT: Final = 2_000
"""Characters that are redacted at once: the worst known text takes 5 us for each of them and each
of at most four readings, 40 ms together."""


async def redact_aside(exchange: TurnContext, services: Services) -> None:
    """Redact long texts of the exchange in a thread, so that they do not hold the event loop; the
    functions below find them done. No call of `re` takes long there, so the interpreter changes
    threads every 5 ms."""
    if exchange.kept is None and sum(map(len, exchange.contents)) > DIRECT:
        last, known = _before(exchange, services)
        earlier = last.text if last is not None else ""
        kept = await asyncio.to_thread(kept_messages, exchange.contents, known, earlier)
        _remember(exchange, services, kept, last)
    for piece in exchange.material:
        if len(piece.text) > DIRECT and piece.text not in exchange.redacted:
            exchange.redacted[piece.text] = await asyncio.to_thread(kept_words, piece.text)
    answer = exchange.answer
    if len(answer) > DIRECT and answer not in exchange.redacted:
        known = _told(exchange, services)
        exchange.redacted[answer] = await asyncio.to_thread(kept_words, answer, known)


def kept_of(exchange: TurnContext, services: Services) -> Kept:
    """The messages without their secrets; of several calls the first one does the work."""
    if exchange.kept is not None:
        return exchange.kept
    last, known = _before(exchange, services)
    kept = kept_messages(exchange.contents, known, last.text if last is not None else "")
    _remember(exchange, services, kept, last)
    return kept


def kept_material(exchange: TurnContext, material: Sequence[Material]) -> tuple[Material, ...]:
    """The text that a person shows, without secrets."""
    if not material:
        return ()
    for piece in material:
        if piece.text not in exchange.redacted:
            exchange.redacted[piece.text] = kept_words(piece.text)
    return tuple(replace(piece, text=exchange.redacted[piece.text]) for piece in material)


def kept_answer(exchange: TurnContext, services: Services) -> str:
    """The answer without secrets, and without a copy of what may be one and was said before it."""
    answer = exchange.answer
    kept = exchange.redacted.get(answer)
    if kept is None:
        kept = exchange.redacted[answer] = kept_words(answer, _told(exchange, services))
    return kept


def _before(exchange: TurnContext, services: Services) -> tuple[LastWords | None, tuple[str, ...]]:
    """The author's message before, and the secrets that were said in the conversation."""
    conversation, now, recent = str(exchange.key), services.clock.now(), services.recent_secrets
    last = recent.last_words(conversation, str(exchange.who.person), now)
    return last, recent.of(conversation, now)


def _told(exchange: TurnContext, services: Services) -> tuple[str, ...]:
    possible = exchange.kept.possible if exchange.kept is not None else ()
    return (*_known(exchange, services), *possible)


def _known(exchange: TurnContext, services: Services) -> tuple[str, ...]:
    return services.recent_secrets.of(str(exchange.key), services.clock.now())


def _remember(
    exchange: TurnContext, services: Services, kept: Kept, last: LastWords | None
) -> None:
    now, conversation = services.clock.now(), str(exchange.key)
    recent = services.recent_secrets
    if kept.earlier is not None and last is not None:
        exchange.mended = (last.message_id, kept.earlier)
    person = str(exchange.who.person)
    recent.add(conversation, kept.secrets, now, person)
    recent.said(conversation, person, LastWords(exchange.last.id, kept.texts[-1], now))
    exchange.kept = kept


REMOVED: Final = (
    "_Your message holds what looks like a password or a key. I have read it, and did not keep it._"
)
LEFT_OUT: Final = (
    "_Your message holds what may be a key, so I did not keep that part. To keep it, send it"
    " to me with `/remember`._"
)
_REMOVED_LATER: Final = (
    "In a group you wrote what looks like a password or a key. I read it, and did not keep it."
)
_LEFT_OUT_LATER: Final = (
    "In a group you wrote what may be a key, so I did not keep that part. To keep it, send it to me"
    " with /remember."
)
LATER: Final = {REMOVED: _REMOVED_LATER, LEFT_OUT: _LEFT_OUT_LATER}
"""The same lines for a later direct message, where the message they are about does not stand."""


def secret_note(kept: Kept, shown: Sequence[Material], kept_shown: Sequence[Material]) -> str:
    """The line for this message, empty where everything of it is kept. `shown` is the text of
    others in it, `kept_shown` the same as it is kept."""
    cut = any(
        REDACTED in after.text and before.text != after.text
        for before, after in zip(shown, kept_shown, strict=True)
    )
    if kept.secrets or cut:
        return REMOVED
    return LEFT_OUT if kept.possible else ""


def noted(after: AnswerFooter, note: str) -> AnswerFooter:
    """The aftermath with one more line, in both of its forms. `REMOVED` says of the whole message
    what memory says of a part of it, and takes the place of that line."""
    if not note:
        return after
    typed = _with(after.typed, note) if after.typed else ""
    return replace(after, note=_with(after.note, note), typed=typed)


def _with(told: str, note: str) -> str:
    lines = told.split("\n") if told else []
    if note == REMOVED:
        lines = [line for line in lines if line != f"_{REDACTION_NOTICE}_"]
    return "\n".join((*lines, note))
