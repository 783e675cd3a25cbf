"""Who the bot is and what it knows of its surroundings, as parsing needs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from adapters.discord.json_readers import identity, integer, mapping, mappings
from gateway.message import Place
from gateway.people import Audience

PLATFORM: Final = "discord"
DM, GROUP_DM = 1, 3
THREADS: Final = (10, 11, 12)
PRIVATE_THREAD: Final = 12


@dataclass(frozen=True, slots=True)
class ChannelFacts:
    """A channel or thread. `parent_id` is set for threads, `closed` for those that only invited
    people read."""

    name: str
    audience: Audience
    parent_id: str = ""
    closed: bool = False


class Directory(Protocol):
    """What is known of servers: names, parents, who can read along."""

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        """The channel or thread, None when it is not known."""
        ...

    def role_name(self, guild_id: str, role_id: str) -> str:
        """The role's name, empty when it is not known."""
        ...

    def own_role(self, guild_id: str) -> str:
        """The id of the role that Discord made for this bot, empty when there is none."""
        ...


class NoDirectory:
    """Knows nothing: every server channel counts as public."""

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        """Never known."""
        return None

    def role_name(self, guild_id: str, role_id: str) -> str:
        """Never known."""
        return ""

    def own_role(self, guild_id: str) -> str:
        """Never known."""
        return ""


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The connected bot. `session` tells events apart that Discord gives no id."""

    user_id: str = ""
    account: str = "main"
    session: str = ""
    directory: Directory = field(default_factory=NoDirectory)


def place_of(data: Mapping[str, object], bot: BotIdentity) -> Place | None:
    """Where something happened, None when the payload does not name a channel.

    Only what is known to be a direct conversation counts as one, and what is not known to be
    private counts as public: the stricter rules apply when in doubt.
    """
    channel = mapping(data.get("channel"))
    channel_id = identity(data.get("channel_id")) or identity(channel.get("id"))
    if not channel_id:
        return None
    guild_id = identity(data.get("guild_id"))
    kind = integer(data.get("channel_type"))
    kind = integer(channel.get("type")) if kind is None else kind
    if not guild_id:
        return Place(PLATFORM, bot.account, channel_id, _outside_servers(data, kind))
    facts = bot.directory.channel(guild_id, channel_id)
    audience = facts.audience if facts else Audience.PUBLIC_ROOM
    parent_id = (facts.parent_id if facts else "") or identity(channel.get("parent_id"))
    is_thread = kind in THREADS or bool(facts and facts.parent_id)
    if not is_thread:
        return Place(PLATFORM, bot.account, channel_id, audience, guild_id)
    if facts is None and parent_id:
        parent = bot.directory.channel(guild_id, parent_id)
        audience = parent.audience if parent else audience
    closed = kind == PRIVATE_THREAD or bool(facts and facts.closed)
    return Place(
        PLATFORM,
        bot.account,
        parent_id or channel_id,
        Audience.PRIVATE_ROOM if closed else audience,
        guild_id,
        thread_id=channel_id,
        closed_thread=closed,
    )


def _outside_servers(data: Mapping[str, object], kind: int | None) -> Audience:
    if "member" in data or kind not in (None, DM, GROUP_DM):
        return Audience.PUBLIC_ROOM
    several = kind == GROUP_DM or data.get("context") == 2
    more = len(mappings(mapping(data.get("channel")).get("recipients"))) > 1
    return Audience.PRIVATE_ROOM if several or more else Audience.DIRECT
