"""One Slack workspace, connected by Socket Mode or by HTTP events."""

from typing import Final

from slack_sdk.errors import SlackApiError

from adapters.shared.connection import NOT_CONNECTED, AccountAdapter
from adapters.shared.json_readers import as_mapping, identifier
from adapters.shared.json_readers import text as text_at
from adapters.slack import doctor, files, portraits
from adapters.slack.client import SlackClient, open_client
from adapters.slack.directory import SlackDirectory, is_member, room_name
from adapters.slack.errors import UNREACHABLE, start_error
from adapters.slack.event_context import SlackBot
from adapters.slack.manifest import MANIFEST, SlackSettings, live_style, streams
from adapters.slack.receive import SlackReceiver
from adapters.slack.send import Sender
from adapters.slack.socket import SocketConnection
from adapters.slack.thread import SlackThreads
from adapters.slack.webhook import WebhookConnection
from gateway.errors import Transient
from gateway.message import Attachment, Place
from gateway.ports import Check, EventSink, Liveness, LiveStyle, SpaceDescription, ThreadMessages
from gateway.text import text

WRITING: Final = text("is writing…")
"""Slack puts the app's name before it, and removes it with the answer or after two minutes."""


class SlackAdapter(AccountAdapter[SlackSettings], Sender):
    """One app in one Slack workspace."""

    manifest = MANIFEST
    _client: SlackClient | None = None
    _receiver: SlackReceiver | None = None
    _connection: SocketConnection | WebhookConnection | None = None
    _team_id = ""
    _team_name = ""
    _team_url = ""
    _threads: SlackThreads | None = None
    _directory: SlackDirectory | None = None

    async def _open(self, sink: EventSink) -> None:
        settings = self._settings
        self._client = client = open_client(
            settings.bot_token.get_secret_value(), settings.base_url
        )
        me = await self._sign_in(client)
        self._team_id = me.team_id
        directory = SlackDirectory(client.web, self._context.clock.monotonic, me.team_id)
        self._directory = directory
        self._threads = SlackThreads(client, directory, me, self._context.assistant_name)
        self._receiver = receiver = SlackReceiver(me, self._context, sink, directory)
        if settings.mode == "socket":
            token = settings.app_token.get_secret_value()
            self._connection = SocketConnection(client.web, token, receiver.take, self._end)
        else:
            secret = settings.signing_secret.get_secret_value()
            self._connection = WebhookConnection(
                self._context, self.webhook_path, secret, receiver.take
            )
        await self._connection.open()

    async def _sign_in(self, client: SlackClient) -> SlackBot:
        try:
            answer = await client.web.auth_test()
        except (SlackApiError, *UNREACHABLE) as error:
            raise start_error(error, "platforms.slack.bot_token") from error
        about = as_mapping(answer.data)
        self._team_name = text_at(about, "team")
        self._team_url = text_at(about, "url", 200)
        return SlackBot(
            account=self.account,
            user_id=identifier(about, "user_id"),
            bot_id=identifier(about, "bot_id"),
            team_id=identifier(about, "team_id"),
            agent_view=self._settings.agent_view,
        )

    def alive(self) -> Liveness:
        """Socket Mode: the time of the last answered ping. HTTP events need no such proof."""
        if self._connection is None:
            return Liveness(False, NOT_CONNECTED)
        return self._connection.alive()

    async def _close(self) -> None:
        """Store and acknowledge the deliveries that arrived, then close everything."""
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            await receiver.close()
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def message_link(self, place: Place, message_id: str) -> str:
        """The address of a message, for members of the bot's own workspace."""
        if not self._team_url.startswith("https://"):
            return ""
        address = f"{self._team_url}archives/{place.channel_id}/p{message_id.replace('.', '')}"
        if not place.thread_id or place.thread_id == message_id:
            return address
        return f"{address}?thread_ts={place.thread_id}&cid={place.channel_id}"

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "is writing" in a thread of the agent view; Slack has no such sign elsewhere. Raises
        a `DeliveryError`."""
        self._connected()
        if self._directory is not None and self._settings.agent_view and streams(place):
            reader = await self._directory.reader_of(place.channel_id)
            language = await self._context.language_of(place, reader, "")
            await self.show_status(place, language.shown(WRITING))

    def live_style(self, place: Place) -> LiveStyle:
        """A stream in the threads of direct messages, elsewhere a message that is updated."""
        return live_style(place)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment, at most `limit`. Raises `BadInput` and `DeliveryError`."""
        return await files.fetch(self._connected(), attachment, limit)

    async def portrait(self, person: str, limit: int) -> bytes:
        """The picture of a person, empty for an unknown one. Raises `BadInput` and
        `DeliveryError`."""
        return await portraits.fetch(self._connected(), person, limit)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is a full member of the workspace. Raises a `DeliveryError`."""
        return await is_member(self._connected().web, self._team_id, space, person)

    async def describe_space(self, space: str) -> SpaceDescription:
        """The name of the bot's own workspace; a further scope would be needed for more. Raises a
        `DeliveryError`."""
        self._connected()
        return SpaceDescription(self._team_name if space == self._team_id else "")

    async def room_name(self, channel: str) -> str:
        """The name of a channel. Raises a `DeliveryError`."""
        return await room_name(self._connected().web, channel)

    async def read_thread(
        self, place: Place, person: str, before: str, most: int
    ) -> ThreadMessages:
        """The messages of a thread before a message. Everybody who writes in a channel reads its
        threads, and Slack returns nothing that one person alone sees. Raises a `DeliveryError`."""
        self._connected()
        if self._threads is None:
            raise Transient("Slack is not connected")
        return await self._threads.read(place, before, most)

    async def diagnose(self) -> list[Check]:
        """The checks of `parley doctor`. Never raises."""
        return await doctor.diagnose(self._settings)

    def _connected(self) -> SlackClient:
        if self._client is None:
            raise Transient("Slack is not connected")
        return self._client
