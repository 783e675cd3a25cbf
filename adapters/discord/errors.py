"""Converts discord.py's errors to those of the gateway."""

from typing import Final

import discord

from adapters.shared.http import NOT_REACHED, answered_with, no_answer, reason_of
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    StartError,
    Transient,
)
from gateway.text import Span, text, verbatim

NOTHING_HAPPENED: Final = (500, 503)
"""Server errors after which Discord has certainly not acted; 502 and 504 leave it open."""
INVALID_FORM: Final = 50035
MAX_SERVERS: Final = 2_500
BAD_TOKEN, BAD_INTENTS, NEEDS_SHARDING = 4004, (4013, 4014), 4011
PORTAL: Final = "https://discord.com/developers/applications"
WRONG_APPLICATION: Final = text(
    "Correct `platforms.discord.application_id`, or use the token of that application."
)


class ConnectionReset(discord.DiscordException):
    """The connection broke before an answer came."""


class GlobalRateLimit(discord.RateLimited):
    """A limit for all requests of the bot, not for one route."""


class RequestRefused(Permanent):
    """Discord refused a request; `code` is its own number for the reason (10003, 50001 ...)."""

    def __init__(self, reason: str, status: int, code: int) -> None:
        super().__init__(reason)
        self.status = status
        self.code = code


def delivery_error(error: Exception, *, repeatable: bool) -> DeliveryError:
    """The meaning of a failed call. `repeatable`: making it twice is the same as once."""
    match error:
        case discord.RateLimited():
            everything = isinstance(error, GlobalRateLimit)
            return Transient("Discord's rate limit", error.retry_after, whole_account=everything)
        case discord.DiscordServerError():
            reason = f"Discord failed with status {error.status}"
            if repeatable or error.status in NOTHING_HAPPENED:
                return Transient(reason)
            return Ambiguous(reason)
        case discord.HTTPException():
            return _refusal(error)
        case _:
            return no_answer("Discord", error, repeatable=False)


def _refusal(error: discord.HTTPException) -> DeliveryError:
    """The meaning of a 4xx. Where only the markup can be wrong, the plain text may succeed."""
    reason = f"Discord refused with {error.status} ({error.code}): {error.text[:300]}"
    about_content = error.code == INVALID_FORM and "content" in error.text
    if about_content and "in length" not in error.text:
        return FormatRejected(reason)
    return RequestRefused(reason, error.status, error.code)


def start_error(error: BaseException) -> StartError:
    """The reason for a failed start or a lost connection, with advice."""
    code = error.code if isinstance(error, discord.ConnectionClosed) else None
    if isinstance(error, StartError):
        return error
    if isinstance(error, discord.LoginFailure) or code == BAD_TOKEN:
        return StartError(
            text("Discord refused the token."),
            text(
                "Reset it at {page}, page Bot, and set `platforms.discord.token`.",
                page=verbatim(PORTAL),
            ),
            permanent=True,
        )
    if isinstance(error, discord.PrivilegedIntentsRequired) or code in BAD_INTENTS:
        return StartError(
            text("Discord does not let this bot read messages, or see members."),
            text(
                "Switch on Message Content Intent at {page}, page Bot, with `members_intent` also "
                "Server Members Intent, and start again.",
                page=verbatim(PORTAL),
            ),
            permanent=True,
        )
    if code == NEEDS_SHARDING:
        return StartError(
            text("The bot is in more servers than one connection may serve."),
            text(
                "Parley uses one connection per bot; remove the bot from servers until fewer than "
                "{number} are left.",
                number=MAX_SERVERS,
            ),
            permanent=True,
        )
    if isinstance(error, discord.RateLimited):
        wait = Span(error.retry_after)
        return StartError(text("Discord asks to wait {wait} before connecting.", wait=wait))
    if isinstance(error, discord.HTTPException):
        said = answered_with("Discord", error.status)
        return StartError(said, text("Try again later."))
    problem = NOT_REACHED.of(platform=verbatim("Discord"), reason=reason_of(error))
    advice = text(
        "Check the network, and `platforms.discord.api_base` and `platforms.discord.gateway_url`."
    )
    return StartError(problem, advice)
