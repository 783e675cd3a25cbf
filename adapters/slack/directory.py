"""Lookups at Slack for facts that events do not carry: names, guests, membership, the person of a
direct channel, and channels that are shared with another company."""

import asyncio
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from msgspec import Struct
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.shared.json_readers import JsonObject, array, as_mapping, identifier, mapping, text
from adapters.slack.errors import UNREACHABLE, code_of, delivery_errors
from adapters.slack.event_context import is_guest
from adapters.slack.messages import BY_ID, attachment_of
from gateway.latest import Latest
from gateway.message import MAX_LANGUAGE, MAX_ZONE, Attachment

LOOKUP_SECONDS: Final = 1.0
"""Longest wait for an answer: the event itself must be acknowledged within three seconds."""

KEEP_SECONDS: Final = 3600.0
KEEP_PERSON_SECONDS: Final = 600.0
"""Seconds for which facts about guests and shared channels are kept. `user_change` corrects them
sooner."""
KEEP_FAILURE_SECONDS: Final = 30.0
MAX_ENTRIES: Final = 5_000
MAX_FILES: Final = 10
"""Files of one message that are looked up."""
NOT_A_MEMBER: Final = frozenset({"user_not_found", "user_not_visible", "users_not_found"})

T = TypeVar("T")


class ExpiringCache(Generic[T]):
    """A bounded cache whose entries expire."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._now = monotonic
        self._entries: Latest[str, tuple[float, T]] = Latest(MAX_ENTRIES)

    def get(self, key: str) -> T | None:
        """The entry, None when there is none or it has expired."""
        until, value = self._entries.get(key, (0.0, None))
        return value if until > self._now() else None

    def put(self, key: str, value: T, seconds: float) -> None:
        """Keep an entry for so many seconds; the oldest one is removed when there are too many."""
        self._entries[key] = (self._now() + seconds, value)

    def drop(self, key: str) -> None:
        """Remove an entry."""
        self._entries.pop(key, None)


class UserInfo(Struct, frozen=True):
    """A person as Slack describes them. `outside`: not a full member of the bot's workspace."""

    name: str
    outside: bool
    language: str = ""
    """The language of their app (`locale`), empty if unknown."""
    zone: str = ""
    """Their time zone (`tz`), empty if unknown."""


