"""What an edit or a deletion makes of a question that still waits. Pure."""

from dataclasses import replace

from gateway.message import (
    ChatMessage,
    CommandInvoked,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from gateway.ports.stores import InboxEntry


def message_of(entry: InboxEntry) -> ChatMessage | None:
    """The message that an entry asks to be answered; None where it is something else."""
    event = entry.event
    return event.message if isinstance(event, MessageReceived | CommandInvoked) else None


def _still_somebody_elses(before: ChatMessage, now: ChatMessage) -> ChatMessage:
    """The new wording of a message without own text stays somebody else's, where the platform does
    not say again that it is."""
    if before.content or not before.material or now.material:
        return now
    first = before.material[0]
    return replace(now, content="", material=(replace(first, text=now.content),))


def revised(entry: InboxEntry, revision: MessageEdited | MessageDeleted) -> InboxEntry | None:
    """The entry after the revision: in its new wording, None when it was deleted, and the same
    when it is about something else."""
    message = message_of(entry)
    if message is None:
        return entry
    if isinstance(revision, MessageDeleted):
        return None if message.id in revision.message_ids else entry
    now = revision.message
    if now.id != message.id:
        return entry
    now = _still_somebody_elses(message, now)
    event = entry.event
    if isinstance(event, MessageReceived):
        return replace(entry, event=replace(event, message=now))
    if not isinstance(event, CommandInvoked) or revision.command.lower() != event.name:
        return entry
    return replace(entry, event=replace(event, arguments=revision.arguments, message=now))
