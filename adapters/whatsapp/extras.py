"""The extras of a message that only WhatsApp has."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
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


@dataclass(frozen=True, slots=True)
class WhatsAppExtras:
    """`window_open` is true for everything a person sends, which opens the 24-hour window, but for
    what arrives after that window has passed."""

    window_open: bool = True
    interactive_reply: InteractiveReply | None = None
    location: Location | None = None

    @property
    def details(self) -> str:
        """See `gateway.ports.extras.PlatformExtras`."""
        parts = (
            "reply to a button or list" * (self.interactive_reply is not None),
            "location" * (self.location is not None),
            "came after the 24-hour window" * (not self.window_open),
        )
        return ", ".join(filter(None, parts))
