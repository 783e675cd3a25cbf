"""A local Telegram: the Bot API on one side, people on the other."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Literal

from simulators.base import (
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
from simulators.telegram.api import BotApi
from simulators.telegram.entities import to_html
from simulators.telegram.limits import FloodControl
from simulators.telegram.people import People
from simulators.telegram.sending import Sending
from simulators.telegram.server import ApiServer
from simulators.telegram.updates import UpdateQueue
from simulators.telegram.webhook import WebhookSender
from simulators.telegram.world import Posted, World

TOKEN: Final = "7000000001:simulated-telegram-bot-token-000001"
SECRET: Final = "simulated-webhook-secret"
BOT_ID: Final = 7_000_000_001


class TelegramSimulator:
    """Telegram on loopback; `mode` is how the bot gets its updates.

    `privacy` is the bot's privacy mode in groups, `flood_control` refuses sends that come faster
    than Telegram allows, `retry_delay` the seconds before a webhook that failed is called again
    (doubled every time), `clock` gives the Unix seconds at which messages are written. The Bot API
    does not tell bots of deletions, so `delete` only changes what is shown.
    """

    def __init__(
        self,
        mode: Literal["polling", "webhook"] = "polling",
        *,
        privacy: bool = True,
        flood_control: bool = False,
        retry_delay: float = 0.1,
        username: str = "parley_sim_bot",
        token: str = TOKEN,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.mode = mode
        self.token = token
        self._signal = ChangeSignal()
        self.world = World(BOT_ID, "Parley", username, clock)
        self.queue = UpdateQueue()
        self.webhook = WebhookSender(self.queue, retry_delay)
        self.sending = Sending(self.world, self._signal.notify, FloodControl(flood_control))
        self.api = BotApi(self.world, self.queue, self.webhook, self.sending, self._signal.notify)
        self.api.privacy = privacy
        self.server = ApiServer(token, self.api, self.world)
        self.people = People(self.world, self.queue, self.webhook, self.api)
        self._attached = asyncio.Event()

    @property
    def platform(self) -> str:
        return "telegram"

    @property
    def faults(self) -> Faults:
        return self.server.faults

    @property
    def calls(self) -> deque[ApiCall]:
        return self.server.calls

    @property
    def url(self) -> str:
        """The Bot API's address."""
        return self.server.url

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 takes a free one."""
        await self.server.start(port)

    async def stop(self) -> None:
        await self.webhook.stop()
        await self.server.stop()

    def settings(self) -> dict[str, object]:
        """The section `platforms.telegram`."""
        section: dict[str, object] = {
            "bot_token": self.token,
            "base_url": self.server.url,
            "mode": self.mode,
        }
        if self.mode == "webhook":
            section["webhook_url"] = "https://parley.example/webhook/telegram"
            section["webhook_secret"] = SECRET
        return section

    async def wait_connected(self, timeout: float = 30.0) -> None:
        """Return once the bot polls, or `attach` was called. Raises TimeoutError."""
        event = self.queue.polled if self.mode == "polling" else self._attached
        async with asyncio.timeout(timeout):
            await event.wait()

    def attach(self, base_url: str) -> None:
        """The address of the gateway's public listener."""
        self.webhook.base_url = base_url.rstrip("/")
        self._attached.set()
        self.webhook.kick()

    def person(self, name: str) -> SimPerson:
        return self.world.person(name)

    def show_portrait(self, person: SimPerson, picture: SimFile | None) -> None:
        """Give a person a picture that bots may see; None takes it away."""
        self.world.portraits.pop(person.id, None)
        if picture is not None:
            self.world.portraits[person.id] = picture

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        """A supergroup; "public" has a username that anybody can join by."""
        if kind == "direct":
            return self.direct(self.person(title))
        chat = self.world.group(title, public=kind == "public")
        return SimRoom(str(chat.id), kind, title)

    def direct_messages(self, title: str, person: SimPerson) -> SimRoom:
        """This person's topic in the direct messages of a channel, of which the bot is an
        administrator (Bot API 9.2)."""
        chat = self.world.direct_messages(title, person)
        return SimRoom(str(chat.id), "private", title, person.id)

    def leave(
        self, person: SimPerson, room: SimRoom, status: str = "left", *, notify: bool = True
    ) -> None:
        """Leave a group, or be removed ("kicked"); without `notify` the update is lost."""
        self.people.leave(person, room, status, notify=notify)

    def join(self, person: SimPerson, room: SimRoom) -> None:
        """Come back into a group."""
        self.people.join(person, room)

    def direct(self, person: SimPerson) -> SimRoom:
        chat = self.world.private_chat(person)
        return SimRoom(str(chat.id), "direct", person.name)

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
        """Write a message; several files become an album. Returns the (first) message's id."""
        if mention:
            text = f"@{self.world.username} {text}"
        posted = self.people.say(person, room, text, reply_to=reply_to, files=files)
        self._signal.notify()
        return str(posted[0].id)

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        """A forum topic; the group becomes a forum with the first one."""
        if room.kind == "direct":
            raise NotSupported("a private chat has no topics here")
        topic = self.people.open_topic(person, room, title)
        return SimRoom(room.id, room.kind, title, str(topic))

    def upgrade(self, person: SimPerson, room: SimRoom, *, notify: bool = True) -> SimRoom:
        """Make a group a supergroup, which has another id; without `notify`, the bot learns it only
        from the answers to its requests."""
        chat = self.people.upgrade(person, room, notify=notify)
        return SimRoom(str(chat.id), room.kind, room.title)

    def close_topic(self, topic: SimRoom, *, delete: bool = False) -> None:
        """Close a topic, so that the bot cannot write in it, or delete it."""
        chat = self.world.chats[int(topic.id)]
        if delete:
            del chat.topics[int(topic.thread_id)]
        else:
            chat.closed.add(int(topic.thread_id))

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        self.people.edit(person, room, message_id, text)
        self._signal.notify()

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        """Delete a message. Telegram does not tell bots."""
        self.people.message(room, message_id).deleted = True
        self._signal.notify()

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        """`/name arguments`; in a group addressed to this bot, as the app completes it."""
        target = "" if room.kind == "direct" else f"@{self.world.username}"
        self.people.say(person, room, f"/{name}{target} {arguments}".rstrip())
        self._signal.notify()

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        self.people.press(person, room, message_id, label)

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        self.people.react(person, room, message_id, emoji)

    def inline(self, person: SimPerson, query: str, chat_type: str = "sender") -> str:
        """Type `@bot query` in some chat; returns the inline query's id."""
        return self.people.inline(person, query, chat_type)

    async def wait_inline(self, query_id: str, timeout: float = 30.0) -> list[tuple[str, str]]:
        """The (title, text) pairs offered for an inline query. Raises TimeoutError."""
        answers = self.api.inline_answers
        if not await self._signal.wait_until(lambda: answers.get(query_id) is not None, timeout):
            raise TimeoutError(f"no answer to inline query {query_id}")
        offered = answers[query_id] or []
        return [(str(one["title"]), _message_text(one)) for one in offered]

    async def choose_inline(
        self, person: SimPerson, room: SimRoom, query_id: str, position: int = 0
    ) -> str:
        """Send one of the offered texts to a room, as that person. Returns the message's id."""
        offered = self.api.inline_answers[query_id] or []
        text = _message_text(offered[position])
        posted = self.people.say(person, room, text, via_bot=self.world.me)
        self._signal.notify()
        return str(posted[0].id)

    async def forward(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        writer: str = "Somebody",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        """Forward a message that `writer` wrote; a file has the text as its caption."""
        origin: dict[str, object] = {
            "type": "user",
            "date": int(self.world.clock()),
            "sender_user": self.world.user(self.person(writer)),
        }
        posted = self.people.say(person, room, text, files=files, forward_origin=origin)
        self._signal.notify()
        return str(posted[0].id)

    async def send_via(self, person: SimPerson, room: SimRoom, text: str, bot: str) -> str:
        """Send a text that another bot's inline mode made."""
        made_by: dict[str, object] = {
            "id": 8_000_000_001,
            "is_bot": True,
            "first_name": bot,
            "username": bot,
        }
        posted = self.people.say(person, room, text, via_bot=made_by)
        self._signal.notify()
        return str(posted[0].id)

    async def share_contact(
        self, person: SimPerson, room: SimRoom, name: str, phone: str = "+491555000001"
    ) -> str:
        """Share a contact card."""
        card: dict[str, object] = {"phone_number": phone, "first_name": name}
        posted = self.people.share(person, room, {"contact": card})
        self._signal.notify()
        return str(posted.id)

    def block(self, room: SimRoom, blocked: bool = True) -> None:
        """The person blocks the bot, or the group removes it."""
        self.people.block(room, blocked)
        if blocked:
            self.sending.blocked.add(int(room.id))
        else:
            self.sending.blocked.discard(int(room.id))

    def duplicate_next(self, times: int = 1) -> None:
        self.queue.duplicate_next(times)

    async def drop_connections(self) -> None:
        self.server.drop_connections()
        await self.webhook.drop_connections()

    def shown(self, room: SimRoom) -> list[Shown]:
        chat = self.world.chats[int(room.id)]
        thread = int(room.thread_id or 0)
        return [
            _shown(message)
            for message in chat.messages
            if message.thread_id == thread and not message.service
        ]

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = 30.0
    ) -> list[Shown]:
        if await self._signal.wait_until(lambda: condition(self.shown(room)), timeout):
            return self.shown(room)
        lines = [
            f"{'bot' if one.by_bot else one.author_id}: {one.text!r}" for one in self.shown(room)
        ]
        raise TimeoutError(f"{room.title or room.id} shows " + ("; ".join(lines) or "nothing"))

    async def wait_until(self, ready: Callable[[], bool], timeout: float = 30.0) -> None:
        """Return when `ready()` holds after a change of what is shown. Raises TimeoutError."""
        if not await self._signal.wait_until(ready, timeout):
            raise TimeoutError("it did not happen")


def _message_text(result: dict[str, object]) -> str:
    content = result["input_message_content"]
    return str(content["message_text"]) if isinstance(content, dict) else ""


def _shown(message: Posted) -> Shown:
    return Shown(
        id=str(message.id),
        room_id=str(message.chat.id),
        thread_id=str(message.thread_id) if message.thread_id else "",
        author_id=str(message.author["id"]),
        by_bot=message.by_bot,
        text=message.text,
        html=to_html(message.text, message.entities),
        payload=message.payload,
        buttons=tuple(ShownButton(one.label, one.value) for one in message.buttons),
        files=message.files,
        reply_to_id=str(message.reply_to.id) if message.reply_to else "",
        edited=message.edited,
        deleted=message.deleted,
        at=float(message.date),
    )
