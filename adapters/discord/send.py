"""Outbound messages as bodies and routes of Discord's REST API. Pure."""

import base64
import hashlib
import io
import json
from typing import Final

from discord.http import Route

from adapters.discord.messages import VOICE_MESSAGE
from adapters.shared.http import file_name
from gateway.errors import Permanent
from gateway.message import Button, Outbound, OutboundFile, Part, Place

BUTTONS_PER_ROW: Final = 5
MAX_ROWS: Final = 5
MAX_LABEL: Final = 80
MAX_CUSTOM_ID: Final = 100
NONCE_BYTES: Final = 12
"""24 hexadecimal digits; Discord accepts 25 characters."""
EPHEMERAL: Final = 1 << 6
SUPPRESS_EMBEDS: Final = 1 << 2
"""Discord makes no previews of links. Its servers would fetch an address that the model was tricked
to write, with words of the conversation in it, before anyone reads the answer."""
NOBODY: Final = {"parse": [], "replied_user": True}
"""An answer notifies only the person who asked, for every text of the model."""

NO_BUTTONS: Final[dict[str, object]] = {"components": []}
"""The body that removes only the buttons of a message of the bot."""

_ACTION_ROW, _BUTTON, _SECONDARY_STYLE = 1, 2, 2


def destination(place: Place) -> str:
    """The channel of a message: a thread is a channel of its own."""
    return place.thread_id or place.channel_id


def messages_route(channel_id: str) -> Route:
    """The route that creates a message."""
    return Route("POST", "/channels/{channel_id}/messages", channel_id=channel_id)


def reaction_route(method: str, place: Place, message_id: str, emoji: str) -> Route:
    """The route of the bot's own reaction to a message."""
    return Route(
        method,
        "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me",
        channel_id=destination(place),
        message_id=message_id,
        emoji=emoji,
    )


def message_route(method: str, place: Place, message_id: str) -> Route:
    """The route of one message."""
    return Route(
        method,
        "/channels/{channel_id}/messages/{message_id}",
        channel_id=destination(place),
        message_id=message_id,
    )


def nonce_of(key: str) -> str:
    """The nonce of a send. Discord shows one message per nonce within some minutes."""
    return hashlib.blake2b(key.encode(), digest_size=NONCE_BYTES).hexdigest()


def text_of(part: Part) -> str:
    """The content of a part. Raises `Permanent` for a payload of another platform."""
    if not isinstance(part.payload, str):
        raise Permanent("this part was rendered for another platform than Discord")
    return part.payload


def body_of(outbound: Outbound) -> dict[str, object]:
    """The body of a message without its channel. Raises `Permanent`."""
    body: dict[str, object] = {"allowed_mentions": NOBODY, "flags": SUPPRESS_EMBEDS}
    if outbound.part is not None:
        body["content"] = text_of(outbound.part)
    if outbound.buttons:
        body["components"] = _rows(outbound.buttons)
    if outbound.file is not None:
        body["attachments"] = [{"id": 0, "filename": file_name(outbound.file.name)}]
    return body


def as_voice_message(body: dict[str, object], file: OutboundFile | None) -> dict[str, object]:
    """The body as Discord's clients send a voice message: alone, with its length and waveform. Any
    other body as it is."""
    if file is None or file.voice is None or "content" in body or "components" in body:
        return body
    attachment = {
        "id": 0,
        "filename": file_name(file.name),
        "duration_secs": round(file.voice.seconds, 2),
        "waveform": base64.b64encode(file.voice.waveform or bytes(1)).decode(),
    }
    return {**body, "flags": VOICE_MESSAGE, "attachments": [attachment]}


def edit_body(part: Part, buttons: tuple[Button, ...] = ()) -> dict[str, object]:
    """The body that replaces the text of a message of the bot. Raises `Permanent`."""
    body: dict[str, object] = {"content": text_of(part), "allowed_mentions": NOBODY}
    if buttons:
        body["components"] = _rows(buttons)
    return body


def channel_body(outbound: Outbound) -> dict[str, object]:
    """The body of an ordinary message: with a nonce, as a reply."""
    body = body_of(outbound) | {"nonce": nonce_of(outbound.key), "enforce_nonce": True}
    if outbound.reply_to_id.isdecimal() and not outbound.reply_handle:
        body["message_reference"] = {
            "message_id": outbound.reply_to_id,
            "fail_if_not_exists": False,
        }
    return body


def _rows(buttons: tuple[Button, ...]) -> list[dict[str, object]]:
    """Buttons in rows of five. Raises `Permanent` for buttons that Discord cannot show."""
    if len(buttons) > BUTTONS_PER_ROW * MAX_ROWS:
        raise Permanent(f"Discord shows at most {BUTTONS_PER_ROW * MAX_ROWS} buttons")
    cells = [_button(button) for button in buttons]
    return [
        {"type": _ACTION_ROW, "components": cells[first : first + BUTTONS_PER_ROW]}
        for first in range(0, len(cells), BUTTONS_PER_ROW)
    ]


def _button(button: Button) -> dict[str, object]:
    if not 0 < len(button.value) <= MAX_CUSTOM_ID:
        raise Permanent(f"a button's value has 1 to {MAX_CUSTOM_ID} characters")
    label = button.label or button.value
    if len(label) > MAX_LABEL:
        label = label[: MAX_LABEL - 1] + "…"
    return {"type": _BUTTON, "style": _SECONDARY_STYLE, "label": label, "custom_id": button.value}


def form_of(body: dict[str, object], file: OutboundFile | None) -> list[dict[str, object]] | None:
    """The multipart form for a file, None when the body goes as JSON."""
    if file is None:
        return None
    return [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"},
        {
            "name": "files[0]",
            "value": io.BytesIO(file.data),
            "filename": file_name(file.name),
            "content_type": file.mime or "application/octet-stream",
        },
    ]
