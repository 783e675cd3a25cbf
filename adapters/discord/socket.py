"""One connected account: from logging in to the last event handed over, in order."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

import aiohttp
import discord
import structlog

from adapters.discord.answers import InteractionResponses
from adapters.discord.api import Api
from adapters.discord.bot import BotIdentity, place_of
from adapters.discord.catch_up import CatchUp
from adapters.discord.commands import register
from adapters.discord.directory import GuildDirectory
from adapters.discord.json_readers import identity, mapping, mappings
from adapters.discord.liveness import LivenessMonitor
from adapters.discord.manifest import DiscordSettings
from adapters.discord.parse import KINDS, parse
from adapters.discord.read_positions import ReadPositions
from adapters.discord.receive import OwnMessage, ReceiveQueue
from adapters.discord.socket_client import AccountClient
from db.errors import StoreUnavailable
from gateway.errors import StartError
from gateway.ports import AdapterContext, EventSink
from gateway.ports.work_guard import WorkItem

log = structlog.get_logger(__name__)

READY_SECONDS: Final = 30.0
SERVERS_SECONDS: Final = 2.0
"""How long to wait for the servers that READY names; one in an outage would never come."""
DEAF_SECONDS: Final = 120.0
"""After so long without a connection the account counts as down and is started afresh."""

BAD_TOKEN, BAD_INTENTS, NEEDS_SHARDING = 4004, (4013, 4014), 4011
PORTAL: Final = "https://discord.com/developers/applications"


class Connection:
    """A client, the queue behind it, and the catch-up at the beginning of each session."""

    def __init__(self, settings: DiscordSettings, context: AdapterContext, sink: EventSink) -> None:
        self._settings = settings
        self._context = context
        self.client = AccountClient(settings, self._arrived, self._lost)
        self.liveness = LivenessMonitor(self.client)
        self.api = Api(self.client.http)
        self.answers = InteractionResponses(self.api)
        self._directory = GuildDirectory(self.client)
        self._bot = BotIdentity(account=context.account, directory=self._directory)
        self._read_positions = ReadPositions(context.state)
        self._receive_queue = ReceiveQueue(context, sink, self.answers, self._read_positions)
        self._catch_up = CatchUp(
            self.api, context, self.client, self._read_positions, self._receive_queue
        )
        self._awaited: set[str] = set()
        self._known: set[str] = set()
        self._ready = asyncio.Event()
        self._complete = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        self._closing = False
        self._deaf: asyncio.TimerHandle | None = None
        self._failure: StartError | None = None
        self.usable = False
        """Whether REST calls can be made: from the login to the end."""

    async def open(self) -> None:
        """Log in, register the commands, connect. Raises `StartError`."""
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.client.login(self._settings.token.get_secret_value())
                self.usable = True
                self._check_application()
                await self._register()
                await self._read_positions.open()
                self._receive_queue.start()
                self._run = asyncio.create_task(self.client.connect())
                await self._wait_ready(self._run)
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            raise start_error(error) from error
        except StoreUnavailable as error:
            raise StartError(f"The store does not say what was read before: {error}") from error

    async def closed(self) -> None:
        """Return once `close` was called. Raises `StartError` when the connection died."""
        if self._run is None:
            return
        await asyncio.wait({self._run})
        if self._failure is not None and not self._closing:
            raise self._failure
        if self._closing or self._run.cancelled():
            return
        error = self._run.exception()
        raise start_error(error or RuntimeError("the connection ended")) from error

    async def close(self) -> None:
        """Close the socket, hand over what already arrived, stop."""
        self._closing, self.usable = True, False
        self._found()
        await self.client.close()
        if self._run is not None:
            await _stop(self._run)
        await self._catch_up.close()
        await self._receive_queue.close()
        await self._read_positions.close()

    def _check_application(self) -> None:
        wanted = self._settings.application_id
        found = str(self.client.application_id or "")
        if wanted and wanted != found:
            raise StartError(
                f"The Discord token belongs to application {found}, not to {wanted}.",
                "Correct platforms.discord.application_id, or take the token of that application.",
                permanent=True,
            )

    async def _register(self) -> None:
        """The bot is of use without its commands; `parley doctor` says why they are missing."""
        commands, guild_id = self._context.commands, self._settings.guild_id
        if not commands:
            return
        try:
            application_id = str(self.client.application_id)
            changed = await register(self.client.http, application_id, guild_id, commands)
        except discord.DiscordException as error:
            self._context.count("commands_not_registered", "discord")
            log.warning("commands_not_registered", platform="discord", error=error)
        else:
            if changed:
                log.info("commands_registered", platform="discord", guild=guild_id or "all")

    async def _wait_ready(self, run: asyncio.Task[None]) -> None:
        """Until Discord greeted us and described the servers, or the connection failed."""
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

    def _lost(self) -> None:
        """The library resumes the session by itself; only its pauses grow beyond a quarter hour."""
        if self._deaf is None and not self._closing:
            loop = asyncio.get_running_loop()
            self._deaf = loop.call_later(DEAF_SECONDS, self._give_up)

    def _found(self) -> None:
        if self._deaf is not None:
            self._deaf.cancel()
            self._deaf = None

    def _give_up(self) -> None:
        self._failure = StartError(f"No connection to Discord for {DEAF_SECONDS:.0f} s.")
        if self._run is not None:
            self._run.cancel()

    def _arrived(self, event: str, data: Mapping[str, object]) -> None:
        """Called by the client for every event, in order."""
        if event in ("READY", "RESUMED"):
            self._found()
        if event == "READY":
            self._greeted(data)
        elif event == "GUILD_CREATE" and not self._is_new_server(identity(data.get("id"))):
            return
        if event not in KINDS:
            if not self.client.keeps(event):
                self._context.count("ignored", event)
            return
        if event == "GUILD_DELETE" and not data.get("unavailable"):
            self._known.discard(identity(data.get("id")))
        payload: dict[str, object] = {"t": event, "s": self.client.ws.sequence, "d": data}
        guard, account = self._context.guard, self._context.account
        delivery = WorkItem("payload", f"discord:{account}:{event}:{identity(data.get('id'))}")
        if guard.exhausted(delivery):
            self._context.count("quarantined", "discord")
            return
        with guard.working(delivery):
            found = parse(payload, self._bot)
        for each in found:
            self._receive_queue.put(each, event)
        if not found and not self._note_own_message(event, data):
            self._context.count("ignored", event)

    def _note_own_message(self, event: str, data: Mapping[str, object]) -> bool:
        """Note where the bot itself wrote; False when it is something else."""
        own = identity(mapping(data.get("author")).get("id")) == self._bot.user_id
        place = place_of(data, self._bot) if own and event == "MESSAGE_CREATE" else None
        if place is not None:
            self._receive_queue.put(OwnMessage(place, identity(data.get("id"))), event)
        return place is not None

    def _greeted(self, data: Mapping[str, object]) -> None:
        user = self.client.user
        self._bot = BotIdentity(
            user_id=str(user.id) if user else "",
            account=self._context.account,
            session=self.client.ws.session_id or "",
            directory=self._directory,
        )
        self._known = {identity(guild.get("id")) for guild in mappings(data.get("guilds"))}
        self._awaited = set(self._known)
        self._complete.clear()
        self._ready.set()
        if not self._awaited:
            self._complete.set()
        self._catch_up.begin(self._bot, self._complete, SERVERS_SECONDS)

    def _is_new_server(self, guild_id: str) -> bool:
        """Discord describes every server at each start; only others have just been joined."""
        self._awaited.discard(guild_id)
        if not self._awaited:
            self._complete.set()
        new = guild_id not in self._known
        self._known.add(guild_id)
        return new


async def _stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def start_error(error: BaseException) -> StartError:
    """What a failed start, or the end of a connection, means for who runs the program."""
    code = error.code if isinstance(error, discord.ConnectionClosed) else None
    if isinstance(error, StartError):
        return error
    if isinstance(error, discord.LoginFailure) or code == BAD_TOKEN:
        return StartError(
            "Discord refused the token.",
            f"Reset it at {PORTAL}, page Bot, and put it into platforms.discord.token.",
            permanent=True,
        )
    if isinstance(error, discord.PrivilegedIntentsRequired) or code in BAD_INTENTS:
        return StartError(
            "Discord does not let this bot read messages, or see members.",
            f"Switch on Message Content Intent at {PORTAL}, page Bot, with members_intent also "
            "Server Members Intent, and start again.",
            permanent=True,
        )
    if code == NEEDS_SHARDING:
        return StartError(
            "The bot is in more servers than one connection may serve.",
            "Parley does not shard; take the bot out of servers until fewer than 2,500 are left.",
            permanent=True,
        )
    if isinstance(error, discord.RateLimited):
        return StartError(f"Discord asks to wait {error.retry_after:.0f} s before connecting.")
    if isinstance(error, discord.HTTPException):
        return StartError(f"Discord answered with status {error.status}.", "Try again later.")
    problem = f"Discord is not reachable ({type(error).__name__})."
    return StartError(problem, "Check the network, and platforms.discord.api_base and gateway_url.")
