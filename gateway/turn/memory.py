"""Memory in a turn: opens it for the person who asks, reads memories that may answer the question,
and stores the turn without secrets, which are searched once.

The `remember` stage ends the turn's memory and reports the redaction in the footer.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.authorship import Material, without_quotations
from gateway.immutable import replace
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.policy.history_redaction import (
    LastMessage,
    RedactedMessages,
    redact_for_history,
    redact_messages,
)
from gateway.ports.memory import REDACTION_NOTICE, Caller, ShownFooter
from gateway.ports.prompt_blocks import KnowledgeItem, MissingPart
from gateway.text import NO_TEXT, Text, text
from gateway.turn.catchup_tool import UNKEPT
from gateway.turn.prompt import text_in_place
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext
from safety.unicode import REDACTED

RECALL_SECONDS: Final = 3.0
MAX_NOTED: Final = 20
NOTED_ID: Final = 8
"""Recalled memories in a trace, and characters of their ids."""

log = structlog.get_logger(__name__)


async def remember(turn: TurnContext, services: Services) -> Decision:
    """Let memory store the turn, and take the footer from it."""
    if turn.inputs.memory is None or turn.generation.result is None:
        return Decision("memory", True, "nothing_kept")
    await redact_aside(turn, services)
    note = note_of(turn, services)
    if note and not reads_alone(turn):
        await turn.inputs.memory.tell_later(LATER[note])
    if turn.generation.result.failed:
        turn.answer.footer = noted(turn.answer.footer, turn.asker.language.shown(note))
        return Decision("memory", True, "nothing_kept")
    used = [call.name for call in turn.generation.result.calls]
    # It covers the whole message; memory's notice covers a part of it.
    covered = (REDACTION_NOTICE,) if note == REMOVED else ()
    after = await turn.inputs.memory.finish(kept_answer(turn, services), used, covered)
    turn.answer.footer = noted(after.shown(turn.asker.language), turn.asker.language.shown(note))
    return Decision("memory", True, "kept")


def note_of(turn: TurnContext, services: Services) -> Text:
    """Return the line for the person about secrets in their message; empty if they switched memory
    off, because nothing is stored then."""
    if turn.inputs.unkept:
        return NO_TEXT
    shown = turn.asked.material
    return secret_note(kept_of(turn, services), shown, kept_material(turn, shown))


def caller_of(turn: TurnContext, services: Services) -> Caller:
    """Return the caller for memory."""
    return Caller(
        id=turn.id,
        principal=turn.asker.who,
        name=turn.asked.last.author.name,
        place=turn.place,
        conversation=str(turn.key),
        at=services.clock.now(),
        message_ids=tuple(message.id for message in turn.asked.messages),
        words=tuple(without_quotations(content) for content in turn.asked.contents),
        attributed_text=text_kept(turn, services),
        material=kept_material(turn, turn.asked.material),
        alone=reads_alone(turn),
        zone=turn.asker.zone,
        languages=(turn.asker.language.code, turn.policies.languages.default),
    )


def reads_alone(turn: TurnContext) -> bool:
    """Return True if a message can be shown to the author alone."""
    direct = turn.place.audience is Audience.DIRECT
    return direct or turn.connected.manifest.capabilities.ephemeral


def text_kept(turn: TurnContext, services: Services) -> str:
    """Return the author's own text without secrets, as it is stored; empty if there is none."""
    if not turn.asked.content.strip():
        return ""
    texts = kept_of(turn, services).texts
    return text_in_place(turn.place, turn.asked.last.author.name, "\n".join(texts))


DIRECT: Final = 2_000
"""Characters that are redacted on the event loop: the worst known text takes 5 us per character for
each of at most four readings, 40 ms in total."""


