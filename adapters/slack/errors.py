"""Slack's error codes as the gateway's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.shared.http import no_answer, reason_of, retry_after, server_failed
from adapters.shared.json_readers import array, as_mapping, mapping
from gateway.errors import (
    Ambiguous,
    DeliveryError,
    FormatRejected,
    Permanent,
    PlatformFailed,
    StartError,
    Transient,
)
from gateway.text import joined, text, verbatim

_FORMAT: Final = {
    "invalid_blocks",
    "invalid_blocks_format",
    "invalid_attachments",
    "msg_blocks_too_long",
}
_ABSENT: Final = {"channel_not_found", "not_in_channel", "user_not_in_channel"}
_LATER: Final = {"ratelimited", "rate_limited", "service_unavailable", "request_timeout"}
_UNSURE: Final = {"fatal_error", "internal_error"}
"""After these two, part of the work may have been done (Slack's documentation)."""

UNREACHABLE: Final = (aiohttp.ClientError, OSError)
"""The errors of a request without an answer; TimeoutError is an OSError."""

CREDENTIAL_ERRORS: Final = {
    "invalid_auth": text("The token is wrong."),
    "not_authed": text("The token is missing."),
    "account_inactive": text("The app was uninstalled, or its workspace is gone."),
    "token_revoked": text("The token was revoked."),
    "token_expired": text("The token has expired."),
    "not_allowed_token_type": text("The bot token and the app token may be mixed up."),
    "missing_scope": text("A scope is missing."),
    "no_permission": text("The app may not do this."),
    "team_access_not_granted": text("The app is not installed in this workspace."),
}
APPS: Final = "https://api.slack.com/apps"
_SEE: Final = text("See {address}, then run `parley doctor`.", address=verbatim(APPS))
_ADVICE: Final = {
    "not_in_channel": "Invite the bot to the channel.",
    "is_archived": "The channel is archived.",
    "missing_scope": "Add the scope under OAuth & Permissions and reinstall the app.",
}


class AnswerTooLarge(Permanent):
    """Slack's answer has more bytes than are parsed at once."""


class NotInConversation(Permanent):
    """The bot, or the reader, is not a member of the conversation."""


@contextmanager
def delivery_errors(*, sends: bool, accept: tuple[str, ...] = ()) -> Iterator[None]:
    """Turn the client's errors into those of the gateway; the error codes in `accept` are none.

    With `sends`, the request changes something visible, so a missing answer, or a failure of
    Slack's, is ambiguous.
    """
    try:
        yield
    except SlackApiError as error:
        if code_of(error) not in accept:
            raise refusal(error, sends=sends) from error
    except UNREACHABLE as error:
        raise no_answer("Slack", error, repeatable=not sends) from error


def refusal(error: SlackApiError, *, sends: bool) -> DeliveryError:
    """The meaning of an answer that is not ok."""
    code, response = code_of(error), error.response
    if not isinstance(response, AsyncSlackResponse):
        return refused(code, sends=sends)
    status = response.status_code
    if status == 429 or code in _LATER:
        return Transient(f"Slack: {code or status}", retry_after(response.headers))
    if status >= 500:
        return server_failed("Slack", status, retry_after(response.headers), repeatable=not sends)
    return refused(code, _details(response), sends=sends)


def refused(code: str, details: str = "", *, sends: bool = True) -> DeliveryError:
    """The meaning of an error code."""
    text = f"Slack: {code or 'unreadable answer'} {details} {_ADVICE.get(code, '')}".strip()
    if code in _FORMAT:
        return FormatRejected(text)
    if code in _ABSENT:
        return NotInConversation(text)
    if code in _LATER:
        return Transient(text)
    if code in _UNSURE:
        return PlatformFailed(text) if sends else Transient(text)
    if not code:
        return Ambiguous(text) if sends else Transient(text)
    return Permanent(text)


def start_error(error: Exception, credential: str) -> StartError:
    """The reason for a failed connection; `credential` names the setting in question."""
    code = code_of(error) if isinstance(error, SlackApiError) else ""
    if code in CREDENTIAL_ERRORS:
        return StartError(
            text("Slack refused {key}: {code}.", key=verbatim(credential), code=verbatim(code)),
            joined((CREDENTIAL_ERRORS[code], _SEE), " "),
            permanent=True,
        )
    reason = verbatim(code) if code else reason_of(error)
    return StartError(
        text("Slack did not accept the connection: {reason}.", reason=reason),
        text(
            "Parley tries again. If it persists, see {address}.",
            address=verbatim("https://slack-status.com"),
        ),
    )


def code_of(error: SlackApiError) -> str:
    """The error code, empty when the answer was not readable."""
    response = error.response
    if not isinstance(response, AsyncSlackResponse) or not isinstance(response.data, dict):
        return ""
    return str(response.data.get("error", ""))


def _details(response: AsyncSlackResponse) -> str:
    """The faulty part of the request. Slack's messages name fields and contain no text."""
    data = as_mapping(response.data)
    parts = [f"needs {data['needed']}"] if data.get("needed") else []
    parts += [str(one)[:200] for one in array(mapping(data, "response_metadata"), "messages", 3)]
    return f"({'; '.join(parts)})" if parts else ""
