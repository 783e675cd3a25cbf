"""Answers of the gateway before and after they are shown in a language, before rendering."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final

from msgspec import Struct

from gateway.message.place import Place
from gateway.text import NO_TEXT, Language, Text


@dataclass(frozen=True, slots=True)
class Button:
    """A button under an answer."""

    label: str
    """The text on the button."""
    value: str
    """The value that is returned when it is pressed, at most 64 bytes (Telegram)."""
    description: str = ""
    """A line below the label, where the platform shows choices as a list."""
    typed: str = ""
    """The word that answers a command's question where the platform has no buttons; empty: the
    label."""


class Choice(Struct, frozen=True):
    """A `Button` before it is shown in the language of its reader."""

    label: Text
    """Made with `gateway.text.label`, or the words of a person."""
    value: str
    typed: Text | None = None
    description: Text | None = None


def button_in(language: Language, offered: Choice) -> Button:
    """Return a button as the readers of this language see it."""
    typed, description = offered.typed, offered.description
    return Button(
        language.shown(offered.label),
        offered.value,
        language.shown(description) if description is not None else "",
        language.shown(typed) if typed is not None else "",
    )


@dataclass(frozen=True, slots=True)
class VoiceMessage:
    """The facts that a platform needs to show a file of OGG with Opus as a voice message."""

    __pydantic_config__: ClassVar[dict[str, str]] = {
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }

    seconds: float
    """The length."""
    waveform: bytes = b""
    """Its loudness from beginning to end, a byte for each of at most 100 parts."""


@dataclass(frozen=True, slots=True)
class OutboundFile:
    """A file to send. In JSON its bytes are base64."""

    __pydantic_config__: ClassVar[dict[str, str]] = {
        "ser_json_bytes": "base64",
        "val_json_bytes": "base64",
    }

    name: str
    """The file's name, with its ending."""
    mime: str
    """The media type."""
    data: bytes = field(repr=False)
    """The content."""
    voice: VoiceMessage | None = None
    """Shows the file as a voice message, where the platform can; None for any other file."""


class Notice(Struct, frozen=True):
    """A message to the direct conversation of a person who did not write just now. `person` is the
    reader's `str(PersonId)`."""

    person: str
    place: Place
    """The direct conversation of the reader."""
    markdown: Text
    """The text, in Markdown."""
    buttons: tuple[Choice, ...] = ()
    """The buttons below the text."""
    buttons_until: datetime | None = None
    """The expiry of the buttons; None if they stay valid."""


class Reply(Struct, frozen=True):
    """An answer of the gateway before rendering. `private_to` names the only reader; `notices`
    inform other people, each in their own direct conversation. `leaves_buttons`: the press that it
    answers decided nothing, and the buttons stay. `forgets`: everything about the person was
    deleted, and nothing of this answer is kept either. `buttons_until`: the expiry of the buttons;
    None if they stay valid."""

    markdown: Text
    """The text, in Markdown; empty for an answer without one."""
    buttons: tuple[Choice, ...] = ()
    """The buttons below the last message."""
    files: tuple[OutboundFile, ...] = ()
    """The files behind the text, in order."""
    private_to: str = ""
    notices: tuple[Notice, ...] = ()
    buttons_until: datetime | None = None
    leaves_buttons: bool = False
    forgets: bool = False

    def shown(self, language: Language) -> "ShownReply":
        """Return the answer as the readers of this language see it; the notices have other
        readers."""
        return ShownReply(
            language.shown(self.markdown),
            tuple(button_in(language, one) for one in self.buttons),
            self.files,
            self.private_to,
            self.notices,
            self.buttons_until,
            self.leaves_buttons,
            self.forgets,
        )


class ShownReply(Struct, frozen=True):
    """A `Reply` in the language of its reader, with the same fields."""

    markdown: str
    """The text, in Markdown; empty for an answer without one."""
    buttons: tuple[Button, ...] = ()
    """The buttons below the last message."""
    files: tuple[OutboundFile, ...] = ()
    """The files behind the text, in order."""
    private_to: str = ""
    notices: tuple[Notice, ...] = ()
    buttons_until: datetime | None = None
    leaves_buttons: bool = False
    forgets: bool = False


NOTHING_SAID: Final = Reply(NO_TEXT)
NOTHING_SHOWN: Final = ShownReply("")
