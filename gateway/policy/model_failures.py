"""Names the kind of a failed call of a model, and the next step of the operator."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from gateway.errors import AnswerStalled, ContextTooLong, ModelError, ModelRefused, NoFirstToken
from gateway.text import Text, joined, text, verbatim

FailureKind: TypeAlias = Literal[
    "key_refused",
    "not_allowed",
    "no_credit",
    "not_found",
    "too_long",
    "rate_limited",
    "timeout",
    "overloaded",
    "server_error",
    "request_refused",
    "no_first_token",
    "stalled",
    "dns",
    "tls",
    "connection_refused",
    "connection_failed",
    "interrupted",
    "bad_answer",
    "page",
    "failed",
]

_BY_STATUS: Final[Mapping[int, FailureKind]] = {
    401: "key_refused",
    402: "no_credit",
    403: "not_allowed",
    404: "not_found",
    408: "timeout",
    413: "too_long",
    429: "rate_limited",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
_IN_ANSWER: Final[Mapping[str, FailureKind]] = {
    "overloaded": "overloaded",
    "rate_limit": "rate_limited",
    "timeout": "timeout",
    "api_error": "server_error",
}
OF_ONE_REQUEST: Final[frozenset[FailureKind]] = frozenset(
    {"request_refused", "too_long", "bad_answer", "interrupted", "stalled"}
)
"""Kinds that may concern a single question."""
_NO_CREDIT: Final = ("insufficient_quota", "credit balance")
"""Words of OpenAI (429) and Anthropic (400) for an account without money."""
_PAGE: Final = "a page of HTML"
_LATER: Final = text(
    "Parley asks the model again with each question; a fallback (model.fallbacks) answers meanwhile"
)
_STEPS: Final[Mapping[str, Text]] = {
    "key_refused": text("Create a new key and set it as model.api_key (or model.auth_token)"),
    "not_allowed": text("Allow this key to use the model, or correct model.base_url"),
    "no_credit": text("Pay the service, or raise its spending limit"),
    "not_found": text("Correct model.name, or model.base_url"),
    "too_long": text("Set model.window to the window of the model"),
    "rate_limited": joined((text("Ask the service for a higher limit."), _LATER), " "),
    "timeout": _LATER,
    "overloaded": _LATER,
    "server_error": joined(
        (text("Read the log of the model's server, or of a proxy before it."), _LATER), " "
    ),
    "request_refused": text("Correct what the message of the service names"),
    "no_first_token": text("If the model is only slow, raise model.first_token_seconds"),
    "stalled": text("If the model is only slow, raise model.between_tokens_seconds"),
    "dns": text("Correct the host in model.base_url, or the DNS of this machine"),
    "tls": text("Check the certificate of the server, and https in model.base_url"),
    "connection_refused": text("Start the model's server, or correct model.base_url"),
    "connection_failed": text("Check the network and model.base_url"),
    "interrupted": text("Read the log of the model's server, and of a proxy before it"),
    "bad_answer": text(
        "Check that model.base_url is the address of a model's API, then read its log"
    ),
    "page": text("Correct model.base_url: it leads to a page, perhaps the sign-in of a proxy"),
    "failed": text("Read the log of the program"),
}
_WORDS: Final[Mapping[str, Text]] = {
    "key_refused": text("key refused"),
    "not_allowed": text("not allowed"),
    "no_credit": text("no credit"),
    "not_found": text("not found"),
    "too_long": text("too long"),
    "rate_limited": text("rate limited"),
    "timeout": text("timeout"),
    "overloaded": text("overloaded"),
    "server_error": text("server error"),
    "request_refused": text("request refused"),
    # Translators: of an answer.
    "no_first_token": text("no first token"),
    # Translators: an answer that began and does not go on.
    "stalled": text("stalled"),
    "dns": text("host not found"),
    "tls": text("no secure connection"),
    "connection_refused": text("connection refused"),
    "connection_failed": text("connection failed"),
    "interrupted": text("interrupted"),
    "bad_answer": text("bad answer"),
    "page": text("not a model's API"),
    "failed": text("failed"),
}
MAX_CAUSES: Final = 8
_BROKEN_OFF: Final = frozenset(
    {
        *("ClientPayloadError", "ServerDisconnectedError", "ConnectionResetError"),
        *("RemoteProtocolError", "ReadError", "IncompleteRead", "TransferEncodingError"),
    }
)
"""Errors of HTTP clients for a response that breaks off; this package imports none of them."""


def kind_of(error: ModelError) -> FailureKind:
    """Return the kind: by the type of the error, its status, then by what it was raised from."""
    if isinstance(error, NoFirstToken):
        return "no_first_token"
    if isinstance(error, AnswerStalled):
        return "stalled"
    if isinstance(error, ContextTooLong):
        return "too_long"
    if any(words in str(error) for words in _NO_CREDIT):
        return "no_credit"
    if error.status is not None and error.status != 200:
        if kind := _BY_STATUS.get(error.status):
            return kind
        return "server_error" if error.status >= 500 else "request_refused"
    return _kind_of_cause(error)


def step_of(kind: str) -> str:
    """Return what an operator can do, as a sentence without its full stop."""
    return said_step_of(kind).english


def said_step_of(kind: str) -> Text:
    """Return what an operator can do, as a text without its full stop."""
    return _STEPS.get(kind, _STEPS["failed"])


def words_of(kind: str) -> Text:
    """Return a kind in words: "no first token"."""
    return _WORDS.get(kind) or verbatim(kind.replace("_", " "))


def status_of(error: ModelError) -> str:
    """Return the status as a code: "529", or the kind of an error without an HTTP status."""
    return str(error.status) if error.status else kind_of(error)


def described(error: ModelError) -> str:
    """Return status and kind as codes: "529 overloaded", "dns"."""
    kind = kind_of(error)
    return f"{error.status} {kind}" if error.status else kind


def _kind_of_cause(error: ModelError) -> FailureKind:
    """Return the kind of an error without a status of its own: of the connection, or reported by
    the service within an answer."""
    for word, kind in _IN_ANSWER.items():
        if error.status == 200 and word in str(error):
            return kind
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return "dns"
        if isinstance(cause, ssl.SSLError | ssl.CertificateError):
            return "tls"
        if isinstance(cause, ConnectionRefusedError):
            return "connection_refused"
        if "DNS" in type(cause).__name__:  # of an HTTP client, where it asks by itself
            return "dns"
    names = {type(cause).__name__ for cause in _causes(error)}
    if _PAGE in str(error):
        return "page"
    if names & _BROKEN_OFF or "interrupted" in str(error):
        return "interrupted"
    if any(isinstance(cause, OSError) for cause in _causes(error)):
        return "connection_failed"
    return "request_refused" if isinstance(error, ModelRefused) else "bad_answer"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that this one comes from; HTTP clients keep the system's in `os_error`."""
    waiting, seen = [error.__cause__, error.__context__], 0
    while waiting and seen < MAX_CAUSES:
        cause = waiting.pop(0)
        if cause is None:
            continue
        seen += 1
        yield cause
        system = getattr(cause, "os_error", None)
        own = system if isinstance(system, BaseException) else None
        waiting += [own, cause.__cause__, cause.__context__]
