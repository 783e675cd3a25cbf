"""What surrounds an event: which bot it reached, which workspace it came from, who listens."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from adapters.slack.json_readers import Raw, identifier, items, mapping, text
from gateway.message import MessageAuthor, Place
from gateway.people import Audience


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The bot as Slack knows it (from `auth.test`). `names` are display names known so far.

    `agent_view`: every direct message outside a thread begins one.
    """

    account: str = "main"
    user_id: str = ""
    bot_id: str = ""
    team_id: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    agent_view: bool = False


@dataclass(frozen=True, slots=True)
class EventContext:
    """The surroundings of one event. `shared`: another company is in the channel too; None where
    the payload does not say."""

    me: BotIdentity
    team_id: str
    app_id: str
    event_id: str
    shared: bool | None = None

    def is_me(self, source: Raw) -> bool:
        """True when a message was posted by this bot, under any of its identities."""
        known = {self.me.user_id, self.me.bot_id, self.app_id} - {""}
        names = {identifier(source, key) for key in ("user", "bot_id", "app_id")}
        return bool(known & names)

    def place(self, channel: str, kind: str = "", thread_ts: str = "") -> Place:
        """The place; `kind` is what the event calls its channel, if it does."""
        return Place(
            platform="slack",
            account=self.me.account,
            channel_id=channel,
            audience=audience(channel, kind),
            workspace_id=self.team_id,
            thread_id=thread_ts,
            outsiders=self.shared is True,
        )

    def place_of(self, channel: str, kind: str, thread_ts: str, ts: str) -> Place:
        """The place of the message `ts`, which may begin the thread that it is in."""
        place = self.place(channel, kind, thread_ts)
        begins = self.me.agent_view and place.audience is Audience.DIRECT and not thread_ts
        return replace(place, thread_id=ts) if begins else place

    def author(self, source: Raw) -> MessageAuthor | None:
        """Who posted a message; None when it does not say."""
        user, bot = identifier(source, "user"), identifier(source, "bot_id")
        if not (user or bot):
            return None
        is_bot = bool(bot) or text(source, "subtype", 50) == "bot_message"
        profile = mapping(source, "user_profile")
        teams = [identifier(source, key) for key in ("user_team", "source_team", "team")]
        outside = self.is_outside(*teams, identifier(profile, "team")) or is_guest(profile)
        return MessageAuthor(user or bot, self._name(source, user), is_bot, outside=outside)

    def is_outside(self, *teams: str) -> bool:
        """True when one of these teams, as far as they are said, is another one than the bot's. An
        organisation (E…) says nothing of that: its people may be of either."""
        said = (team for team in teams if team and not team.startswith("E"))
        return bool(self.team_id) and any(team != self.team_id for team in said)

    def _name(self, source: Raw, user: str) -> str:
        profile = mapping(source, "user_profile")
        return (
            text(profile, "display_name", 80)
            or text(profile, "real_name", 80)
            or self.me.names.get(user, "")
            or text(source, "username", 80)
            or text(mapping(source, "bot_profile"), "name", 80)
        )


def event_context_of(payload: Raw, me: BotIdentity) -> EventContext:
    """The surroundings that a payload states, completed by what is known of the bot.

    On Enterprise Grid and in shared channels the first authorization names the installation that
    the event is meant for; the payload's own team may be somebody else's.
    """
    authorized = next(iter(items(payload, "authorizations", 1)), {})
    user_id = me.user_id
    if not user_id and authorized.get("is_bot") is not False:
        user_id = identifier(authorized, "user_id")
    team = (
        me.team_id
        or identifier(authorized, "team_id")
        or identifier(payload, "team_id")
        or identifier(mapping(payload, "team"), "id")
        or identifier(mapping(payload, "event"), "team")
        or identifier(mapping(payload, "user"), "team_id")
        or identifier(payload, "team")
    )
    known = replace(me, user_id=user_id, team_id=team)
    shared = payload.get("is_ext_shared_channel")
    return EventContext(
        known,
        team,
        identifier(payload, "api_app_id"),
        identifier(payload, "event_id"),
        shared if isinstance(shared, bool) else None,
    )


def is_guest(about: Raw) -> bool:
    """True for a user, or the profile in an event, of a guest or of somebody unknown to the team
    (docs.slack.dev, reference/objects/user-object)."""
    flags = ("is_restricted", "is_ultra_restricted", "is_stranger")
    return any(about.get(flag) is True for flag in flags)


_KINDS: Final = {
    "im": Audience.DIRECT,
    "app_home": Audience.DIRECT,
    "directmessage": Audience.DIRECT,
    "mpim": Audience.PRIVATE_ROOM,
    "group": Audience.PRIVATE_ROOM,
    "privategroup": Audience.PRIVATE_ROOM,
    "G": Audience.PRIVATE_ROOM,
    "channel": Audience.PUBLIC_ROOM,
    "C": Audience.PUBLIC_ROOM,
}
_PREFIXES: Final = {"D": Audience.DIRECT, "G": Audience.PRIVATE_ROOM}


def audience(channel: str, kind: str = "") -> Audience:
    """Who listens, from what the event calls the channel, else from its id.

    Unknown is public: the audience before which the least is said. A private channel's id looks
    like a public one's, so that events without a kind are taken to be public.
    """
    if kind.startswith("mpdm-"):
        return Audience.PRIVATE_ROOM
    return _KINDS.get(kind) or _PREFIXES.get(channel[:1], Audience.PUBLIC_ROOM)
