"""A WhatsApp message as a `ChatMessage`: text, text of others, attachments and extras."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import (
    JsonObject,
    flag,
    identifier,
    items,
    mapping,
    number,
    text,
)
from gateway.authorship import Material, within_bounds
from gateway.immutable import replace
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    ChatMessage,
    MessageAuthor,
    Place,
    Quote,
    utf16_units,
)
from gateway.ports.adapter import packed


@dataclass(frozen=True, slots=True)
class MapLocation:
    """A point on the map, degrees."""

    latitude: float
    longitude: float
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class InteractiveReply:
    """The button or list row that a person chose."""

    id: str
    title: str = ""
    description: str = ""

    @property
    def label(self) -> str:
        """The text that the person saw and chose."""
        return "\n".join(filter(None, (self.title or self.id, self.description)))


@dataclass(frozen=True, slots=True)
class WhatsAppExtras:
    """`window_open` is true for everything a person sends, which opens the 24-hour window, but for
    what arrives after that window has passed."""

    window_open: bool = True
    interactive_reply: InteractiveReply | None = None
    location: MapLocation | None = None

    @property
    def details(self) -> str:
        """See `gateway.ports.adapter.PlatformExtras`."""
        parts = (
            "reply to a button or list" * (self.interactive_reply is not None),
            "location" * (self.location is not None),
            "came after the 24-hour window" * (not self.window_open),
        )
        return ", ".join(filter(None, parts))


MAX_WAMID: Final = 512
_ADDRESS: Final = ("street", "city", "state", "zip", "country")
MAX_NAMED: Final = 20
"""Shared contacts, or products of an order, that are named."""
MAX_WRITTEN: Final = 65_536
"""The longest text that the app sends."""

MEDIA: Final[dict[str, AttachmentKind]] = {
    "image": "image",
    "video": "video",
    "audio": "audio",
    "voice": "audio",
    "document": "document",
    "sticker": "sticker",
}

_NOT_PASSED_ON: Final = ("unsupported", "unknown")
"""The kinds of messages whose content Meta does not pass on; other kinds without content have an
error that says so."""
_COMMAND: Final = re.compile(r"/([A-Za-z][A-Za-z0-9_-]{0,31})(?:\s+(.*))?", re.DOTALL)


class MessageContent(Struct, frozen=True):
    """The content of a message of any kind. `text` is the author's own, `material` that of
    others."""

    text: str = ""
    material: tuple[Material, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    location: MapLocation | None = None
    reply: InteractiveReply | None = None
    unreadable: bool = False


def _content_of(message: JsonObject) -> MessageContent | None:
    """The content, None for kinds without any. A forwarded message, with its caption, is text of
    others."""
    content = _content(message)
    if content is None:
        named = text(message, "type", 40) in _NOT_PASSED_ON
        return MessageContent(unreadable=True) if named or items(message, "errors", 1) else None
    if is_forwarded(message):
        texts = [content.text, *(piece.text for piece in content.material)]
        material = tuple(Material("forwarded", one) for one in texts if one)
        shown = tuple(replace(file, voice=False) for file in content.attachments)
        return replace(content, text="", material=material, attachments=shown)
    product = _referred_product(mapping(mapping(message, "context"), "referred_product"))
    advert = _advert(mapping(message, "referral"))
    return replace(content, material=(*content.material, *product, *advert))


def _content(message: JsonObject) -> MessageContent | None:
    kind = text(message, "type", 40)
    body = mapping(message, kind)
    if kind == "text":
        written = text(body, "body", MAX_CONTENT)
        return MessageContent(written) if written else None
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
    return MessageContent(chosen.label) if chosen else None


def choice_of(message: JsonObject) -> InteractiveReply | None:
    """The selected button or list row, None when the message is no choice of its sender."""
    return None if is_forwarded(message) else _choice(message)


def _choice(message: JsonObject) -> InteractiveReply | None:
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
    match = _COMMAND.fullmatch(written.strip())
    return (match[1].lower(), (match[2] or "").strip()) if match else None


def _media(kind: str, body: JsonObject) -> MessageContent | None:
    media_id = identifier(body, "id", 128)
    if not media_id:
        return None
    attachment = Attachment(
        kind=MEDIA[kind],
        ref=media_id,
        name=text(body, "filename", 240) or ("voice message" if flag(body, "voice") else ""),
        mime=text(body, "mime_type", 120).partition(";")[0].strip().lower(),
        voice=kind == "voice" or (kind == "audio" and flag(body, "voice")),
    )
    return MessageContent(text(body, "caption", MAX_CONTENT), attachments=(attachment,))


def _location(body: JsonObject) -> MessageContent | None:
    latitude, longitude = number(body, "latitude"), number(body, "longitude")
    if latitude is None or longitude is None:
        return None
    if abs(latitude) > 90 or abs(longitude) > 180:
        return None
    place = MapLocation(latitude, longitude, text(body, "name", 500), text(body, "address", 500))
    named = ", ".join(part for part in (place.name, place.address) if part)
    point = f"{latitude:.6f}, {longitude:.6f}"
    words = f"Location: {named} ({point})" if named else f"Location: {point}"
    return MessageContent(material=(Material("location", words),), location=place)


def _contacts(cards: list[JsonObject]) -> MessageContent | None:
    lines: list[str] = []
    for card in cards[:MAX_NAMED]:
        details = [
            text(mapping(card, "name"), "formatted_name", 200),
            *_parts(mapping(card, "org"), "title", "department", "company"),
            *(text(phone, "phone", 40) for phone in items(card, "phones")[:5]),
            *(text(email, "email", 120) for email in items(card, "emails")[:5]),
            *(" ".join(_parts(one, *_ADDRESS)) for one in items(card, "addresses")[:3]),
            *(text(url, "url", 300) for url in items(card, "urls")[:3]),
            *(f"born {day}" for day in _parts(card, "birthday")),
        ]
        known = ", ".join(detail for detail in details if detail)
        if known:
            lines.append(f"Contact: {known}")
    if len(cards) > MAX_NAMED:
        lines.append(f"and {len(cards) - MAX_NAMED} more contacts")
    return MessageContent(material=(Material("contact", "\n".join(lines)),)) if lines else None


def _parts(source: JsonObject, *keys: str) -> list[str]:
    """The non-empty texts under these keys."""
    return [part for key in keys if (part := text(source, key, 200).strip())]


def _price(product: JsonObject) -> str:
    """The price of one piece, in units of its currency (Meta: `item_price`, 7.99 for $7.99)."""
    price, currency = number(product, "item_price"), text(product, "currency", 10)
    return "" if price is None else f" at {price:.15g} {currency}".rstrip()


def _referred_product(body: JsonObject) -> tuple[Material, ...]:
    """The product of a catalogue that the author asks about."""
    product, catalogue = _parts(body, "product_retailer_id"), _parts(body, "catalog_id")
    if not product:
        return ()
    of = f" of the catalogue {catalogue[0]}" if catalogue else ""
    return (Material("card", f"About the product {product[0]}{of}"),)


def _order(body: JsonObject) -> MessageContent | None:
    products = items(body, "product_items")
    if not products:
        return None
    named = [
        f"{identifier(product, 'quantity') or '1'} x {text(product, 'product_retailer_id', 100)}"
        f"{_price(product)}"
        for product in products[:MAX_NAMED]
    ]
    if len(products) > MAX_NAMED:
        named.append(f"and {len(products) - MAX_NAMED} more")
    order = Material("card", f"Order: {', '.join(named)}")
    return MessageContent(text(body, "text", 1000), (order,))


def _form(body: JsonObject) -> MessageContent | None:
    answers = text(body, "response_json", 4000)
    if not answers:
        return None
    title = text(body, "body", 200) or "Sent"
    reply = InteractiveReply(text(body, "name", 60) or "flow", title, answers)
    return MessageContent(material=(Material("form", f"Form: {answers}"),), reply=reply)


def _advert(referral: JsonObject) -> tuple[Material, ...]:
    """The advertisement or post that opened the chat."""
    parts = (text(referral, "headline", 300), text(referral, "body", 1000))
    words = "\n".join(part for part in parts if part)
    return (Material("advert", words, text(referral, "source_url", 300)),) if words else ()


def is_forwarded(message: JsonObject) -> bool:
    """True when the message was forwarded from another chat."""
    context = mapping(message, "context")
    return flag(context, "forwarded") or flag(context, "frequently_forwarded")


def chat_message(
    message: JsonObject,
    message_id: str,
    at: datetime,
    place: Place,
    author: MessageAuthor,
    own_number: str,
) -> ChatMessage | None:
    """The message, None for kinds without content. `own_number` is the business's."""
    content = _content_of(message)
    if content is None:
        return None
    context = mapping(message, "context")
    replied, quoted = identifier(context, "id", MAX_WAMID), identifier(context, "from")
    by_us = bool(quoted) and _digits(quoted) == _digits(own_number)
    return ChatMessage(
        id=message_id,
        content=content.text,
        author=author,
        place=place,
        timestamp=at,
        reply_to_id=replied or None,
        quote=Quote(replied, author_id=quoted, by_this_bot=by_us) if replied else None,
        attachments=content.attachments,
        extras=packed(WhatsAppExtras(interactive_reply=content.reply, location=content.location)),
        material=within_bounds(content.material),
        unreadable=content.unreadable,
        units=_units_of(message) if len(content.text) == MAX_CONTENT else 0,
    )


def _units_of(message: JsonObject) -> int:
    """The length of a text of which the end is not kept, at most the limit of the app."""
    body = mapping(message, "text").get("body")
    return utf16_units(body[:MAX_WRITTEN]) if isinstance(body, str) else 0


def _digits(number: str) -> str:
    return "".join(character for character in number if character.isdigit())
