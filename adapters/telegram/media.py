"""What a message carries instead of text: files, and things that are named in words."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from adapters.telegram.json_readers import (
    MAX_NAME,
    identity,
    integer,
    listing,
    mapping,
    number,
    text,
)
from gateway.authorship import Authorship, Material
from gateway.message import Attachment, AttachmentKind

_Describe: TypeAlias = Callable[[Mapping[str, object]], str]

_FILES: Final[tuple[tuple[str, AttachmentKind, str], ...]] = (
    ("animation", "video", "video/mp4"),
    ("audio", "audio", "audio/mpeg"),
    ("document", "document", ""),
    ("sticker", "sticker", "image/webp"),
    ("video", "video", "video/mp4"),
    ("video_note", "video", "video/mp4"),
    ("voice", "audio", "audio/ogg"),
)
_CARRIERS: Final = frozenset({"photo", *(field for field, _, _ in _FILES)})
_DEFAULT_NAMES: Final = {
    "animation": "animation",
    "video_note": "video note",
    "voice": "voice message",
    "sticker": "sticker",
}
MAX_OPTIONS: Final = 12


def attachments_of(message: Mapping[str, object]) -> tuple[Attachment, ...]:
    """The files of a message; of a photo the largest size."""
    if _CARRIERS.isdisjoint(message):
        return ()
    found: list[Attachment] = []
    photo = _photo(message.get("photo"))
    if photo is not None:
        found.append(photo)
    for field, kind, mime in _FILES:
        raw = message.get(field)
        if raw is None or (field == "document" and "animation" in message):
            continue
        described = mapping(raw)
        ref = text(described.get("file_id"))
        if ref:
            found.append(_attachment(described, field, kind, mime, ref))
    return tuple(found)


def _attachment(
    described: Mapping[str, object], field: str, kind: AttachmentKind, mime: str, ref: str
) -> Attachment:
    said = text(described.get("mime_type"))[:MAX_NAME] or mime
    if field == "document" and said.startswith("image/"):
        kind = "image"
    if field == "sticker" and (described.get("is_video") or described.get("is_animated")):
        said = "video/webm" if described.get("is_video") else "application/x-tgsticker"
    return Attachment(
        kind=kind,
        ref=ref,
        name=text(described.get("file_name"))[:MAX_NAME] or _DEFAULT_NAMES.get(field, ""),
        mime=said,
        size=_size(described),
    )


def _photo(value: object) -> Attachment | None:
    best: Attachment | None = None
    largest = -1
    for entry in listing(value)[:20]:
        described = mapping(entry)
        ref = text(described.get("file_id"))
        area = (integer(described.get("width")) or 0) * (integer(described.get("height")) or 0)
        if ref and area > largest:
            largest = area
            best = Attachment("image", ref, "photo.jpg", "image/jpeg", _size(described))
    return best


def _size(described: Mapping[str, object]) -> int | None:
    size = integer(described.get("file_size"))
    return size if size is not None and size >= 0 else None


def card_in(message: Mapping[str, object]) -> Material | None:
    """What a message without text shows: a place, a contact, a poll; None when nothing. None of it
    is a text that the author wrote for this message."""
    for field, authorship, describe in _DESCRIBED:
        raw = message.get(field)
        if isinstance(raw, dict):
            return Material(authorship, describe(raw))
    return None


def _venue(raw: Mapping[str, object]) -> str:
    title, address = text(raw.get("title")), text(raw.get("address"))
    named = ", ".join(part for part in (title, address) if part)
    return _location(mapping(raw.get("location"))) + (f" ({named})" if named else "")


def _location(raw: Mapping[str, object]) -> str:
    latitude, longitude = number(raw.get("latitude")), number(raw.get("longitude"))
    if latitude is None or longitude is None:
        return "Location"
    return f"Location: {latitude:.6f}, {longitude:.6f}"


def _contact(raw: Mapping[str, object]) -> str:
    name = f"{text(raw.get('first_name'))} {text(raw.get('last_name'))}".strip()
    return "Contact: " + ", ".join(p for p in (name, text(raw.get("phone_number"))) if p)


def _poll(raw: Mapping[str, object]) -> str:
    options = [text(mapping(one).get("text")) for one in listing(raw.get("options"))[:MAX_OPTIONS]]
    return "\n".join([f"Poll: {text(raw.get('question'))}", *(f"- {one}" for one in options)])


def _checklist(raw: Mapping[str, object]) -> str:
    tasks = []
    for one in listing(raw.get("tasks"))[:30]:
        task = mapping(one)
        done = "x" if task.get("completion_date") else " "
        tasks.append(f"- [{done}] {text(task.get('text'))}")
    return "\n".join([f"Checklist: {text(raw.get('title'))}", *tasks])


def _dice(raw: Mapping[str, object]) -> str:
    return f"{text(raw.get('emoji')) or 'Dice'}: {identity(raw.get('value'))}"


def _sticker(raw: Mapping[str, object]) -> str:
    return f"Sticker {text(raw.get('emoji'))}".strip()


def _game(raw: Mapping[str, object]) -> str:
    return f"Game: {text(raw.get('title'))}"


def _invoice(raw: Mapping[str, object]) -> str:
    return f"Invoice: {text(raw.get('title'))}"


def _story(raw: Mapping[str, object]) -> str:
    writer = text(mapping(raw.get("chat")).get("title"))
    return f"Story of {writer}" if writer else "Story"


_DESCRIBED: Final[tuple[tuple[str, Authorship, _Describe], ...]] = (
    ("venue", "location", _venue),
    ("location", "location", _location),
    ("contact", "contact", _contact),
    ("poll", "card", _poll),
    ("checklist", "card", _checklist),
    ("dice", "card", _dice),
    ("sticker", "card", _sticker),
    ("game", "card", _game),
    ("invoice", "card", _invoice),
    ("story", "card", _story),
)
