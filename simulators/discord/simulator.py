"""The simulated Discord as tests and the demo drive it."""

import base64
import re
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from aiohttp import web

from simulators.base import (
    MAX_CALLS,
    ApiCall,
    ChangeSignal,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    ShownButton,
    SimFile,
    SimPerson,
    SimRoom,
)
from simulators.discord.announcer import Announcer
from simulators.discord.gateway import ALL_INTENTS, Gateway
from simulators.discord.markdown import look
from simulators.discord.payloads import (
    Json,
    channel_json,
    interaction_json,
    is_recording,
    user_json,
)
from simulators.discord.requests import API, Front, RateLimit, RateLimiter
from simulators.discord.rest_account import AccountRoutes
from simulators.discord.rest_channels import ChannelRoutes, direct_channel
from simulators.discord.rest_interactions import InteractionRoutes
from simulators.discord.sessions import Bits
from simulators.discord.validate import VOICE_MESSAGE
from simulators.discord.world import (
    COMPONENT,
    FORUM,
    LOADING,
    PLAIN,
    PRIVATE_THREAD,
    PUBLIC_THREAD,
    REPLY,
    SLASH,
    TEXT,
    THREAD_CREATED,
    THREAD_STARTER,
    Channel,
    Interaction,
    Message,
    StoredFile,
    World,
)
from simulators.local_server import LocalServer

MAX_BODY: Final = 64 * 1024 * 1024


