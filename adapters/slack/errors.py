"""What Slack's refusals mean for the gateway."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    StartError,
    Transient,
)

_FORMAT: Final = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_attachments",
    "msg_blocks_too_long",
}
_ABSENT: Final = {"channel_not_found", "not_in_channel", "user_not_in_channel"}
_LATER: Final = {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
_UNSURE: Final = {"fatal_error", "internal_error"}
"""Of these two Slack says that part of the work may have been done."""

_CREDENTIALS: Final = {
    "invalid_auth": "The token is wrong.",
    "not_authed": "The token is missing.",
    "account_inactive": "The app was uninstalled, or its workspace is gone.",
    "token_revoked": "The token was revoked.",
    "token_expired": "The token has expired.",
    "not_allowed_token_type": "The bot token and the app token may be mixed up.",
    "missing_scope": "A scope is missing.",
    "no_permission": "The app may not do this.",
    "team_access_not_granted": "The app is not installed in this workspace.",
}
_ADVICE: Final = {
    "not_in_channel": "Invite the bot to the channel.",
    "is_archived": "The channel is archived.",
    "missing_scope": "Add the scope under OAuth & Permissions and reinstall the app.",
}


class NotInConversation(Permanent):
    """The bot, or the reader, is not part of the conversation."""


@contextmanager
def delivery_errors(*, sends: bool) -> Iterator[None]:
    """Turn what the client raises into the gateway's errors.

    With `sends` the request changes something visible, so that a missing answer leaves open
    whether it was done.
    """
    try:
        yield
    except SlackApiError as error:
        raise refusal(error, sends=sends) from error
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise Transient(f"Slack cannot be reached ({type(error).__name__})") from error
    except (aiohttp.ClientError, OSError) as error:
        # TimeoutError is an OSError.
        reason = f"Slack did not answer ({type(error).__name__})"
        raise (Ambiguous(reason) if sends else Transient(reason)) from error


def refusal(error: SlackApiError, *, sends: bool) -> DeliveryError:
    """The meaning of an answer that is not ok."""
    code, response = code_of(error), error.response
    status = response.status_code if isinstance(response, AsyncSlackResponse) else 0
    if status == 429 or code in _LATER:
        return Transient(f"Slack: {code or status}", retry_after=_retry_after(response))
    if status >= 500:
        return Transient(f"Slack answered {status}")
    return refused(code, _details(response), sends=sends)


def refused(code: str, details: str = "", *, sends: bool = True) -> DeliveryError:
    """The meaning of an error's name."""
    text = f"Slack: {code or 'unreadable answer'} {details} {_ADVICE.get(code, '')}".strip()
    if code in _FORMAT:
        return FormatRejected(text)
    if code in _ABSENT:
        return NotInConversation(text)
    if code in _LATER:
        return Transient(text)
    if code in _UNSURE or not code:
        return Ambiguous(text) if sends else Transient(text)
    return Permanent(text)


def start_error(error: Exception, credential: str) -> StartError:
    """Why a connection could not be made; `credential` names the setting in question."""
    code = code_of(error) if isinstance(error, SlackApiError) else ""
    if code in _CREDENTIALS:
        return StartError(
            f"Slack refused {credential}: {code}.",
            f"{_CREDENTIALS[code]} See https://api.slack.com/apps, then run `parley doctor`.",
            permanent=True,
        )
    return StartError(
        f"Slack did not accept the connection: {code or type(error).__name__}.",
        "It is tried again; if it goes on, see https://slack-status.com.",
    )


def code_of(error: SlackApiError) -> str:
    """The name of the error, empty when the answer was not readable."""
    response = error.response
    if not isinstance(response, AsyncSlackResponse) or not isinstance(response.data, dict):
        return ""
    return str(response.data.get("error", ""))


def _details(response: object) -> str:
    """Which part of the request was wrong; Slack's words hold places, never text."""
    if not isinstance(response, AsyncSlackResponse) or not isinstance(response.data, dict):
        return ""
    needed = response.data.get("needed")
    metadata = response.data.get("response_metadata")
    messages = metadata.get("messages") if isinstance(metadata, dict) else None
    parts = [f"needs {needed}"] if needed else []
    parts += [str(m)[:200] for m in (messages if isinstance(messages, list) else [])[:3]]
    return f"({'; '.join(parts)})" if parts else ""


def _retry_after(response: object) -> float | None:
    if not isinstance(response, AsyncSlackResponse):
        return None
    try:
        return float(response.headers.get("Retry-After", ""))
    except (TypeError, ValueError):
        return None
