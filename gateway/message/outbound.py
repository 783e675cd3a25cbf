"""Rendered messages, the sends that bring them to a platform, and its confirmations."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from msgspec import Struct

from gateway.message.place import Place
from gateway.message.reply import Button, OutboundFile


def utf16_units(text: str) -> int:
    """Return the length in UTF-16 code units, in which clients count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class TextCut(Struct, frozen=True):
    """Where the clients of a platform cut a long text into several messages."""

    limits: tuple[int, ...]
    """The lengths at which they cut, in UTF-16 code units."""
    shortest: float = 1.0
    """The shortest piece before another one, as a part of the limit: 0 to 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """One message in the platform's format."""

    payload: str | dict[str, object]
    """The message's body: a text, or a dict with `blocks`."""
    text: str
    """The same without markup, for fallbacks, notifications and screen readers."""


@dataclass(frozen=True, slots=True)
class Outbound:
    """One send: a rendered part or a file; or neither, which ends a command without an answer; or,
    with `clears`, the removal of the buttons under a message."""

    key: str
    """The same on every attempt and unique among all sends, so that a platform with nonces can
    recognise a repetition: see `send_key`."""
    place: Place
    """The place to send to."""
    part: Part | None = None
    """The rendered message; None for a file or for neither. With `clears`, the message's text for
    platforms that need it."""
    file: OutboundFile | None = None
    """The file; None for a message."""
    buttons: tuple[Button, ...] = ()
    """The buttons below the message."""
    reply_to_id: str = ""
    """The id of the answered message; empty for none."""
    private_to: str = ""
    """The id of the only reader of an ephemeral message; empty for a message to all readers."""
    reply_handle: str = field(default="", repr=False)
    """The adapter's handle of the command or the press that is answered; empty for none."""
    replaces: str = ""
    """The handle of the live message that this one replaces; empty for none."""
    person: str = field(default="", compare=False)
    """The `str(PersonId)` of the person whom it answers."""
    clears: str = ""
    """The id of the message whose buttons are removed; empty for none."""
    buttons_until: datetime | None = None
    """The expiry of the buttons; None if they stay valid."""
    supersedes: str = ""
    """The id of the message that the answered one replaces: a platform that shows the exchange
    removes it now, with its answer. Empty for none."""

    @property
    def turn_id(self) -> str:
        """The id of the turn that made the send."""
        return turn_id_of(self.key)

    @property
    def group(self) -> str:
        """The part of the key that the sends of one reply have in common."""
        return self.key.rpartition(":")[0]

    @property
    def is_empty(self) -> bool:
        """True if it shows nothing: it ends a command's waiting sign, or removes buttons."""
        return bool(self.clears) or (self.part is None and self.file is None)


def send_key(group: str, index: int) -> str:
    """Return the key of a send of a reply; `group` begins with the id of the turn."""
    return f"{group}:{index}"


def turn_id_of(key: str) -> str:
    """Return the id of the turn with which the key of a send begins."""
    return key.partition(":")[0]


Reach = Literal["open", "template", "closed"]
"""For a person who did not write just now, a platform takes any message, only the configured
template, or none before they write."""


class Receipt(Struct, frozen=True):
    """The platform's confirmation of a send."""

    message_id: str
    """The platform's id of the message, by which it is changed or deleted."""
    timestamp: datetime | None = None
    """The time of sending by the platform's clock, in UTC; None if it gives none."""
