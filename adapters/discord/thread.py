"""The earlier messages of a thread, read from Discord for one question.

Sources: Discord, "Get Channel Messages", "Get Thread Member", "Threads" (the message of type 21).
"""

import asyncio
from typing import Final

import aiohttp
import discord
from discord.http import Route

from adapters.discord.client import RestClient
from adapters.discord.errors import RequestRefused, delivery_error
from adapters.discord.event_context import DiscordBot
from adapters.discord.messages import DiscordExtras, message_of
from adapters.shared.json_readers import JsonObject, identifier, mapping
from gateway.errors import Permanent
from gateway.immutable import replace
from gateway.message import Place
from gateway.ports import ThreadMessage, ThreadMessages
from gateway.ports.adapter import unpacked

PAGE: Final = 100
"""Messages that Discord returns at once, at most."""
STARTER: Final = 21
"""The type of the message in a thread that stands for the message of the channel that began it."""
STEP: Final = "Give the bot View Channel and Read Message History in this channel."
NOT_THERE: Final = 404
FORBIDDEN: Final = 403


class DiscordThreads:
    """Reads the threads of one account."""

    def __init__(self, rest: RestClient, client: discord.Client, bot: DiscordBot) -> None:
        self._rest = rest
        self._client = client
        self._bot = bot

    async def read(self, place: Place, person: str, before: str, most: int) -> ThreadMessages:
        """Return the messages of a thread before a message, if the person may read them. Raises a
        `DeliveryError`."""
        thread = await self._thread(place)
        if thread is None or not await self._may_read(thread, person):
            return ThreadMessages(hidden=True)
        page = await self._page(place, before)
        whole = len(page) < PAGE
        first = await self._first(place, thread, page, whole=whole)
        others = [
            one for one in page if one.get("type") != STARTER and one.get("id") != first.get("id")
        ]
        shown = others[-most:]
        read = []
        for one in shown:
            read.append(self._message(one, place))
            await asyncio.sleep(0)  # a long message takes some milliseconds
        return ThreadMessages(
            title=thread.name,
            first=self._message(first, place) if first else None,
            latest=tuple(one for one in read if one is not None),
            between=len(others) - len(shown),
            or_more=not whole,
        )

    async def _thread(self, place: Place) -> discord.Thread | None:
        """Return the thread; None if the bot does not see it. Raises a `DeliveryError`."""
        ids = (place.workspace_id, place.thread_id)
        if not all(id_.isdecimal() for id_ in ids):
            return None
        guild = self._client.get_guild(int(place.workspace_id))
        known = guild.get_thread(int(place.thread_id)) if guild else None
        if known is not None or guild is None:
            return known
        try:
            found = await guild.fetch_channel(int(place.thread_id))
        except (discord.NotFound, discord.Forbidden, discord.InvalidData):
            return None
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            raise delivery_error(error, repeatable=True) from error
        return found if isinstance(found, discord.Thread) else None

    async def _may_read(self, thread: discord.Thread, person: str) -> bool:
        """Return True if the person sees the earlier messages of a thread. Raises a
        `DeliveryError`, also if the bot does not see them: Discord then shows an empty thread."""
        if not _has_history(thread, thread.guild.me):
            raise Permanent(f"Discord: the bot may not read earlier messages. {STEP}")
        if not person.isdecimal():
            return False
        try:
            member = await thread.guild.fetch_member(int(person))
            if not _has_history(thread, member):
                return False
            if thread.is_private() and not thread.permissions_for(member).manage_threads:
                await thread.fetch_member(int(person))
        except discord.NotFound:
            return False
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            raise delivery_error(error, repeatable=True) from error
        return True

    async def _page(self, place: Place, before: str) -> list[JsonObject]:
        """Return the latest messages before that one, oldest first."""
        route = Route("GET", "/channels/{channel_id}/messages", channel_id=place.thread_id)
        query: dict[str, int | str] = {"limit": PAGE}
        if before.isdecimal():
            query["before"] = before
        try:
            page = await self._rest.get_list(route, query)
        except RequestRefused as error:
            if error.status == FORBIDDEN:
                raise Permanent(f"{error} {STEP}") from error
            raise
        return sorted(page, key=_number)

    async def _first(
        self, place: Place, thread: discord.Thread, page: list[JsonObject], *, whole: bool
    ) -> JsonObject:
        """Return the message that began the thread: of the channel, or of the thread itself."""
        starter = next((one for one in page if one.get("type") == STARTER), {})
        if quoted := mapping(starter, "referenced_message"):
            return quoted
        if whole and not starter:
            return page[0] if page else {}
        in_thread = isinstance(thread.parent, discord.ForumChannel)
        channel = place.thread_id if in_thread else place.channel_id
        path = "/channels/{channel_id}/messages/{message_id}"
        route = Route("GET", path, channel_id=channel, message_id=place.thread_id)
        try:
            return await self._rest.call(route)
        except RequestRefused as error:
            if error.status in (NOT_THERE, FORBIDDEN):
                return {}
            raise

    def _message(self, raw: JsonObject, place: Place) -> ThreadMessage | None:
        """Return a message as it reads now; None for notices."""
        everybody = replace(self._bot, user_id="")  # reads own messages, too
        located = {**raw, "channel_id": place.thread_id, "guild_id": place.workspace_id}
        message = message_of(located, everybody)
        if message is None:
            return None
        me, quote = self._bot.user_id, message.quote
        extras = unpacked(DiscordExtras, message.extras)
        own_role = self._bot.directory.own_role(place.workspace_id)
        addressed = me in extras.mentions or own_role in extras.role_mentions
        replies = quote is not None and quote.author_id == me
        return ThreadMessage(message, message.author.id == me, addressed or replies)


def _has_history(thread: discord.Thread, member: discord.Member | None) -> bool:
    """False also where the permissions are unknown."""
    try:
        allowed = thread.permissions_for(member) if member is not None else None
    except discord.ClientException:  # a thread whose channel is unknown
        return False
    return allowed is not None and allowed.view_channel and allowed.read_message_history


def _number(message: JsonObject) -> int:
    message_id = identifier(message, "id")
    return int(message_id) if message_id.isdecimal() else 0
