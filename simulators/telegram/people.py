"""Turns actions of people in the app into updates for a bot."""

from itertools import count
from typing import Final

from simulators.base import NotSupported, SimFile, SimPerson, SimRoom
from simulators.telegram.api import BotApi
from simulators.telegram.entities import cut, find_entities, utf16_length
from simulators.telegram.limits import MAX_CAPTION, MAX_TEXT
from simulators.telegram.updates import UpdateQueue
from simulators.telegram.webhook import WebhookSender
from simulators.telegram.world import Chat, Posted, World

MAX_ALBUM: Final = 10


class People:
    """Everybody who is not the bot."""

    def __init__(
        self, world: World, queue: UpdateQueue, webhook: WebhookSender, api: BotApi
    ) -> None:
        self._world = world
        self._queue = queue
        self._webhook = webhook
        self._api = api
        self._queries = count(1)

    def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
        via_bot: dict[str, object] | None = None,
        forward_origin: dict[str, object] | None = None,
    ) -> list[Posted]:
        """Write; returns the messages that stand in the chat now. A message that another bot made
        has it as `via_bot`, a forwarded one its `forward_origin`."""
        limit = MAX_CAPTION if files else MAX_TEXT
        if utf16_length(text) > limit:
            raise NotSupported(f"the app takes {limit} UTF-16 units a message")
        if not text and not files:
            raise NotSupported("the app sends no empty message")
        if len(files) > MAX_ALBUM:
            raise NotSupported(f"an album has at most {MAX_ALBUM} files")
        answered = self.message(room, reply_to) if reply_to else None
        posted: list[Posted] = []
        album = {"media_group_id": f"{next(self._queries):017d}"} if len(files) > 1 else {}
        for number, file in enumerate(files or (None,)):
            media: dict[str, object] = {**self._world.media_of(file), **album} if file else {}
            message = self._post(person, room, text if number == 0 else "", media)
            message.files = (file,) if file else ()
            message.reply_to = answered
            message.via_bot, message.forward_origin = via_bot, forward_origin
            posted.append(message)
            if self._reaches_bot(message):
                self._deliver("message", message.chat.id, message.as_json(self._world.me))
        return posted

    def share(self, person: SimPerson, room: SimRoom, media: dict[str, object]) -> Posted:
        """Send what is no text and no file: a contact, a place, a poll."""
        message = self._post(person, room, "", media)
        if self._reaches_bot(message):
            self._deliver("message", message.chat.id, message.as_json(self._world.me))
        return message

    def _post(
        self, person: SimPerson, room: SimRoom, text: str, media: dict[str, object]
    ) -> Posted:
        return self._world.post(
            Posted(
                id=self._world.next_message_id(),
                chat=self._chat(room),
                author=self._world.user(person),
                date=int(self._world.clock()),
                thread_id=int(room.thread_id or 0),
                text=text,
                entities=find_entities(text),
                media=media,
            )
        )

    def _chat(self, room: SimRoom) -> Chat:
        return self._world.chats[int(room.id)]

    def message(self, room: SimRoom, message_id: str) -> Posted:
        """The message of that id in this room. Raises KeyError."""
        message = self._world.messages[int(message_id)]
        if message.chat is not self._chat(room):
            raise KeyError(message_id)
        return message

    def _reaches_bot(self, message: Posted) -> bool:
        """Privacy mode: in groups only what is meant for the bot is delivered."""
        if not message.chat.is_group or not self._api.privacy:
            return True
        if message.via_bot is not None and message.via_bot["id"] == self._world.bot_id:
            return True
        if message.reply_to is not None and message.reply_to.by_bot:
            return True
        ours = f"@{self._world.username}".lower()
        for one in message.entities:
            piece = cut(message.text, one.offset, one.length).lower()
            if one.kind == "mention" and piece == ours:
                return True
            if one.kind == "bot_command" and ("@" not in piece or piece.endswith(ours)):
                return True
        return False

    def _deliver(self, kind: str, lane: int, body: dict[str, object]) -> None:
        for update in self._queue.add(kind, lane, body):
            self._webhook.deliver(update)

    def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        """Change a message of one's own."""
        message = self.message(room, message_id)
        if message.author["id"] != int(person.id):
            raise NotSupported("one can only edit one's own messages")
        message.text, message.entities, message.edited = text, find_entities(text), True
        if self._reaches_bot(message):
            self._deliver("edited_message", message.chat.id, message.as_json(self._world.me))

    def open_topic(self, person: SimPerson, room: SimRoom, title: str) -> int:
        """Create a forum topic; returns its id."""
        chat = self._chat(room)
        chat.is_forum = True
        message = self._post(person, room, "", {"forum_topic_created": {"name": title}})
        message.service, message.thread_id = True, message.id
        chat.topics[message.id] = title
        self._deliver("message", chat.id, message.as_json(self._world.me))
        return message.id

    def upgrade(self, person: SimPerson, room: SimRoom, *, notify: bool = True) -> Chat:
        """Make a group a supergroup. With `notify`, the bot gets Telegram's two notices."""
        group = self._chat(room)
        supergroup = self._world.upgrade(group)
        for chat, notice in (
            (group, {"migrate_to_chat_id": supergroup.id}),
            (supergroup, {"migrate_from_chat_id": group.id}),
        ):
            message = self._post(person, SimRoom(str(chat.id), "private"), "", dict(notice))
            message.service = True
            if notify:
                self._deliver("message", chat.id, message.as_json(self._world.me))
        return supergroup

    def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        """Press a button under a message of the bot."""
        message = self.message(room, message_id)
        pressed = [one for one in message.buttons if one.label == label]
        if not pressed:
            shown = ", ".join(one.label for one in message.buttons) or "none"
            raise NotSupported(f"no button {label!r} there; there are: {shown}")
        number = f"callback-{next(self._queries)}"
        self._api.callback_queries[number] = False
        body: dict[str, object] = {
            "id": number,
            "from": self._world.user(person),
            "message": message.as_json(self._world.me),
            "chat_instance": str(message.chat.id),
            "data": pressed[0].value,
        }
        self._deliver("callback_query", message.chat.id, body)

    def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        """Put an emoji under a message; an empty one takes it back."""
        message = self.message(room, message_id)
        body: dict[str, object] = {
            "chat": message.chat.as_json(),
            "message_id": message.id,
            "user": self._world.user(person),
            "date": int(self._world.clock()),
            "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": emoji}] if emoji else [],
        }
        self._deliver("message_reaction", message.chat.id, body)

    def inline(self, person: SimPerson, query: str, chat_type: str) -> str:
        """Type after the bot's name; returns the inline query's id."""
        number = str(900_000 + next(self._queries))
        self._api.inline_answers[number] = None
        body: dict[str, object] = {
            "id": number,
            "from": self._world.user(person),
            "query": query,
            "offset": "",
            "chat_type": chat_type,
        }
        self._deliver("inline_query", int(person.id), body)
        return number

    def leave(self, person: SimPerson, room: SimRoom, status: str, *, notify: bool) -> None:
        """Leave, or be removed; with `notify` the bot gets an update."""
        self._chat(room).gone[int(person.id)] = status
        if notify:
            self._change(person, room, "member", status)

    def join(self, person: SimPerson, room: SimRoom) -> None:
        """Come back."""
        status = self._chat(room).gone.pop(int(person.id), "left")
        self._change(person, room, status, "member")

    def _change(self, person: SimPerson, room: SimRoom, before: str, after: str) -> None:
        chat, user = self._chat(room), self._world.user(person)
        body: dict[str, object] = {
            "chat": chat.as_json(),
            "from": user,
            "date": int(self._world.clock()),
            "old_chat_member": {"user": user, "status": before},
            "new_chat_member": {"user": user, "status": after},
        }
        self._deliver("chat_member", chat.id, body)

    def block(self, room: SimRoom, blocked: bool) -> None:
        """Tell the bot that it was removed, or let in again."""
        chat = self._chat(room)
        states = ("member", "kicked") if blocked else ("kicked", "member")
        by = next(iter(self._world.people.values()), SimPerson("1", "Somebody"))
        old, new = (
            {"user": self._world.me, "status": state}
            | ({"until_date": 0} if state == "kicked" else {})
            for state in states
        )
        body: dict[str, object] = {
            "chat": chat.as_json(),
            "from": self._world.user(by),
            "date": int(self._world.clock()),
            "old_chat_member": old,
            "new_chat_member": new,
        }
        self._deliver("my_chat_member", chat.id, body)
