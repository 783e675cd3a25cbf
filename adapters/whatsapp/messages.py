"""What a message says: its kinds turned into readable text, attachments and extras."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from adapters.whatsapp.extras import InteractiveReply, Location
from adapters.whatsapp.json_readers import flag, identifier, items, mapping, number, text
from gateway.authorship import Material
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
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
    """One message's content, whatever its kind was. `text` is what the person wrote, `material`
    what they show."""

    text: str = ""
    material: tuple[Material, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    location: Location | None = None
    reply: InteractiveReply | None = None


def content_of(message: Mapping[str, object]) -> Content | None:
    """The content, None for kinds that say nothing a person wrote or shows. All of a forwarded
    message was written by somebody else, its caption included."""
    content = _content(message)
    if content is None:
        return None
    if is_forwarded(message):
        told = [content.text, *(piece.text for piece in content.material)]
        material = tuple(Material("forwarded", one) for one in told if one)
        return replace(content, text="", material=material)
    advert = _advert(mapping(message, "referral"))
    return replace(content, material=(*content.material, *advert))


def _content(message: Mapping[str, object]) -> Content | None:
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
    chosen = _choice(message)
    return Content(chosen.title or chosen.id) if chosen else None


def choice_of(message: Mapping[str, object]) -> InteractiveReply | None:
    """The button or list row that was chosen, None when the message is no choice of its sender."""
    return None if is_forwarded(message) else _choice(message)


def _choice(message: Mapping[str, object]) -> InteractiveReply | None:
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
    return Content(text(body, "caption", MAX_CONTENT), attachments=(attachment,))


def _location(body: Mapping[str, object]) -> Content | None:
    latitude, longitude = number(body, "latitude"), number(body, "longitude")
    if latitude is None or longitude is None:
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    place = Location(latitude, longitude, text(body, "name", 500), text(body, "address", 500))
    named = ", ".join(part for part in (place.name, place.address) if part)
    point = f"{latitude:.6f}, {longitude:.6f}"
    told = f"Location: {named} ({point})" if named else f"Location: {point}"
    return Content(material=(Material("location", told),), location=place)


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
    return Content(material=(Material("contact", "\n".join(lines)),)) if lines else None


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
    order = Material("card", f"Order: {', '.join(named)}")
    return Content(text(body, "text", 1000), (order,))


def _form(body: Mapping[str, object]) -> Content | None:
    answers = text(body, "response_json", 4000)
    if not answers:
        return None
    title = text(body, "body", 200) or "Sent"
    reply = InteractiveReply(text(body, "name", 60) or "flow", title, answers)
    return Content(material=(Material("form", f"Form: {answers}"),), reply=reply)


def _advert(referral: Mapping[str, object]) -> tuple[Material, ...]:
    """The advertisement or post through which the person opened the chat."""
    told = (text(referral, "headline", 300), text(referral, "body", 1000))
    words = "\n".join(part for part in told if part)
    return (Material("advert", words, text(referral, "source_url", 300)),) if words else ()


def is_forwarded(message: Mapping[str, object]) -> bool:
    """True when the message was handed on from another chat."""
    context = mapping(message, "context")
    return flag(context, "forwarded") or flag(context, "frequently_forwarded")
