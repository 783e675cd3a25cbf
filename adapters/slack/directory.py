"""Asks Slack for facts that events do not carry: names, guests, the person of a direct channel, and
the channels that another company shares."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import code_of
from adapters.slack.json_readers import as_mapping, identifier, mapping, text
from adapters.slack.members import is_full_member

LOOKUP_SECONDS: Final = 1.0
"""Longest wait for an answer: the event itself has to be acknowledged within three seconds."""

KEEP_SECONDS: Final = 3600.0
KEEP_PERSON_SECONDS: Final = 600.0
"""Seconds for which the facts on guests and shared channels are believed, as in
`gateway/outbound/membership.py`; `user_change` corrects them sooner."""
KEEP_FAILURE_SECONDS: Final = 30.0
MAX_ENTRIES: Final = 5_000

T = TypeVar("T")


class ExpiringCache(Generic[T]):
    """A bounded memory of answers, each with the time until which it holds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._now = monotonic
        self._entries: OrderedDict[str, tuple[float, T]] = OrderedDict()

    def get(self, key: str) -> T | None:
        """What is known, None when nothing is."""
        until, value = self._entries.get(key, (0.0, None))
        return value if until > self._now() else None

    def put(self, key: str, value: T, seconds: float) -> None:
        """Remember for so many seconds; the oldest is forgotten when there are too many."""
        self._entries[key] = (self._now() + seconds, value)
        self._entries.move_to_end(key)
        if len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forget one answer."""
        self._entries.pop(key, None)


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A person as Slack describes them. `outside`: no full member of the bot's workspace."""

    name: str
    outside: bool


class Directory:
    """Asks Slack about people and channels. A failure is an unknown, never an error, and an
    unknown person or channel is one from outside."""

    def __init__(
        self, client: AsyncWebClient, monotonic: Callable[[], float], team_id: str = ""
    ) -> None:
        self._client = client
        self._team_id = team_id
        self._people: ExpiringCache[UserInfo] = ExpiringCache(monotonic)
        self._last: ExpiringCache[UserInfo] = ExpiringCache(monotonic)
        self._own: ExpiringCache[bool] = ExpiringCache(monotonic)
        self._shared: ExpiringCache[bool] = ExpiringCache(monotonic)
        self.names: dict[str, str] = {}
        """Display names known so far."""

    async def name(self, user: str) -> str:
        """The display name of a person; empty when Slack does not say."""
        return (await self.person(user)).name

    async def person(self, user: str) -> UserInfo:
        """A person as Slack describes them; while Slack does not answer, as it did within the last
        hour; without that, somebody from outside without a name."""
        known = self._people.get(user)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._client.users_info(user=user)
        except (SlackApiError, aiohttp.ClientError, OSError):
            known = self._last.get(user) or UserInfo("", outside=True)
            self._people.put(user, known, KEEP_FAILURE_SECONDS)
            return known
        about = mapping(as_mapping(answer.data), "user")
        profile = mapping(about, "profile")
        name = text(profile, "display_name", 80) or text(profile, "real_name", 80)
        known = UserInfo(name, not is_full_member(about, self._team_id))
        self._people.put(user, known, KEEP_PERSON_SECONDS)
        self._last.put(user, known, KEEP_SECONDS)
        if name:
            self.names[user] = name
            if len(self.names) > MAX_ENTRIES:
                del self.names[next(iter(self.names))]
        return known

    def forget(self, user: str) -> None:
        """Something about a person changed."""
        self._people.drop(user)
        self._last.drop(user)

    async def is_shared(self, channel: str) -> bool:
        """False when nobody of another company reads a channel, True when unsure."""
        known = self._shared.get(channel)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._client.conversations_info(channel=channel)
        except (SlackApiError, aiohttp.ClientError, OSError):
            self._shared.put(channel, True, KEEP_FAILURE_SECONDS)
            return True
        about = mapping(as_mapping(answer.data), "channel")
        found = any(about.get(key) is True for key in ("is_ext_shared", "is_pending_ext_shared"))
        self.note_shared(channel, found)
        return found

    def note_shared(self, channel: str, shared: bool) -> None:
        """An event says whether another company is in a channel."""
        self._shared.put(channel, shared, KEEP_PERSON_SECONDS)

    async def is_between_us(self, channel: str, user: str) -> bool:
        """True when the direct channel is that of this person and the bot, False when unsure.

        A slash command works in the direct messages of two people as well, and its payload calls
        both the same.
        """
        known = self._own.get(channel)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._client.conversations_info(channel=channel)
        except SlackApiError as error:
            if code_of(error) == "channel_not_found":
                self._own.put(channel, False, KEEP_SECONDS)
            return False
        except (aiohttp.ClientError, OSError):
            return False
        about = mapping(as_mapping(answer.data), "channel")
        own = about.get("is_im") is True and identifier(about, "user") == user
        self._own.put(channel, own, KEEP_SECONDS)
        return own
