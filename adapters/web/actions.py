"""Shows a person's action on the page before the gateway has stored it."""

from collections.abc import Callable, Mapping
from typing import Final

from adapters.web.page_state import Conversation, FileLink, FileStore, PageMessage
from adapters.web.parse import MAX_FILES
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Quote,
)

MAX_QUOTE: Final = 4_000

Undo = Callable[[], None]


def named_files(files: FileStore, person: str, ids: object) -> list[dict[str, object]]:
    """Return the uploaded files that a message names by id, for `parse`.

    Raises `BadInput` for too many, and for a file that is missing or not this person's.
    """
    if ids is None:
        return []
    if not isinstance(ids, list) or len(ids) > MAX_FILES:
        raise BadInput(f"`files` is a list of at most {MAX_FILES} ids")
    named: list[dict[str, object]] = []
    for file_id in ids:
        stored = files.get(file_id, person) if isinstance(file_id, str) else None
        if stored is None:
            raise BadInput("a file is no longer stored: attach it again")
        named.append(
            {
                "ref": f"{person}/{stored.id}",
                "name": stored.name,
                "mime": stored.mime,
                "size": len(stored.data),
            }
        )
    return named


def quote_of(conversation: Conversation, line_id: object, person: str) -> Quote | None:
    """Return the line that a message answers, None if it is no longer stored."""
    line = conversation.line(line_id) if isinstance(line_id, str) else None
    if line is None or line.deleted:
        return None
    ours = line.by == "assistant"
    return Quote(line.id, line.text[:MAX_QUOTE], author_id="" if ours else person, by_this_bot=ours)


def pressed_label(conversation: Conversation, payload: Mapping[str, object]) -> str:
    """Return the label of the pressed button.

    Raises `BadInput` if the conversation has no such button: values come from us, never from the
    page.
    """
    message_id = payload.get("message_id")
    line = conversation.line(message_id) if isinstance(message_id, str) else None
    for button in line.buttons if line else ():
        if button.value == payload.get("value"):
            return button.label
    raise BadInput("this button no longer exists")


def asked_again(
    conversation: Conversation, payload: Mapping[str, object]
) -> tuple[PageMessage, dict[str, object]]:
    """Return the question that is to be answered again, and the object of the message that asks it.

    Raises `BadInput` for anything but the latest question of the conversation.
    """
    questions = [one for one in conversation.lines() if one.by == "person" and not one.deleted]
    line = questions[-1] if questions else None
    if line is None or line.id != payload.get("message_id"):
        raise BadInput("only the latest message can be answered again")
    if line.command or not (line.text.strip() or line.files):
        raise BadInput("this message cannot be answered again: write it again")
    again: dict[str, object] = {"id": payload.get("id"), "type": "message", "text": line.text}
    return line, again | {"files": [file.id for file in line.files], "reply_to": line.reply_to}


def repeated(event: InboundEvent, question: PageMessage) -> MessageReceived:
    """Return the message that asks a question again, and replaces it. Raises `BadInput` for a text
    that is no question."""
    if not isinstance(event, MessageReceived):
        raise BadInput("this message cannot be answered again: write it again")
    return replace(event, message=replace(event.message, replaces=question.id))


def show(conversation: Conversation, event: InboundEvent) -> Undo:
    """Show the event on the page and return a function that undoes it.

    Raises `BadInput` for a change of a line that is not the person's own.
    """
    match event:
        case MessageReceived(message=message):
            return _show_message(conversation, message)
        case CommandInvoked(message=ChatMessage() as message):
            return _show_message(conversation, message, command=True)
        case MessageEdited(message=message):
            line = _own(conversation, message.id)
            conversation.put(replace(line, text=message.content, edited=True))
        case MessageDeleted(message_ids=(message_id, *_)):
            line = _own(conversation, message_id)
            conversation.remove(message_id)
        case ButtonPressed() | _:
            return lambda: None

    def put_back() -> None:
        conversation.put(line)

    return put_back


def _show_message(
    conversation: Conversation, message: ChatMessage, *, command: bool = False
) -> Undo:
    if conversation.line(message.id) is not None:
        return lambda: None  # the browser sent it again: it is shown already
    conversation.put(line_of(message, command=command))
    return lambda: conversation.forget(message.id)


def line_of(message: ChatMessage, *, command: bool = False) -> PageMessage:
    """Return the line of a person's message."""
    return PageMessage(
        id=message.id,
        by="person",
        at=message.timestamp,
        text=message.content,
        files=tuple(
            FileLink(item.ref.partition("/")[2], item.name, item.mime, item.size or 0)
            for item in message.attachments
        ),
        reply_to=message.reply_to_id or "",
        command=command,
    )


def _own(conversation: Conversation, line_id: str) -> PageMessage:
    line = conversation.line(line_id)
    if line is None or line.by != "person" or line.deleted:
        raise BadInput("you can change only your own messages")
    return line
