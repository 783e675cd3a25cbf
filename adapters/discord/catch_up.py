"""Fetches the messages of the time without a session; Discord does not send them again.

At the beginning of every new session (a restart, or a gap that could not be resumed) this reads the
channels where the bot was addressed or wrote, and the channels of its servers with new messages.
Each missed message is received like a live one, with the same event id, and before the live
messages of its channel. Discord gives a bot no list of its direct conversations, so a new one
cannot be found.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, TypeAlias

import discord
import structlog
from discord.http import Route

from adapters.discord.client import RestClient
from adapters.discord.errors import RequestRefused
from adapters.discord.event_context import PRIVATE_THREAD, THREADS, DiscordBot
from adapters.discord.messages import DISCORD_EPOCH_MS
from adapters.discord.read_positions import MAX_CHANNELS, ChannelRef, ReadPositions
from adapters.discord.receive import DiscordReceiver
from adapters.shared.connection import Backoff
from adapters.shared.json_readers import JsonObject, identifier
from gateway.background_tasks import stop_task
from gateway.errors import Ambiguous, DeliveryError, Transient
from gateway.ports import AdapterContext

OLDEST_MS: Final = 24 * 3600 * 1000
"""As long as the gateway recognises a repeated event; older messages get no answer."""
MARGIN_MS: Final = 10_000
"""Messages of two channels may overtake each other by so much before they are stored."""
PAGE: Final = 100
"""Messages that Discord returns at once, at most."""
MAX_PAGES: Final = 20
"""Pages read of one channel."""
MAX_REQUESTS: Final = 2_000
"""Pages read in one catch-up."""
AT_ONCE: Final = 4
"""Channels that are read side by side; Discord allows 50 requests a second for everything."""
TRIES: Final = 6
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries; a rate limit that asks for more ends the tries of that channel."""
GONE: Final = 404

_Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread

log = structlog.get_logger(__name__)