class DiscordSimulator:
    """A Discord with one server, which the bot has joined.

    `message_content` is the switch of that name in the developer portal; `rate_limit` the requests
    allowed per route and channel.
    """

    platform = "discord"

    def __init__(
        self,
        *,
        bot_name: str = "Assistant",
        message_content: bool = True,
        server_members: bool = False,
        rate_limit: RateLimit | None = None,
    ) -> None:
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=MAX_CALLS)
        self.world = World(bot_name)
        application = base64.urlsafe_b64encode(self.world.application_id.encode()).decode()
        self.token = f"{application.rstrip('=')}.{secrets.token_hex(3)}.{secrets.token_hex(19)}"
        self.message_content = message_content
        self.server_members = server_members
        self._signal = ChangeSignal()
        self.gateway = Gateway(self.world, lambda: self.token, self._allowed_intents, self._signal)
        self.announcer = Announcer(self.world, self.gateway, self._signal, lambda: self._server.url)
        self._channels = ChannelRoutes(self.world, self.announcer)
        self._interactions = InteractionRoutes(self.world, self.announcer)
        self._front = Front(
            take_fault=self.faults.take,
            record=self._record,
            token=lambda: self.token,
            limiter=RateLimiter(rate_limit or RateLimit()),
        )
        self._people: dict[str, SimPerson] = {}
        self._rooms: dict[str, SimRoom] = {}
        self._server = LocalServer()

    # --- the server -----------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        app = web.Application(middlewares=[self._front.serve], client_max_size=MAX_BODY)
        app.router.add_get("/gateway", self.gateway.handle)
        for routes in (self._account_routes(), self._channels, self._interactions):
            routes.add_to(app)
        await self._server.start(web.AppRunner(app, access_log=None, shutdown_timeout=0.5))

    async def stop(self) -> None:
        """Cut every connection and stop listening."""
        self.gateway.drop()
        await self._server.stop()

    def settings(self) -> dict[str, object]:
        """The section `platforms.discord` that points a gateway here."""
        return {
            "token": self.token,
            "application_id": self.world.application_id,
            "api_base": self._server.url + API,
            "gateway_url": self._server.url.replace("http", "ws", 1) + "/gateway",
        }

    async def wait_connected(self, timeout: float = 30.0) -> None:
        """Return once a client has its session and its server."""
        if not await self._signal.wait_until(lambda: self.gateway.listening, timeout):
            raise TimeoutError("no client connected to the simulated Discord gateway")

    def attach(self, base_url: str) -> None:
        """Discord calls no webhooks here."""

    # --- people and places ----------------------------------------------------------------------

    def person(self, name: str) -> SimPerson:
        """The person of that name; the same one every time."""
        if name not in self._people:
            user = self.world.add_user(name)
            self._people[name] = SimPerson(user.id, name)
        return self._people[name]

    def show_portrait(self, person: SimPerson, picture: SimFile | None) -> None:
        """Give a person a picture of their own; None takes it away."""
        users = self.world.users
        users[person.id] = replace(users[person.id], portrait=picture)

    def other_bot(self, name: str) -> SimPerson:
        """Another bot of the server."""
        if name not in self._people:
            user = self.world.add_user(name, is_bot=True)
            self._people[name] = SimPerson(user.id, name, is_bot=True)
        return self._people[name]

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        """The channel of that title; a private one is hidden from @everyone."""
        if kind == "direct":
            return self.direct(self.person(title))
        return self._open(title, kind, TEXT)

    def forum(self, title: str) -> SimRoom:
        """The forum of that title; its posts are opened with `open_thread`."""
        return self._open(title, "public", FORUM)

    def direct(self, person: SimPerson) -> SimRoom:
        """The direct conversation between this person and the bot."""
        return SimRoom(direct_channel(self.world, person.id).id, "direct", person.name)

    def leave(self, person: SimPerson, *, notify: bool = True) -> None:
        """Leave the server, or be removed. The bot hears of it only with the members intent;
        with `notify=False` not even then."""
        self.world.gone.add(person.id)
        if notify:
            user = self.world.users[person.id]
            removed: Json = {"guild_id": self.world.guild_id, "user": user_json(user)}
            self.announcer.raw("GUILD_MEMBER_REMOVE", removed)

    def join(self, person: SimPerson) -> None:
        """Come back into the server."""
        self.world.gone.discard(person.id)

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        """A thread in the room, or a post in the forum."""
        if room.kind == "direct":
            raise NotSupported("Discord has no threads in direct messages")
        thread = self.world.add_channel(
            PUBLIC_THREAD, name=title, parent_id=room.id, owner_id=person.id
        )
        self.announcer.open_channel(thread)
        if self.world.channels[room.id].type == TEXT:
            notice = Message(self.world.next_id(), room.id, person.id, title, THREAD_CREATED)
            self.announcer.post(notice)
        return SimRoom(room.id, room.kind, title, thread.id)

    async def thread_from(
        self, person: SimPerson, room: SimRoom, message_id: str, title: str
    ) -> SimRoom:
        """A thread that begins at a message of the room, and has its id."""
        thread = self.world.add_channel(
            PUBLIC_THREAD, message_id, name=title, parent_id=room.id, owner_id=person.id
        )
        self.announcer.open_channel(thread)
        starter = Message(self.world.next_id(), thread.id, person.id, type=THREAD_STARTER)
        starter.reply_to_id = message_id
        self.world.add_message(starter)
        return SimRoom(room.id, room.kind, title, thread.id)

    async def open_private_thread(
        self, person: SimPerson, room: SimRoom, title: str, *others: SimPerson
    ) -> SimRoom:
        """A thread that only its members read: the person, the others and the bot."""
        thread = self.world.add_channel(
            PRIVATE_THREAD, name=title, parent_id=room.id, owner_id=person.id
        )
        thread.members.update(one.id for one in (person, *others))
        thread.members.add(self.world.bot.id)
        self.announcer.open_channel(thread)
        return SimRoom(room.id, room.kind, title, thread.id)

    def deny_history(self, room: SimRoom, person: SimPerson | None = None) -> None:
        """Deny a person, or the bot, to read the earlier messages of a room and its threads."""
        channel = self.world.channels[room.id]
        channel.without_history.add(self.world.bot.id if person is None else person.id)
        self.announcer.raw("CHANNEL_UPDATE", channel_json(self.world, channel))

    # --- what people do -------------------------------------------------------------------------

    async def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        mention: bool = False,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        """Write a message; with `mention`, one that mentions the bot. Returns its id."""
        message = self._message(person, room, f"<@{self.world.bot.id}> {text}" if mention else text)
        message.files = tuple(
            StoredFile(self.world.next_id(), f.name, f.mime, f.data) for f in files
        )
        if [is_recording(one.name) for one in message.files] == [True]:
            message.flags |= VOICE_MESSAGE
        if reply_to:
            message.reply_to_id, message.type = reply_to, REPLY
        return self.announcer.post(message).id

    async def forward(self, person: SimPerson, room: SimRoom, text: str) -> str:
        """Forward a message that reads `text` into the room. Returns its id."""
        message = self._message(person, room, "")
        message.forwarded = text
        return self.announcer.post(message).id

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        """Change one's own message."""
        message = self._own(person, room, message_id)
        message.content, message.edited = text, datetime.now(UTC)
        self.announcer.change(message)

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        """Delete one's own message."""
        self.announcer.delete(self._channel(room), [self._own(person, room, message_id)])

    async def delete_many(self, room: SimRoom, message_ids: tuple[str, ...]) -> None:
        """A moderator deletes several messages at once."""
        self.announcer.delete(self._channel(room), [self._at(room, i) for i in message_ids])

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        """Use a slash command. Raises `LookupError` when the bot registered none of that name."""
        channel = self._channel(room)
        registered = list(self.world.commands)
        if channel.in_guild:
            registered += self.world.guild_commands
        command = next((c for c in registered if c["name"] == name), None)
        if command is None:
            raise LookupError(f"the bot registered no command /{name} here")
        data: Json = {"id": command["id"], "name": name, "type": 1}
        options = command.get("options")
        if arguments:
            if not isinstance(options, list) or not options:
                raise LookupError(f"the command /{name} takes no argument")
            data["options"] = [{"name": options[0]["name"], "type": 3, "value": arguments}]
            mentioned = (self.world.users.get(id_) for id_ in re.findall(r"<@!?(\d+)>", arguments))
            people = {user.id: user_json(user) for user in mentioned if user}
            data |= {"resolved": {"users": people}} if people else {}
        elif isinstance(options, list) and any(option.get("required") for option in options):
            raise LookupError(f"the command /{name} needs an argument")
        self._interact(SLASH, channel, person, data)

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        """Press a button. Raises `LookupError` when this person sees none of that label."""
        message = self._at(room, message_id)
        if message.only_for not in ("", person.id):
            raise LookupError("this person does not see that message")
        for button in _buttons(message):
            if button.label == label:
                data: Json = {"component_type": 2, "custom_id": button.value, "id": 1}
                self._interact(COMPONENT, self._channel(room), person, data, message_id)
                return
        raise LookupError(f"no button {label!r} under message {message_id}")

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        """Add a reaction."""
        user = self.world.users[person.id]
        self.announcer.react(self._channel(room), self._at(room, message_id), user, emoji, True)

    async def unreact(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        """Take a reaction back."""
        user = self.world.users[person.id]
        self.announcer.react(self._channel(room), self._at(room, message_id), user, emoji, False)

    # --- what goes wrong ------------------------------------------------------------------------

    def duplicate_next(self, times: int = 1) -> None:
        """Deliver the next event `times` more often, under the same id and sequence number."""
        self.announcer.repeat_next(times)

    async def drop_connections(self) -> None:
        """Cut every socket; the client may resume its session."""
        self.gateway.drop()

    def stop_responding(self) -> None:
        """Keep the open sockets open and let nothing through; new ones work."""
        self.gateway.stop_responding()

    def forget_sessions(self) -> None:
        """A client that resumes is told that its session is invalid."""
        self.gateway.forget_sessions()

    def hold_events(self, held: bool = True) -> None:
        """While held, events wait: they arrive late."""
        self.gateway.hold(held)

    def revoke_access(self, room: SimRoom) -> None:
        """Take from the bot the permission to see the room."""
        self._channel(room).hidden_from_bot = True

    def set_interaction_deadline(self, seconds: float) -> None:
        """The time limit for the first answer to an interaction; Discord says 3."""
        self._interactions.deadline = seconds

    # --- what people see ------------------------------------------------------------------------

    def shown(self, room: SimRoom) -> list[Shown]:
        """Return the messages of the room or thread, oldest first, deleted ones marked."""
        return [
            self._shown(room, message)
            for message in self._channel(room).messages.values()
            if not message.flags & LOADING and message.type not in (THREAD_CREATED, THREAD_STARTER)
        ]

    def waiting_commands(self, room: SimRoom) -> int:
        """The number of commands that show "thinking" in the room."""
        messages = self._channel(room).messages.values()
        return sum(bool(m.flags & LOADING) and not m.deleted for m in messages)

    def typing(self, room: SimRoom) -> int:
        """The number of times that the bot showed that it writes in the room."""
        return self._channels.typing.count(room.thread_id or room.id)

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = 30.0
    ) -> list[Shown]:
        """`shown(room)` as soon as `condition` is true. Raises TimeoutError with what was shown."""
        if not await self._signal.wait_until(lambda: condition(self.shown(room)), timeout):
            seen = [(message.author_id, message.text) for message in self.shown(room)]
            raise TimeoutError(f"not shown within {timeout} s; the room has {seen!r}")
        return self.shown(room)

    async def wait_until(self, ready: Callable[[], bool], timeout: float = 30.0) -> None:
        """Return once `ready()` holds; it is asked whenever something changed."""
        if not await self._signal.wait_until(ready, timeout):
            raise TimeoutError(f"it did not become so within {timeout} s")

    # --- inside ---------------------------------------------------------------------------------

    def _account_routes(self) -> AccountRoutes:
        return AccountRoutes(
            self.world, self.announcer, lambda: self.message_content, lambda: self.server_members
        )

    def _allowed_intents(self) -> int:
        refused = 0 if self.message_content else Bits.MESSAGE_CONTENT
        return ALL_INTENTS & ~(refused if self.server_members else refused | Bits.GUILD_MEMBERS)

    def _record(self, call: ApiCall) -> None:
        self.calls.append(call)
        self._signal.notify()

    def _open(self, title: str, kind: RoomKind, channel_type: int) -> SimRoom:
        if title not in self._rooms:
            hidden = kind == "private"
            channel = self.world.add_channel(channel_type, name=title, hidden_from_everyone=hidden)
            self.announcer.open_channel(channel)
            self._rooms[title] = SimRoom(channel.id, kind, title)
        return self._rooms[title]

    def _channel(self, room: SimRoom) -> Channel:
        return self.world.channels[room.thread_id or room.id]

    def _message(self, person: SimPerson, room: SimRoom, content: str) -> Message:
        channel = self._channel(room)
        return Message(self.world.next_id(), channel.id, person.id, content, PLAIN)

    def _at(self, room: SimRoom, message_id: str) -> Message:
        message = self.world.message(self._channel(room).id, message_id)
        if message is None:
            raise LookupError(f"no message {message_id} in the room")
        return message

    def _own(self, person: SimPerson, room: SimRoom, message_id: str) -> Message:
        message = self._at(room, message_id)
        if message.author_id != person.id:
            raise LookupError(f"message {message_id} is somebody else's")
        return message

    def _interact(
        self, kind: int, channel: Channel, person: SimPerson, data: Json, message_id: str = ""
    ) -> None:
        token = secrets.token_urlsafe(48)
        interaction = self.world.add_interaction(
            Interaction(
                self.world.next_id(),
                token,
                kind,
                channel.id,
                person.id,
                time.monotonic(),
                message_id,
            )
        )
        payload = interaction_json(self.world, interaction, data, self._server.url)
        self.announcer.interaction(payload, channel)

    def _shown(self, room: SimRoom, message: Message) -> Shown:
        shown = look(message.content or message.forwarded, self._name)
        return Shown(
            id=message.id,
            room_id=room.id,
            thread_id=room.thread_id,
            author_id=message.author_id,
            by_bot=message.author_id == self.world.bot.id,
            text=shown.text,
            html=shown.html,
            payload=message.body,
            buttons=_buttons(message),
            files=tuple(SimFile(f.name, f.mime, f.data) for f in message.files),
            reply_to_id=message.reply_to_id,
            edited=message.edited is not None,
            deleted=message.deleted,
            only_for=message.only_for,
            at=message.timestamp.timestamp(),
        )

    def _name(self, kind: str, value: str) -> str:
        if kind == "user" and value in self.world.users:
            return self.world.users[value].name
        if kind == "channel" and value in self.world.channels:
            return self.world.channels[value].name
        if kind == "role" and value == self.world.bot_role_id:
            return self.world.bot.name
        return f"unknown-{kind}"


def _buttons(message: Message) -> tuple[ShownButton, ...]:
    rows = [row.get("components") for row in message.components]
    return tuple(
        ShownButton(str(button.get("label", "")), str(button.get("custom_id", "")))
        for row in rows
        for button in (row if isinstance(row, list) else [])
    )
