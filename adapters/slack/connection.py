"""One Slack workspace, connected."""

from typing import Protocol

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import doctor, members
from adapters.slack.client import open_client, open_session
from adapters.slack.directory import Directory
from adapters.slack.errors import start_error
from adapters.slack.event_context import BotIdentity
from adapters.slack.files import Files
from adapters.slack.json_readers import as_mapping, identifier
from adapters.slack.live import WRITING, Live
from adapters.slack.manifest import MANIFEST, SlackSettings, live_style, streams
from adapters.slack.receive import Receiver
from adapters.slack.send import Sender
from adapters.slack.socket import SocketConnection
from adapters.slack.webhook import HttpConnection
from gateway.errors import StartError, Transient
from gateway.message import Attachment, Outbound, Part, Place, Receipt
from gateway.ports import (
    AdapterContext,
    Capabilities,
    Check,
    EventSink,
    Liveness,
    LiveStyle,
    LiveView,
)


class _Connection(Protocol):
    """How events arrive: a socket, or a path of the public listener."""

    async def open(self) -> None: ...

    async def wait_closed(self) -> None: ...

    async def close(self) -> None: ...


class SlackAdapter:
    """Implements `gateway.ports.PlatformAdapter` with edits, deletions, reactions and files."""

    def __init__(self, settings: SlackSettings, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._session: aiohttp.ClientSession | None = None
        self._sender: Sender | None = None
        self._live: Live | None = None
        self._files: Files | None = None
        self._receiver: Receiver | None = None
        self._connection: _Connection | None = None
        self._client: AsyncWebClient | None = None
        self._team_id = ""

    @property
    def platform(self) -> str:
        return MANIFEST.platform

    @property
    def account(self) -> str:
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        return MANIFEST.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Sign in, then listen. Raises `StartError`."""
        await self.disconnect()
        try:
            await self._connect(sink)
        except BaseException:
            await self.disconnect()
            raise

    async def _connect(self, sink: EventSink) -> None:
        settings = self._settings
        if not settings.configured():
            absent = ", ".join(settings.missing()) or "bot_token"
            raise StartError(
                f"platforms.slack: {absent} is not set.",
                "See docs/platforms/slack.md, or run `parley init`.",
                permanent=True,
            )
        session = self._session = open_session()
        client = open_client(settings.bot_token.get_secret_value(), settings.base_url, session)
        me = await self._sign_in(client)
        self._files = Files(client, session, settings.base_url)
        self._sender = Sender(client, session, settings.base_url, self._files)
        self._live = Live(client, self._sender)
        self._client, self._team_id = client, me.team_id
        directory = Directory(client, self._context.clock.monotonic, me.team_id)
        self._receiver = Receiver(sink, me, directory, self._context.count, self._context.guard)
        self._connection = self._make_connection(client, self._receiver)
        await self._connection.open()

    async def _sign_in(self, client: AsyncWebClient) -> BotIdentity:
        try:
            answer = await client.auth_test()
        except (SlackApiError, aiohttp.ClientError, OSError) as error:
            raise start_error(error, "platforms.slack.bot_token") from error
        about = as_mapping(answer.data)
        return BotIdentity(
            account=self.account,
            user_id=identifier(about, "user_id"),
            bot_id=identifier(about, "bot_id"),
            team_id=identifier(about, "team_id"),
            agent_view=self._settings.agent_view,
        )

    def _make_connection(self, client: AsyncWebClient, intake: Receiver) -> _Connection:
        settings, context = self._settings, self._context
        if settings.mode == "socket":
            return SocketConnection(client, settings.app_token.get_secret_value(), intake.take)
        path = "/webhook/slack" if self.account == "main" else f"/webhook/slack/{self.account}"
        secret = settings.signing_secret.get_secret_value()
        return HttpConnection(context.webhooks, path, secret, context.clock, intake.take)

    def alive(self) -> Liveness:
        """Whether Slack answers our pings; requests to our own listener need no such proof."""
        connection = self._connection
        if connection is None:
            return Liveness(False, "not connected")
        return (
            connection.liveness.check()
            if isinstance(connection, SocketConnection)
            else Liveness(True)
        )

    async def wait_closed(self) -> None:
        """Return after `disconnect`; raise `StartError` when the connection died for good."""
        if self._connection is not None:
            await self._connection.wait_closed()

    async def disconnect(self) -> None:
        """Let what arrived be stored and acknowledged, then close everything."""
        intake, self._receiver = self._receiver, None
        if intake is not None:
            await intake.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
        self._sender = self._files = self._live = self._client = None
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file. Raises a `DeliveryError`."""
        return await self._ready().send(outbound)

    async def edit(self, place: Place, message_id: str, part: Part) -> None:
        """Replace the text of a message of ours. Raises a `DeliveryError`."""
        await self._ready().edit(place, message_id, part)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Take the buttons away from under a message of ours. Raises a `DeliveryError`."""
        await self._ready().clear_buttons(outbound)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours. Raises a `DeliveryError`."""
        await self._ready().delete(place, message_id)

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "is writing" in a thread of the agent view; Slack has no such sign elsewhere. Raises
        a `DeliveryError`."""
        live = self._ready_live()
        if self._settings.agent_view and streams(place):
            await live.status(place, WRITING)

    def live_style(self, place: Place) -> LiveStyle:
        """A stream in the threads of direct messages, elsewhere a message that is updated."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show what is written so far. Raises a `DeliveryError`."""
        return await self._ready_live().show(view)

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Turn what grew into the answer. Raises a `DeliveryError`."""
        return await self._ready_live().end(outbound)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction. Raises a `DeliveryError`."""
        await self._ready().react(place, message_id, emoji)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back. Raises a `DeliveryError`."""
        await self._ready().unreact(place, message_id, emoji)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment, at most `limit`."""
        if self._files is None:
            raise Transient("Slack is not connected")
        return await self._files.fetch(attachment, limit)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is a full member of the workspace. Raises a `DeliveryError`."""
        if self._client is None:
            raise Transient("Slack is not connected")
        return await members.is_member(self._client, self._team_id, space, person)

    async def diagnose(self) -> list[Check]:
        """Credentials and scopes, asked of Slack. Never raises."""
        return await doctor.diagnose(self._settings)

    def _ready_live(self) -> Live:
        if self._live is None:
            raise Transient("Slack is not connected")
        return self._live

    def _ready(self) -> Sender:
        if self._sender is None:
            raise Transient("Slack is not connected")
        return self._sender
