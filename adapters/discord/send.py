"""Outbound messages as Discord takes them. Pure."""

import hashlib
import io
import json
from typing import Final

from discord.http import Route

from gateway.errors import Permanent
from gateway.message import Button, Outbound, OutboundFile, Part, Place

BUTTONS_PER_ROW: Final = 5
MAX_ROWS: Final = 5
MAX_LABEL: Final = 80
MAX_CUSTOM_ID: Final = 100
NONCE_BYTES: Final = 12
"""24 hexadecimal digits; Discord takes 25 characters."""
EPHEMERAL: Final = 1 << 6
SUPPRESS_EMBEDS: Final = 1 << 2
"""Discord makes no preview of addresses: its servers would fetch an address that the model was made
to write, with words of the conversation in it, before anybody has read the answer."""
NOBODY: Final = {"parse": [], "replied_user": True}
"""Text of the model notifies nobody but the person it answers."""

NO_BUTTONS: Final[dict[str, object]] = {"components": []}
"""Changes a message of ours, and of it the buttons alone."""

_ROW, _BUTTON, _GREY = 1, 2, 2


def destination(place: Place) -> str:
    """The channel to write to: a thread is a channel of its own."""
    return place.thread_id or place.channel_id


def messages_route(channel_id: str) -> Route:
    """POST here creates a message."""
    return Route("POST", "/channels/{channel_id}/messages", channel_id=channel_id)


def reaction_route(method: str, place: Place, message_id: str, emoji: str) -> Route:
    """The path of our own reaction to a message."""
    return Route(
        method,
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        channel_id=destination(place),
        message_id=message_id,
        emoji=emoji,
    )


def message_route(method: str, place: Place, message_id: str) -> Route:
    """One message of the place."""
    return Route(
        method,
        "/channels/{channel_id}/messages/{message_id}",
        channel_id=destination(place),
        message_id=message_id,
    )


def nonce_of(key: str) -> str:
    """Discord shows one message per nonce, however often it is sent within some minutes."""
    return hashlib.blake2b(key.encode(), digest_size=NONCE_BYTES).hexdigest()


def text_of(part: Part) -> str:
    """The content. Raises `Permanent` for a payload of another platform."""
    if not isinstance(part.payload, str):
        raise Permanent("Discord takes text; this part was rendered for another platform")
    return part.payload


def body_of(outbound: Outbound) -> dict[str, object]:
    """What is said, without saying where. Raises `Permanent`."""
    body: dict[str, object] = {"allowed_mentions": NOBODY, "flags": SUPPRESS_EMBEDS}
    if outbound.part is not None:
        body["content"] = text_of(outbound.part)
    if outbound.buttons:
        body["components"] = rows_of(outbound.buttons)
    if outbound.file is not None:
        body["attachments"] = [{"id": 0, "filename": outbound.file.name}]
    return body


def channel_body(outbound: Outbound) -> dict[str, object]:
    """The same as an ordinary message: with a nonce, as a reply."""
    body = body_of(outbound) | {"nonce": nonce_of(outbound.key), "enforce_nonce": True}
    if outbound.reply_to_id.isdecimal() and not outbound.reply_handle:
        body["message_reference"] = {
            "message_id": outbound.reply_to_id,
            "fail_if_not_exists": False,
        }
    return body


def rows_of(buttons: tuple[Button, ...]) -> list[dict[str, object]]:
    """Buttons in rows of five. Raises `Permanent` for what Discord cannot show."""
    if len(buttons) > BUTTONS_PER_ROW * MAX_ROWS:
        raise Permanent(f"Discord shows at most {BUTTONS_PER_ROW * MAX_ROWS} buttons")
    shown = [_button(button) for button in buttons]
    return [
        {"type": _ROW, "components": shown[first : first + BUTTONS_PER_ROW]}
        for first in range(0, len(shown), BUTTONS_PER_ROW)
    ]


def _button(button: Button) -> dict[str, object]:
    if not 0 < len(button.value) <= MAX_CUSTOM_ID:
        raise Permanent(f"a button's value has 1 to {MAX_CUSTOM_ID} characters")
    label = button.label or button.value
    if len(label) > MAX_LABEL:
        label = label[: MAX_LABEL - 1] + "…"
    return {"type": _BUTTON, "style": _GREY, "label": label, "custom_id": button.value}


def form_of(body: dict[str, object], file: OutboundFile | None) -> list[dict[str, object]] | None:
    """The multipart form for a file, None when the body goes as JSON."""
    if file is None:
        return None
    return [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"},
        {
            "name": "files[0]",
            "value": io.BytesIO(file.data),
            "filename": file.name,
            "content_type": file.mime or "application/octet-stream",
        },
    ]
