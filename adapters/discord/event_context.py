"""The context of an event: the bot that received it, its place, and the handle for its answer."""

from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec import Struct

from adapters.shared.json_readers import JsonObject, identifier, integer, items, mapping
from gateway.message import Place
from gateway.people import Audience

PLATFORM: Final = "discord"
DM, GROUP_DM = 1, 3
THREADS: Final = (10, 11, 12)
PRIVATE_THREAD: Final = 12


class ChannelFacts(Struct, frozen=True):
    """A channel or thread. `parent_id` is set for threads, `closed` for those that only invited
    people read."""

    name: str
    audience: Audience
    parent_id: str = ""
    closed: bool = False


class GuildDirectory:
    """Facts about servers. This one has none, so every server channel counts as public."""

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        """The channel or thread, None when it is unknown."""
        return None

    def role_name(self, guild_id: str, role_id: str) -> str:
        """The role's name, or ""."""
        return ""

    def person_name(self, guild_id: str, user_id: str) -> str:
        """The name of a person in a server, or ""."""
        return ""

    def own_role(self, guild_id: str) -> str:
        """The id of the role that Discord made for this bot, or ""."""
        return ""


@dataclass(frozen=True, slots=True)
class DiscordBot:
    """The connected bot. `session` distinguishes events to which Discord gives no id."""

    user_id: str = ""
    account: str = "main"
    session: str = ""
    directory: GuildDirectory = field(default_factory=GuildDirectory)


@dataclass(frozen=True, slots=True)
class InteractionHandle:
    """The address for the answer to an interaction, valid for 15 minutes. Discord expects a first
    response within three seconds."""

    kind: Literal["command", "button"]
    application_id: str
    interaction_id: str
    token: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.kind}:{self.application_id}:{self.interaction_id}:{self.token}"

    @staticmethod
    def read(text: str) -> "InteractionHandle | None":
        """The handle from its text form, None for any other text."""
        kind, application_id, interaction_id, token = (*text.split(":", 3), "", "", "")[:4]
        if kind not in ("command", "button") or not (application_id and interaction_id and token):
            return None
        known: Literal["command", "button"] = "command" if kind == "command" else "button"
        return InteractionHandle(known, application_id, interaction_id, token)


def place_of(data: JsonObject, bot: DiscordBot) -> Place | None:
    """The place of an event, None when the payload names no channel.

    Only a conversation that is known to be direct counts as direct, and a channel that is not known
    to be private counts as public: in doubt, the stricter rules apply.
    """
    channel = mapping(data, "channel")
    channel_id = identifier(data, "channel_id") or identifier(channel, "id")
    if not channel_id:
        return None
    guild_id = identifier(data, "guild_id")
    kind = integer(data, "channel_type")
    kind = integer(channel, "type") if kind is None else kind
    if not guild_id:
        return Place(PLATFORM, bot.account, channel_id, _outside_servers(data, kind))
    facts = bot.directory.channel(guild_id, channel_id)
    audience = facts.audience if facts else Audience.PUBLIC_ROOM
    parent_id = (facts.parent_id if facts else "") or identifier(channel, "parent_id")
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


def _outside_servers(data: JsonObject, kind: int | None) -> Audience:
    if "member" in data or kind not in (None, DM, GROUP_DM):
        return Audience.PUBLIC_ROOM
    group = kind == GROUP_DM or data.get("context") == 2
    group = group or len(items(mapping(data, "channel"), "recipients")) > 1
    return Audience.PRIVATE_ROOM if group else Audience.DIRECT