class CatchUp:
    """One account's catch-up, which starts again with every new session."""

    def __init__(
        self,
        rest: RestClient,
        context: AdapterContext,
        client: discord.Client,
        positions: ReadPositions,
        receiver: DiscordReceiver,
    ) -> None:
        self._rest = rest
        self._context = context
        self._client = client
        self._positions = positions
        self._receiver = receiver
        self._task: asyncio.Task[None] | None = None
        self._requests = 0

    def begin(self, bot: DiscordBot, described: asyncio.Event, seconds: float) -> None:
        """Hold live events and begin. `described` is set when every server is described, which is
        waited for at most so many `seconds`."""
        earlier = self._task
        self._positions.catching_up = True
        self._receiver.queue.hold_all()
        run = self._run(earlier, bot, described, seconds)
        self._task = asyncio.create_task(run, name="discord-catch-up")

    async def close(self) -> None:
        """Stop. The next session continues where this one ended."""
        task, self._task = self._task, None
        await stop_task(task)

    async def _run(
        self,
        earlier: asyncio.Task[None] | None,
        bot: DiscordBot,
        described: asyncio.Event,
        seconds: float,
    ) -> None:
        await stop_task(earlier)
        try:
            async with asyncio.timeout(seconds):
                await described.wait()
        except TimeoutError:
            log.warning("server_details_missing", platform="discord")
        self._requests = 0
        channels = self._channels()
        self._receiver.queue.hold_only(channel.channel_id for channel, _ in channels)
        slots = asyncio.Semaphore(AT_ONCE)

        async def read(channel: ChannelRef, after: int) -> None:
            async with slots:
                await self._catch_up(channel, after, bot)

        await asyncio.gather(*(read(channel, after) for channel, after in channels))
        self._positions.finish_catch_up()

    def _channels(self) -> list[tuple[ChannelRef, int]]:
        """The channels to read, each with the last message read: known ones, then those with new
        messages."""
        now_ms = round(self._context.clock.now().timestamp() * 1000)
        oldest = max(0, now_ms - OLDEST_MS - DISCORD_EPOCH_MS) << 22
        newest = _newest_messages(self._client.guilds)
        channels = []
        for channel, last in self._positions.channels():
            current = newest.pop(channel.channel_id, None)
            if current is None or current[1] > last:
                channels.append((channel, max(last, oldest)))
        if self._positions.latest:
            since = max(self._positions.latest - (MARGIN_MS << 22), oldest)
            others = sorted(newest.values(), key=lambda entry: entry[1], reverse=True)
            channels += [(channel, since) for channel, last in others if last > since]
        if len(channels) > MAX_CHANNELS:
            self._context.count("lost", "catch_up_places")
            log.warning("catch_up_cut", platform="discord", channels=len(channels))
        return channels[:MAX_CHANNELS]

    async def _catch_up(self, channel: ChannelRef, after: int, bot: DiscordBot) -> None:
        """Read one channel, then continue its live events, also after a failure."""
        try:
            await self._read(channel, after, bot)
        except RequestRefused as error:
            log.info("channel_closed", platform="discord", status=error.status)
            if error.status == GONE:
                self._positions.forget(channel.channel_id)
        except DeliveryError as error:
            self._context.count("lost", "catch_up")
            log.warning("channel_not_caught_up", platform="discord", error=str(error))
        except Exception:  # one channel must not stop the others
            self._context.count("failed", "catch_up")
            log.exception("channel_not_caught_up", platform="discord")
        self._receiver.queue.release(channel.channel_id)
        async with self._receiver.queue.turn(channel.channel_id):
            pass  # the live events that were held are stored

    async def _read(self, channel: ChannelRef, after: int, bot: DiscordBot) -> None:
        for _ in range(MAX_PAGES):
            page = await self._page(channel.channel_id, after)
            for message in page:
                await self._receiver.store_missed(_as_live(message, channel), bot)
            if len(page) < PAGE:
                return
            after = _number(page[-1])
        self._context.count("lost", "catch_up_messages")
        log.warning("catch_up_cut", platform="discord", messages=MAX_PAGES * PAGE)

    async def _page(self, channel_id: str, after: int) -> list[JsonObject]:
        """The next messages after that id, oldest first. Raises a `DeliveryError`."""
        backoff = Backoff(0.5, LONGEST_PAUSE)
        for left in reversed(range(TRIES)):
            if self._requests >= MAX_REQUESTS:
                raise Transient(f"{MAX_REQUESTS} requests were not enough")
            self._requests += 1
            # A request changes its route, so that each try needs a new one.
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=channel_id)
            try:
                page = await self._rest.get_list(route, {"after": after, "limit": PAGE})
                return sorted((message for message in page if _number(message)), key=_number)
            except (Transient, Ambiguous) as error:
                pause = backoff.pause(getattr(error, "retry_after", None))
                if not left or pause > LONGEST_PAUSE:
                    raise
            await self._context.clock.sleep(pause)
        raise AssertionError("unreachable")


def _number(message: JsonObject) -> int:
    message_id = identifier(message, "id")
    return int(message_id) if message_id.isdecimal() else 0


def _newest_messages(guilds: Iterable[discord.Guild]) -> dict[str, tuple[ChannelRef, int]]:
    """Every channel and active thread that the bot may read, with its last message, as described at
    the beginning of the session."""
    newest = {}
    for guild in guilds:
        channels: list[_Readable] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in channels:
            last = channel.last_message_id
            if last and _may_read(channel, guild.me):
                parent = str(channel.parent_id) if isinstance(channel, discord.Thread) else ""
                private = isinstance(channel, discord.Thread) and channel.is_private()
                ref = ChannelRef(str(channel.id), str(guild.id), parent, private)
                newest[ref.channel_id] = (ref, last)
    return newest


def _may_read(channel: _Readable, me: discord.Member | None) -> bool:
    """True also when the permissions are unknown: Discord then refuses the request."""
    try:
        allowed = channel.permissions_for(me) if me is not None else None
    except discord.ClientException:  # a thread whose channel is unknown
        allowed = None
    return allowed is None or (allowed.view_channel and allowed.read_message_history)


def _as_live(message: JsonObject, channel: ChannelRef) -> dict[str, object]:
    """The message as the gateway sends it: with its channel and server."""
    context: dict[str, object] = {}
    if channel.guild_id:
        context["guild_id"] = channel.guild_id
    if channel.parent_id:
        kind = PRIVATE_THREAD if channel.private else THREADS[1]
        context["channel"] = {
            "id": channel.channel_id,
            "parent_id": channel.parent_id,
            "type": kind,
        }
    return {**message, "channel_id": channel.channel_id, **context}
