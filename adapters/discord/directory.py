"""What discord.py's cache knows of servers, as `parse` asks for it."""

import discord

from adapters.discord.bot import ChannelFacts
from gateway.people import Audience


class GuildDirectory:
    """A `Directory` over the servers of a connected client."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        """The channel or thread, None when the bot does not see it."""
        guild = self._guild(guild_id)
        if guild is None or not channel_id.isdecimal():
            return None
        channel = guild.get_channel_or_thread(int(channel_id))
        if channel is None:
            return None
        if not isinstance(channel, discord.Thread):
            return ChannelFacts(channel.name, audience_of(guild, channel))
        parent = guild.get_channel(channel.parent_id)
        audience = Audience.PUBLIC_ROOM if parent is None else audience_of(guild, parent)
        if channel.is_private():
            audience = Audience.PRIVATE_ROOM
        return ChannelFacts(
            channel.name, audience, str(channel.parent_id), closed=channel.is_private()
        )

    def role_name(self, guild_id: str, role_id: str) -> str:
        """The role's name, empty when it is not known."""
        guild = self._guild(guild_id)
        role = guild.get_role(int(role_id)) if guild and role_id.isdecimal() else None
        return role.name if role else ""

    def own_role(self, guild_id: str) -> str:
        """The id of the role that Discord made for this bot."""
        guild = self._guild(guild_id)
        role = guild.self_role if guild else None
        return str(role.id) if role else ""

    def _guild(self, guild_id: str) -> discord.Guild | None:
        return self._client.get_guild(int(guild_id)) if guild_id.isdecimal() else None


def audience_of(guild: discord.Guild, channel: discord.abc.GuildChannel) -> Audience:
    """Public when @everyone may see the channel, or when that cannot be told."""
    everyone = guild.get_role(guild.id)
    hidden = everyone is not None and not channel.permissions_for(everyone).view_channel
    return Audience.PRIVATE_ROOM if hidden else Audience.PUBLIC_ROOM
