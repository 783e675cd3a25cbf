"""The context of an event: the bot that received it, the workspace, the place and the author."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from adapters.shared.json_readers import JsonObject, identifier, items, mapping, text
from gateway.immutable import replace
from gateway.message import MessageAuthor, Place
from gateway.people import Audience

MAX_EVENT_ID: Final = 200

_TS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,9})?")
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


def message_ts(source: JsonObject, key: str) -> str:
    """The message id ("seconds.fraction") under `key`, or ""."""
    value = source.get(key)
    return value if isinstance(value, str) and _TS.fullmatch(value) else ""


def time_of(ts: str) -> datetime:
    """The time in a message id from `message_ts`."""
    return datetime.fromtimestamp(float(ts), UTC)


def event_id(*parts: str) -> str:
    """An id that is always the same for the same parts."""
    joined = ":".join(parts)
    if len(joined) <= MAX_EVENT_ID:
        return joined
    return f"{parts[0]}:{hashlib.sha256(joined.encode('utf-8', 'replace')).hexdigest()}"


@dataclass(frozen=True, slots=True)
class SlackBot:
    """The bot as Slack knows it (from `auth.test`). `names` are the display names known so far.

    `agent_view`: every direct message outside a thread begins one.
    """

    account: str = "main"
    user_id: str = ""
    bot_id: str = ""
    team_id: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    agent_view: bool = False


class EventContext(Struct, frozen=True):
    """The context of one event. `shared`: another company is in the channel; None where the payload
    does not tell."""

    me: SlackBot
    team_id: str
    app_id: str
    event_id: str
    shared: bool | None = None

    def is_me(self, source: JsonObject) -> bool:
        """True when this bot posted a message, under any of its identities."""
        known = {self.me.user_id, self.me.bot_id, self.app_id} - {""}
        return any(identifier(source, key) in known for key in ("user", "bot_id", "app_id"))

    def place(self, channel: str, kind: str = "", thread_ts: str = "") -> Place:
        """The place; `kind` is the event's name for its channel, if it has one."""
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
        """The place of the message `ts`, which may begin its own thread."""
        place = self.place(channel, kind, thread_ts)
        begins = self.me.agent_view and place.audience is Audience.DIRECT and not thread_ts
        return replace(place, thread_id=ts) if begins else place

    def author(self, source: JsonObject) -> MessageAuthor | None:
        """The author of a message; None when it names none."""
        user, bot = identifier(source, "user"), identifier(source, "bot_id")
        if not (user or bot):
            return None
        is_bot = bool(bot) or text(source, "subtype", 50) == "bot_message"
        profile = mapping(source, "user_profile")
        teams = [identifier(source, key) for key in ("user_team", "source_team", "team")]
        outside = self.is_outside(*teams, identifier(profile, "team")) or is_guest(profile)
        name = (
            text(profile, "display_name", 80)
            or text(profile, "real_name", 80)
            or self.me.names.get(user, "")
            or text(source, "username", 80)
            or text(mapping(source, "bot_profile"), "name", 80)
        )
        return MessageAuthor(user or bot, name, is_bot, outside=outside)

    def member(self, user: str) -> MessageAuthor:
        """A person known by id, with the display name if it is known."""
        return MessageAuthor(user, self.me.names.get(user, ""))

    def is_outside(self, *teams: str) -> bool:
        """True when one of these teams is another one than the bot's. An organisation (E…) does not
        count: its people may be of either."""
        named = (team for team in teams if team and not team.startswith("E"))
        return bool(self.team_id) and any(team != self.team_id for team in named)


def event_context_of(payload: JsonObject, me: SlackBot) -> EventContext:
    """The context that a payload states, completed by the bot's identity.

    On Enterprise Grid and in shared channels the first authorization names the installation that
    receives the event; the payload's own team may be another one.
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
    shared = payload.get("is_ext_shared_channel")
    return EventContext(
        replace(me, user_id=user_id, team_id=team),
        team,
        identifier(payload, "api_app_id"),
        identifier(payload, "event_id"),
        shared if isinstance(shared, bool) else None,
    )


def is_guest(user: JsonObject) -> bool:
    """True for the user object, or the profile in an event, of a guest or of a person unknown to
    the team (docs.slack.dev, reference/objects/user-object)."""
    flags = ("is_restricted", "is_ultra_restricted", "is_stranger")
    return any(user.get(flag) is True for flag in flags)


def audience(channel: str, kind: str = "") -> Audience:
    """The audience of a channel, by the event's name for its kind, otherwise by its id.

    An unknown kind is public, which is the strictest. A private channel's id looks like a public
    one's, so events without a kind count as public.
    """
    if kind.startswith("mpdm-"):
        return Audience.PRIVATE_ROOM
    return _KINDS.get(kind) or _PREFIXES.get(channel[:1], Audience.PUBLIC_ROOM)
