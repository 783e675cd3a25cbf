"""Files in both directions."""

from typing import Final

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import is_slack
from adapters.slack.errors import delivery_errors
from adapters.slack.json_readers import as_mapping, mapping, text
from gateway.errors import BadInput, Permanent, Transient
from gateway.message import Attachment, OutboundFile, Receipt

_CHUNK: Final = 65_536


class Files:
    """Uploads and downloads of one account."""

    def __init__(
        self, client: AsyncWebClient, session: aiohttp.ClientSession, base_url: str
    ) -> None:
        self._client = client
        self._session = session
        self._base_url = base_url

    async def upload(
        self, file: OutboundFile, channel: str, thread_ts: str | None, comment: str
    ) -> Receipt:
        """Share a file in a channel. Raises a `DeliveryError`.

        Nothing is visible before the last of the three steps, so that only a missing answer to
        that one leaves the outcome open.
        """
        if not file.data:
            raise Permanent("Slack: an empty file cannot be sent")
        with delivery_errors(sends=False):
            ticket = await self._client.files_getUploadURLExternal(
                filename=file.name, length=len(file.data)
            )
            url = text(as_mapping(ticket.data), "upload_url", 3000)
            file_id = text(as_mapping(ticket.data), "file_id", 100)
            if not is_slack(url, self._base_url):
                raise Permanent("Slack: the upload address is not Slack's")
            async with self._session.post(
                url, data=file.data, proxy=self._client.proxy, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise Transient(f"Slack: upload answered {response.status}")
        with delivery_errors(sends=True):
            await self._client.files_completeUploadExternal(
                files=[{"id": file_id, "title": file.name}],
                channel_id=channel,
                thread_ts=thread_ts,
                initial_comment=comment or None,
            )
        return Receipt(message_id=file_id)

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of a file in a message, at most `limit`."""
        if attachment.size is not None and attachment.size > limit:
            raise BadInput(_too_large(attachment, limit))
        url = await self._address(attachment.ref)
        if not is_slack(url, self._base_url):
            # The request carries the bot's token.
            raise Permanent("Slack: the file is not at Slack's")
        headers = {"Authorization": f"Bearer {self._client.token}"}
        with delivery_errors(sends=False):
            async with self._session.get(
                url, headers=headers, proxy=self._client.proxy, allow_redirects=False
            ) as response:
                _check(response, attachment)
                data = bytearray()
                async for chunk in response.content.iter_chunked(_CHUNK):
                    data += chunk
                    if len(data) > limit:
                        raise BadInput(_too_large(attachment, limit))
                return bytes(data)

    async def _address(self, ref: str) -> str:
        """Where the file is. In shared channels the message names only its id."""
        if not ref.startswith("file:"):
            return ref
        with delivery_errors(sends=False):
            answer = await self._client.files_info(file=ref.removeprefix("file:"))
        file = mapping(as_mapping(answer.data), "file")
        return text(file, "url_private_download", 3000) or text(file, "url_private", 3000)


def _check(response: aiohttp.ClientResponse, attachment: Attachment) -> None:
    status = response.status
    if status == 429:
        wait = response.headers.get("Retry-After", "")
        raise Transient("Slack: download 429", float(wait) if wait.isdigit() else None)
    if status >= 500:
        raise Transient(f"Slack: download answered {status}")
    signed_out = 300 <= status < 400 or (
        response.content_type == "text/html" and not attachment.mime.startswith("text/")
    )
    if signed_out:
        raise Permanent("Slack shows its sign-in page instead of the file: is files:read granted?")
    if status != 200:
        raise Permanent(f"Slack: download answered {status}")


def _too_large(attachment: Attachment, limit: int) -> str:
    return f"{attachment.name or 'file'} is larger than {limit} bytes"