class SlackDirectory:
    """Facts about people and channels. A failed lookup is never an error: unknown people and
    channels count as being from outside."""

    def __init__(
        self, web: AsyncWebClient, monotonic: Callable[[], float], team_id: str = ""
    ) -> None:
        self._web = web
        self._team_id = team_id
        self._people: ExpiringCache[UserInfo] = ExpiringCache(monotonic)
        self._older: ExpiringCache[UserInfo] = ExpiringCache(monotonic)
        """The last answer about a person, for the time in which Slack does not answer."""
        self._own_direct: ExpiringCache[bool] = ExpiringCache(monotonic)
        self._reader: ExpiringCache[str] = ExpiringCache(monotonic)
        self._shared: ExpiringCache[bool] = ExpiringCache(monotonic)
        self.names: dict[str, str] = {}
        """The display names known so far."""

    async def person(self, user: str) -> UserInfo:
        """A person, by the last answer of Slack within an hour; otherwise a person from outside
        without a name."""
        known = self._people.get(user)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._web.users_info(user=user, include_locale=True)
        except (SlackApiError, *UNREACHABLE):
            known = self._older.get(user) or UserInfo("", outside=True)
            self._people.put(user, known, KEEP_FAILURE_SECONDS)
            return known
        about = mapping(as_mapping(answer.data), "user")
        profile = mapping(about, "profile")
        name = text(profile, "display_name", 80) or text(profile, "real_name", 80)
        language = text(about, "locale", MAX_LANGUAGE)
        outside, zone = not is_full_member(about, self._team_id), text(about, "tz", MAX_ZONE)
        known = UserInfo(name, outside, language, zone)
        self._people.put(user, known, KEEP_PERSON_SECONDS)
        self._older.put(user, known, KEEP_SECONDS)
        if name:
            self.names[user] = name
            if len(self.names) > MAX_ENTRIES:
                del self.names[next(iter(self.names))]
        return known

    def forget(self, user: str) -> None:
        """Drop the facts about a person who changed."""
        self._people.drop(user)
        self._older.drop(user)

    async def is_shared(self, channel: str) -> bool:
        """True when another company reads a channel, or when that is unknown."""
        known = self._shared.get(channel)
        if known is not None:
            return known
        try:
            about = await self._channel(channel)
        except (SlackApiError, *UNREACHABLE):
            self._shared.put(channel, True, KEEP_FAILURE_SECONDS)
            return True
        shared = any(about.get(key) is True for key in ("is_ext_shared", "is_pending_ext_shared"))
        self.note_shared(channel, shared)
        return shared

    def note_shared(self, channel: str, shared: bool) -> None:
        """Keep the fact that an event states about a channel."""
        self._shared.put(channel, shared, KEEP_PERSON_SECONDS)

    async def is_own_direct_channel(self, channel: str, user: str) -> bool:
        """True when the direct channel is that of this person and the bot; False when unknown.

        A slash command works in the direct messages of two people as well, and its payload names
        both kinds of channel alike.
        """
        known = self._own_direct.get(channel)
        if known is not None:
            return known
        try:
            about = await self._channel(channel)
        except SlackApiError as error:
            if code_of(error) == "channel_not_found":
                self._own_direct.put(channel, False, KEEP_SECONDS)
            return False
        except UNREACHABLE:
            return False
        own = about.get("is_im") is True and identifier(about, "user") == user
        self._own_direct.put(channel, own, KEEP_SECONDS)
        return own

    async def reader_of(self, channel: str) -> str:
        """The person of a direct channel; empty if Slack does not tell it now."""
        known = self._reader.get(channel)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                user = identifier(await self._channel(channel), "user")
        except (SlackApiError, *UNREACHABLE):
            user = ""
        self._reader.put(channel, user, KEEP_SECONDS if user else KEEP_FAILURE_SECONDS)
        return user

    async def described(self, files: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
        """The files with name and kind. In a channel that is shared with another company, a message
        contains only their ids."""
        unknown = [file for file in files if file.ref.startswith(BY_ID)][:MAX_FILES]
        found = dict(zip(unknown, await asyncio.gather(*map(self._file, unknown)), strict=True))
        return tuple(found.get(file, file) for file in files)

    async def _file(self, file: Attachment) -> Attachment:
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._web.files_info(file=file.ref.removeprefix(BY_ID))
        except (SlackApiError, *UNREACHABLE):
            return file
        return attachment_of(mapping(as_mapping(answer.data), "file")) or file

    async def _channel(self, channel: str) -> JsonObject:
        async with asyncio.timeout(LOOKUP_SECONDS):
            answer = await self._web.conversations_info(channel=channel)
        return mapping(as_mapping(answer.data), "channel")


async def room_name(web: AsyncWebClient, channel: str) -> str:
    """Return the name of a channel, as Slack shows it. Raises a `DeliveryError`."""
    with delivery_errors(sends=False):
        answer = await web.conversations_info(channel=channel)
    name = text(mapping(as_mapping(answer.data), "channel"), "name")
    return f"#{name}" if name else ""


async def is_member(web: AsyncWebClient, team_id: str, space: str, user: str) -> bool:
    """True when a person is a full member of the workspace `space`, which must be the bot's own.
    Raises a `DeliveryError`."""
    if space != team_id:
        return False
    with delivery_errors(sends=False):
        try:
            answer = await web.users_info(user=user)
        except SlackApiError as error:
            if code_of(error) in NOT_A_MEMBER:
                return False
            raise
    return is_full_member(mapping(as_mapping(answer.data), "user"), team_id)


def is_full_member(user: JsonObject, team_id: str) -> bool:
    """True for an active user of this team who is no guest. On Enterprise Grid a person is in
    several teams."""
    if user.get("deleted") is True or is_guest(user):
        return False
    teams = array(mapping(user, "enterprise_user"), "teams", 1_000)
    return bool(team_id) and (identifier(user, "team_id") == team_id or team_id in teams)
