"""The library's errors as the gateway's: may it be tried again, and was anything delivered?"""

from typing import Final

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)

from adapters.telegram.client import NotSent, RateLimited, ServerFailed
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    StartError,
    Transient,
)

ASK_BOTFATHER: Final = (
    "Ask @BotFather for the token (/mybots, API Token) and set platforms.telegram.bot_token."
)


def delivery_error(problem: TelegramError) -> DeliveryError:
    """What a failed call means for the message that was to be sent."""
    match problem:
        case RateLimited():
            return Transient(problem.message, retry_after=problem.seconds)
        case NotSent() | ServerFailed():
            return Transient(problem.message)
        case ChatMigrated():
            return Permanent(f"the group became a supergroup; its id is {problem.new_chat_id} now")
        case BadRequest() if "can't parse entities" in problem.message.lower():
            return FormatRejected(problem.message)
        case BadRequest():
            return Permanent(problem.message)
        case Forbidden():
            return Permanent(f"Telegram does not let the bot write there: {problem.message}")
        case InvalidToken():
            return Permanent("Telegram does not know the bot token")
        case Conflict():
            return Transient(problem.message)
        case NetworkError():
            return Ambiguous(problem.message)
        case _:
            return Permanent(problem.message)


def is_unmodified(problem: TelegramError) -> bool:
    """True when an edit changed nothing: what was asked for stands there."""
    return isinstance(problem, BadRequest) and "message is not modified" in problem.message.lower()


def start_error(problem: TelegramError) -> StartError:
    """Why there is no connection, and what to do about it."""
    match problem:
        case InvalidToken():
            return StartError(
                "Telegram does not know the bot token.", ASK_BOTFATHER, permanent=True
            )
        case Conflict():
            return StartError(
                "Another program fetches this bot's updates.",
                "Stop it, or give this program a bot of its own: a bot has one receiver.",
            )
        case RateLimited():
            return StartError(f"{problem.message}.")
        case BadRequest():
            return StartError(
                f"Telegram refused the settings: {problem.message}.",
                "Check platforms.telegram.webhook_url and webhook_secret.",
                permanent=True,
            )
        case _:
            return StartError(
                f"Telegram cannot be reached: {problem.message}.",
                "Check the network, and platforms.telegram.base_url.",
            )
