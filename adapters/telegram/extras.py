"""The extras of a message that only Telegram has."""

from dataclasses import dataclass

from gateway.ports.extras import counted


@dataclass(frozen=True, slots=True)
class TelegramExtras:
    """`command` has no slash and no bot name."""

    command: str = ""
    command_args: str = ""
    hashtags: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    via_bot: bool = False

    @property
    def is_command(self) -> bool:
        """True when the message is a bot command."""
        return bool(self.command)

    @property
    def details(self) -> str:
        """See `gateway.ports.extras.PlatformExtras`."""
        parts = (
            "command" * self.is_command,
            counted(len(self.mentions), "mention"),
            counted(len(self.hashtags), "hashtag"),
            "chosen from an inline query" * self.via_bot,
        )
        return ", ".join(filter(None, parts))
