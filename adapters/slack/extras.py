"""The extras of a message that only Slack has."""

from dataclasses import dataclass

from gateway.ports.extras import counted


@dataclass(frozen=True, slots=True)
class SlackExtras:
    """`blocks` is the JSON text of the message's Block Kit blocks; mentions are ids."""

    blocks: str = ""
    mentions: tuple[str, ...] = ()
    channel_mentions: tuple[str, ...] = ()
    broadcast: bool = False

    @property
    def details(self) -> str:
        """See `gateway.ports.extras.PlatformExtras`."""
        parts = (
            "blocks" * bool(self.blocks),
            counted(len(self.mentions), "mention"),
            counted(len(self.channel_mentions), "channel mention"),
            "broadcast" * self.broadcast,
        )
        return ", ".join(filter(None, parts))
