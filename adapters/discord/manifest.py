"""Discord's settings and capabilities, without its library."""

from typing import ClassVar, Final

from pydantic import Field, SecretStr

from adapters.shared.settings import CredentialSettings
from gateway.message import Place, TextCut
from gateway.ports import (
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanReact,
    CanReadThread,
    CanType,
    Capabilities,
    LiveStyle,
    SendPace,
)

MAX_BUTTONS: Final = 25
"""Five rows of five (Discord: components/reference#action-row)."""


class DiscordSettings(CredentialSettings, extra="forbid", frozen=True, coerce_numbers_to_str=True):
    """The keys under `platforms.discord`. Only the token is needed."""

    credentials: ClassVar = ("token",)

    token: SecretStr = SecretStr("")
    """From the developer portal, page "Bot"."""
    application_id: str = Field(default="", pattern=r"^\d{0,20}$")
    """From "General Information"; the token of another application is then refused at the start."""
    guild_id: str = Field(default="", pattern=r"^\d{0,20}$")
    """Register the slash commands in this server only; they appear there at once."""
    members_intent: bool = False
    """Receive an event when a person leaves a server; needs Server Members Intent (page "Bot").
    Without it, Parley asks Discord before it uses a server's memory."""
    api_base: str = Field(default="", pattern=r"^(https?://[^\s/]+(/\S*)?)?$")
    """Address of the REST API with its version, for a simulator or a proxy."""
    gateway_url: str = Field(default="", pattern=r"^(wss?://[^\s/]+(/\S*)?)?$")
    """Address of the gateway, for a simulator or a proxy."""

    def missing(self) -> tuple[str, ...]:
        """The token, where another setting needs it."""
        return self.absent() if self.application_id or self.guild_id else ()


_LIVE: Final = LiveStyle(pause=1.2)
"""Discord allows five changes in five seconds in a channel, and people write there as well."""


def live_style(place: Place) -> LiveStyle:
    """A message that is edited, everywhere."""
    return _LIVE


MANIFEST: Final = AdapterManifest(
    platform="discord",
    title="Discord",
    settings=DiscordSettings,
    capabilities=Capabilities(
        joins_threads=True,
        ephemeral=True,
        commands_wait=True,
        idempotent_sends=True,
        max_buttons=MAX_BUTTONS,
    ),
    abilities=(
        *(CanType, CanFetchFiles, CanReact, CanReadThread),
        *(CanCheckMembership, CanClearButtons),
    ),
    renderer="adapters.discord.render:render",
    load="adapters.discord.connection:DiscordAdapter",
    text_cut=TextCut((2_000, 4_000)),
    pace=SendPace(platform_per_second=50),
    live=live_style,
    loggers=("discord",),
)
"""50 requests a second are the limit of the whole account (Discord: rate limits). The limit of a
channel is in the headers of every answer, which discord.py obeys."""
