"""The library's errors as those of the gateway."""

from typing import Final

import aiohttp

from adapters.shared.http import NOT_REACHED, answered_with, reason_of
from adapters.telegram.client import GroupUpgraded, NotSent, RateLimited, ServerFailed
from adapters.telegram.library import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    TelegramError,
)
from gateway.errors import (
    AddressGone,
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    PlatformFailed,
    StartError,
    Transient,
)
from gateway.text import Span, Text, text, verbatim

ASK_BOTFATHER: Final = text(
    "Ask @BotFather for the token (`/mybots`, API Token) and set `platforms.telegram.bot_token`."
)
UNKNOWN_TOKEN: Final = text("Telegram does not know the bot token.")
CHECK_NETWORK: Final = text("Check the network, and `platforms.telegram.base_url`.")


_NO_TOPIC: Final = (
    *("message thread not found", "topic_closed", "topic_deleted", "topic_id_invalid"),
    "topic closed",
)
_NO_REPLY: Final = (
    *("message to be replied not found", "replied message not found"),
    *("message to reply not found", "reply_message_id_invalid"),
)
"""Errors for a topic or message that is gone. Telegram documents none of them."""


def delivery_error(error: TelegramError, *, repeatable: bool = False) -> DeliveryError:
    """The meaning of a failed call for the message. `repeatable`: a second one does no harm."""
    match error:
        case RateLimited():
            return Transient(error.message, retry_after=error.seconds)
        case NotSent():
            return Transient(error.message)
        case ServerFailed():
            return Transient(error.message) if repeatable else PlatformFailed(error.message)
        case GroupUpgraded():
            return Transient(error.message, retry_after=0.0)
        case BadRequest():
            return _refused(error)
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


def _refused(error: BadRequest) -> DeliveryError:
    if "can't parse entities" in error.message.lower():
        return FormatRejected(error.message)
    if _is_one_of(error, _NO_TOPIC):
        return AddressGone(error.message, thread=True)
    if _is_one_of(error, _NO_REPLY):
        return AddressGone(error.message)
    return Permanent(error.message)


def _is_one_of(error: TelegramError, known: tuple[str, ...]) -> bool:
    reason = error.message.lower()
    return any(one in reason for one in known)


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
            return StartError(UNKNOWN_TOKEN, ASK_BOTFATHER, permanent=True)
        case Conflict():
            return StartError(
                text("Another program fetches this bot's updates."),
                text("Stop it, or give Parley another bot: a bot has one receiver."),
            )
        case RateLimited():
            wait = Span(error.seconds)
            return StartError(text("Telegram asks to wait {wait} before connecting.", wait=wait))
        case ServerFailed():
            return StartError(answered_with("Telegram", error.status), CHECK_NETWORK)
        case BadRequest():
            return StartError(
                text("Telegram refused the settings: {reason}.", reason=verbatim(error.message)),
                text(
                    "Check `platforms.telegram.webhook_url` and "
                    "`platforms.telegram.webhook_secret`."
                ),
                permanent=True,
            )
        case _:
            return StartError(
                NOT_REACHED.of(platform=verbatim("Telegram"), reason=reason_in(error)),
                CHECK_NETWORK,
            )


def reason_in(error: TelegramError) -> Text:
    """Return why there is no answer: in the words of the program where the network failed,
    otherwise in those of the library."""
    cause = error.__cause__
    unreachable = isinstance(cause, aiohttp.ClientError | OSError)
    return reason_of(cause) if unreachable and cause is not None else verbatim(error.message)
