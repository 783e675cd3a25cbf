"""One bot account on Discord, connected."""

from typing import Final

import structlog
from discord.http import Route

from adapters.discord import doctor
from adapters.discord.client import RestClient, fetch_file, portrait_url
from adapters.discord.commands import with_mentions
from adapters.discord.errors import RequestRefused
from adapters.discord.interactions import ORIGINAL, handle_of
from adapters.discord.manifest import MANIFEST, DiscordSettings, live_style
from adapters.discord.message_text import GUEST, name_of
from adapters.discord.messages import expired, renewed
from adapters.discord.render import MAX_MESSAGE
from adapters.discord.send import (
    NO_BUTTONS,
    as_voice_message,
    channel_body,
    destination,
    edit_body,
    form_of,
    message_route,
    messages_route,
    reaction_route,
    text_of,
)
from adapters.discord.socket import GatewayConnection
from adapters.discord.thread import DiscordThreads
from adapters.shared.connection import NOT_CONNECTED, AccountAdapter
from adapters.shared.json_readers import as_mapping, identifier, integer, iso_time, mapping, text
from gateway.errors import Ambiguous, Permanent, Transient
from gateway.immutable import replace
from gateway.message import Attachment, Outbound, Place, Receipt
from gateway.people import Audience
from gateway.ports import (
    Check,
    EventSink,
    Liveness,
    LiveStyle,
    LiveView,
    SpaceDescription,
    ThreadMessages,
)

UNKNOWN_USER: Final = 10_013
NOT_A_MEMBER: Final = frozenset({10_004, 10_007, 10_013, 50_001})
"""Unknown guild, unknown member, unknown user, missing access: the bot is not in the server."""


log = structlog.get_logger(__name__)


