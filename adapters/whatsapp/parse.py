"""Webhook payloads turned into events: pure, and never an exception for any payload.

Shapes: Meta, "Webhooks: messages" and "Business-scoped user IDs" (`user_id`, `from_user_id`,
messages without a phone number, `user_changed_number`, `user_changed_user_id`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from adapters.whatsapp.extras import WhatsAppExtras
from adapters.whatsapp.json_readers import identifier, items, mapping, moment, text, whole
from adapters.whatsapp.messages import MEDIA, choice_of, command_in, content_of, is_forwarded
from gateway.authorship import within_bounds
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    Quote,
    ReactionChanged,
)
from gateway.people import Audience
from gateway.ports.extras import packed

PLATFORM: Final = "whatsapp"
MAX_WAMID: Final = 512

NAMED_KINDS: Final = frozenset(
    {*MEDIA, "text", "location", "contacts", "order", "interactive", "button", "reaction", "edit"}
    | {"revoke", "system", "unsupported", "request_welcome", "ephemeral", "unknown"}
)
NAMED_FIELDS: Final = frozenset(
    {"account_alerts", "account_review_update", "account_update", "business_capability_update"}
    | {"calls", "flows", "group_lifecycle_update", "group_participants_update", "history"}
    | {"group_settings_update", "group_status_update", "message_echoes", "security"}
    | {"message_template_components_update", "message_template_quality_update"}
    | {"message_template_status_update", "phone_number_name_update", "smb_app_state_sync"}
    | {"phone_number_quality_update", "smb_message_echoes", "user_preferences"}
)


@dataclass(frozen=True, slots=True)
class Identity:
    """How a payload names a person: either may be missing, not both."""

    user_id: str = ""
    phone: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """The BSUID where there is one, otherwise the phone number."""
        return self.user_id or self.phone


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """An event with what its payload said of the person, and when it was written."""

    event: InboundEvent
    who: Identity
    at: datetime


@dataclass(frozen=True, slots=True)
class Status:
    """What became of a message of ours: sent, delivered, read, played or failed."""

    message_id: str
    status: str
    recipient: Identity
    at: datetime | None
    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class IdentityChange:
    """A person has a new number or BSUID; they are still the same person."""

    before: Identity
    after: Identity


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one payload said. `ignored` names what was left out and why."""

    arrivals: tuple[ReceivedEvent, ...] = ()
    statuses: tuple[Status, ...] = ()
    moves: tuple[IdentityChange, ...] = ()
    ignored: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()


def parse(
    payload: dict[str, object], me: str | None = None, account: str = "main"
) -> list[InboundEvent]:
    """The events in a webhook payload, empty for what is ignored.

    With `me`, a phone number id, only what was sent to that number counts.
    """
    return [arrival.event for arrival in read(payload, me, account).arrivals]


def read(payload: object, me: str | None = None, account: str = "main") -> Reading:
    """Everything in a webhook payload, statuses and number changes included."""
    reader = _Reader(me, account)
    if text(payload, "object", 60) != "whatsapp_business_account":
        reader.ignored.append("object")
    else:
        for entry in items(payload, "entry"):
            for change in items(entry, "changes"):
                reader.change(change)
    return Reading(
        tuple(reader.arrivals),
        tuple(reader.statuses),
        tuple(reader.moves),
        tuple(reader.ignored),
        tuple(reader.errors),
    )


