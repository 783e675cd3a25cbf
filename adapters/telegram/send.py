"""What we put into a chat, as Bot API requests."""

from typing import Final

from telegram import InputFile
from telegram.error import BadRequest, TelegramError

from adapters.telegram.client import RawBot
from adapters.telegram.errors import delivery_error, is_unmodified
from adapters.telegram.json_readers import identity, mapping, moment
from gateway.errors import Permanent
from gateway.message import Button, Outbound, OutboundFile, Part, Place, Receipt
from gateway.people import Audience

GENERAL_TOPIC: Final = "1"
"""The topic that every forum has: never named in a send, always in a typing notice."""
MAX_BUTTON_BYTES: Final = 64
MAX_BUTTONS: Final = 100
MAX_PHOTO: Final = 10 * 1024 * 1024
MAX_DOCUMENT: Final = 50 * 1024 * 1024
MAX_INLINE_RESULTS: Final = 50
SHORT_LABEL: Final = 16
"""Characters of a label up to which two buttons share a row on a telephone."""
_PHOTOS: Final = ("image/jpeg", "image/png", "image/webp")
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
    except TelegramError as problem:
        raise delivery_error(problem) from problem
    sent = mapping(result)
    return Receipt(identity(sent.get("message_id")), moment(sent.get("date")))


def _addressed(outbound: Outbound) -> dict[str, object]:
    """Where it goes, and what hangs below it. Raises `Permanent`."""
    place = outbound.place
    if outbound.private_to and place.audience is not Audience.DIRECT:
        raise Permanent("Telegram shows what is written in a group to everybody there")
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
    """True for a topic of a channel's direct messages; forum topics are read by all."""
    return place.closed_thread


def topic(place: Place) -> dict[str, object]:
    """The topic to write in, unless it is the general one."""
    if is_direct_messages(place):
        return {"direct_messages_topic_id": _number(place.thread_id, "topic")}
    if not place.thread_id or place.thread_id == GENERAL_TOPIC:
        return {}
    return {"message_thread_id": _number(place.thread_id, "thread")}


def chat_id(place: Place) -> int:
    """The chat's id as Telegram counts. Raises `Permanent` for anything else."""
    return _number(place.channel_id, "chat")


def _number(value: str, what: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise Permanent(f"{value!r} is not the id of a Telegram {what}") from None


def text_body(part: Part) -> dict[str, object]:
    """Text with its markup. A payload equal to its plain text has none, and is sent as it is.

    The renderer escapes `<`, `>` and `&`, so HTML that equals its plain text contains none of
    them; the plain text that follows a `FormatRejected` may, and must not be parsed.
    """
    payload = part.payload if isinstance(part.payload, str) else part.text
    body: dict[str, object] = {"text": payload, "link_preview_options": {"is_disabled": True}}
    if payload != part.text:
        body["parse_mode"] = "HTML"
    return body


def keyboard(buttons: tuple[Button, ...]) -> list[list[dict[str, object]]]:
    """Rows of buttons: short labels two in a row, longer ones alone. Raises `Permanent`."""
    if len(buttons) > MAX_BUTTONS:
        raise Permanent(f"{len(buttons)} buttons; Telegram takes {MAX_BUTTONS} under a message")
    cells: list[dict[str, object]] = []
    for button in buttons:
        if not 1 <= len(button.value.encode()) <= MAX_BUTTON_BYTES:
            raise Permanent(
                f"the value of button {button.label!r} must have 1 to {MAX_BUTTON_BYTES} bytes"
            )
        cells.append({"text": button.label, "callback_data": button.value})
    wide = 2 if all(len(button.label) <= SHORT_LABEL for button in buttons) else 1
    return [cells[at : at + wide] for at in range(0, len(cells), wide)]


async def _send_file(bot: RawBot, request: dict[str, object], file: OutboundFile) -> object:
    """As a photo where that is possible, otherwise as a document, which keeps every byte."""
    if len(file.data) > MAX_DOCUMENT:
        raise Permanent(f"{file.name} has {len(file.data)} bytes; Telegram takes {MAX_DOCUMENT}")
    upload = InputFile(file.data, filename=file.name or "file")
    if file.mime in _PHOTOS and len(file.data) <= MAX_PHOTO:
        try:
            return await bot.upload("sendPhoto", {**request, "photo": upload})
        except BadRequest as problem:
            if not any(reason in problem.message.lower() for reason in _REFUSED_PHOTO):
                raise
    return await bot.upload("sendDocument", {**request, "document": upload})


async def edit(
    bot: RawBot, place: Place, message_id: str, part: Part | None, buttons: tuple[Button, ...] = ()
) -> None:
    """Replace the text of a message of ours. Raises a `DeliveryError`."""
    if part is None:
        raise Permanent("there is no text to put into the message")
    request: dict[str, object] = {
        "chat_id": chat_id(place),
        "message_id": _number(message_id, "message"),
        **text_body(part),
    }
    if buttons:
        request["reply_markup"] = {"inline_keyboard": keyboard(buttons)}
    try:
        await bot.call("editMessageText", request)
    except TelegramError as problem:
        if not is_unmodified(problem):
            raise delivery_error(problem) from problem


async def clear_buttons(bot: RawBot, place: Place, message_id: str) -> None:
    """Take the keyboard away from under a message of ours; one without is fine. Raises a
    `DeliveryError`."""
    request: dict[str, object] = {
        "chat_id": chat_id(place),
        "message_id": _number(message_id, "message"),
    }
    try:
        await bot.call("editMessageReplyMarkup", request)
    except TelegramError as problem:
        if not is_unmodified(problem):
            raise delivery_error(problem) from problem


async def run(bot: RawBot, method: str, data: dict[str, object]) -> None:
    """Call a method whose answer does not matter. Raises a `DeliveryError`."""
    try:
        await bot.call(method, data)
    except TelegramError as problem:
        raise delivery_error(problem) from problem


def delete_request(place: Place, message_id: str) -> dict[str, object]:
    """deleteMessage."""
    return {"chat_id": chat_id(place), "message_id": _number(message_id, "message")}


def typing_request(place: Place) -> dict[str, object]:
    """sendChatAction; here also the general topic is named."""
    request: dict[str, object] = {"chat_id": chat_id(place), "action": "typing"}
    if place.thread_id:
        request["message_thread_id"] = _number(place.thread_id, "thread")
    return request


def reaction_request(place: Place, message_id: str, emoji: str) -> dict[str, object]:
    """setMessageReaction; none with an empty emoji. Telegram knows the heart without its variation
    selector."""
    plain = emoji.replace("\ufe0f", "")
    return {
        "chat_id": chat_id(place),
        "message_id": _number(message_id, "message"),
        "reaction": [{"type": "emoji", "emoji": plain}] if plain else [],
    }


def inline_request(query_id: str, suggestions: tuple[Button, ...]) -> dict[str, object]:
    """answerInlineQuery; choosing an article posts its text in the chat."""
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
        "cache_time": 0,  # what is offered may be forgotten a moment later
    }
