"""Discord's manifest; it does not import the library."""

from typing import Final

from pydantic import Field, SecretStr

from gateway.message import Place
from gateway.ports import (
    AccountSettings,
    AdapterManifest,
    CanCheckMembership,
    CanClearButtons,
    CanFetchFiles,
    CanReact,
    CanType,
    Capabilities,
    LiveStyle,
    SendPace,
)

MAX_BUTTONS: Final = 25
"""Five rows of five (Discord: components/reference#action-row)."""


class DiscordSettings(AccountSettings, extra="forbid", frozen=True, coerce_numbers_to_str=True):
    """The keys under `platforms.discord`. Only the token is needed."""

    token: SecretStr = SecretStr("")
    """From the developer portal, page "Bot"."""
    application_id: str = Field(default="", pattern=r"^\d{0,20}$")
    """From "General Information"; a different application's token is then refused at start."""
    guild_id: str = Field(default="", pattern=r"^\d{0,20}$")
    """Register the slash commands in this server only, where they appear at once."""
    members_intent: bool = False
    """Be told when somebody leaves a server; needs Server Members Intent on the page "Bot". Without
    it Discord is asked when it matters."""
    api_base: str = Field(default="", pattern=r"^(https?://[^\s/]+(/\S*)?)?$")
    """Where the REST API is, if not at Discord: a simulator, a proxy; with the version."""
    gateway_url: str = Field(default="", pattern=r"^(wss?://[^\s/]+(/\S*)?)?$")
    """Where the gateway is, if not at Discord."""

    def configured(self) -> bool:
        """True when there is a token."""
        return bool(self.token.get_secret_value())

    def missing(self) -> tuple[str, ...]:
        """The token, when anything that needs one is set."""
        wanted = self.application_id or self.guild_id
        return ("token",) if wanted and not self.configured() else ()


_LIVE: Final = LiveStyle(pause=1.2)
"""Discord takes five changes in five seconds in a channel, and people write there as well."""


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
    abilities=(CanType, CanFetchFiles, CanReact, CanCheckMembership, CanClearButtons),
    renderer="adapters.discord.render:render",
    load="adapters.discord.adapter:DiscordAdapter",
    pace=SendPace(platform_per_second=50),
    live=live_style,
    loggers=("discord",),
)
"""Discord as an adapter. 50 requests a second bind the whole account (Discord: rate limits); what
a channel takes is in the headers of every answer, and discord.py obeys those."""
