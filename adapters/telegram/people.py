"""Users, and chats that write in their own name."""

from collections.abc import Mapping
from dataclasses import replace

from adapters.telegram.json_readers import MAX_NAME, identity, mapping, text
from gateway.message import MessageAuthor


def person_of(user: Mapping[str, object]) -> MessageAuthor | None:
    """A user, or a chat that writes in its own name; None without an id."""
    number = identity(user.get("id"))
    if not number:
        return None
    name = text(user.get("title"))
    if not name:
        name = f"{text(user.get('first_name'))} {text(user.get('last_name'))}".strip()
    name = name or text(user.get("username"))
    return MessageAuthor(number, name[:MAX_NAME], is_bot=user.get("is_bot") is True)


def author_of(message: Mapping[str, object]) -> MessageAuthor | None:
    """Who wrote; a channel or an anonymous administrator is the chat in whose name they write."""
    sender = message.get("sender_chat")
    if isinstance(sender, dict):
        chat = person_of(sender)
        own = mapping(message.get("chat")).get("id") == sender.get("id")
        return None if chat is None else replace(chat, is_chat=True, outside=not own)
    user = message.get("from")
    return person_of(mapping(user) if isinstance(user, dict) else mapping(message.get("chat")))
