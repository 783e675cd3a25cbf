"""Bot API methods that put something into a chat, or change what stands there."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from simulators.base import ShownButton, SimFile
from simulators.telegram.entities import Entity, utf16_length, with_found
from simulators.telegram.html import HtmlRejected, parse_html
from simulators.telegram.limits import (
    MAX_CAPTION,
    MAX_DOCUMENT,
    MAX_PHOTO,
    MAX_TEXT,
    REACTIONS,
    FloodControl,
)
from simulators.telegram.params import ApiError, Params, bad_request
from simulators.telegram.world import Chat, Posted, World

GENERAL_TOPIC: Final = 1


class Sending:
    """The sending half of the Bot API. `changed` is called after everything that shows."""

    def __init__(self, world: World, changed: Callable[[], None], flood: FloodControl) -> None:
        self._world = world
        self._flood = flood
        self._changed = changed
        self.blocked: set[int] = set()
        self.without_voices: set[int] = set()
        """Chats of people who allow no voice messages."""
        self.actions: list[tuple[int, int, str]] = []
        self.drafts: dict[tuple[int, int], str] = {}
        self.reactions: dict[int, tuple[str, ...]] = {}
        self.last_sent = 0.0

    def chat(self, params: Params) -> Chat:
        """The chat that is named; raises `ApiError` when the bot cannot write there."""
        named = params.text("chat_id")
        if not named:
            raise bad_request("chat_id is empty")
        if named.startswith("@"):
            for chat in self._world.chats.values():
                if chat.username.lower() == named[1:].lower():
                    return chat
            raise bad_request("chat not found")
        target = self._world.chats.get(params.integer("chat_id"))
        if target is None:
            raise bad_request("chat not found")
        if target.upgraded_to:
            raise ApiError(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                {"migrate_to_chat_id": target.upgraded_to},
            )
        if target.id in self.blocked:
            why = (
                "blocked by the user" if target.type == "private" else "kicked from the group chat"
            )
            raise ApiError(403, f"Forbidden: bot was {why}")
        return target

    def send_message(self, params: Params) -> dict[str, object]:
        """sendMessage."""
        chat = self.chat(params)
        text, entities = formatted(params, "text", "entities")
        if not text:
            raise bad_request("message text is empty")
        if utf16_length(text) > MAX_TEXT:
            raise bad_request("message is too long")
        return self._post(params, chat, text, entities)

    def send_file(self, params: Params, field: str) -> dict[str, object]:
        """sendDocument, sendPhoto and sendVoice; `field` is "document", "photo" or "voice"."""
        chat = self.chat(params)
        text, entities = formatted(params, "caption", "caption_entities")
        if utf16_length(text) > MAX_CAPTION:
            raise bad_request("message caption is too long")
        file = self._uploaded(params, field)
        if not file.data:
            raise bad_request("file must be non-empty")
        if field == "photo" and (len(file.data) > MAX_PHOTO or not _is_picture(file)):
            raise bad_request("IMAGE_PROCESS_FAILED")
        if field == "voice":
            if chat.id in self.without_voices:
                raise bad_request("VOICE_MESSAGES_FORBIDDEN")
            file = replace(file, mime="audio/ogg")
        if len(file.data) > MAX_DOCUMENT:
            raise ApiError(413, "Request Entity Too Large")
        return self._post(params, chat, text, entities, file=file, field=field)

    def _uploaded(self, params: Params, field: str) -> SimFile:
        if field in params.files:
            return params.files[field]
        value = params.text(field)
        if value.startswith("attach://"):
            attached = params.files.get(value.removeprefix("attach://"))
            if attached is not None:
                return attached
        if value in self._world.files:
            return self._world.files[value]
        if not value:
            raise bad_request(f"there is no {field} in the request")
        raise bad_request("wrong file identifier/HTTP URL specified")

    def _post(
        self,
        params: Params,
        chat: Chat,
        text: str,
        entities: tuple[Entity, ...],
        *,
        file: SimFile | None = None,
        field: str = "",
    ) -> dict[str, object]:
        self._flood.check(chat)
        thread = _topic(chat, params)
        reply_to = self._reply_to(chat, params)
        keyboard, buttons = _keyboard(params)
        media: dict[str, object] = {}
        if file is not None:
            media = self._world.media_of(file)
            if field == "document":
                described = {"file_id": self._world.keep_file(file), "file_unique_id": "u"}
                media = {"document": {**described, "file_name": file.name, "mime_type": file.mime}}
        message = Posted(
            id=self._world.next_message_id(),
            chat=chat,
            author=self._world.me,
            date=int(self._world.clock()),
            thread_id=thread,
            text=text,
            entities=entities,
            files=(file,) if file else (),
            media=media,
            buttons=buttons,
            keyboard=keyboard,
            reply_to=reply_to,
            payload=params.values,
            by_bot=True,
        )
        self._world.post(message)
        self.last_sent = time.perf_counter()
        self._changed()
        return message.as_json(self._world.me)

    def _reply_to(self, chat: Chat, params: Params) -> Posted | None:
        reply = params.mapping("reply_parameters")
        message_id = (
            Params(reply).integer("message_id") if reply else params.integer("reply_to_message_id")
        )
        if not message_id:
            return None
        message = self._world.messages.get(message_id)
        if message is not None and message.chat is chat and not message.deleted:
            return message
        allowed = Params(reply).flag("allow_sending_without_reply")
        if allowed or params.flag("allow_sending_without_reply"):
            return None
        raise bad_request("message to be replied not found")

    def _own(self, params: Params, doing: str) -> Posted:
        chat = self.chat(params)
        message = self._world.messages.get(params.integer("message_id"))
        if message is None or message.chat is not chat or message.deleted:
            raise bad_request(f"message to {doing} not found")
        if not message.by_bot:
            raise bad_request(
                "message can't be edited" if doing == "edit" else "message can't be deleted"
            )
        return message

    def edit_text(self, params: Params) -> dict[str, object]:
        """editMessageText."""
        message = self._own(params, "edit")
        self._flood.check(message.chat)
        text, entities = formatted(params, "text", "entities")
        if not text:
            raise bad_request("message text is empty")
        if utf16_length(text) > MAX_TEXT:
            raise bad_request("MESSAGE_TOO_LONG")
        if message.files:
            raise bad_request("there is no text in the message to edit")
        keyboard, buttons = _keyboard(params)
        if (text, entities, keyboard) == (message.text, message.entities, message.keyboard):
            raise bad_request(
                "message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message"
            )
        message.text, message.entities = text, entities
        message.keyboard, message.buttons = keyboard, buttons
        message.payload, message.edited = params.values, True
        self._changed()
        return message.as_json(self._world.me)

    def edit_keyboard(self, params: Params) -> dict[str, object]:
        """editMessageReplyMarkup; without a markup the keyboard goes."""
        message = self._own(params, "edit")
        self._flood.check(message.chat)
        keyboard, buttons = _keyboard(params)
        if keyboard == message.keyboard:
            raise bad_request("message is not modified: the reply markup is the same")
        message.keyboard, message.buttons = keyboard, buttons
        self._changed()
        return message.as_json(self._world.me)

    def delete(self, params: Params) -> bool:
        """deleteMessage."""
        self._own(params, "delete").deleted = True
        self._changed()
        return True

    def chat_action(self, params: Params) -> bool:
        """sendChatAction."""
        chat = self.chat(params)
        if chat.is_direct_messages:
            raise bad_request("channel direct messages chats have no chat actions")
        action = params.text("action")
        if action not in ("typing", "upload_photo", "upload_document", "record_voice"):
            raise bad_request("wrong parameter action in request")
        self.actions.append((chat.id, params.integer("message_thread_id"), action))
        del self.actions[:-1000]
        self._changed()
        return True

    def draft(self, params: Params) -> bool:
        """sendMessageDraft: a preview in a private chat."""
        chat = self.chat(params)
        if chat.type != "private":
            raise bad_request("message drafts can be sent only to private chats")
        number = params.integer("draft_id")
        if number == 0:
            raise bad_request("draft_id must be non-zero")
        text, _ = formatted(params, "text", "entities")
        if utf16_length(text) > MAX_TEXT:
            raise bad_request("message is too long")
        self.drafts[chat.id, number] = text
        self._changed()
        return True

    def react(self, params: Params) -> bool:
        """setMessageReaction: one emoji of Telegram's list, or none."""
        chat = self.chat(params)
        message = self._world.messages.get(params.integer("message_id"))
        if message is None or message.chat is not chat or message.deleted:
            raise bad_request("message to react not found")
        chosen: list[str] = []
        for one in params.listing("reaction"):
            emoji = one.get("emoji") if isinstance(one, dict) else None
            if not isinstance(emoji, str) or emoji not in REACTIONS:
                raise bad_request("REACTION_INVALID")
            chosen.append(emoji)
        if len(chosen) > 1:
            raise bad_request("REACTIONS_TOO_MANY")
        self.reactions[message.id] = tuple(chosen)
        self._changed()
        return True