class _Reader:
    """Collects while one payload is read."""

    def __init__(self, me: str | None, account: str) -> None:
        self._me = me
        self._account = account
        self.arrivals: list[ReceivedEvent] = []
        self.statuses: list[Status] = []
        self.moves: list[IdentityChange] = []
        self.ignored: list[str] = []
        self.errors: list[int] = []

    def change(self, change: Mapping[str, object]) -> None:
        field = text(change, "field", 60)
        if field != "messages":
            self.ignored.append(f"field:{field if field in NAMED_FIELDS else 'other'}")
            return
        value = mapping(change, "value")
        metadata = mapping(value, "metadata")
        if self._me is not None and identifier(metadata, "phone_number_id") != self._me:
            self.ignored.append("other_number")
            return
        messages = items(value, "messages")
        contacts = items(value, "contacts")
        fitting = _by_id(contacts)
        for message in messages:
            who = _sender(message, contacts, fitting, alone=len(messages) == 1)
            self._message(message, who, identifier(metadata, "display_phone_number"))
        for status in items(value, "statuses"):
            self._status(status, contacts)
        self.errors += [code for e in items(value, "errors") if (code := whole(e, "code"))]

    def _message(self, message: Mapping[str, object], who: Identity, own_number: str) -> None:
        kind = text(message, "type", 40)
        wamid = identifier(message, "id", MAX_WAMID)
        at = moment(message, "timestamp")
        if not wamid or at is None or not who.key:
            self.ignored.append("malformed")
        elif "group_id" in message:
            self.ignored.append("group")
        elif kind == "system":
            self._system(mapping(message, "system"), who)
        elif (event := self._event(message, kind, wamid, at, who, own_number)) is not None:
            self.arrivals.append(ReceivedEvent(event, who, at))
        else:
            self.ignored.append(f"kind:{kind if kind in NAMED_KINDS else 'other'}")

    def _event(
        self,
        message: Mapping[str, object],
        kind: str,
        wamid: str,
        at: datetime,
        who: Identity,
        own_number: str,
    ) -> InboundEvent | None:
        place = Place(PLATFORM, self._account, who.key, Audience.DIRECT)
        author = MessageAuthor(
            who.key, who.name, aliases=(who.phone,) if who.user_id and who.phone else ()
        )
        if (choice := choice_of(message)) is not None:
            under = identifier(mapping(message, "context"), "id", MAX_WAMID)
            return ButtonPressed(wamid, place, author, choice.id, choice.title, under)
        if kind == "reaction":
            body = mapping(message, "reaction")
            target, emoji = identifier(body, "message_id", MAX_WAMID), text(body, "emoji", 20)
            if not target:
                return None
            return ReactionChanged(wamid, place, author, target, emoji, added=bool(emoji))
        if kind == "revoke":
            target = identifier(mapping(message, "revoke"), "original_message_id", MAX_WAMID)
            return MessageDeleted(wamid, place, (target,)) if target else None
        if kind == "edit":
            body = mapping(message, "edit")
            target = identifier(body, "original_message_id", MAX_WAMID)
            edited = mapping(body, "message")
            if is_forwarded(message):  # whichever of the two says so
                edited = {**edited, "context": {**mapping(edited, "context"), "forwarded": True}}
            new = _chat_message(edited, target, at, place, author, who, own_number)
            return MessageEdited(wamid, new) if new is not None and target else None
        written = _chat_message(message, wamid, at, place, author, who, own_number)
        if written is None:
            return None
        own = kind == "text" and not is_forwarded(message)
        command = command_in(written.content) if own else None
        if command is not None:
            return CommandInvoked(wamid, place, author, *command, message=written)
        return MessageReceived(wamid, written)

    def _system(self, system: Mapping[str, object], who: Identity) -> None:
        kind = text(system, "type", 40)
        if kind not in ("user_changed_number", "user_changed_user_id"):
            self.ignored.append("kind:system")
            return
        before = Identity(identifier(system, "previous_user_id") or who.user_id, who.phone)
        phone = identifier(system, "wa_id") or identifier(system, "new_wa_id")
        after = Identity(identifier(system, "user_id"), phone)
        if after.key and (after.user_id, after.phone) != (before.user_id, before.phone):
            self.moves.append(IdentityChange(before, after))
        else:
            self.ignored.append("kind:system")

    def _status(self, status: Mapping[str, object], contacts: list[Mapping[str, object]]) -> None:
        message_id = identifier(status, "id", MAX_WAMID)
        if not message_id or text(status, "recipient_type", 20) == "group":
            self.ignored.append("status")
            return
        user_id = identifier(status, "recipient_user_id")
        phone = identifier(status, "recipient_id")
        if not user_id and len(contacts) == 1:
            user_id = identifier(contacts[0], "user_id")
        codes = tuple(code for e in items(status, "errors") if (code := whole(e, "code")))
        self.statuses.append(
            Status(
                message_id,
                text(status, "status", 20),
                Identity(user_id, phone),
                moment(status, "timestamp"),
                codes,
            )
        )


def _chat_message(
    message: Mapping[str, object],
    wamid: str,
    at: datetime,
    place: Place,
    author: MessageAuthor,
    who: Identity,
    own_number: str,
) -> ChatMessage | None:
    content = content_of(message)
    if content is None:
        return None
    context = mapping(message, "context")
    replied = identifier(context, "id", MAX_WAMID)
    quoted = identifier(context, "from")
    by_us = bool(quoted) and _digits(quoted) == _digits(own_number)
    return ChatMessage(
        id=wamid,
        content=content.text,
        author=author,
        place=place,
        timestamp=at,
        reply_to_id=replied or None,
        quote=Quote(replied, author_id=quoted, by_this_bot=by_us) if replied else None,
        attachments=content.attachments,
        extras=packed(WhatsAppExtras(interactive_reply=content.reply, location=content.location)),
        material=within_bounds(content.material),
    )


def _by_id(contacts: list[Mapping[str, object]]) -> dict[tuple[str, str], int]:
    """The place of the first contact with each id and each number."""
    places: dict[tuple[str, str], int] = {}
    for place, contact in enumerate(contacts):
        for key in ("user_id", "wa_id"):
            places.setdefault((key, identifier(contact, key)), place)
    return places


def _sender(
    message: Mapping[str, object],
    contacts: list[Mapping[str, object]],
    fitting: Mapping[tuple[str, str], int],
    *,
    alone: bool,
) -> Identity:
    """Who wrote: the message's own ids first, completed from the first contact that fits them;
    `fitting` are the places of the contacts by their ids."""
    user_id = identifier(message, "from_user_id")
    phone = identifier(message, "from").removeprefix("+")
    named = (("user_id", user_id), ("wa_id", phone))
    place = min((fitting[one] for one in named if one[1] and one in fitting), default=None)
    if place is None and len(contacts) == 1 and (alone or not (user_id or phone)):
        place = 0
    if place is None:
        return Identity(user_id, phone)
    contact = contacts[place]
    return Identity(
        user_id or identifier(contact, "user_id"),
        phone or identifier(contact, "wa_id").removeprefix("+"),
        text(mapping(contact, "profile"), "name", 200),
    )


def _digits(number: str) -> str:
    return "".join(character for character in number if character.isdigit())
