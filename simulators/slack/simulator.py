"""A local Slack: its real protocols on one side, people on the other."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from simulators.base import (
    ApiCall,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    SimFile,
    SimPerson,
    SimRoom,
)
from simulators.slack import events
from simulators.slack.call import Answer, Happening
from simulators.slack.couriers import Deliveries, HttpCourier, Kind, SocketCourier
from simulators.slack.emoji import name_of
from simulators.slack.look import actions_of, buttons_of, html_of, text_of
from simulators.slack.server import SlackServer, stored
from simulators.slack.world import Message, World

ALL_SCOPES: Final = frozenset(
    {
        "app_mentions:read",
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:read",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "mpim:history",
        "reactions:read",
        "reactions:write",
        "users:read",
    }
)


class SlackSimulator:
    """A workspace with one app, on loopback.

    `mode` is how the app gets its events. `ack_within` are the seconds it has to acknowledge,
    `retry_after` the seconds before each repetition (Slack's own: 3, and at once, 60, 300).
    `path` is the app's webhook, `team` the workspace's id (a T and capitals or digits), `scopes`
    those of the bot's token, which tests may change while it runs.
    """

    def __init__(
        self,
        mode: Literal["socket", "http"] = "socket",
        *,
        ack_within: float = 3.0,
        retry_after: tuple[float, ...] = (0.0, 60.0, 300.0),
        path: str = "/webhook/slack",
        team: str = "T0SIMULATED",
        bot_name: str = "Parley",
    ) -> None:
        self.mode = mode
        self.world = World(team, bot_name)
        self.signing_secret = secrets.token_hex(16)
        self.sockets = SocketCourier(ack_within, retry_after)
        self.http = HttpCourier(self.signing_secret, ack_within, retry_after, path)
        self.server = SlackServer(self.world, self.sockets, self._published)
        self.server.scopes |= ALL_SCOPES
        self.deliveries = Deliveries(self.sockets if mode == "socket" else self.http)
        self._copies = 0

    # --- what every simulator has ---------------------------------------------------------------

    @property
    def platform(self) -> str:
        return "slack"

    @property
    def faults(self) -> Faults:
        return self.server.faults

    @property
    def calls(self) -> deque[ApiCall]:
        return self.server.calls

    @property
    def scopes(self) -> set[str]:
        """The scopes of the bot's token."""
        return self.server.scopes

    async def start(self) -> None:
        await self.server.start()

    async def stop(self) -> None:
        await self.deliveries.stop()
        await self.server.stop()

    def settings(self) -> dict[str, object]:
        return {
            "bot_token": self.server.bot_token,
            "app_token": self.server.app_token,
            "signing_secret": self.signing_secret,
            "base_url": f"{self.server.base}/api/",
            "mode": self.mode,
        }

    async def wait_connected(self, timeout: float = 30.0) -> None:
        """Return once a socket is open; in HTTP mode, once the attached address proved itself."""
        if self.mode == "socket":
            sockets = self.sockets
            if not await sockets.changed.wait_until(lambda: bool(sockets.sockets), timeout):
                raise TimeoutError(f"no Socket Mode client connected within {timeout} s")
            return
        if not self.http.base_url:
            raise TimeoutError("attach() was not called")
        async with asyncio.timeout(timeout):
            await self.http.verify()

    def attach(self, base_url: str) -> None:
        self.http.base_url = base_url.rstrip("/")

    def duplicate_next(self, times: int = 1) -> None:
        self._copies = times

    async def drop_connections(self) -> None:
        self.server.drop_sockets()

    def stop_responding(self) -> None:
        """Keep the open sockets open and let nothing through; new ones work."""
        self.server.stop_responding()

    async def request_reconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every socket to reconnect, as Slack does from time to time."""
        await self.sockets.disconnect(reason)

    # --- people and places ----------------------------------------------------------------------

    def person(self, name: str) -> SimPerson:
        return self.world.person(name)

    def show_portrait(self, person: SimPerson, picture: SimFile | None) -> None:
        """Give a person a picture of their own; None takes it away."""
        self.world.portraits.pop(person.id, None)
        if picture is not None:
            self.world.portraits[person.id] = picture

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        if kind == "direct":
            return self.direct(self.person(title))
        return SimRoom(self.world.channel(title, kind).id, kind, title)

    def outsider(self, name: str, team: str = "T0ELSEWHERE") -> SimPerson:
        """Somebody of another company (Slack Connect)."""
        person = self.world.person(name)
        self.world.teams[person.id] = team
        return person

    def share(self, room: SimRoom) -> None:
        """Another company comes into the channel."""
        self.world.of(room).shared = True

    async def make_guest(self, person: SimPerson) -> None:
        """Their account becomes a guest's."""
        self.world.guests.add(person.id)
        self._tell_user(person)

    async def deactivate(self, person: SimPerson, *, notify: bool = True) -> None:
        """Their account is deactivated; without `notify` the event is lost."""
        self.world.deactivated.add(person.id)
        if notify:
            self._tell_user(person)

    async def reactivate(self, person: SimPerson) -> None:
        """Their account works again."""
        self.world.deactivated.discard(person.id)
        self._tell_user(person)

    async def leave(self, person: SimPerson, room: SimRoom) -> None:
        """Leave a channel, which is not the workspace."""
        self._event(events.membership(self.world, room.id, person.id, joined=False))

    def direct(self, person: SimPerson) -> SimRoom:
        return SimRoom(self.world.direct(person).id, "direct", person.name)

    async def invite(self, room: SimRoom) -> None:
        """Somebody invites the bot into the room."""
        self.world.of(room).bot_inside = True
        self._event(events.membership(self.world, room.id, self.world.bot_user, joined=True))

    async def remove_bot(self, room: SimRoom) -> None:
        """Somebody removes the bot from the room."""
        self._event(events.membership(self.world, room.id, self.world.bot_user, joined=False))
        self.world.of(room).bot_inside = False

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
        attachments: tuple[dict[str, object], ...] = (),
    ) -> str:
        """Write a message. Slack has no replies but threads: `reply_to` opens that one's thread.

        `text` is what is typed; markup such as `<@U…>` of others is taken as Slack's own.
        """
        channel = self.world.of(room)
        thread_ts = room.thread_id or reply_to
        replied = self.world.find(channel.id, thread_ts) if thread_ts else None
        words = f"<@{self.world.bot_user}> {text}".strip() if mention else text
        message = self.world.add(
            Message(
                ts=self.world.new_ts(),
                channel=channel.id,
                user=person.id,
                text=words,
                thread_ts=(replied.thread_ts or replied.ts) if replied is not None else thread_ts,
                files=[stored(f.name, f.mime, f.data, person.id, self.world) for f in files],
                attachments=list(attachments),
            )
        )
        self._event(events.written(self.world, message, self.server.base))
        # In direct messages a mention makes no second event.
        if f"<@{self.world.bot_user}" in words and channel.kind != "direct":
            self._event(events.mentioned(self.world, message, self.server.base))
        return message.ts

    async def forward(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        writer: str = "Somebody",
        comment: str = "",
    ) -> str:
        """Share a message that `writer` wrote, with a comment of one's own if there is one."""
        by = self.person(writer)
        shared: dict[str, object] = {
            "is_share": True,
            "ts": self.world.new_ts(),
            "channel_id": "C0ELSEWHERE",
            "author_id": by.id,
            "author_name": by.name,
            "author_subname": by.name,
            "text": text,
            "fallback": f"[{by.name}]: {text}",
            "footer": "Slack Conversation",
        }
        return await self.say(person, room, comment, attachments=(shared,))

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        """Post `title` and talk below it; the bot is told of the title like of any message."""
        first = await self.say(person, room, title)
        return SimRoom(room.id, room.kind, room.title, first)

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        message = self._own(person, room, message_id)
        before = events.message_body(self.world, message, self.server.base)
        message.text, message.edited_ts = text, self.world.new_ts()
        self.world.changed.notify()
        self._event(events.changed(self.world, message, before, self.server.base))

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        message = self._own(person, room, message_id)
        before = events.message_body(self.world, message, self.server.base)
        message.deleted = True
        self.world.changed.notify()
        self._event(events.removed(self.world, message, before))

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        """Invoke a slash command; Slack knows none inside threads, so it runs in the room."""
        url = f"{self.server.base}/response/{self.world.open_response_url(room.id, person.id)}"
        form = events.slash_command(self.world, room.id, person.id, name, arguments, url)
        self._deliver("slash_commands", room.id, form)

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        message = self._any(room, message_id)
        action = dict(actions_of(message)).get(label)
        if action is None:
            raise LookupError(f"no button {label!r} under {message_id}")
        key = self.world.open_response_url(room.id, person.id, message.ts)
        url = f"{self.server.base}/response/{key}"
        pressed = events.pressed(self.world, message, person.id, action, url, self.server.base)
        self._deliver("interactive", room.id, pressed)

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        message = self._any(room, message_id)
        try:
            name = name_of(emoji)
        except KeyError:
            raise NotSupported(f"this Slack knows no emoji {emoji!r}") from None
        message.reactions.setdefault(name, set()).add(person.id)
        self._event(events.reacted(self.world, message, person.id, name, added=True))

    async def unreact(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        """Take a reaction back."""
        message = self._any(room, message_id)
        name = name_of(emoji)
        message.reactions.get(name, set()).discard(person.id)
        self._event(events.reacted(self.world, message, person.id, name, added=False))

    # --- what people see ------------------------------------------------------------------------

    def shown(self, room: SimRoom) -> list[Shown]:
        """The room with its threads in the order written; for a thread, the thread alone."""
        if room.thread_id:
            messages = list(self.world.thread(room.id, room.thread_id))
        else:
            messages = self.world.of(room).messages
        return [self._shown(message) for message in messages]

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = 30.0
    ) -> list[Shown]:
        if await self.world.changed.wait_until(lambda: condition(self.shown(room)), timeout):
            return self.shown(room)
        seen = "\n".join(f"  {m.author_id}: {m.text[:200]!r}" for m in self.shown(room)[-20:])
        raise TimeoutError(f"not shown within {timeout} s in {room.title}; there was:\n{seen}")

    def _shown(self, message: Message) -> Shown:
        return Shown(
            id=message.ts,
            room_id=message.channel,
            thread_id=message.thread_ts,
            author_id=message.user,
            by_bot=message.by_bot,
            text=text_of(message, self.world),
            html=html_of(message, self.world),
            payload=message.payload,
            buttons=buttons_of(message),
            files=tuple(SimFile(f.name, f.mime, f.data) for f in message.files),
            reply_to_id=message.thread_ts,
            edited=bool(message.edited_ts),
            deleted=message.deleted,
            only_for=message.only_for,
            at=float(message.ts),
        )

    # --- telling the app ------------------------------------------------------------------------

    def _published(self, message: Message, happening: Happening, before: Answer) -> None:
        """The app hears of its own messages too, as on Slack."""
        match happening:
            case "written":
                self._event(events.written(self.world, message, self.server.base))
            case "changed":
                self._event(events.changed(self.world, message, before, self.server.base))
            case "removed":
                self._event(events.removed(self.world, message, before))

    def _event(self, event: dict[str, object]) -> None:
        place = event.get("channel") or event.get("item")
        channel = str(place["channel"] if isinstance(place, dict) else place)
        if self.world.channels[channel].bot_inside:
            self._deliver("events_api", channel, events.callback(self.world, event))

    def _tell_user(self, person: SimPerson) -> None:
        event = events.callback(self.world, events.user_changed(self.world, person.id))
        self._deliver("events_api", person.id, event)

    def _deliver(self, kind: Kind, lane: str, payload: dict[str, object]) -> None:
        copies, self._copies = self._copies, 0
        for _ in range(1 + copies):
            self.deliveries.start(kind, lane, payload)

    def _any(self, room: SimRoom, message_id: str) -> Message:
        message = self.world.find(room.id, message_id)
        if message is None:
            raise LookupError(f"no message {message_id} in {room.title}")
        return message

    def _own(self, person: SimPerson, room: SimRoom, message_id: str) -> Message:
        message = self._any(room, message_id)
        if message.user != person.id:
            raise LookupError(f"message {message_id} is not {person.name}'s")
        return message
