"""Uploads and downloads."""

from adapters.shared.http import check_size, check_status, read_body
from adapters.shared.json_readers import as_mapping, mapping, text
from adapters.slack.client import SlackClient
from adapters.slack.errors import delivery_errors
from adapters.slack.messages import BY_ID
from gateway.errors import Permanent, Transient
from gateway.message import Attachment, OutboundFile, Receipt


async def upload(
    client: SlackClient, file: OutboundFile, channel: str, thread_ts: str | None, comment: str
) -> Receipt:
    """Share a file in a channel. Raises a `DeliveryError`.

    The file is visible only after the last of three requests, so only a missing answer to that one
    leaves the outcome open.
    """
    if not file.data:
        raise Permanent("Slack: an empty file cannot be sent")
    with delivery_errors(sends=False):
        ticket = await client.web.files_getUploadURLExternal(
            filename=file.name, length=len(file.data)
        )
        url = text(as_mapping(ticket.data), "upload_url", 3000)
        file_id = text(as_mapping(ticket.data), "file_id", 100)
        if not client.owns(url):
            raise Permanent("Slack: the upload address is not Slack's")
        async with client.session.post(
            url, data=file.data, proxy=client.web.proxy, allow_redirects=False
        ) as response:
            if response.status != 200:
                raise Transient(f"Slack: the upload was answered with status {response.status}")
    with delivery_errors(sends=True):
        await client.web.files_completeUploadExternal(
            files=[{"id": file_id, "title": file.name}],
            channel_id=channel,
            thread_ts=thread_ts,
            initial_comment=comment or None,
        )
    return Receipt(message_id=file_id)


async def fetch(client: SlackClient, attachment: Attachment, limit: int) -> bytes:
    """The bytes of a file in a message, at most `limit`. Raises `BadInput` and `DeliveryError`."""
    check_size(attachment, limit)
    url = await _address(client, attachment.ref)
    if not client.owns(url):
        # The request carries the bot's token.
        raise Permanent("Slack: the file's address is not Slack's")
    headers = {"Authorization": f"Bearer {client.web.token}"}
    with delivery_errors(sends=False):
        async with client.session.get(
            url, headers=headers, proxy=client.web.proxy, allow_redirects=False
        ) as response:
            check_status("Slack", response.status, response.headers, repeatable=True)
            is_page = response.content_type == "text/html"
            signed_out = is_page and not attachment.mime.startswith("text/")
            if signed_out or 300 <= response.status < 400:
                raise Permanent(
                    "Slack answers with its sign-in page instead of the file: "
                    "is the scope files:read granted?"
                )
            if response.status != 200:
                raise Permanent(f"Slack: the download was answered with status {response.status}")
            return await read_body(response, limit, attachment.name or "the file")


async def _address(client: SlackClient, ref: str) -> str:
    """The file's address. In shared channels a message contains only the file's id."""
    if not ref.startswith(BY_ID):
        return ref
    with delivery_errors(sends=False):
        answer = await client.web.files_info(file=ref.removeprefix(BY_ID))
    file = mapping(as_mapping(answer.data), "file")
    return text(file, "url_private_download", 3000) or text(file, "url_private", 3000)