def formatted(params: Params, name: str, entities_name: str) -> tuple[str, tuple[Entity, ...]]:
    """The text and its entities, parsed as `parse_mode` says; raises `ApiError`."""
    source = params.text(name)
    mode = params.text("parse_mode").lower()
    entities: tuple[Entity, ...] = ()
    if mode == "html":
        try:
            source, entities = parse_html(source)
        except HtmlRejected as problem:
            raise bad_request(f"can't parse entities: {problem}") from None
    elif mode:
        raise bad_request("this simulator takes no parse_mode but HTML")
    else:
        entities = tuple(_given(one) for one in params.listing(entities_name))
    text = source.rstrip()
    leading = utf16_length(text) - utf16_length(text.lstrip())
    text = text.lstrip()
    if leading:
        entities = tuple(
            Entity(one.kind, max(0, one.offset - leading), one.length, one.url, one.language)
            for one in entities
        )
    return text, with_found(text, entities)


def _given(value: object) -> Entity:
    if not isinstance(value, dict):
        raise bad_request("can't parse MessageEntity: expected an Object")
    kind, offset, length = value.get("type"), value.get("offset"), value.get("length")
    if not isinstance(kind, str) or not isinstance(offset, int) or not isinstance(length, int):
        raise bad_request('can\'t parse MessageEntity: Field "type" must be of type String')
    return Entity(kind, offset, length, str(value.get("url", "")), str(value.get("language", "")))


