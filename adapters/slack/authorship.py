"""Text in a message's attachments, which its author did not write: shared messages, previews.

Fields: Slack, "Reference: Secondary message attachments", and those that Slack sets itself for a
message that is forwarded (`is_share`), linked (`is_msg_unfurl`) or unfurled (`from_url`).
"""

from typing import Final

from adapters.slack.event_context import EventContext
from adapters.slack.json_readers import Raw, items, mapping, text
from adapters.slack.message_text import read, text_of_blocks
from gateway.authorship import Authorship, Material, within_bounds
from gateway.message import MAX_CONTENT

_MAX_MESSAGES: Final = 10
"""Messages inside one attachment that are read."""
_MAX_FIELDS: Final = 25
_MAX_NODES: Final = 300
"""Parts of the blocks of one message inside an attachment that are read."""


def material_of(attachments: list[Raw], frame: EventContext, *, own: bool) -> tuple[Material, ...]:
    """What the author of a message shows. `own`: what is neither shared nor unfurled is text of the
    author, which is a program."""
    return within_bounds(
        _material(one, frame) for one in attachments if not (own and _is_plain(one))
    )


def plain_text(attachments: list[Raw]) -> str:
    """The text of attachments that a program writes instead of a message."""
    found = (_said(one) for one in attachments if _is_plain(one))
    return "\n".join(part for part in found if part)[:MAX_CONTENT]


def _material(attachment: Raw, frame: EventContext) -> Material:
    writer = text(attachment, "author_name", 80) or text(attachment, "service_name", 80)
    said = read(_said(attachment), "", frame.me.names).content
    return Material(_authorship(attachment), said, writer)


def _authorship(attachment: Raw) -> Authorship:
    if is_shared(attachment):
        return "forwarded"
    return "card" if _is_plain(attachment) else "preview"


def is_shared(attachment: Raw) -> bool:
    """True for a message that somebody forwards or links to."""
    return (
        attachment.get("is_share") is True
        or attachment.get("is_msg_unfurl") is True
        or bool(items(attachment, "message_blocks", 1))
    )


def _is_plain(attachment: Raw) -> bool:
    """True for what an app attached to a message of its own."""
    unfurled = any(text(attachment, key, 3000) for key in ("from_url", "original_url"))
    return not (is_shared(attachment) or unfurled)


def _said(attachment: Raw) -> str:
    messages = items(attachment, "message_blocks", _MAX_MESSAGES)
    blocks = [text_of_blocks(mapping(one, "message"), _MAX_NODES) for one in messages]
    fields = items(attachment, "fields", _MAX_FIELDS)
    body = text(attachment, "text") or "\n".join(filter(None, blocks))
    body = body or text_of_blocks(attachment, _MAX_NODES)
    told = (
        text(attachment, "pretext"),
        text(attachment, "title"),
        body,
        *(f"{text(one, 'title')}: {text(one, 'value')}" for one in fields),
    )
    return "\n".join(part for part in told if part.strip()) or text(attachment, "fallback")
