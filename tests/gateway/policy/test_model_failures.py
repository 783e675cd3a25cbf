"""The kind of a failed call, and its next step."""

import socket
import ssl

import aiohttp
import httpx2

from gateway.errors import (
    AnswerStalled,
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    NoFirstToken,
)
from gateway.policy.model_failures import (
    FailureKind,
    described,
    kind_of,
    status_of,
    step_of,
    words_of,
)
from tests.support.for_each import for_each


@for_each(
    ("status", "kind"),
    [
        (400, "request_refused"),
        (401, "key_refused"),
        (402, "no_credit"),
        (403, "not_allowed"),
        (404, "not_found"),
        (408, "timeout"),
        (413, "too_long"),
        (422, "request_refused"),
        (429, "rate_limited"),
        (500, "server_error"),
        (502, "server_error"),
        (503, "overloaded"),
        (504, "timeout"),
        (529, "overloaded"),
    ],
)
def test_a_status_has_a_kind(status: int, kind: FailureKind) -> None:
    error = ModelUnavailable("no", status=status)

    assert kind_of(error) == kind
    assert status_of(error) == str(status)
    assert described(error) == f"{status} {kind}"


def caused(cause: BaseException) -> ModelError:
    error = ModelUnavailable("no answer")
    error.__cause__ = cause
    return error


def connector(os_error: OSError) -> aiohttp.ClientConnectorError:
    return aiohttp.ClientConnectorError(None, os_error)  # type: ignore[arg-type]  # only shown


def http2(cause: OSError) -> httpx2.ConnectError:
    error = httpx2.ConnectError("failed")
    error.__cause__ = cause
    return error


@for_each(
    ("error", "kind"),
    [
        (NoFirstToken("no"), "no_first_token"),
        (AnswerStalled("no"), "stalled"),
        (ContextTooLong("no", status=400), "too_long"),
        (caused(connector(ConnectionRefusedError(111, "refused"))), "connection_refused"),
        (caused(http2(ConnectionRefusedError(111, "refused"))), "connection_refused"),
        (caused(connector(socket.gaierror(-2, "unknown"))), "dns"),
        (caused(http2(socket.gaierror(-2, "unknown"))), "dns"),
        (caused(ssl.SSLCertVerificationError("self-signed")), "tls"),
        (caused(http2(ssl.SSLError("wrong version"))), "tls"),
        (caused(ConnectionResetError()), "interrupted"),
        (caused(aiohttp.ClientPayloadError()), "interrupted"),
        (caused(httpx2.RemoteProtocolError("peer closed")), "interrupted"),
        (ModelUnavailable("the answer was interrupted"), "interrupted"),
        (caused(OSError("unreachable")), "connection_failed"),
        (caused(ValueError()), "bad_answer"),
        (ModelRefused("the budget is used up"), "request_refused"),
        (ModelRefused("says 429: x (insufficient_quota)", status=429), "no_credit"),
        (ModelRefused("says 400: Your credit balance is too low", status=400), "no_credit"),
        (ModelUnavailable("Anthropic says 200 overloaded_error: x", status=200), "overloaded"),
    ],
)
def test_an_error_without_a_status_has_the_kind_of_its_cause(
    error: ModelError, kind: FailureKind
) -> None:
    assert kind_of(error) == kind
    assert step_of(kind)
    assert not step_of(kind).endswith(".")


def test_a_loop_of_causes_ends() -> None:
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first

    assert kind_of(caused(first)) == "bad_answer"


def test_a_kind_is_shown_in_words() -> None:
    assert str(words_of("dns")) == "host not found"
    assert str(words_of("no_first_token")) == "no first token"
