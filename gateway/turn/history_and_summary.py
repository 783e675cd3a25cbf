"""The history of a conversation: read before the question is asked, with its older half summarised.

Messages that leave the window are added to the summary: at once if the history is already too long,
or concurrently with the answer if this question and its answer fill it. They are added as lines
until the summary is long; then the model writes it anew, which is a call of its own.

Messages that people reply to are completed where the platform gives their ids alone: from the
messages of the same turn, or from the stored turns of this very conversation.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Final, Self

from gateway.authorship import Material, text_of
from gateway.conversation import ContextLimits, SummaryPolicy
from gateway.immutable import replace
from gateway.llm.tokens import estimate
from gateway.message import MAX_CONTENT, Attachment, ChatMessage, Quote, labels_of
from gateway.people import Audience
from gateway.policy.decision import Decision
from gateway.ports.conversations import ConversationSummary, QuotedTurn, StoredTurn
from gateway.ports.prompt_blocks import DialogueTurn, spoken
from gateway.render import render_off_loop
from gateway.turn.context.history import LoadedHistory, since, sizes_of
from gateway.turn.context.summary import (
    FROM_REPOSITORY,
    leaving,
    merged_summary,
    noted,
    summarised,
    summary_in_time,
)
from gateway.turn.context.token_budgets import budget_for
from gateway.turn.metering import Meter
from gateway.turn.prompt import (
    clean_name,
    framed,
    own_in_room,
    own_words,
    quotation,
    wordless,
)
from gateway.turn.render import words_of_model
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

ANSWER: Final = 300
"""Tokens that an answer is expected to add to the history."""
OFFLINE: Final = "offline"
_WORDS: Final = re.compile(r"[A-Za-z]+")


async def read_history(turn: TurnContext, services: Services) -> Decision:
    """Read the history within the limits; the rest is in a summary."""
    if turn.inputs.unkept:
        return Decision("context", True, "memory_off")
    await complete_quotes(turn, services)
    limits, now = limits_of(services), services.clock.now()
    stored, notes = await services.stores.conversations.opened(
        turn.key, 2 * limits.max_messages + 2
    )
    left_out = {id_ for message in turn.asked.messages for id_ in (message.id, message.replaces)}
    earlier = [each for each in stored if each.message_id not in left_out]
    summary = summary_in_time(notes.summary, limits, now)
    kept = since(earlier, summary, limits, now)
    sizes = sizes_of(kept, estimate)
    gone = leaving(kept, sizes, limits)
    if gone:
        before, old = summary, kept[:gone]
        dialogue = dialogue_turns(old, turn.place.audience)
        text = text_without_model(services.policies.summaries, before, dialogue)
        summary = merged_summary(before, old, dialogue, text)
        await services.stores.notes.set_summary(turn.key, summary, now, old, before)
        kept, sizes = kept[gone:], sizes[gone:]
    turn.inputs.opened = LoadedHistory(
        notes.task, summary, tuple(kept), tuple(sizes), notes.documents
    )
    if turn.inputs.memory is not None:
        turn.inputs.memory.reads(tuple(read_besides(turn)))
    return Decision("context", True, "window", f"{len(kept)} of {len(earlier)} messages")


def text_without_model(
    policy: SummaryPolicy, before: ConversationSummary | None, dialogue: Sequence[DialogueTurn]
) -> str | None:
    """Return the text of the next summary if no model is needed for it; None if a model should
    write it, or where there is none, if it is to be extracted."""
    match policy.by:
        case "off":
            return ""
        case "extract":
            return None
        case "model":
            return noted(before, dialogue)


def read_besides(turn: TurnContext) -> Iterator[Material]:
    """Return text that the model reads and the asking person did not write: the message that they
    reply to, earlier material, and in a room the messages of others."""
    for message in turn.asked.messages:
        if message.quote is not None:
            yield quotation(message.quote)
    person, opened = turn.asker.person, turn.inputs.opened
    for step in opened.turns:
        yield from step.material
        if step.role == "user" and step.person != person and (step.text or step.files):
            yield Material("room", step.text or labels_of(step.files), step.speaker)
        elif any(may_be_sentence(file.name) for file in step.files):
            yield Material("file", labels_of(step.files))
    if opened.summary is not None and (others := set(opened.summary.persons) - {person}):
        from_repository = FROM_REPOSITORY in others
        yield Material("repository" if from_repository else "room", opened.summary.text)


def may_be_sentence(name: str) -> bool:
    """Return True for the name of a file that can say something: three words and more, or any in a
    script that may be written without spaces."""
    stem = name.rpartition(".")[0] or name
    return not stem.isascii() or len(_WORDS.findall(stem)) > 2


def limits_of(services: Services) -> ContextLimits:
    """Return the history limits: never more than the history block holds."""
    limits, history = services.policies.context, budget_for(services.window()).history
    return limits if limits.max_tokens <= history else replace(limits, max_tokens=history)


def dialogue_turns(turns: Sequence[StoredTurn], audience: Audience) -> tuple[DialogueTurn, ...]:
    """Return stored turns as the model reads them. In a room each text has its writer's name, so
    that the model can distinguish people. Answers have no sentences of the program. A message
    without words leaves a line as well: without it, its answer would answer another one."""
    named = audience is not Audience.DIRECT
    made = (_dialogue_turn(turn, named) for turn in turns)
    return tuple(turn for turn in made if turn.text)


def _dialogue_turn(turn: StoredTurn, named: bool) -> DialogueTurn:
    if turn.role == "assistant" and turn.speaker:
        text = f"(An operator, {clean_name(turn.speaker)}, wrote:) {turn.text}"
        return DialogueTurn(turn.message_id, turn.role, text, turn.at)
    if turn.role == "assistant":
        return DialogueTurn(turn.message_id, turn.role, words_of_model(turn.text), turn.at)
    writer = (clean_name(turn.speaker) or "somebody") if named else ""
    pieces = turn.shown
    words = turn.text or wordless(turn.files, turn.material)
    own = own_in_room(words) if named else own_words(words)
    shown = framed(pieces, writer) if pieces else ""
    text = f"{shown}\n{spoken(writer, own)}" if shown else spoken(writer, own)
    return DialogueTurn(turn.message_id, turn.role, text, turn.at, own, writer, shown)


class BackgroundSummary:
    """Summarises the older part of a conversation if this question and its answer fill the window.

    It runs concurrently with the answer: nobody waits for it, unless it takes longer than the
    answer. It is used from the next question on.
    """

    def __init__(self, turn: TurnContext, services: Services, meter: Meter, model: str) -> None:
        self._turn = turn
        self._services = services
        self._meter = meter
        self._policy = policy = services.policies.summaries
        self._model = policy.model or model
        self._turns = turns_to_leave(turn, services)
        self._dialogue = dialogue_turns(self._turns, turn.place.audience)
        self._text: str | None = None
        self._work: asyncio.Task[str | None] | None = None

    async def __aenter__(self) -> Self:
        if not self._turns:
            return self
        before = self._turn.inputs.opened.summary
        self._text = text_without_model(self._policy, before, self._dialogue)
        by_model = self._policy.by == "model" and self._services.provider.name != OFFLINE
        if self._text is None and by_model:
            text = before.text if before is not None else ""
            self._work = asyncio.create_task(
                summarised(self._meter.aside(), self._model, text, self._dialogue)
            )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None or not self._turn.generation.answered:
            if self._work is not None:
                self._work.cancel()
            return
        if not self._turns:
            return
        self._meter.answer_is_over()
        text = await self._work if self._work is not None else self._text
        before, now = self._turn.inputs.opened.summary, self._services.clock.now()
        summary = merged_summary(before, self._turns, self._dialogue, text)
        # What was deleted while the model wrote stays deleted: such a summary is not stored. The
        # model has answered, so that a failing store must not repeat the turn.
        await self._services.retry.retry_while_unavailable(
            self._services.stores.notes.set_summary,
            *(self._turn.key, summary, now, self._turns, before),
        )


def turns_to_leave(turn: TurnContext, services: Services) -> tuple[StoredTurn, ...]:
    """Return the older part of the conversation if this question and its answer fill the window."""
    opened, asked = turn.inputs.opened, turn.asked
    gone = leaving(
        opened.turns,
        opened.sizes,
        limits_of(services),
        coming=len(asked.messages) + 1,
        coming_tokens=estimate(asked.content) + estimate(text_of(asked.material)) + ANSWER,
    )
    return opened.turns[:gone]


NEARLY_FULL: Final = MAX_CONTENT - 1_000
"""Characters from which a stored answer may be the beginning of a longer one: it is cut at
`MAX_CONTENT` or shortly before."""


MAX_PICTURES: Final = 10
"""Pictures of one message whose references are stored."""
MAX_REFERENCE: Final = 1_000
"""Characters of a stored reference."""


async def complete_quotes(turn: TurnContext, services: Services) -> None:
    """Complete the quotes of a turn; what is stored nowhere stays empty. Raises
    `StoreUnavailable`."""
    if not any(_is_open(message) for message in turn.asked.messages):
        return
    completed = [await _completed(message, turn, services) for message in turn.asked.messages]
    turn.asked = replace(turn.asked, messages=tuple(completed))


def files_kept(turn: TurnContext, message: ChatMessage) -> tuple[Attachment, ...]:
    """Return the files of a message as its conversation keeps them: by kind and name. The reference
    of the platform stays with the first pictures, which the console shows, and with every file
    where a reply gives nothing but the id."""
    if turn.connected.manifest.capabilities.quotes_by_id:
        return message.attachments
    pictures = [file for file in message.attachments if _may_be_looked_at(file)][:MAX_PICTURES]
    return tuple(
        file if file in pictures else replace(file, ref="") for file in message.attachments
    )


def _may_be_looked_at(file: Attachment) -> bool:
    return file.kind == "image" and len(file.ref) <= MAX_REFERENCE


def _is_open(message: ChatMessage) -> bool:
    return message.quote is not None and message.quote.is_empty and bool(message.quote.id)


async def _completed(message: ChatMessage, turn: TurnContext, services: Services) -> ChatMessage:
    quote = message.quote
    if quote is None or not _is_open(message):
        return message
    for other in turn.asked.messages:
        if other.id == quote.id:
            own = replace(
                quote,
                text=other.content,
                author_name=other.author.name,
                attachments=other.attachments,
            )
            return replace(message, quote=own)
    found = await services.stores.conversations.quoted(turn.key, quote.id)
    if found is None:
        return message
    return replace(message, quote=await _quote_of(found, quote, turn))


async def _quote_of(found: QuotedTurn, quote: Quote, turn: TurnContext) -> Quote:
    stored = found.turn
    if found.part is None:
        shown = "\n".join(
            f"({piece.authorship})\n{piece.text}"
            if piece.authorship in ("forwarded", "heard", "recording")
            else piece.text
            for piece in stored.material
        )
        return replace(
            quote,
            text="\n".join(filter(None, (stored.text, shown))),
            author_name=stored.speaker,
            by_this_bot=False,
            attachments=tuple(file for file in stored.files),
        )
    text = words_of_model(stored.text)
    parts = await render_off_loop(text, turn.connected.renderer)
    if len(parts) > 1 and found.part < len(parts):  # the reply is to one part of a long answer
        text = parts[found.part].text
    elif len(text) > NEARLY_FULL:  # what followed is stored nowhere
        text = ""
    return replace(quote, text=text, author_name=stored.speaker, by_this_bot=True)