async def redact_aside(turn: TurnContext, services: Services) -> None:
    """Redact long texts of the turn in a thread, to keep the event loop free; the functions below
    then use the results. No call of `re` takes long there, so the interpreter changes threads every
    5 ms."""
    if turn.stored.kept is None and sum(map(len, turn.asked.contents)) > DIRECT:
        last, known = _before(turn, services)
        earlier = last.text if last is not None else ""
        kept = await asyncio.to_thread(redact_messages, turn.asked.contents, known, earlier)
        _remember(turn, services, kept, last)
    for piece in turn.asked.material:
        if len(piece.text) > DIRECT and piece.text not in turn.stored.texts:
            turn.stored.texts[piece.text] = await asyncio.to_thread(redact_for_history, piece.text)
    answer = stored_answer(turn)
    if len(answer) > DIRECT and answer not in turn.stored.texts:
        known = _known_secrets(turn, services)
        turn.stored.texts[answer] = await asyncio.to_thread(redact_for_history, answer, known)


def kept_of(turn: TurnContext, services: Services) -> RedactedMessages:
    """Return the messages without their secrets; the result of the first call is cached."""
    if turn.stored.kept is not None:
        return turn.stored.kept
    last, known = _before(turn, services)
    kept = redact_messages(turn.asked.contents, known, last.text if last is not None else "")
    _remember(turn, services, kept, last)
    return kept


def kept_material(turn: TurnContext, material: Sequence[Material]) -> tuple[Material, ...]:
    """Return the text that a person shows, without secrets."""
    if not material:
        return ()
    for piece in material:
        if piece.text not in turn.stored.texts:
            turn.stored.texts[piece.text] = redact_for_history(piece.text)
    return tuple(replace(piece, text=turn.stored.texts[piece.text]) for piece in material)


def stored_answer(turn: TurnContext) -> str:
    """Return the answer with the program's sentence at its end in English, as `words_of_model`
    finds it, whatever language people read. What people wrote in the place is not stored."""
    if turn.generation.catchup is not None and turn.generation.catchup.used:
        return UNKEPT
    answer, said = turn.answer.text, turn.answer.closing
    if not said:
        return answer
    return f"{answer.removesuffix(turn.language_of().shown(said))}{said.english}"


def kept_answer(turn: TurnContext, services: Services) -> str:
    """Return the answer without secrets, and without a copy of an earlier possible secret."""
    answer = stored_answer(turn)
    kept = turn.stored.texts.get(answer)
    if kept is None:
        known = _known_secrets(turn, services)
        kept = turn.stored.texts[answer] = redact_for_history(answer, known)
    return kept


def _before(turn: TurnContext, services: Services) -> tuple[LastMessage | None, tuple[str, ...]]:
    """Return the author's previous message, and the secrets of the conversation."""
    conversation, now, recent = str(turn.key), services.clock.now(), services.recent_secrets
    ids = [message.id for message in turn.asked.messages]
    last = recent.last_words(conversation, turn.asker.person, now, ids)
    return last, recent.of(conversation, now)


def _known_secrets(turn: TurnContext, services: Services) -> tuple[str, ...]:
    possible = turn.stored.kept.possible if turn.stored.kept is not None else ()
    return (*_known(turn, services), *possible)


def _known(turn: TurnContext, services: Services) -> tuple[str, ...]:
    return services.recent_secrets.of(str(turn.key), services.clock.now())


def _remember(
    turn: TurnContext, services: Services, kept: RedactedMessages, last: LastMessage | None
) -> None:
    now, conversation = services.clock.now(), str(turn.key)
    recent = services.recent_secrets
    if kept.earlier is not None and last is not None:
        turn.stored.mended = (last.message_id, kept.earlier)
    person = turn.asker.person
    recent.add(conversation, kept.secrets, now, person)
    recent.add_message(conversation, person, LastMessage(turn.asked.last.id, kept.texts[-1], now))
    turn.stored.kept = kept


REMOVED: Final = text(
    "_Your message contains what looks like a password or a key. I read it, but did not store it._"
)
LEFT_OUT: Final = text(
    "_Your message contains what may be a key, so I did not store that part. To store it, send it"
    " to me with `/remember`._"
)
_REMOVED_LATER: Final = text(
    "In a group you wrote what looks like a password or a key. I read it, but did not store it."
)
_LEFT_OUT_LATER: Final = text(
    "In a group you wrote what may be a key, so I did not store that part. To store it, send it to"
    " me with /remember."
)
LATER: Final[Mapping[Text, Text]] = {REMOVED: _REMOVED_LATER, LEFT_OUT: _LEFT_OUT_LATER}
"""The same lines for a later direct message, apart from the message that they are about."""


