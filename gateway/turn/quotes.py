"""Completes the messages that people reply to, where the platform gives their ids alone: from the
messages of the same turn, or from the stored turns of this very conversation."""

from typing import Final

from gateway.immutable import replace
from gateway.message import MAX_CONTENT, Attachment, ChatMessage, Quote
from gateway.ports.conversations import QuotedTurn
from gateway.render import render_off_loop
from gateway.turn.program_notes import words_of_model
from gateway.turn.services import Services
from gateway.turn.turn_context import TurnContext

NEARLY_FULL: Final = MAX_CONTENT - 1_000
"""Characters from which a stored answer may be the beginning of a longer one: it is cut at
`MAX_CONTENT` or shortly before."""


async def complete_quotes(turn: TurnContext, services: Services) -> None:
    """Complete the quotes of a turn; what is stored nowhere stays empty. Raises
    `StoreUnavailable`."""
    if not any(_is_open(message) for message in turn.asked.messages):
        return
    completed = [await _completed(message, turn, services) for message in turn.asked.messages]
    turn.asked = replace(turn.asked, messages=tuple(completed))


def files_kept(turn: TurnContext, message: ChatMessage) -> tuple[Attachment, ...]:
    """Return the files of a message as its conversation keeps them: by kind and name, with the
    reference only where a reply gives nothing but the id."""
    if turn.connected.manifest.capabilities.quotes_by_id:
        return message.attachments
    return tuple(replace(file, ref="") for file in message.attachments)


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
            f"(forwarded)\n{piece.text}" if piece.authorship == "forwarded" else piece.text
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
