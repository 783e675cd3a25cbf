"""What the events leave out and Slack has to be asked for: names, and whose a direct channel is."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import code_of
from adapters.slack.raw import as_mapping, identifier, mapping, text

LOOKUP_SECONDS: Final = 1.0
"""Longest wait for an answer: the event itself has to be acknowledged within three seconds."""

KEEP_SECONDS: Final = 3600.0
KEEP_FAILURE_SECONDS: Final = 300.0
MAX_ENTRIES: Final = 5_000

T = TypeVar("T")


class Kept(Generic[T]):
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


class Directory:
    """Asks Slack about people and channels. A failure is an unknown, never an error."""

    def __init__(self, client: AsyncWebClient, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._names: Kept[str] = Kept(monotonic)
        self._own: Kept[bool] = Kept(monotonic)
        self.names: dict[str, str] = {}
        """Display names known so far."""

    async def name(self, user: str) -> str:
        """The display name of a person; empty when Slack does not say."""
        known = self._names.get(user)
        if known is not None:
            return known
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await self._client.users_info(user=user)
        except (SlackApiError, aiohttp.ClientError, OSError):
            self._names.put(user, "", KEEP_FAILURE_SECONDS)
            return ""
        about = mapping(as_mapping(answer.data), "user")
        profile = mapping(about, "profile")
        name = text(profile, "display_name", 80) or text(profile, "real_name", 80)
        self._names.put(user, name, KEEP_SECONDS)
        if name:
            self.names[user] = name
            if len(self.names) > MAX_ENTRIES:
                del self.names[next(iter(self.names))]
        return name

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
