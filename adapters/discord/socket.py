"""The connection to Discord's gateway, from the login to the last event that is received."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import aiohttp
import discord
import structlog

from adapters.discord.catch_up import CatchUp
from adapters.discord.client import AccountHTTP, RestClient
from adapters.discord.commands import register
from adapters.discord.errors import WRONG_APPLICATION, start_error
from adapters.discord.event_context import ChannelFacts, DiscordBot, GuildDirectory, place_of
from adapters.discord.interactions import InteractionResponses
from adapters.discord.manifest import DiscordSettings
from adapters.discord.parse import KINDS, parse
from adapters.discord.read_positions import ReadPositions
from adapters.discord.receive import BotMessage, DiscordReceiver
from adapters.shared.connection import CONNECTION_DEADLINE, LivenessMonitor
from adapters.shared.json_readers import JsonObject, identifier, items, mapping
from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.errors import StartError
from gateway.people import Audience
from gateway.ports import AdapterContext, EventSink, Liveness
from gateway.text import Span, text, verbatim

log = structlog.get_logger(__name__)

_NO_HEARTBEAT: Final = text("no heartbeat was answered for {time}")
READY_SECONDS: Final = 30.0
SERVERS_SECONDS: Final = 2.0
"""The time limit for the servers that READY names; a server in an outage never comes."""
ACK_SECONDS: Final = 15.0
"""The time limit for Discord to acknowledge a heartbeat. The interval between two heartbeats (about
41 s) is added."""
RESUMABLE_CLOSE: Final = 4000
"""A close code other than 1000 and 1001 keeps the session, so that it can be resumed."""
UNUSED: Final = ("MESSAGE_", "INTERACTION_CREATE")
"""Events of which the library keeps nothing that is needed here. Its objects are not built."""

OnEvent: TypeAlias = Callable[[str, Mapping[str, object]], None]
"""(event name, data), called in order; must not wait."""


class GatewayConnection:
    """A client, its receiver, and the catch-up at the beginning of each session.

    `on_end` is called when the connection is lost for good.
    """

    def __init__(
        self,
        settings: DiscordSettings,
        context: AdapterContext,
        sink: EventSink,
        on_end: Callable[[StartError], None],
    ) -> None:
        self._settings = settings
        self._context = context
        self._on_end = on_end
        self.client = AccountClient(settings, self._on_event, self._on_disconnect)
        self.rest = RestClient(self.client.http)
        self.responses = InteractionResponses(self.rest)
        self._liveness = LivenessMonitor(_NO_HEARTBEAT, time.perf_counter)
        self._directory = CacheDirectory(self.client)
        self._bot = DiscordBot(account=context.account, directory=self._directory)
        self._positions = ReadPositions(context.state)
        self._receiver = DiscordReceiver(context, sink, self.responses, self._positions)
        self._catch_up = CatchUp(self.rest, context, self.client, self._positions, self._receiver)
        self._awaited_servers: set[str] = set()
        self._known_servers: set[str] = set()
        self._ready = asyncio.Event()
        self._complete = asyncio.Event()
        """Set when all servers that READY names are described."""
        self._run: asyncio.Task[None] | None = None
        self._closing = False
        self._deadline: asyncio.TimerHandle | None = None
        self.usable = False
        """True while REST calls can be made: from the login to the end."""
        self.command_ids: Mapping[str, str] = {}
        """The ids of the registered commands by their names."""

    async def open(self) -> None:
        """Log in, register the commands, connect. Raises `StartError`."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.client.login(self._settings.token.get_secret_value())
                self.usable = True
                self._check_application()
                await self._register_commands()
                await self._positions.open()
                self._run = asyncio.create_task(self.client.connect())
                await self._wait_ready(self._run)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise start_error(error) from error
        except StoreUnavailable as error:
            reason = verbatim(str(error))
            said = text("The read positions cannot be loaded: {reason}", reason=reason)
            raise StartError(said) from error
        self._run.add_done_callback(self._on_run_end)

    async def close(self) -> None:
        """Close the socket, store the events that already arrived, stop."""
        self._closing, self.usable = True, False
        self._on_connect()
        await self.client.close()
        await stop_task(self._run)
        await self._catch_up.close()
        await self._receiver.close()
        await self._positions.close()

    @property
    def bot(self) -> DiscordBot:
        """The connected bot."""
        return self._bot

    def alive(self) -> Liveness:
        """The verdict by the last acknowledged heartbeat."""
        socket: discord.gateway.DiscordWebSocket | None = self.client.ws
        # The library shows the latency of the last answer, not the time since then.
        heartbeat = socket._keep_alive if socket is not None and socket.open else None  # noqa: SLF001 - discord.py offers no public attribute
        if heartbeat is None:
            return self._liveness.check(0.0, connected=False)
        self._liveness.answered(heartbeat._last_ack)  # noqa: SLF001 - discord.py offers no public attribute
        return self._liveness.check((heartbeat.interval or 0.0) + ACK_SECONDS)

    async def close_socket(self) -> None:
        """Close the socket; the library resumes the session and receives what it missed."""
        socket: discord.gateway.DiscordWebSocket | None = self.client.ws
        if socket is not None and socket.open:
            with contextlib.suppress(aiohttp.ClientError, OSError):
                await socket.close(RESUMABLE_CLOSE)

    def _check_application(self) -> None:
        expected, actual = self._settings.application_id, str(self.client.application_id or "")
        if expected not in ("", actual):
            raise StartError(
                text(
                    "The Discord token belongs to the application {owner}, not to {other}.",
                    owner=verbatim(actual),
                    other=verbatim(expected),
                ),
                WRONG_APPLICATION,
                permanent=True,
            )

    async def _register_commands(self) -> None:
        """A failure is only logged: the bot works without commands, and `parley doctor` shows why
        they are missing."""
        guild_id = self._settings.guild_id
        if not self._context.commands:
            return
        try:
            application_id = str(self.client.application_id)
            done = await register(self.client.http, application_id, guild_id, self._context)
        except (discord.DiscordException, StoreUnavailable) as error:
            self._context.count("commands_not_registered", "discord")
            log.warning("commands_not_registered", platform="discord", error=error)
        else:
            self.command_ids = done.ids
            if done.changed:
                log.info("commands_registered", platform="discord", guild=guild_id or "all")

    async def _wait_ready(self, run: asyncio.Task[None]) -> None:
        """Wait for READY and the servers' descriptions, or for the end of the connection."""
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({ready, run}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if run.done():
            raise run.exception() or discord.ClientException("the connection ended")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SERVERS_SECONDS):
                await self._complete.wait()

    def _on_run_end(self, run: asyncio.Task[None]) -> None:
        if not self._closing and not run.cancelled():
            self._on_end(start_error(run.exception() or RuntimeError("the connection ended")))

    def _on_disconnect(self) -> None:
        """The library resumes by itself; the deadline bounds its pauses, which grow to minutes."""
        if self._deadline is None and not self._closing:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(CONNECTION_DEADLINE, self._give_up)

    def _on_connect(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        wait = Span(CONNECTION_DEADLINE)
        self._on_end(StartError(text("No connection to Discord for {time}.", time=wait)))
        if self._run is not None:
            self._run.cancel()

    def _on_event(self, event: str, data: Mapping[str, object]) -> None:
        """Called by the client for every event, in order."""
        if event in ("READY", "RESUMED"):
            self._on_connect()
        if event == "READY":
            self._on_ready(data)
        elif event == "GUILD_CREATE" and not self._is_new_server(identifier(data, "id")):
            return
        if event not in KINDS:
            if not self.client.keeps(event):
                self._context.count("ignored", event)
            return
        if event == "GUILD_DELETE" and not data.get("unavailable"):
            self._known_servers.discard(identifier(data, "id"))
        payload: dict[str, object] = {"t": event, "s": self.client.ws.sequence, "d": data}
        delivery_id = f"{event}:{identifier(data, 'id')}"
        events = self._receiver.queue.parse(delivery_id, lambda: parse(payload, self._bot))
        for parsed in events or ():
            self._receiver.put(parsed, event)
        if events == [] and not self._note_own_message(event, data):
            self._context.count("ignored", event)

    def _note_own_message(self, event: str, data: JsonObject) -> bool:
        """Receive a message of the bot itself. False for any other event."""
        own = identifier(mapping(data, "author"), "id") == self._bot.user_id
        place = place_of(data, self._bot) if own and event == "MESSAGE_CREATE" else None
        if place is not None:
            self._receiver.put(BotMessage(place, identifier(data, "id")), event)
        return place is not None

    def _on_ready(self, data: JsonObject) -> None:
        user = self.client.user
        self._bot = DiscordBot(
            user_id=str(user.id) if user else "",
            account=self._context.account,
            session=self.client.ws.session_id or "",
            directory=self._directory,
        )
        self._known_servers = {identifier(guild, "id") for guild in items(data, "guilds", 10_000)}
        self._awaited_servers = set(self._known_servers)
        self._complete.clear()
        self._ready.set()
        if not self._awaited_servers:
            self._complete.set()
        self._catch_up.begin(self._bot, self._complete, SERVERS_SECONDS)

    def _is_new_server(self, guild_id: str) -> bool:
        """Discord describes every server at each start; only other servers were just joined."""
        self._awaited_servers.discard(guild_id)
        if not self._awaited_servers:
            self._complete.set()
        new = guild_id not in self._known_servers
        self._known_servers.add(guild_id)
        return new


class CacheDirectory(GuildDirectory):
    """discord.py's cache of servers as a `GuildDirectory`."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        """The channel or thread, None when the bot does not see it."""
        guild = self._guild(guild_id)
        if guild is None or not channel_id.isdecimal():
            return None
        channel = guild.get_channel_or_thread(int(channel_id))
        if channel is None:
            return None
        if not isinstance(channel, discord.Thread):
            return ChannelFacts(channel.name, _audience_of(guild, channel))
        parent, private = guild.get_channel(channel.parent_id), channel.is_private()
        audience = Audience.PUBLIC_ROOM if parent is None else _audience_of(guild, parent)
        audience = Audience.PRIVATE_ROOM if private else audience
        return ChannelFacts(channel.name, audience, str(channel.parent_id), closed=private)

    def role_name(self, guild_id: str, role_id: str) -> str:
        """The role's name, or ""."""
        guild = self._guild(guild_id)
        role = guild.get_role(int(role_id)) if guild and role_id.isdecimal() else None
        return role.name if role else ""

    def person_name(self, guild_id: str, user_id: str) -> str:
        """The name of a person in a server, "" where discord.py has not seen them."""
        if not user_id.isdecimal():
            return ""
        guild = self._guild(guild_id)
        known = guild.get_member(int(user_id)) if guild else None
        person = known or self._client.get_user(int(user_id))
        return person.display_name if person else ""

    def own_role(self, guild_id: str) -> str:
        """The id of the role that Discord made for this bot, or ""."""
        guild = self._guild(guild_id)
        role = guild.self_role if guild else None
        return str(role.id) if role else ""

    def _guild(self, guild_id: str) -> discord.Guild | None:
        return self._client.get_guild(int(guild_id)) if guild_id.isdecimal() else None


def _audience_of(guild: discord.Guild, channel: discord.abc.GuildChannel) -> Audience:
    """Public when @everyone may see the channel, or when that is unknown."""
    everyone = guild.get_role(guild.id)
    hidden = everyone is not None and not channel.permissions_for(everyone).view_channel
    return Audience.PRIVATE_ROOM if hidden else Audience.PUBLIC_ROOM


def intents(*, members: bool) -> discord.Intents:
    """The events that the bot subscribes to: servers, messages with their text, reactions, and
    with `members` the joining and leaving of members."""
    chosen = discord.Intents.none()
    chosen.guilds = True
    chosen.guild_messages = chosen.dm_messages = True
    chosen.guild_reactions = chosen.dm_reactions = True
    chosen.message_content = True
    chosen.members = members
    return chosen


class AccountClient(discord.Client):
    """discord.py's client for one account, with caches for servers, channels and roles only.

    Every event reaches `on_event` as raw JSON in the order of the socket. The library's typed
    events have no order: it starts a task for each of them. `on_lost` is called when the socket is
    lost, and for every failed attempt to connect.
    """

    def __init__(
        self, settings: DiscordSettings, on_event: OnEvent, on_lost: Callable[[], None]
    ) -> None:
        self._account_http = AccountHTTP(settings.api_base, settings.gateway_url)
        self._on_event = on_event
        self._on_lost = on_lost
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(members=settings.members_intent),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            guild_ready_timeout=0.0,
        )

    async def on_disconnect(self) -> None:
        """Called by the library."""
        self._on_lost()

    def keeps(self, event: str) -> bool:
        """True when the library itself uses the event, for its connection or caches."""
        return event in self._connection.parsers and not event.startswith(UNUSED)

    def _get_state(self, **options: Any) -> Any:
        self.http = self._account_http
        state = super()._get_state(**options)
        state.parsers = _Parsers(state.parsers, self._on_event)
        return state


class _Parsers(dict[str, Callable[[Any], None]]):
    """The library's table of event parsers, each followed by `on_event`."""

    def __init__(self, parsers: Mapping[str, Callable[[Any], None]], on_event: OnEvent) -> None:
        super().__init__()
        self._on_event = on_event
        for event, parser in parsers.items():
            needed = not event.startswith(UNUSED)
            self[event] = self._reader(event, parser if needed else None)

    def __missing__(self, event: str) -> Callable[[Any], None]:
        return self._reader(event, None)

    def _reader(self, event: str, parser: Callable[[Any], None] | None) -> Callable[[Any], None]:
        def read(data: Any) -> None:
            try:
                if parser is not None:
                    parser(data)
                self._on_event(event, data)
            except Exception:  # an exception here would end the connection for good
                log.exception("event_not_read", platform="discord", event_kind=event)

        return read
