"""Fetching attachments: from Discord's own hosts only, and never more than asked for."""

import asyncio
from typing import Final

import aiohttp
import yarl

from gateway.errors import BadInput, Permanent, Transient
from gateway.message import Attachment

FETCH_SECONDS: Final = 60.0
CHUNK: Final = 64 * 1024
HOSTS: Final = frozenset(
    {"cdn.discordapp.com", "media.discordapp.net", "images-ext-1.discordapp.net"}
)


async def fetch(attachment: Attachment, limit: int, api_base: str) -> bytes:
    """The bytes of an attachment, at most `limit`.

    Raises `BadInput` when it is larger, `Permanent` for foreign addresses and files that are gone,
    `Transient` when Discord could not be asked.
    """
    if attachment.size is not None and attachment.size > limit:
        raise BadInput(f"the attachment has {attachment.size} bytes, more than {limit}")
    url = _discords(attachment.ref, api_base)
    if url is None:
        raise Permanent("attachments are not fetched from anywhere but Discord")
    try:
        async with (
            asyncio.timeout(FETCH_SECONDS),
            aiohttp.ClientSession() as session,
            session.get(url, allow_redirects=False) as answer,
        ):
            return await _read(answer, limit)
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise Transient(f"the attachment did not arrive: {type(error).__name__}") from error


def _discords(ref: str, api_base: str) -> yarl.URL | None:
    """The address, None when it is not one of Discord's, or of the configured server."""
    try:
        url, configured = yarl.URL(ref), yarl.URL(api_base)
    except ValueError:
        return None
    if url.scheme == "https" and url.host in HOSTS and url.explicit_port is None:
        return url
    here = (configured.scheme, configured.host, configured.port)
    return url if api_base and (url.scheme, url.host, url.port) == here else None


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    if answer.status >= 500 or answer.status == 429:
        raise Transient(f"the attachment did not arrive: status {answer.status}")
    if answer.status != 200:
        raise Permanent(f"Discord does not give the attachment: status {answer.status}")
    data = bytearray()
    async for chunk in answer.content.iter_chunked(CHUNK):
        data += chunk
        if len(data) > limit:
            raise BadInput(f"the attachment is larger than {limit} bytes")
    return bytes(data)
