"""The content of a message beside its text: files, and cards such as contacts and polls."""

import quopri
import re
from collections.abc import Callable
from typing import Final, TypeAlias

from adapters.shared.json_readers import (
    JsonObject,
    integer,
    items,
    mapping,
    numeric_id,
    objects,
    text,
)
from adapters.telegram.rich_message import files_in, location_line
from gateway.authorship import Authorship, Material
from gateway.message import Attachment, AttachmentKind

MAX_NAME: Final = 200
"""Characters kept of a name. Telegram allows 64 for each of first and last name."""
PORTRAIT_PIXELS: Final = 120
MAX_OPTIONS: Final = 12
MAX_TASKS: Final = 30
MAX_VCARD: Final = 2_048
"""Bytes of a contact card (Bot API)."""
MAX_PAID: Final = 10
"""Files of one paid message (Bot API)."""

_FILES: Final[tuple[tuple[str, AttachmentKind, str, str], ...]] = (
    ("animation", "video", "video/mp4", "animation"),
    ("audio", "audio", "audio/mpeg", ""),
    ("document", "document", "", ""),
    ("sticker", "sticker", "image/webp", "sticker"),
    ("video", "video", "video/mp4", ""),
    ("video_note", "video", "video/mp4", "video note"),
    ("voice", "audio", "audio/ogg", "voice message"),
)
"""Field, kind, default MIME type and default name of each kind of file."""
_Describe: TypeAlias = Callable[[JsonObject], str]
_HOLDERS: Final = frozenset({"paid_media", "rich_message"})
"""Fields with files inside."""
FORWARD_FIELDS: Final = frozenset(
    {
        *("forward_origin", "forward_date", "forward_from", "forward_from_chat"),
        *("forward_sender_name", "is_automatic_forward"),
    }
)
"""Fields of a message that is forwarded."""
_SHOWN_ONLY: Final = FORWARD_FIELDS | {"via_bot"}
_CARRIERS: Final = frozenset({"photo", *_HOLDERS, *(field for field, *_ in _FILES)})


def attachments_of(message: JsonObject) -> tuple[Attachment, ...]:
    """The files of a message; of a photo, the largest size."""
    if _CARRIERS.isdisjoint(message):
        return ()
    files = [] if (photo := _photo(message)) is None else [photo]
    for held in (*items(mapping(message, "paid_media"), "paid_media", MAX_PAID), *_rich(message)):
        if _HOLDERS.isdisjoint(held):
            files += attachments_of(held)
    for field, kind, mime, name in _FILES:
        if field == "document" and "animation" in message:  # the same file again
            continue
        file = mapping(message, field)
        if ref := text(file, "file_id"):
            own = _SHOWN_ONLY.isdisjoint(message)
            files.append(_attachment(file, field, kind, mime, name, ref, own))
    return tuple(files)


def _rich(message: JsonObject) -> list[JsonObject]:
    return files_in(mapping(message, "rich_message"))


def _attachment(
    file: JsonObject,
    field: str,
    kind: AttachmentKind,
    mime: str,
    name: str,
    ref: str,
    own_voice: bool,
) -> Attachment:
    mime = text(file, "mime_type", MAX_NAME) or mime
    if field == "document" and mime.startswith("image/"):
        kind = "image"
    if field == "sticker" and (file.get("is_video") or file.get("is_animated")):
        mime = "video/webm" if file.get("is_video") else "application/x-tgsticker"
    own = field == "voice" and own_voice
    name = text(file, "file_name", MAX_NAME) or name
    length = integer(file, "duration") if kind == "audio" else None
    seconds = float(length) if length is not None and length >= 0 else None
    return Attachment(kind, ref, name, mime, _size(file), voice=own, seconds=seconds)


def _photo(message: JsonObject) -> Attachment | None:
    sizes = [size for size in items(message, "photo", 20) if text(size, "file_id")]
    if not sizes:
        return None
    largest = max(
        sizes, key=lambda size: (integer(size, "width") or 0) * (integer(size, "height") or 0)
    )
    ref = text(largest, "file_id")
    return Attachment("image", ref, "photo.jpg", "image/jpeg", _size(largest))


def portrait_in(shown: JsonObject) -> Attachment | None:
    """The first picture of `UserProfilePhotos`, in the smallest size that is large enough for a
    page; None without one."""
    photos = shown.get("photos")
    latest = photos[0] if isinstance(photos, list) and photos else None
    sizes = [size for size in objects(latest) if text(size, "file_id")]
    if not sizes:
        return None
    sizes.sort(key=lambda size: integer(size, "width") or 0)
    large = (size for size in sizes if (integer(size, "width") or 0) >= PORTRAIT_PIXELS)
    chosen = next(large, sizes[-1])
    return Attachment("image", text(chosen, "file_id"), mime="image/jpeg", size=_size(chosen))


def _size(file: JsonObject) -> int | None:
    size = integer(file, "file_size")
    return size if size is not None and size >= 0 else None


def card_in(message: JsonObject) -> Material | None:
    """The card of a message without text: a location, a contact, a poll; None without one. The
    author did not write its text for this message."""
    for field, authorship, describe in _CARDS:
        card = message.get(field)
        if isinstance(card, dict):
            return Material(authorship, describe(card))
    return None


