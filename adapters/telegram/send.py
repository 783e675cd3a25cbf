"""Outbound messages as Bot API requests."""

import hashlib
from typing import Final

from adapters.shared.http import file_name
from adapters.shared.json_readers import as_mapping, numeric_id, unix_time
from adapters.telegram.client import RawBot
from adapters.telegram.errors import delivery_error, is_unmodified
from adapters.telegram.library import BadRequest, InputFile, TelegramError
from gateway.errors import Permanent
from gateway.message import Button, Outbound, OutboundFile, Part, Place, Receipt
from gateway.people import Audience
from gateway.ports import LiveView

GENERAL_TOPIC: Final = "1"
"""The topic that every forum has. A message never names it, a typing notice always does."""
MAX_BUTTON_BYTES: Final = 64
MAX_BUTTONS: Final = 100
MAX_PHOTO: Final = 10 * 1024 * 1024
MAX_DOCUMENT: Final = 50 * 1024 * 1024
MAX_INLINE_RESULTS: Final = 50
MAX_DRAFT_ID: Final = 2**31 - 1
SHORT_LABEL: Final = 16
"""Characters of a label up to which two buttons fit side by side on a telephone."""
_PHOTOS: Final = ("image/jpeg", "image/png", "image/webp")
_REFUSED_VOICE: Final = "voice_messages_forbidden"
"""The reader allows no voice messages; a document is allowed."""
_REFUSED_PHOTO: Final = ("photo_", "image_process_failed")


async def send(bot: RawBot, outbound: Outbound) -> Receipt:
    """Send one part or file. Raises a `DeliveryError`."""
    request = _addressed(outbound)
    try:
        if outbound.file is not None:
            result = await _send_file(bot, request, outbound.file)
        elif outbound.part is not None:
            result = await bot.call("sendMessage", {**request, **text_body(outbound.part)})
        else:
            raise Permanent("there is nothing to send: neither a part nor a file")
    except TelegramError as error:
        raise delivery_error(error) from error
    sent = as_mapping(result)
    return Receipt(numeric_id(sent, "message_id"), unix_time(sent, "date"))


def _addressed(outbound: Outbound) -> dict[str, object]:
    """The chat, the message that is replied to, and the buttons. Raises `Permanent`."""
    place = outbound.place
    if outbound.private_to and place.audience is not Audience.DIRECT:
        raise Permanent("everyone in a Telegram group can read its messages")
    request: dict[str, object] = {"chat_id": chat_id(place), **topic(place)}
    if outbound.reply_to_id:
        request["reply_parameters"] = {
            "message_id": _number(outbound.reply_to_id, "message"),
            "allow_sending_without_reply": True,
        }
    if outbound.buttons:
        request["reply_markup"] = {"inline_keyboard": keyboard(outbound.buttons)}
    return request


def is_direct_messages(place: Place) -> bool:
    """True for a topic of a channel's direct messages; everyone reads a forum's topics."""
    return place.closed_thread


def topic(place: Place) -> dict[str, object]:
    """The topic of a message; nothing for the general one."""
    if is_direct_messages(place):
        return {"direct_messages_topic_id": _number(place.thread_id, "topic")}
    if not place.thread_id or place.thread_id == GENERAL_TOPIC:
        return {}
    return {"message_thread_id": _number(place.thread_id, "thread")}


def chat_id(place: Place) -> int:
    """The chat's number. Raises `Permanent` for any other id."""
    return _number(place.channel_id, "chat")


def message_of(place: Place, message_id: str) -> dict[str, object]:
    """The fields that name one message of a chat. Raises `Permanent`."""
    return {"chat_id": chat_id(place), "message_id": _number(message_id, "message")}


