"""What a message says: its kinds turned into readable text, attachments and extras."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from adapters.whatsapp.wire import flag, identifier, items, mapping, number, text
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    InteractiveReply,
    Location,
)

MAX_NAMED: Final = 20
"""How many shared contacts, or products of an order, are named."""

MEDIA: Final[dict[str, AttachmentKind]] = {
    "image": "image",
    "video": "video",
    "audio": "audio",
    "voice": "audio",
    "document": "document",
    "sticker": "sticker",
}

_COMMAND: Final = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Content:
    """One message's content, whatever its kind was."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    location: Location | None = None
    reply: InteractiveReply | None = None


def content_of(message: Mapping[str, object]) -> Content | None:
    """The content, None for kinds that say nothing a person wrote."""
    kind = text(message, "type", 40)
    body = mapping(message, kind)
    if kind == "text":
        written = text(body, "body", MAX_CONTENT)
        return Content(written) if written else None
    if kind in MEDIA:
        return _media(kind, body)
    if kind == "location":
        return _location(body)
    if kind == "contacts":
        return _contacts(items(message, "contacts"))
    if kind == "order":
        return _order(body)
    if kind == "interactive" and text(body, "type", 40) == "nfm_reply":
        return _form(mapping(body, "nfm_reply"))
    return None


def choice_of(message: Mapping[str, object]) -> InteractiveReply | None:
    """The button or list row that was chosen, None when the message is no choice."""
    kind = text(message, "type", 40)
    if kind == "button":
        button = mapping(message, "button")
        label = text(button, "text", 256)
        value = text(button, "payload", 256) or label
        return InteractiveReply(value, label) if value else None
    if kind != "interactive":
        return None
    interactive = mapping(message, "interactive")
    form = text(interactive, "type", 40)
    if form not in ("button_reply", "list_reply"):
        return None
    chosen = mapping(interactive, form)
    value = text(chosen, "id", 256)
    if not value:
        return None
    return InteractiveReply(value, text(chosen, "title", 256), text(chosen, "description", 256))


def command_in(written: str) -> tuple[str, str] | None:
    """Name and arguments of "/name arguments", None for anything else, paths included."""
    found = _COMMAND.fullmatch(written.strip())
    return (found.group(1).lower(), (found.group(2) or "").strip()) if found else None


def _media(kind: str, body: Mapping[str, object]) -> Content | None:
    media_id = identifier(body, "id", 128)
    if not media_id:
        return None
    attachment = Attachment(
        kind=MEDIA[kind],
        ref=media_id,
        name=text(body, "filename", 240),
        mime=text(body, "mime_type", 120).partition(";")[0].strip().lower(),
    )
    return Content(text(body, "caption", MAX_CONTENT), (attachment,))


def _location(body: Mapping[str, object]) -> Content | None:
    latitude, longitude = number(body, "latitude"), number(body, "longitude")
    if latitude is None or longitude is None:
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    place = Location(latitude, longitude, text(body, "name", 500), text(body, "address", 500))
    named = ", ".join(part for part in (place.name, place.address) if part)
    point = f"{latitude:.6f}, {longitude:.6f}"
    return Content(
        f"Location: {named} ({point})" if named else f"Location: {point}", location=place
    )


def _contacts(cards: list[Mapping[str, object]]) -> Content | None:
    lines: list[str] = []
    for card in cards[:MAX_NAMED]:
        details = [
            text(mapping(card, "name"), "formatted_name", 200),
            *(text(phone, "phone", 40) for phone in items(card, "phones")[:5]),
            *(text(email, "email", 120) for email in items(card, "emails")[:5]),
        ]
        known = ", ".join(detail for detail in details if detail)
        if known:
            lines.append(f"Contact: {known}")
    if len(cards) > MAX_NAMED:
        lines.append(f"and {len(cards) - MAX_NAMED} more contacts")
    return Content("\n".join(lines)) if lines else None


def _order(body: Mapping[str, object]) -> Content | None:
    products = items(body, "product_items")
    if not products:
        return None
    named = [
        f"{text(product, 'quantity', 12) or '1'} x {text(product, 'product_retailer_id', 100)}"
        for product in products[:MAX_NAMED]
    ]
    if len(products) > MAX_NAMED:
        named.append(f"and {len(products) - MAX_NAMED} more")
    said = text(body, "text", 1000)
    return Content(f"Order: {', '.join(named)}" + (f"\n{said}" if said else ""))


def _form(body: Mapping[str, object]) -> Content | None:
    answers = text(body, "response_json", 4000)
    if not answers:
        return None
    title = text(body, "body", 200) or "Sent"
    reply = InteractiveReply(text(body, "name", 60) or "flow", title, answers)
    return Content(f"Form: {answers}", reply=reply)


def is_forwarded(message: Mapping[str, object]) -> bool:
    """True when the message was handed on from another chat."""
    context = mapping(message, "context")
    return flag(context, "forwarded") or flag(context, "frequently_forwarded")
