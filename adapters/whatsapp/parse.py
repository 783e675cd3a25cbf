"""Webhook payloads as events. Pure; no payload raises.

Shapes: Meta, "Webhooks: messages" and "Business-scoped user IDs" (`user_id`, `from_user_id`,
messages without a phone number, `user_changed_number`, `user_changed_user_id`).
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    identifier,
    integer,
    items,
    mapping,
    text,
    unix_time,
)
from adapters.whatsapp.messages import (
    MAX_WAMID,
    MEDIA,
    chat_message,
    choice_of,
    command_in,
    is_forwarded,
)
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    ReactionChanged,
)
from gateway.people import Audience

PLATFORM: Final = "whatsapp"
MAX_UPDATES: Final = 5_000
"""Updates read of one payload; Meta sends at most 1,000 at once."""

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


class PersonIds(Struct, frozen=True):
    """The ids of a person in a payload; at least one is there."""

    user_id: str = ""
    phone: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """The BSUID where there is one, otherwise the phone number."""
        return self.user_id or self.phone


class ReceivedEvent(Struct, frozen=True):
    """An event with the person's ids in its payload, and the time of writing."""

    event: InboundEvent
    who: PersonIds
    at: datetime


class Status(Struct, frozen=True):
    """The state of a message of the bot: sent, delivered, read, played or failed."""

    message_id: str
    status: str
    recipient: PersonIds
    at: datetime | None
    codes: tuple[int, ...] = ()


class IdentityChange(Struct, frozen=True):
    """A new number or BSUID of the same person, and the time of the change."""

    before: PersonIds
    after: PersonIds
    at: datetime | None = None


class ParsedPayload(Struct, frozen=True):
    """The content of one payload. `ignored` names the kinds that were left out."""

    events: tuple[ReceivedEvent, ...] = ()
    statuses: tuple[Status, ...] = ()
    identity_changes: tuple[IdentityChange, ...] = ()
    ignored: tuple[str, ...] = ()
    errors: tuple[int, ...] = ()


def parse(
    payload: dict[str, object], me: str | None = None, account: str = "main"
) -> list[InboundEvent]:
    """The events in a webhook payload; none for a payload that is ignored.

    With `me`, a phone number id, updates for other numbers are ignored.
    """
    return [received.event for received in read(payload, me, account).events]


def read(payload: object, me: str | None = None, account: str = "main") -> ParsedPayload:
    """The content of a webhook payload, with statuses and changed ids."""
    body, reader = as_mapping(payload), _PayloadReader(me, account)
    if text(body, "object", 60) != "whatsapp_business_account":
        reader.ignored.append("object")
    else:
        for entry in items(body, "entry", MAX_UPDATES):
            for change in items(entry, "changes", MAX_UPDATES):
                reader.change(change)
    return ParsedPayload(
        tuple(reader.events),
        tuple(reader.statuses),
        tuple(reader.identity_changes),
        tuple(reader.ignored),
        tuple(reader.errors),
    )


