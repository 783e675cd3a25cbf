"""Fetches what was written while no session was open; Discord does not send that again.

After every new session (a restart, or a gap that could not be resumed) this goes through the places
where the bot was addressed or spoke, and through the channels of its servers that have news. What
it finds goes the way of a live message, with the same event id, and before the live messages of the
same place. A direct conversation that was never seen before is in no list that Discord gives a bot.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

import discord
import structlog
from discord.http import Route

from adapters.discord.api import Api, RequestRefused
from adapters.discord.bot import PRIVATE_THREAD, THREADS, BotIdentity
from adapters.discord.json_readers import identity
from adapters.discord.read_positions import MAX_PLACES, ChannelRef, ReadPositions
from adapters.discord.receive import ReceiveQueue
from gateway.errors import Ambiguous, DeliveryError, Transient
from gateway.ports import AdapterContext

OLDEST_MS: Final = 24 * 3600 * 1000
"""As long as the gateway recognises a repeated event; what is older is answered no more."""
MARGIN_MS: Final = 10_000
"""Two channels' messages may overtake each other on their way here by this much."""
PAGE: Final = 100
"""The most that Discord returns at once."""
MAX_PAGES: Final = 20
"""Pages read in one place."""
MAX_REQUESTS: Final = 2_000
"""Pages read in one catch-up."""
AT_ONCE: Final = 4
"""Places that are read side by side; Discord allows 50 requests a second for everything."""
TRIES: Final = 6
LONGEST_PAUSE: Final = 60.0
"""Seconds between two tries; a rate limit that asks for more ends the tries of that place."""

GONE: Final = 404
_EPOCH_MS: Final = 1_420_070_400_000

_Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread

log = structlog.get_logger(__name__)