def _number(value: str, subject: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise Permanent(f"{value!r} is not the id of a Telegram {subject}") from None


def text_body(part: Part) -> dict[str, object]:
    """Text with its markup. A payload equal to its plain text has no markup and is not parsed.

    The renderer escapes `<`, `>` and `&`, so HTML that equals its plain text contains none of
    them. The plain text that follows a `FormatRejected` may contain them.
    """
    payload = part.payload if isinstance(part.payload, str) else part.text
    body: dict[str, object] = {"text": payload, "link_preview_options": {"is_disabled": True}}
    if payload != part.text:
        body["parse_mode"] = "HTML"
    return body


def keyboard(buttons: tuple[Button, ...]) -> list[list[dict[str, object]]]:
    """Rows of buttons: two short labels in a row, one longer label. Raises `Permanent`."""
    if len(buttons) > MAX_BUTTONS:
        raise Permanent(f"{len(buttons)} buttons; Telegram accepts {MAX_BUTTONS} under a message")
    for button in buttons:
        if not 1 <= len(button.value.encode()) <= MAX_BUTTON_BYTES:
            raise Permanent(
                f"the value of button {button.label!r} must have 1 to {MAX_BUTTON_BYTES} bytes"
            )
    cells: list[dict[str, object]] = [
        {"text": button.label, "callback_data": button.value} for button in buttons
    ]
    columns = 2 if all(len(button.label) <= SHORT_LABEL for button in buttons) else 1
    return [cells[at : at + columns] for at in range(0, len(cells), columns)]


async def _send_file(bot: RawBot, request: dict[str, object], file: OutboundFile) -> object:
    """Send a photo or a voice message where Telegram accepts one, otherwise a document, which keeps
    every byte."""
    if len(file.data) > MAX_DOCUMENT:
        raise Permanent(f"{file.name} has {len(file.data)} bytes; Telegram accepts {MAX_DOCUMENT}")
    upload = InputFile(file.data, filename=file_name(file.name))
    if file.mime in _PHOTOS and len(file.data) <= MAX_PHOTO:
        try:
            return await bot.upload("sendPhoto", {**request, "photo": upload})
        except BadRequest as error:
            if not any(reason in error.message.lower() for reason in _REFUSED_PHOTO):
                raise
    if file.voice is not None and file.mime == "audio/ogg":
        length = {"duration": round(file.voice.seconds)}
        try:
            return await bot.upload("sendVoice", {**request, **length, "voice": upload})
        except BadRequest as error:
            if _REFUSED_VOICE not in error.message.lower():
                raise
    return await bot.upload("sendDocument", {**request, "document": upload})


async def edit(
    bot: RawBot, place: Place, message_id: str, part: Part | None, buttons: tuple[Button, ...] = ()
) -> None:
    """Replace the text of a message of the bot. Raises a `DeliveryError`."""
    if part is None:
        raise Permanent("there is no text for the message")
    request = message_of(place, message_id) | text_body(part)
    if buttons:
        request["reply_markup"] = {"inline_keyboard": keyboard(buttons)}
    await run(bot, "editMessageText", request)


async def clear_buttons(bot: RawBot, place: Place, message_id: str) -> None:
    """Remove the buttons of a message of the bot; one without buttons is accepted. Raises a
    `DeliveryError`."""
    await run(bot, "editMessageReplyMarkup", message_of(place, message_id))


async def run(bot: RawBot, method: str, request: dict[str, object]) -> None:
    """Call a method and ignore its result; an edit may change nothing. Raises a `DeliveryError`."""
    try:
        await bot.call(method, request)
    except TelegramError as error:
        if not is_unmodified(error):
            raise delivery_error(error, repeatable=True) from error


async def show_live(bot: RawBot, view: LiveView) -> str:
    """Show a draft in a private chat, elsewhere a message that is edited. Raises a
    `DeliveryError`."""
    place = view.place
    if place.audience is Audience.DIRECT:
        draft = {"chat_id": chat_id(place), "draft_id": draft_id(view.key), **topic(place)}
        await run(bot, "sendMessageDraft", {**draft, **text_body(view.part)})
        return ""
    if view.handle:
        await edit(bot, place, view.handle, view.part)
        return view.handle
    first = Outbound(view.key, place, view.part, reply_to_id=view.reply_to_id)
    return (await send(bot, first)).message_id


def draft_id(key: str) -> int:
    """A number for the draft of an answer: never 0, always the same for the same key."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % MAX_DRAFT_ID + 1


def typing_request(place: Place) -> dict[str, object]:
    """The request of sendChatAction, which names the general topic as well."""
    request: dict[str, object] = {"chat_id": chat_id(place), "action": "typing"}
    if place.thread_id:
        request["message_thread_id"] = _number(place.thread_id, "thread")
    return request


def reaction_request(place: Place, message_id: str, emoji: str) -> dict[str, object]:
    """The request of setMessageReaction; an empty emoji removes the reaction. Telegram knows the
    heart without its variation selector."""
    plain = emoji.replace("\ufe0f", "")
    reaction = [{"type": "emoji", "emoji": plain}] if plain else []
    return {**message_of(place, message_id), "reaction": reaction}


def inline_request(query_id: str, suggestions: tuple[Button, ...]) -> dict[str, object]:
    """The request of answerInlineQuery; the chosen article's text is posted in the chat."""
    results = [
        {
            "type": "article",
            "id": str(number),
            "title": one.label or one.value,
            "description": one.description,
            "input_message_content": {"message_text": one.value},
        }
        for number, one in enumerate(suggestions[:MAX_INLINE_RESULTS])
    ]
    return {
        "inline_query_id": query_id,
        "results": results,
        "is_personal": True,
        "cache_time": 0,  # a suggested memory may be deleted a moment later
    }