class DiscordAdapter(AccountAdapter[DiscordSettings]):
    """One bot account on Discord."""

    manifest = MANIFEST
    _connection: GatewayConnection | None = None

    async def _open(self, sink: EventSink) -> None:
        self._connection = GatewayConnection(self._settings, self._context, sink, self._end)
        await self._connection.open()

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def alive(self) -> Liveness:
        """The time of the last heartbeat that Discord acknowledged."""
        if self._connection is None:
            return Liveness(False, NOT_CONNECTED)
        return self._connection.alive()

    async def reconnect(self) -> None:
        """Close the socket; the library resumes the session, with everything that was missed."""
        if self._connection is not None:
            await self._connection.close_socket()

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file, once. Raises a `DeliveryError`."""
        connection = self._connected()
        outbound = self._with_mentions(outbound, connection)
        handle = handle_of(outbound)
        if handle is not None and outbound.is_empty:
            await connection.responses.dismiss(handle)
            return Receipt("")
        if handle is not None and outbound.private_to:
            return _receipt(await connection.responses.send_ephemeral(handle, outbound))
        if handle is not None:
            filled = await connection.responses.fill(handle, outbound)
            if filled is not None:
                return _receipt(filled)
        return await self._post(connection.rest, outbound)

    def _with_mentions(self, outbound: Outbound, connection: GatewayConnection) -> Outbound:
        """Return the send with its commands as people press them, where they are registered."""
        part, server = outbound.part, self._settings.guild_id
        if part is None or server not in ("", outbound.place.workspace_id):
            return outbound
        content = with_mentions(text_of(part), connection.command_ids, MAX_MESSAGE)
        return replace(outbound, part=replace(part, payload=content))

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Remove the buttons of a message of the bot. Raises a `DeliveryError`."""
        connection, handle = self._connected(), handle_of(outbound)
        if handle is not None and await connection.responses.clear(handle, outbound.clears):
            return
        route = message_route("PATCH", outbound.place, outbound.clears)
        await connection.rest.call(route, json=NO_BUTTONS)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of the bot. Raises a `DeliveryError`."""
        await self._connected().rest.call(message_route("DELETE", place, message_id))

    def message_link(self, place: Place, message_id: str) -> str:
        """The address of a message of a server."""
        if not place.workspace_id:
            return ""
        channel = place.thread_id or place.channel_id
        return f"https://discord.com/channels/{place.workspace_id}/{channel}/{message_id}"

    async def typing(self, place: Place, message_id: str) -> None:
        """Show the typing indicator for ten seconds. Raises a `DeliveryError`."""
        route = Route("POST", "/channels/{channel_id}/typing", channel_id=destination(place))
        await self._connected().rest.call(route)

    def live_style(self, place: Place) -> LiveStyle:
        """A message that is edited, everywhere."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show the answer as far as it is written. Raises a `DeliveryError`."""
        connection = self._connected()
        outbound = Outbound(
            view.key,
            view.place,
            view.part,
            reply_to_id="" if view.handle else view.reply_to_id,
            reply_handle=view.reply_handle,
            replaces=view.handle,
        )
        if view.handle:
            await self._replace(connection, outbound)
            return view.handle
        handle = handle_of(outbound)
        if handle is not None and await connection.responses.fill(handle, outbound) is not None:
            return ORIGINAL
        return (await self._post(connection.rest, outbound)).message_id

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Edit the complete answer into the live message. Raises a `DeliveryError`."""
        return Receipt(await self._replace(self._connected(), outbound))

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction (a Unicode emoji). Raises a `DeliveryError`."""
        await self._connected().rest.call(reaction_route("PUT", place, message_id, emoji))

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the bot's reaction. Raises a `DeliveryError`."""
        await self._connected().rest.call(reaction_route("DELETE", place, message_id, emoji))

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of an attachment, also after its address has expired. Raises `BadInput` when it
        is larger than `limit`, and a `DeliveryError`."""
        origin = expired(attachment, self._context.clock.now().timestamp())
        if origin is not None:
            path = "/channels/{channel_id}/messages/{message_id}"
            route = Route("GET", path, channel_id=origin[0], message_id=origin[1])
            found = renewed(attachment, await self._connected().rest.call(route))
            if found is None:
                raise Permanent("the attachment is no longer in its message")
            attachment = found
        return await fetch_file(attachment, limit, self._settings.api_base)

    async def portrait(self, person: str, limit: int) -> bytes:
        """The picture of a person; empty for one who has none of their own. Raises `BadInput` and
        a `DeliveryError`."""
        if not person.isdecimal():
            return b""
        try:
            route = Route("GET", "/users/{user_id}", user_id=person)
            user = await self._connected().rest.call(route)
        except RequestRefused as error:
            if error.code == UNKNOWN_USER:
                return b""
            raise
        url = portrait_url(user, self._settings.api_base)
        if not url:
            return b""
        return await fetch_file(Attachment("image", url), limit, self._settings.api_base)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is a full member of a server. Raises a `DeliveryError`.

        Unlike the event of a departure, this request needs no privileged intent.
        """
        if not (space.isdecimal() and person.isdecimal()):
            return False
        path = "/guilds/{guild_id}/members/{user_id}"
        try:
            route = Route("GET", path, guild_id=space, user_id=person)
            member = await self._connected().rest.call(route)
        except RequestRefused as error:
            if error.code in NOT_A_MEMBER:
                return False
            raise
        return not (integer(member, "flags") or 0) & GUEST

    async def describe_space(self, space: str) -> SpaceDescription:
        """The name, the description and the owner of a server. Raises a `DeliveryError`."""
        rest = self._connected().rest
        server = as_mapping(await rest.call(Route("GET", "/guilds/{guild_id}", guild_id=space)))
        owner = identifier(server, "owner_id")
        path = "/guilds/{guild_id}/members/{user_id}"
        names: tuple[str, ...] = ()
        if owner:
            route = Route("GET", path, guild_id=space, user_id=owner)
            try:
                member = as_mapping(await rest.call(route))
                names = (name_of(mapping(member, "user"), member),)
            except RequestRefused as error:
                if error.code not in NOT_A_MEMBER:
                    raise
        return SpaceDescription(text(server, "name"), text(server, "description"), names)

    async def room_name(self, channel: str) -> str:
        """The name of a channel or thread. Raises a `DeliveryError`."""
        if not channel.isdecimal():
            return ""
        connection = self._connected()
        known = connection.client.get_channel(int(channel))
        name = getattr(known, "name", None)
        if not isinstance(name, str):
            route = Route("GET", "/channels/{channel_id}", channel_id=channel)
            name = text(as_mapping(await connection.rest.call(route)), "name")
        return f"#{name}" if name else ""

    async def read_thread(
        self, place: Place, person: str, before: str, most: int
    ) -> ThreadMessages:
        """The messages of a thread before a message. Raises a `DeliveryError`."""
        connection = self._connected()
        reader = DiscordThreads(connection.rest, connection.client, connection.bot)
        return await reader.read(place, person, before, most)

    async def diagnose(self) -> list[Check]:
        """The checks of `parley doctor`. Never raises."""
        return await doctor.diagnose(self._settings, self._context.commands)

    async def _post(self, rest: RestClient, outbound: Outbound) -> Receipt:
        body, channel_id = channel_body(outbound), destination(outbound.place)
        if outbound.private_to and outbound.place.audience is not Audience.DIRECT:
            # Only the answer to a command or a button can be shown to one person in a channel.
            request = {"recipient_id": outbound.private_to}
            opened = await rest.call(Route("POST", "/users/@me/channels"), json=request)
            channel_id = identifier(opened, "id")
            body.pop("message_reference", None)
        spoken = as_voice_message(body, outbound.file)
        if spoken is not body:
            try:
                form, route = form_of(spoken, outbound.file), messages_route(channel_id)
                return _receipt(await rest.call(route, json=spoken, form=form))
            except Permanent as error:  # without the right to send voice messages: as a file
                log.info("discord_voice_message_refused", error=str(error))
        form = form_of(body, outbound.file)
        return _receipt(await rest.call(messages_route(channel_id), json=body, form=form))

    async def _replace(self, connection: GatewayConnection, outbound: Outbound) -> str:
        """Change the live message `outbound.replaces`; returns its id. Raises a `DeliveryError`."""
        if outbound.part is None:
            raise Permanent("there is no text for the message")
        if outbound.replaces == ORIGINAL:
            handle = handle_of(outbound)
            if handle is None:
                raise Permanent("the command that was answered is no longer known")
            return await connection.responses.refill(handle, outbound)
        route = message_route("PATCH", outbound.place, outbound.replaces)
        await connection.rest.call(route, json=edit_body(outbound.part, outbound.buttons))
        return outbound.replaces

    def _connected(self) -> GatewayConnection:
        if self._connection is None or not self._connection.usable:
            raise Transient("not connected to Discord")
        return self._connection


def _receipt(message: object) -> Receipt:
    sent = as_mapping(message)
    if message_id := identifier(sent, "id"):
        return Receipt(message_id, iso_time(sent, "timestamp"))
    raise Ambiguous("Discord's answer names no message")
