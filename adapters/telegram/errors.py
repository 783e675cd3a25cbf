"""The library's errors as those of the gateway."""

from typing import Final

from adapters.telegram.client import NotSent, RateLimited, ServerFailed
from adapters.telegram.library import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    PlatformFailed,
    StartError,
    Transient,
)

ASK_BOTFATHER: Final = (
    "Ask @BotFather for the token (/mybots, API Token) and set platforms.telegram.bot_token."
)


def delivery_error(error: TelegramError, *, repeatable: bool = False) -> DeliveryError:
    """The meaning of a failed call for the message. `repeatable`: a second one does no harm."""
    match error:
        case RateLimited():
            return Transient(error.message, retry_after=error.seconds)
        case NotSent():
            return Transient(error.message)
        case ServerFailed():
            return Transient(error.message) if repeatable else PlatformFailed(error.message)
        case ChatMigrated():
            return Permanent(f"the group became a supergroup with the id {error.new_chat_id}")
        case BadRequest() if "can't parse entities" in error.message.lower():
            return FormatRejected(error.message)
        case BadRequest():
            return Permanent(error.message)
        case Forbidden():
            return Permanent(f"the bot may not write there: {error.message}")
        case InvalidToken():
            return Permanent("Telegram does not know the bot token")
        case Conflict():
            return Transient(error.message)
        case NetworkError():
            return Ambiguous(error.message)
        case _ if type(error) is TelegramError:  # the answer could not be read
            return Ambiguous(error.message)
        case _:
            return Permanent(error.message)


def is_unmodified(error: TelegramError) -> bool:
    """True when an edit changed nothing: the message has this content already."""
    return isinstance(error, BadRequest) and "message is not modified" in error.message.lower()


def is_missing(error: TelegramError) -> bool:
    """True when there is nothing to delete: the message is gone already."""
    return isinstance(error, BadRequest) and "to delete not found" in error.message.lower()


def start_error(error: TelegramError) -> StartError:
    """The reason for a failed connection, with advice."""
    match error:
        case InvalidToken():
            return StartError(
                "Telegram does not know the bot token.", ASK_BOTFATHER, permanent=True
            )
        case Conflict():
            return StartError(
                "Another program fetches this bot's updates.",
                "Stop it, or give Parley another bot: a bot has one receiver.",
            )
        case RateLimited():
            return StartError(f"{error.message}.")
        case BadRequest():
            return StartError(
                f"Telegram refused the settings: {error.message}.",
                "Check platforms.telegram.webhook_url and webhook_secret.",
                permanent=True,
            )
        case _:
            return StartError(
                f"Telegram cannot be reached: {error.message}.",
                "Check the network, and platforms.telegram.base_url.",
            )
