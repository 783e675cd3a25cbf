"""Applies edits and deletions to waiting questions and stored conversations."""

import asyncio

from gateway.conversation import ConversationKey, channel_name
from gateway.immutable import replace
from gateway.message import (
    MAX_CONTENT,
    ChatMessage,
    CommandInvoked,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from gateway.policy.history_redaction import redact_for_history, redact_name
from gateway.ports.queues import InboxEntry
from gateway.turn.prompt import text_in_place
from gateway.turn.services import Services


def _still_somebody_elses(before: ChatMessage, now: ChatMessage) -> ChatMessage:
    """Return the new text of a message. External text stays external text, even if the platform
    does not repeat its origin."""
    if before.content or not before.material or now.material:
        return now
    first = before.material[0]
    return replace(now, content="", material=(replace(first, text=now.content),))


def revised(entry: InboxEntry, revision: MessageEdited | MessageDeleted) -> InboxEntry | None:
    """Return the entry after the revision: with its new text, None if it was deleted, unchanged if
    it is another message."""
    message = entry.message
    if message is None:
        return entry
    if isinstance(revision, MessageDeleted):
        return None if message.id in revision.message_ids else entry
    now = revision.message
    if now.id != message.id or not _same_person(message.author, now.author):
        return entry
    now = _still_somebody_elses(message, now)
    event = entry.event
    if isinstance(event, MessageReceived):
        return replace(entry, event=replace(event, message=now))
    if not isinstance(event, CommandInvoked) or revision.command.lower() != event.name:
        return entry
    return replace(entry, event=replace(event, arguments=revision.arguments, message=now))


def changes(revision: MessageEdited | MessageDeleted, entry: InboxEntry) -> bool:
    """Return True if the revision deletes the message of an entry, or changes what its author says
    or shows. The preview of a link changes neither."""
    now = revised(entry, revision)
    return now is None or (now is not entry and _said(now) != _said(entry))


def _said(entry: InboxEntry) -> tuple[object, ...]:
    message, event = entry.message, entry.event
    if message is None:
        return ()
    files = tuple((file.kind, file.name, file.size) for file in message.attachments)
    arguments = event.arguments if isinstance(event, CommandInvoked) else ""
    return message.content, arguments, files


def _same_person(before: MessageAuthor, now: MessageAuthor) -> bool:
    return bool({before.id, *before.aliases, *before.former} & {now.id, *now.aliases, *now.former})


async def revise_stored(
    entry: InboxEntry, event: MessageEdited | MessageDeleted, services: Services
) -> None:
    """Apply an edit or a deletion to the stored conversation and to the memories that derive from
    it. While a memory is unavailable, the work waits without a slot: a memory backend that does not
    answer holds up this conversation only."""
    place, tenant = event.place, ConversationKey.of(entry.conversation).tenant
    conversations = services.stores.conversations
    channel = channel_name(tenant, place.platform, place.account, place.channel_id)
    if isinstance(event, MessageDeleted):
        await conversations.delete(tenant, place, event.message_ids)
        retry = services.retry.retry_while_unavailable
        await retry(services.long_documents.deleted, channel, event.message_ids)
        await services.slots.without(
            retry(services.memory.deleted, tenant, place, event.message_ids)
        )
    else:
        message = event.message
        text = await asyncio.to_thread(redact_for_history, message.content)
        await conversations.edit(tenant, place, message.id, text)
        signed = text_in_place(
            place, redact_name(message.author.name), message.content[:MAX_CONTENT]
        )
        retry = services.retry.retry_while_unavailable
        if not message.unreadable:
            names = [file.name for file in message.attachments]
            await retry(services.long_documents.edited, channel, message.id, names)
        await services.slots.without(
            retry(services.memory.edited, tenant, place, message.id, signed)
        )
    services.count("revised", event.kind)
    await services.stores.inbox.finish((entry.id,), ())
