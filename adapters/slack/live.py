"""An answer while it is written: Slack's own stream in the threads of direct messages, elsewhere a
message that is updated.

Only one person sees a stream grow, so that it is nothing for channels; and Slack streams into
threads only, so that where the answer stands would depend on how long it took if a direct message
outside a thread were streamed to as well. Everything here is decided from the place alone: after
a restart, a stream is ended by whoever finds it.
"""

from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import code_of, delivery_errors
from adapters.slack.json_readers import as_mapping, stamp
from adapters.slack.manifest import streams
from adapters.slack.send import Sender
from gateway.errors import Permanent
from gateway.message import Outbound, Place, Receipt
from gateway.ports import LiveView

MAX_APPENDED: Final = 12_000
"""Characters of `markdown_text` in one call (docs.slack.dev, chat.appendStream)."""
WRITING: Final = "is writing…"
"""Slack puts the app's name before it, and takes it away with the answer or after two minutes."""
_ENDED: Final = frozenset({"message_not_in_streaming_state", "stopped_by_user"})
"""The stream is over, after five minutes or by hand; what stands there can be updated."""


class Live:
    """Live answers of one account."""

    def __init__(self, client: AsyncWebClient, sender: Sender) -> None:
        self._client = client
        self._sender = sender

    async def show(self, view: LiveView) -> str:
        """Show what is written so far. Raises a `DeliveryError`."""
        if not view.handle:
            return await self._begin(view)
        if not streams(view.place) or not await self._append(view):
            await self._sender.edit(view.place, view.handle, view.part)
        return view.handle

    async def status(self, place: Place, words: str) -> None:
        """Say what the app is doing, below a thread. Raises a `DeliveryError`."""
        with delivery_errors(sends=False):
            await self._client.assistant_threads_setStatus(
                channel_id=place.channel_id, thread_ts=place.thread_id, status=words
            )

    async def end(self, outbound: Outbound) -> Receipt:
        """Turn the live message into the answer. Raises a `DeliveryError`."""
        if outbound.part is None:
            raise Permanent("Slack: there is no text to put into the message")
        place = outbound.place
        if streams(place):
            await self._stop(place, outbound.replaces)
        await self._sender.edit(place, outbound.replaces, outbound.part, outbound.buttons)
        return Receipt(outbound.replaces)

    async def _begin(self, view: LiveView) -> str:
        if not streams(view.place):
            first = Outbound(view.key, view.place, view.part, reply_to_id=view.reply_to_id)
            return (await self._sender.send(first)).message_id
        with delivery_errors(sends=True):
            answer = await self._client.chat_startStream(
                channel=view.place.channel_id,
                thread_ts=view.place.thread_id,
                markdown_text=view.added[:MAX_APPENDED],
            )
        return stamp(as_mapping(answer.data), "ts")

    async def _append(self, view: LiveView) -> bool:
        """False when there is no stream any more."""
        if not view.added:
            return True
        with delivery_errors(sends=True):
            try:
                await self._client.chat_appendStream(
                    channel=view.place.channel_id,
                    ts=view.handle,
                    markdown_text=view.added[:MAX_APPENDED],
                )
            except SlackApiError as error:
                if code_of(error) not in _ENDED:
                    raise
                return False
        return True

    async def _stop(self, place: Place, ts: str) -> None:
        with delivery_errors(sends=False):
            try:
                await self._client.chat_stopStream(channel=place.channel_id, ts=ts)
            except SlackApiError as error:
                if code_of(error) not in _ENDED:
                    raise
