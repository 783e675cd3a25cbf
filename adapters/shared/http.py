"""Requests over aiohttp: bounded bodies, and the meaning of a missing answer."""

from collections.abc import Mapping
from typing import Final

import aiohttp

from gateway.errors import Ambiguous, DeliveryError, PlatformFailed, Transient, UsageError
from gateway.message import Attachment
from gateway.text import Sentence, text, verbatim

CHUNK: Final = 64 * 1024
MAX_RETRY_AFTER: Final = 86_400.0
NOT_SENT: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
)
"""Errors after which the platform cannot have got the request; the last one is a proxy's refusal to
connect."""


# Translators: the platform's server; it stands after a colon.
_UNKNOWN_NAME: Final = text("the name of its server is not found")
# Translators: it stands after a colon.
_CERTIFICATE: Final = text("no secure connection, because of its certificate")
# Translators: it stands after a colon.
_PROXY: Final = text("the proxy refuses the connection")
# Translators: it stands after a colon.
_LATE: Final = text("no answer in time")
# Translators: the platform's server; it stands after a colon.
_CLOSED: Final = text("its server accepts no connection")
# Translators: it stands after a colon.
_BROKEN: Final = text("the connection broke")
NOT_REACHED: Final = text("{platform} cannot be reached: {reason}.")
_ANSWERED_WITH: Final = text("{platform} answered with status {status}.")


async def read_body(response: aiohttp.ClientResponse, limit: int, name: str) -> bytes:
    """The body. Raises `BadInput` when it has more than `limit` bytes."""
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        body += chunk
        if len(body) > limit:
            raise UsageError(f"{name} is larger than {limit} bytes")
    return bytes(body)


def file_name(name: str) -> str:
    """A name that a header can carry: without control characters; "file" if nothing is left."""
    return "".join(filter(str.isprintable, name)) or "file"


def check_size(attachment: Attachment, limit: int) -> None:
    """Raise `BadInput` when the platform says that a file has more than `limit` bytes."""
    if attachment.size is not None and attachment.size > limit:
        name = attachment.name or "the file"
        raise UsageError(f"{name} has {attachment.size} bytes, more than {limit}")


def check_status(
    platform: str, status: int, headers: Mapping[str, str], *, repeatable: bool
) -> None:
    """Raise an error for a status after which the same request may succeed later. `repeatable`: a
    second one does no harm."""
    if status == 429:
        raise Transient(answered_with(platform, status), retry_after(headers))
    if status >= 500:
        raise server_failed(platform, status, retry_after(headers), repeatable=repeatable)


def server_failed(
    platform: str, status: int, pause: float | None = None, *, repeatable: bool
) -> DeliveryError:
    """The meaning of a status from 500 on. `repeatable`: a second request does no harm."""
    reason = answered_with(platform, status)
    return Transient(reason, pause) if repeatable else PlatformFailed(reason, pause)


def answered_with(platform: str, status: int) -> Sentence:
    """The sentence for a status that says why there is no other answer."""
    return _ANSWERED_WITH.of(platform=verbatim(platform), status=verbatim(str(status)))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the header Retry-After names; None without a valid one."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= MAX_RETRY_AFTER else None


def reason_of(error: BaseException) -> Sentence:
    """Return why there is no answer: the end of a sentence, without a full stop."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return _UNKNOWN_NAME
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return _CERTIFICATE
        case aiohttp.ClientHttpProxyError():
            return _PROXY
        case TimeoutError():
            return _LATE
        case aiohttp.ClientConnectorError() | ConnectionRefusedError():
            return _CLOSED
    return _BROKEN


def no_answer(platform: str, error: Exception, *, repeatable: bool) -> DeliveryError:
    """The meaning of a request without an answer. `repeatable`: a second one does no harm."""
    name, why = verbatim(platform), reason_of(error)
    if isinstance(error, NOT_SENT):
        return Transient(NOT_REACHED.of(platform=name, reason=why))
    reason = text("{platform} did not answer: {reason}.", platform=name, reason=why)
    return Transient(reason) if repeatable else Ambiguous(reason)