def _topic(chat: Chat, params: Params) -> int:
    """The topic to post in; the general one must not be named. A channel's direct messages have
    topics of another kind, and nothing outside them."""
    if chat.is_direct_messages:
        topic = params.integer("direct_messages_topic_id")
        if topic not in chat.topics or params.integer("message_thread_id"):
            raise bad_request("direct messages topic must be specified")
        return topic
    thread = params.integer("message_thread_id")
    if thread and (thread == GENERAL_TOPIC or thread not in chat.topics):
        raise bad_request("message thread not found")
    if thread in chat.closed:
        raise bad_request("TOPIC_CLOSED")
    return thread


def _keyboard(params: Params) -> tuple[dict[str, object] | None, tuple[ShownButton, ...]]:
    markup = params.mapping("reply_markup")
    if not markup:
        return None, ()
    rows = markup.get("inline_keyboard")
    if not isinstance(rows, list):
        raise bad_request("object expected as reply markup")
    buttons: list[ShownButton] = []
    for row in rows:
        if not isinstance(row, list):
            raise bad_request("inline keyboard row must be an array")
        for button in row:
            label = button.get("text") if isinstance(button, dict) else None
            if not isinstance(label, str) or not label.strip():
                raise bad_request("Text buttons are unallowed in the inline keyboard")
            value = button.get("callback_data", "")
            if "url" not in button and not 1 <= len(str(value).encode()) <= 64:
                raise bad_request("BUTTON_DATA_INVALID")
            buttons.append(ShownButton(label, str(value)))
    if len(buttons) > 100:
        raise bad_request("reply markup is too long")
    return markup, tuple(buttons)


def _is_picture(file: SimFile) -> bool:
    return file.data.startswith((b"\x89PNG", b"\xff\xd8\xff", b"RIFF", b"GIF8"))