def _venue(raw: JsonObject) -> str:
    named = ", ".join(part for part in (text(raw, "title"), text(raw, "address")) if part)
    return location_line(mapping(raw, "location")) + (f" ({named})" if named else "")


def _contact(raw: JsonObject) -> str:
    name = f"{text(raw, 'first_name')} {text(raw, 'last_name')}".strip()
    number = text(raw, "phone_number")
    details = details_of(text(raw, "vcard", MAX_VCARD), number)
    return "Contact: " + ", ".join(part for part in (name, number, *details) if part)


def _poll(raw: JsonObject) -> str:
    voted = raw.get("is_closed") is True or bool(integer(raw, "total_voter_count"))
    options = [
        f"- {text(option, 'text')}{_votes(option) if voted else ''}"
        for option in items(raw, "options", MAX_OPTIONS)
    ]
    return "\n".join([f"Poll: {text(raw, 'question')}", *options])


def _votes(option: JsonObject) -> str:
    count = integer(option, "voter_count")
    return "" if count is None else f" ({count} {'vote' if count == 1 else 'votes'})"


def task_of(checklist: JsonObject, number: int | None) -> str:
    """The text of the task with this number, empty if there is none."""
    tasks = items(checklist, "tasks", MAX_TASKS)
    return next((text(one, "text") for one in tasks if integer(one, "id") == number), "")


def _titled(kind: str) -> _Describe:
    def describe(raw: JsonObject) -> str:
        parts = (f"{kind}: {text(raw, 'title')}", text(raw, "description"))
        return "\n".join(part for part in parts if part)

    return describe


def _checklist(raw: JsonObject) -> str:
    tasks = [
        f"- [{'x' if task.get('completion_date') else ' '}] {text(task, 'text')}"
        for task in items(raw, "tasks", MAX_TASKS)
    ]
    return "\n".join([f"Checklist: {text(raw, 'title')}", *tasks])


def _paid_media(raw: JsonObject) -> str:
    """Return a line on media for paying people. The bot gets previews without content."""
    media = items(raw, "paid_media", MAX_PAID)
    hidden = sum(text(one, "type", 20) == "preview" for one in media)
    stars = integer(raw, "star_count") or 0
    return f"Paid media: {len(media)} for {stars} Stars, {hidden} of them not visible"


def _giveaway(raw: JsonObject) -> str:
    prize, winners = text(raw, "prize_description"), integer(raw, "winner_count")
    return "Giveaway" + (f": {prize}" if prize else "") + (f", {winners} winners" * bool(winners))


def _story(raw: JsonObject) -> str:
    writer = text(mapping(raw, "chat"), "title")
    return f"Story of {writer}" if writer else "Story"


_CARDS: Final[tuple[tuple[str, Authorship, _Describe], ...]] = (
    ("venue", "location", _venue),
    ("location", "location", location_line),
    ("contact", "contact", _contact),
    ("poll", "card", _poll),
    ("checklist", "card", _checklist),
    ("dice", "card", lambda raw: f"{text(raw, 'emoji') or 'Dice'}: {numeric_id(raw, 'value')}"),
    ("sticker", "card", lambda raw: f"Sticker {text(raw, 'emoji')}".strip()),
    ("game", "card", _titled("Game")),
    ("invoice", "card", _titled("Invoice")),
    ("story", "card", _story),
    ("paid_media", "card", _paid_media),
    ("giveaway", "card", _giveaway),
    ("giveaway_winners", "card", _giveaway),
)


MAX_VALUES: Final = 10
_FOLD: Final = re.compile(r"\r?\n[ \t]")
_SPLIT: Final = re.compile(r"(?<!\\);")
_ESCAPED: Final = re.compile(r"\\([,;\\nN])")
_SHOWN: Final = ("TITLE", "ORG", "EMAIL", "TEL", "ADR", "URL", "BDAY", "NOTE")
_DIGITS: Final = re.compile(r"\D")


def details_of(vcard: str, number: str) -> list[str]:
    """Return organisation, mail addresses, other numbers than `number`, addresses and notes of a
    contact card. Fields: RFC 6350, and vCard 2.1."""
    known = {_DIGITS.sub("", number)}
    found: dict[str, list[str]] = {name: [] for name in _SHOWN}
    for line in _FOLD.sub("", vcard).splitlines():
        name, _, value = line.partition(":")
        kind = name.partition(";")[0].rpartition(".")[2].upper()
        if kind not in found:
            continue
        words = _words(value, name.upper())
        if kind == "TEL":
            digits = _DIGITS.sub("", words)
            words = "" if digits in known else words
            known.add(digits)
        if words:
            found[kind].append(f"born {words}" if kind == "BDAY" else words)
    return [value for values in found.values() for value in values][:MAX_VALUES]


def _words(value: str, parameters: str) -> str:
    if "QUOTED-PRINTABLE" in parameters:
        value = quopri.decodestring(value.encode()).decode("utf-8", "replace")
    parts = (_ESCAPED.sub(_unescaped, part).strip() for part in _SPLIT.split(value))
    return ", ".join(part for part in parts if part).removeprefix("tel:")


def _unescaped(match: re.Match[str]) -> str:
    return " " if match[1] in "nN" else match[1]
