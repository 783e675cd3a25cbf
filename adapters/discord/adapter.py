"""The Discord adapter: one account, as the gateway sees it."""

from discord.http import Route

from adapters.discord import doctor, files, live, members
from adapters.discord.answers import handle_of
from adapters.discord.api import Api
from adapters.discord.json_readers import identity, moment
from adapters.discord.manifest import MANIFEST, DiscordSettings, live_style
from adapters.discord.send import (
    NO_BUTTONS,
    NOBODY,
    channel_body,
    destination,
    form_of,
    message_route,
    messages_route,
    reaction_route,
    text_of,
)
from adapters.discord.socket import Connection
from gateway.errors import Ambiguous, StartError, Transient
from gateway.message import Attachment, Outbound, Part, Place, Receipt
from gateway.people import Audience
from gateway.ports import (
    AdapterContext,
    Capabilities,
    Check,
    EventSink,
    Liveness,
    LiveStyle,
    LiveView,
)


class DiscordAdapter:
    """One bot account on Discord."""

    def __init__(self, settings: DiscordSettings, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._connection: Connection | None = None

    @property
    def platform(self) -> str:
        """Always "discord"."""
        return MANIFEST.platform

    @property
    def account(self) -> str:
        """The name of this account in the configuration."""
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        """What Discord can do."""
        return MANIFEST.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Log in and connect; events go to `sink` in the order in which Discord sends them.

        Raises `StartError`.
        """
        await self.disconnect()
        if not self._settings.configured():
            raise StartError("No Discord token.", "Set platforms.discord.token.", permanent=True)
        connection = Connection(self._settings, self._context, sink)
        self._connection = connection
        try:
            await connection.open()
        except BaseException:
            await self.disconnect()
            raise

    def alive(self) -> Liveness:
        """Whether Discord answers our heartbeats."""
        if self._connection is None:
            return Liveness(False, "not connected")
        return self._connection.liveness.check()

    async def reconnect(self) -> None:
        """Cut a deaf connection; its session is resumed, and nothing is missed."""
        if self._connection is not None:
            await self._connection.liveness.cut()

    async def wait_closed(self) -> None:
        """Return after `disconnect`. Raises `StartError` when the connection died for good."""
        if self._connection is not None:
            await self._connection.closed()

    async def disconnect(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`."""
        connection = self._connected()
        handle = handle_of(outbound)
        if handle is not None and outbound.is_empty:
            await connection.answers.dismiss(handle)
            return Receipt("")
        if handle is not None and outbound.private_to:
            return _receipt(await connection.answers.whisper(handle, outbound))
        if handle is not None:
            filled = await connection.answers.fill(handle, outbound)
            if filled is not None:
                return _receipt(filled)
        return await self._post(connection.api, outbound)

    async def edit(self, place: Place, message_id: str, part: Part) -> None:
        """Replace the text of a message of ours. Raises a `DeliveryError`."""
        body = {"content": text_of(part), "allowed_mentions": NOBODY}
        await self._connected().api.call(message_route("PATCH", place, message_id), json=body)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Take the buttons away from under a message of ours. Raises a `DeliveryError`."""
        connection = self._connected()
        handle = handle_of(outbound)
        if handle is not None and await connection.answers.clear(handle, outbound.clears):
            return
        route = message_route("PATCH", outbound.place, outbound.clears)
        await connection.api.call(route, json=NO_BUTTONS)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours. Raises a `DeliveryError`."""
        await self._connected().api.call(message_route("DELETE", place, message_id))

    async def typing(self, place: Place, message_id: str) -> None:
        """Show for ten seconds that an answer is being written. Raises a `DeliveryError`."""
        route = Route("POST", "/channels/{channel_id}/typing", channel_id=destination(place))
        await self._connected().api.call(route)

    def live_style(self, place: Place) -> LiveStyle:
        """A message that is edited, everywhere."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show what is written so far. Raises a `DeliveryError`."""
        connection = self._connected()
        if view.handle:
            await live.put(connection.api, connection.answers, live.changed(view))
            return view.handle
        first = live.first_of(view)
        handle = handle_of(first)
        if handle is not None and await connection.answers.fill(handle, first) is not None:
            return live.ORIGINAL
        return (await self._post(connection.api, first)).message_id

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Edit the answer into the message that grew. Raises a `DeliveryError`."""
        connection = self._connected()
        return Receipt(await live.put(connection.api, connection.answers, outbound))

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction (a Unicode emoji). Raises a `DeliveryError`."""
        await self._connected().api.call(reaction_route("PUT", place, message_id, emoji))

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back. Raises a `DeliveryError`."""
        await self._connected().api.call(reaction_route("DELETE", place, message_id, emoji))

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment. Raises `BadInput` when it is larger than `limit`, a
        `DeliveryError` when Discord does not give it."""
        return await files.fetch(attachment, limit, self._settings.api_base)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is in a server. Raises a `DeliveryError`."""
        return await members.is_member(self._connected().api, space, person)

    async def diagnose(self) -> list[Check]:
        """Ask Discord whether token, application, intent, servers and commands are right."""
        return await doctor.diagnose(self._settings, self._context.commands)

    async def _post(self, api: Api, outbound: Outbound) -> Receipt:
        body = channel_body(outbound)
        channel_id = destination(outbound.place)
        if outbound.private_to and outbound.place.audience is not Audience.DIRECT:
            channel_id = await _direct_channel(api, outbound.private_to)
            body.pop("message_reference", None)
        form = form_of(body, outbound.file)
        return _receipt(await api.call(messages_route(channel_id), json=body, form=form))

    def _connected(self) -> Connection:
        if self._connection is None or not self._connection.usable:
            raise Transient("not connected to Discord")
        return self._connection


async def _direct_channel(api: Api, user_id: str) -> str:
    """Discord shows a message to one person only in answer to a command or a button; anything
    else that is meant for one person goes to that person directly."""
    opened = await api.call(Route("POST", "/users/@me/channels"), json={"recipient_id": user_id})
    return identity(opened.get("id"))


def _receipt(message: object) -> Receipt:
    found = message if isinstance(message, dict) else {}
    message_id = identity(found.get("id"))
    if not message_id:
        raise Ambiguous("Discord's answer named no message")
    return Receipt(message_id, moment(found.get("timestamp")))
