"""The payloads of Meta's webhook calls, as dictionaries.

Shapes: Meta, "Webhooks: messages" reference (text, image, interactive, reaction, edit, revoke,
system, status), and "Business-scoped user IDs" for `user_id` beside or instead of the phone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Json: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True)
class Number:
    """The business's own phone number, as every webhook names it."""

    waba_id: str
    phone_number_id: str
    display: str


@dataclass(frozen=True, slots=True)
class Sender:
    """The fields of a person in a payload; an empty `phone` or `user_id` is left out."""

    name: str
    phone: str = ""
    user_id: str = ""
    username: str = ""

    def contact(self) -> Json:
        """The entry in `contacts`."""
        profile: Json = {"name": self.name}
        if self.username:
            profile["username"] = self.username
        contact: Json = {"profile": profile}
        if self.phone:
            contact["wa_id"] = self.phone
        if self.user_id:
            contact["user_id"] = self.user_id
        return contact

    def origin(self) -> Json:
        """The sender's fields of a message."""
        origin: Json = {}
        if self.phone:
            origin["from"] = self.phone
        if self.user_id:
            origin["from_user_id"] = self.user_id
        return origin


def envelope(number: Number, value: Mapping[str, object]) -> Json:
    """A whole webhook body around one change of the field `messages`."""
    whole: Json = {
        "messaging_product": "whatsapp",
        "metadata": {
            "display_phone_number": number.display,
            "phone_number_id": number.phone_number_id,
        },
        **value,
    }
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": number.waba_id, "changes": [{"value": whole, "field": "messages"}]}],
    }


def messages(number: Number, sender: Sender, items: Sequence[Json]) -> Json:
    """One POST with these messages of one person."""
    return envelope(number, {"contacts": [sender.contact()], "messages": list(items)})


def message(sender: Sender, wamid: str, at: int, kind: str, content: object) -> Json:
    """One message; `content` stands under the name of its kind."""
    return {**sender.origin(), "id": wamid, "timestamp": str(at), "type": kind, kind: content}


def quoting(item: Json, author: str, wamid: str) -> Json:
    """The same message as a reply to one that `author`, a phone number, wrote."""
    return {**item, "context": {"from": author, "id": wamid}}


def status(
    number: Number,
    sender: Sender,
    wamid: str,
    name: str,
    at: int,
    errors: Sequence[Json] = (),
) -> Json:
    """Return a status of a message of the business: sent, delivered, read or failed."""
    item: Json = {"id": wamid, "status": name, "timestamp": str(at)}
    if sender.phone:
        item["recipient_id"] = sender.phone
    if sender.user_id:
        item["recipient_user_id"] = sender.user_id
    if errors:
        item["errors"] = list(errors)
    elif name in ("sent", "delivered"):
        item["pricing"] = {
            "billable": False,
            "pricing_model": "PMP",
            "type": "free_customer_service",
            "category": "service",
        }
    return envelope(number, {"statuses": [item], "contacts": [sender.contact()]})