class _PayloadReader:
    """Collects the content of one payload."""

    def __init__(self, me: str | None, account: str) -> None:
        self._me = me
        self._account = account
        self.events: list[ReceivedEvent] = []
        self.statuses: list[Status] = []
        self.identity_changes: list[IdentityChange] = []
        self.ignored: list[str] = []
        self.errors: list[int] = []

    def change(self, change: JsonObject) -> None:
        field = text(change, "field", 60)
        if field != "messages":
            self.ignored.append(f"field:{field if field in NAMED_FIELDS else 'other'}")
            return
        value = mapping(change, "value")
        metadata = mapping(value, "metadata")
        if self._me is not None and identifier(metadata, "phone_number_id") != self._me:
            self.ignored.append("other_number")
            return
        messages = items(value, "messages", MAX_UPDATES)
        listed = items(value, "contacts", MAX_UPDATES)
        contacts = _Contacts(listed)
        for message in messages:
            who = _sender(message, contacts, alone=len(messages) == 1)
            self._message(message, who, text(metadata, "display_phone_number", 40))
        for status in items(value, "statuses", MAX_UPDATES):
            self._status(status, contacts)
        self.errors += [code for e in items(value, "errors") if (code := integer(e, "code"))]

    def _message(self, message: JsonObject, who: PersonIds, own_number: str) -> None:
        kind = text(message, "type", 40)
        wamid = identifier(message, "id", MAX_WAMID)
        at = unix_time(message, "timestamp")
        if not wamid or at is None or not who.key:
            self.ignored.append("malformed")
        elif "group_id" in message:
            self.ignored.append("group")
        elif kind == "system":
            self._system(mapping(message, "system"), who, at)
        elif (event := self._event(message, kind, wamid, at, who, own_number)) is not None:
            self.events.append(ReceivedEvent(event, who, at))
        else:
            self.ignored.append(f"kind:{kind if kind in NAMED_KINDS else 'other'}")

    def _event(
        self,
        message: JsonObject,
        kind: str,
        wamid: str,
        at: datetime,
        who: PersonIds,
        own_number: str,
    ) -> InboundEvent | None:
        place = Place(PLATFORM, self._account, who.key, Audience.DIRECT)
        author = MessageAuthor(
            who.key, who.name, aliases=(who.phone,) if who.user_id and who.phone else ()
        )
        if (choice := choice_of(message)) is not None:
            under = identifier(mapping(message, "context"), "id", MAX_WAMID)
            return ButtonPressed(wamid, place, author, choice.id, choice.label, under)
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
            if is_forwarded(message):  # either of the two may be marked
                edited = {**edited, "context": {**mapping(edited, "context"), "forwarded": True}}
            new = chat_message(edited, target, at, place, author, own_number)
            if new is None or new.unreadable or not target:
                return None
            return MessageEdited(wamid, new)
        written = chat_message(message, wamid, at, place, author, own_number)
        if written is None:
            return None
        own = kind == "text" and not is_forwarded(message)
        command = command_in(written.content) if own else None
        if command is not None:
            return CommandInvoked(wamid, place, author, *command, message=written)
        return MessageReceived(wamid, written)

    def _system(self, system: JsonObject, who: PersonIds, at: datetime) -> None:
        kind = text(system, "type", 40)
        if kind not in ("user_changed_number", "user_changed_user_id"):
            self.ignored.append("kind:system")
            return
        before = PersonIds(_user_id(system, "previous_user_id") or who.user_id, who.phone)
        phone = _phone(system, "wa_id") or _phone(system, "new_wa_id")
        after = PersonIds(_user_id(system, "user_id"), phone)
        if who.user_id not in ("", before.user_id, after.user_id):
            self.ignored.append("contradicting_ids")
        elif after.key and (after.user_id, after.phone) != (before.user_id, before.phone):
            self.identity_changes.append(IdentityChange(before, after, at))
        else:
            self.ignored.append("kind:system")

    def _status(self, status: JsonObject, contacts: "_Contacts") -> None:
        message_id = identifier(status, "id", MAX_WAMID)
        if not message_id or text(status, "recipient_type", 20) == "group":
            self.ignored.append("status")
            return
        recipient = PersonIds(_user_id(status, "recipient_user_id"), _phone(status, "recipient_id"))
        codes = tuple(code for e in items(status, "errors") if (code := integer(e, "code")))
        self.statuses.append(
            Status(
                message_id,
                text(status, "status", 20),
                contacts.completed(recipient),
                unix_time(status, "timestamp"),
                codes,
            )
        )


class _Contacts:
    """The contacts of a payload. One completes the ids of a person only if it has one of them and
    none that differs, and if no other contact says otherwise."""

    def __init__(self, listed: list[JsonObject]) -> None:
        self.all = [
            PersonIds(
                _user_id(one, "user_id"),
                _phone(one, "wa_id"),
                text(mapping(one, "profile"), "name", 200),
            )
            for one in listed
        ]
        self._by_id: dict[str, PersonIds | None] = {}
        for one in self.all:
            for id_ in filter(None, (one.user_id, one.phone)):
                known = self._by_id.setdefault(id_, one)
                if known is not None and not _agree(known, one):
                    self._by_id[id_] = None

    def completed(self, who: PersonIds) -> PersonIds:
        """Return a person of the payload with the ids and the name of the contact."""
        for id_ in filter(None, (who.user_id, who.phone)):
            contact = self._by_id.get(id_)
            if contact is not None and _agree(contact, who):
                return PersonIds(
                    who.user_id or contact.user_id, who.phone or contact.phone, contact.name
                )
        return who


def _agree(one: PersonIds, other: PersonIds) -> bool:
    """True if no id of two descriptions differs."""
    pairs = ((one.user_id, other.user_id), (one.phone, other.phone))
    return all(first == second or not (first and second) for first, second in pairs)


def _sender(message: JsonObject, contacts: _Contacts, *, alone: bool) -> PersonIds:
    """The sender: the message's own ids, completed by the contact with one of them. A message
    without any is from the only contact, if it is the only message as well."""
    own = PersonIds(_user_id(message, "from_user_id"), _phone(message, "from"))
    if not own.key:
        sender = identifier(message, "from").removeprefix("+")
        if not sender and alone and len(contacts.all) == 1:
            return contacts.all[0]
        own = PersonIds(sender)  # something else than a number: Meta's other kind of id
    return contacts.completed(own)


def _user_id(source: JsonObject, key: str) -> str:
    """The BSUID under `key`. It begins with letters, so that it is never taken for a number."""
    value = identifier(source, key)
    return "" if value[:1].isdigit() else value


def _phone(source: JsonObject, key: str) -> str:
    """The phone number under `key`, of digits only."""
    value = identifier(source, key).removeprefix("+")
    return value if value.isdigit() else ""