class CatchUp:
    """One account's catch-up; it begins anew with every new session."""

    def __init__(
        self,
        api: Api,
        context: AdapterContext,
        client: discord.Client,
        seen: ReadPositions,
        receive_queue: ReceiveQueue,
    ) -> None:
        self._api = api
        self._context = context
        self._client = client
        self._read_positions = seen
        self._receive_queue = receive_queue
        self._task: asyncio.Task[None] | None = None
        self._requests = 0

    def begin(self, bot: BotIdentity, servers: asyncio.Event, patience: float) -> None:
        """Hold what is live and begin; `servers` is set when they are all described, which is
        waited for `patience` seconds."""
        earlier = self._task
        self._read_positions.behind = True
        self._receive_queue.hold_all()
        run = self._run(earlier, bot, servers, patience)
        self._task = asyncio.create_task(run, name="discord-catch-up")

    async def close(self) -> None:
        """Stop; the next session goes on where this one ended."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(
        self,
        earlier: asyncio.Task[None] | None,
        bot: BotIdentity,
        servers: asyncio.Event,
        patience: float,
    ) -> None:
        if earlier is not None:
            earlier.cancel()
            await asyncio.gather(earlier, return_exceptions=True)
        try:
            async with asyncio.timeout(patience):
                await servers.wait()
        except TimeoutError:
            log.warning("servers_not_described", platform="discord")
        self._requests = 0
        wanted = self._wanted()
        await self._receive_queue.hold_only(where.channel_id for where, _ in wanted)
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(where: ChannelRef, after: int) -> None:
            async with turns:
                await self._one(where, after, bot)

        await asyncio.gather(*(one(where, after) for where, after in wanted))
        self._read_positions.caught_up()

    def _wanted(self) -> list[tuple[ChannelRef, int]]:
        """What to read, from which message on: known places, then channels with news."""
        now_ms = round(self._context.clock.now().timestamp() * 1000)
        oldest = max(0, now_ms - OLDEST_MS - _EPOCH_MS) << 22
        newest = _newest_messages(self._client.guilds)
        wanted = []
        for where, last in self._read_positions.places():
            found = newest.pop(where.channel_id, None)
            if found is None or found[1] > last:
                wanted.append((where, max(last, oldest)))
        if self._read_positions.latest:
            since = max(self._read_positions.latest - (MARGIN_MS << 22), oldest)
            others = sorted(newest.values(), key=lambda entry: entry[1], reverse=True)
            wanted += [(where, since) for where, last in others if last > since]
        if len(wanted) > MAX_PLACES:
            self._context.count("lost", "catch_up_places")
            log.warning("catch_up_cut", platform="discord", places=len(wanted))
        return wanted[:MAX_PLACES]

    async def _one(self, where: ChannelRef, after: int, bot: BotIdentity) -> None:
        """Read one place and let its live events go on, whatever became of it."""
        try:
            await self._read(where, after, bot)
        except RequestRefused as error:
            log.info("place_closed", platform="discord", status=error.status)
            if error.status == GONE:
                self._read_positions.forget(where.channel_id)
        except DeliveryError as error:
            self._context.count("lost", "catch_up")
            log.warning("place_not_caught_up", platform="discord", error=str(error))
        except Exception:  # one place must not keep the others waiting
            self._context.count("failed", "catch_up")
            log.exception("place_not_caught_up", platform="discord")
        await self._receive_queue.release(where.channel_id)

    async def _read(self, where: ChannelRef, after: int, bot: BotIdentity) -> None:
        for _ in range(MAX_PAGES):
            page = await self._page(where.channel_id, after)
            for message in page:
                await self._receive_queue.store_missed(_as_live(message, where), bot)
            if len(page) < PAGE:
                return
            after = int(identity(page[-1].get("id")))
        self._context.count("lost", "catch_up_messages")
        log.warning("catch_up_cut", platform="discord", messages=MAX_PAGES * PAGE)

    async def _page(self, channel_id: str, after: int) -> list[Mapping[str, object]]:
        """The next messages after that id, oldest first. Raises a `DeliveryError`."""
        pause = 0.5
        for left in reversed(range(TRIES)):
            if self._requests >= MAX_REQUESTS:
                raise Transient(f"{MAX_REQUESTS} requests were not enough")
            self._requests += 1
            route = Route("GET", "/channels/{channel_id}/messages", channel_id=channel_id)
            try:
                page = await self._api.listed(route, {"after": after, "limit": PAGE})
                return sorted(
                    (message for message in page if identity(message.get("id")).isdecimal()),
                    key=lambda message: int(identity(message.get("id"))),
                )
            except (Transient, Ambiguous) as error:
                asked = getattr(error, "retry_after", None)
                pause = pause if asked is None else asked
                if not left or pause > LONGEST_PAUSE:
                    raise
            await self._context.clock.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        raise AssertionError("unreachable")


def _newest_messages(guilds: Iterable[discord.Guild]) -> dict[str, tuple[ChannelRef, int]]:
    """Every channel and active thread that the bot may read, with its last message, as the servers
    were described at the start of the session."""
    found = {}
    for guild in guilds:
        channels: list[_Readable] = [*guild.text_channels, *guild.voice_channels, *guild.threads]
        for channel in channels:
            last = channel.last_message_id
            if last and _may_read(channel, guild.me):
                parent = str(channel.parent_id) if isinstance(channel, discord.Thread) else ""
                private = isinstance(channel, discord.Thread) and channel.is_private()
                where = ChannelRef(str(channel.id), str(guild.id), parent, private)
                found[where.channel_id] = (where, last)
    return found


def _may_read(channel: _Readable, me: discord.Member | None) -> bool:
    """Also True when that cannot be told: Discord then says no itself."""
    try:
        allowed = channel.permissions_for(me) if me is not None else None
    except discord.ClientException:  # a thread whose channel is not known
        allowed = None
    return allowed is None or (allowed.view_channel and allowed.read_message_history)


def _as_live(message: Mapping[str, object], where: ChannelRef) -> dict[str, object]:
    """The message as the gateway would have sent it: with the place around it."""
    around: dict[str, object] = {}
    if where.guild_id:
        around["guild_id"] = where.guild_id
    if where.parent_id:
        kind = PRIVATE_THREAD if where.private else THREADS[1]
        around["channel"] = {"id": where.channel_id, "parent_id": where.parent_id, "type": kind}
    return {**message, "channel_id": where.channel_id, **around}
