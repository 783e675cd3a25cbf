"""Requests over aiohttp: bounded bodies, and the meaning of a missing answer."""

from collections.abc import Mapping
from typing import Final

import aiohttp

from gateway.errors import Ambiguous, DeliveryError, PlatformFailed, Transient, UsageError
from gateway.message import Attachment

CHUNK: Final = 64 * 1024
MAX_RETRY_AFTER: Final = 86_400.0
NOT_SENT: Final = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,
)
"""Errors after which the platform cannot have got the request; the last one is a proxy's refusal to
connect."""


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
        raise Transient(f"{platform} answered with status 429", retry_after(headers))
    if status >= 500:
        raise server_failed(platform, status, retry_after(headers), repeatable=repeatable)


def server_failed(
    platform: str, status: int, pause: float | None = None, *, repeatable: bool
) -> DeliveryError:
    """The meaning of a status from 500 on. `repeatable`: a second request does no harm."""
    reason = f"{platform} answered with status {status}"
    return Transient(reason, pause) if repeatable else PlatformFailed(reason, pause)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that the header Retry-After names; None without a valid one."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= MAX_RETRY_AFTER else None


def reason_of(error: BaseException) -> str:
    """Return in words why there is no answer: the end of a sentence, without a full stop."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return "the name of its server is not found"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return "no secure connection, because of its certificate"
        case aiohttp.ClientHttpProxyError():
            return "the proxy refuses the connection"
        case TimeoutError():
            return "no answer in time"
        case aiohttp.ClientConnectorError() | ConnectionRefusedError():
            return "its server accepts no connection"
    return "the connection broke"


def no_answer(platform: str, error: Exception, *, repeatable: bool) -> DeliveryError:
    """The meaning of a request without an answer. `repeatable`: a second one does no harm."""
    why = reason_of(error)
    if isinstance(error, NOT_SENT):
        return Transient(f"{platform} cannot be reached: {why}")
    reason = f"{platform} did not answer: {why}"
    return Transient(reason) if repeatable else Ambiguous(reason)
