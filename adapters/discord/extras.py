"""The extras of a message that only Discord has."""

from dataclasses import dataclass

from gateway.ports.extras import counted


@dataclass(frozen=True, slots=True)
class DiscordExtras:
    """The mentions of a message, by id."""

    mentions: tuple[str, ...] = ()
    role_mentions: tuple[str, ...] = ()
    mentions_everyone: bool = False

    @property
    def details(self) -> str:
        """See `gateway.ports.extras.PlatformExtras`."""
        parts = (
            counted(len(self.mentions), "mention"),
            counted(len(self.role_mentions), "role mention"),
            "@everyone" * self.mentions_everyone,
        )
        return ", ".join(filter(None, parts))
