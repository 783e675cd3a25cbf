"""Membership of a chat, asked of Telegram."""

from typing import Final

from telegram.error import BadRequest, Forbidden, TelegramError

from adapters.telegram.client import RawBot
from adapters.telegram.errors import delivery_error
from adapters.telegram.json_readers import mapping
from adapters.telegram.messages import is_present

NOT_THERE: Final = ("chat not found", "user not found", "member not found", "participant_id_inval")
"""Telegram's errors for a chat that the bot is not in, and for a person who never was in one."""


async def is_member(bot: RawBot, chat_id: str, user_id: str) -> bool:
    """True when the person is in the chat. False where the bot was removed. Raises a
    `DeliveryError`: of other people Telegram is only certain to tell a bot that is an
    administrator."""
    try:
        asked: dict[str, object] = {"chat_id": int(chat_id), "user_id": int(user_id)}
    except ValueError:
        return False
    try:
        return is_present(mapping(await bot.call("getChatMember", asked)))
    except Forbidden:
        return False
    except BadRequest as problem:
        if any(reason in problem.message.lower() for reason in NOT_THERE):
            return False
        raise delivery_error(problem) from problem
    except TelegramError as problem:
        raise delivery_error(problem) from problem