def secret_note(
    kept: RedactedMessages, shown: Sequence[Material], kept_shown: Sequence[Material]
) -> Text:
    """Return the line for this message, empty if all of it is stored. `shown` is the text of others
    in it, `kept_shown` the stored form of that text."""
    cut = any(
        REDACTED in after.text and before.text != after.text
        for before, after in zip(shown, kept_shown, strict=True)
    )
    if kept.secrets or cut:
        return REMOVED
    return LEFT_OUT if kept.possible else NO_TEXT


def noted(footer: ShownFooter, note: str) -> ShownFooter:
    """Return the footer with one more line, in both of its forms."""
    if not note:
        return footer
    typed = f"{footer.typed}\n{note}" if footer.typed else ""
    return replace(footer, note=f"{footer.note}\n{note}" if footer.note else note, typed=typed)


async def open_memory(turn: TurnContext, services: Services) -> Decision:
    """Bind memory to the person who asks and the other readers."""
    await redact_aside(turn, services)
    turn.inputs.memory = await services.memory.turn(caller_of(turn, services))
    if turn.inputs.unkept:
        services.recent_secrets.forget_person(str(turn.key), turn.asker.person)
        return Decision("memory", True, "off")
    return Decision("memory", True, "opened")


async def recall(turn: TurnContext, services: Services) -> Decision:
    """Read the prompt parts of memory, and memories that may answer this question. A failing or
    slow recall does not prevent the answer: the model can still search. Raises
    `StoreUnavailable`."""
    memory = turn.inputs.memory
    if memory is None:
        return Decision("recall", True, "no_memory")
    turn.inputs.missing = ()
    turn.inputs.prompt_parts = await memory.prompt_parts()
    for missing in turn.inputs.prompt_parts.missing:
        _note_missing(turn, services, missing)
        turn.note(Decision("memory", True, "part_missing", f"{missing.part}: {missing.reason}"))
    if not memory.recalls:
        return Decision("recall", True, "nothing_to_recall")
    try:
        async with asyncio.timeout(RECALL_SECONDS):
            turn.inputs.knowledge = await memory.knowledge(turn.asked.question)
    except StoreUnavailable:
        raise
    except TimeoutError:
        _note_missing(turn, services, MissingPart("recall", "too_slow"))
        return Decision("recall", True, "recall_too_slow", f"{RECALL_SECONDS:.0f} s")
    except Exception:
        log.exception("recall_failed")
        _note_missing(turn, services, MissingPart("recall", "failed"))
        return Decision("recall", True, "recall_failed", "see the log")
    found = turn.inputs.knowledge
    return Decision("recall", True, "recalled", f"{len(found)} found", data=ranks_of(found))


def _note_missing(turn: TurnContext, services: Services, missing: MissingPart) -> None:
    turn.inputs.missing = (*turn.inputs.missing, missing)
    services.count("without_memory", f"{missing.part}:{missing.reason}")


async def says_forgetful(turn: TurnContext) -> bool:
    """Return True if the answer was written without a part of memory, and the model's tools read
    nothing of it either: the person is told, because only they know if that matters."""
    memory, result = turn.inputs.memory, turn.generation.result
    if not turn.inputs.missing or memory is None or result is None or result.failed:
        return False
    own = {tool.name for tool in await memory.tools.tools()}
    return not any(use.ok and use.name in own for use in result.calls)


def ranks_of(items: Sequence[KnowledgeItem]) -> Mapping[str, object] | None:
    """Return the recalled memories for the trace: the beginning of the id, kind, scope, score, and
    the rank in each search that found it; None without one."""
    if not items:
        return None
    noted = [
        (one.id[:NOTED_ID], one.kind, one.scope, round(one.score, 3), dict(one.ranks))
        for one in items[:MAX_NOTED]
    ]
    return {"items": noted}
