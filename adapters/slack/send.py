"""Outbound messages as requests to Slack: one request per send, one meaning per answer."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from slack_sdk.errors import SlackApiError

from adapters.shared.http import check_status, read_body
from adapters.shared.json_readers import as_mapping, text
from adapters.slack import files
from adapters.slack.client import SlackClient
from adapters.slack.emoji import name_of
from adapters.slack.errors import NotInConversation, code_of, delivery_errors, refused
from adapters.slack.event_context import message_ts
from adapters.slack.manifest import MAX_BUTTONS, streams
from adapters.slack.message_text import escape
from gateway.errors import FormatRejected, Permanent
from gateway.message import Button, Outbound, Part, Place, Receipt
from gateway.people import Audience
from gateway.ports import LiveView

MAX_ANSWER: Final = 65_536
"""Bytes of the answer of a response address."""
MAX_APPENDED: Final = 12_000
"""Characters of `markdown_text` in one call (docs.slack.dev, chat.appendStream)."""
_MAX_BLOCKS: Final = 50
_MAX_SECTION: Final = 3_000
_MAX_LABEL: Final = 75
_STREAM_ENDED: Final = ("message_not_in_streaming_state", "stopped_by_user")
"""The stream ended by itself, after five minutes or by hand; its message can be updated."""


class Sender(ABC):
    """The sending side of an account: posts, changes and deletes messages."""

    @abstractmethod
    def _connected(self) -> SlackClient:
        """The client. Raises `Transient` while there is none."""

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file. Raises a `DeliveryError`."""
        place = outbound.place
        private = bool(outbound.private_to) and place.audience is not Audience.DIRECT
        if outbound.file is not None:
            if private:
                raise Permanent("Slack: everyone in a channel can see its files")
            comment = escape(outbound.part.text) if outbound.part is not None else ""
            thread = _thread(outbound)
            return await files.upload(
                self._connected(), outbound.file, place.channel_id, thread, comment
            )
        if outbound.part is None:
            raise Permanent("Slack: there is nothing to send")
        body = compose(outbound.part, outbound.buttons)
        try:
            if private:
                return await self._post_ephemeral(outbound, body)
            return await self._post(outbound, body)
        except NotInConversation:
            if not outbound.reply_handle:
                raise
            return await self._respond(outbound, body, private=private)

    async def _edit(
        self, place: Place, message_id: str, part: Part, buttons: tuple[Button, ...] = ()
    ) -> None:
        """Replace the content of a message of the bot. Raises a `DeliveryError`."""
        body = compose(part, buttons)
        body.pop("mrkdwn", None)
        # Without the key, Slack would keep the old blocks and show those.
        body.setdefault("blocks", [])
        arguments = {"channel": place.channel_id, "ts": message_id, **body}
        with delivery_errors(sends=False):
            await self._connected().web.api_call("chat.update", json=arguments)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Show a message of the bot without its buttons. An ephemeral one is deleted: only the
        address of a press can change it. Raises a `DeliveryError`."""
        if outbound.private_to and outbound.place.audience is not Audience.DIRECT:
            return
        if outbound.part is not None:
            await self._edit(outbound.place, outbound.clears, outbound.part)
        elif outbound.reply_handle:
            await self._post_response(outbound.reply_handle, {"delete_original": True})

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of the bot; a missing one is accepted. Raises a `DeliveryError`."""
        with delivery_errors(sends=False, accept=("message_not_found",)):
            await self._connected().web.chat_delete(channel=place.channel_id, ts=message_id)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction; an existing one is accepted. Raises a `DeliveryError`."""
        name, channel = _emoji_name(emoji), place.channel_id
        with delivery_errors(sends=False, accept=("already_reacted",)):
            await self._connected().web.reactions_add(
                channel=channel, timestamp=message_id, name=name
            )

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the bot's reaction; a missing one is accepted. Raises a `DeliveryError`."""
        name, channel = _emoji_name(emoji), place.channel_id
        with delivery_errors(sends=False, accept=("no_reaction", "message_not_found")):
            await self._connected().web.reactions_remove(
                channel=channel, timestamp=message_id, name=name
            )

    async def show_status(self, place: Place, status: str) -> None:
        """Show below a thread what the app does. Raises a `DeliveryError`."""
        with delivery_errors(sends=False):
            await self._connected().web.assistant_threads_setStatus(
                channel_id=place.channel_id, thread_ts=place.thread_id, status=status
            )

    # --- live answers ---------------------------------------------------------------------------
    #
    # A stream is used in the threads of direct messages only: Slack streams into threads, and shows
    # a stream to one person. The place alone decides, so that after a restart any process can end
    # a stream.

    async def show_live(self, view: LiveView) -> str:
        """Show the answer as far as it is written. Raises a `DeliveryError`."""
        if view.handle:
            if not streams(view.place) or not await self._append(view):
                await self._edit(view.place, view.handle, view.part)
            return view.handle
        if not streams(view.place):
            first = Outbound(view.key, view.place, view.part, reply_to_id=view.reply_to_id)
            return (await self.send(first)).message_id
        with delivery_errors(sends=True):
            answer = await self._connected().web.chat_startStream(
                channel=view.place.channel_id,
                thread_ts=view.place.thread_id,
                markdown_text=view.added[:MAX_APPENDED],
            )
        return message_ts(as_mapping(answer.data), "ts")

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Put the complete answer into the live message. Raises a `DeliveryError`."""
        if outbound.part is None:
            raise Permanent("Slack: there is no text for the message")
        place, ts = outbound.place, outbound.replaces
        if streams(place):
            with delivery_errors(sends=False, accept=_STREAM_ENDED):
                await self._connected().web.chat_stopStream(channel=place.channel_id, ts=ts)
        await self._edit(place, ts, outbound.part, outbound.buttons)
        return Receipt(ts)

    async def _append(self, view: LiveView) -> bool:
        """Append to a stream. False when the stream has ended."""
        if not view.added:
            return True
        with delivery_errors(sends=True):
            try:
                await self._connected().web.chat_appendStream(
                    channel=view.place.channel_id,
                    ts=view.handle,
                    markdown_text=view.added[:MAX_APPENDED],
                )
            except SlackApiError as error:
                if code_of(error) not in _STREAM_ENDED:
                    raise
                return False
        return True

    # --- posting --------------------------------------------------------------------------------

    async def _post(self, outbound: Outbound, body: dict[str, object]) -> Receipt:
        arguments = {"unfurl_links": False, "unfurl_media": False, **body}
        arguments |= {"channel": outbound.place.channel_id}
        thread = _thread(outbound)
        if thread:
            arguments["thread_ts"] = thread
        with delivery_errors(sends=True):
            answer = await self._connected().web.api_call("chat.postMessage", json=arguments)
        return Receipt(message_ts(as_mapping(answer.data), "ts"))

    async def _post_ephemeral(self, outbound: Outbound, body: dict[str, object]) -> Receipt:
        arguments = {**body, "channel": outbound.place.channel_id, "user": outbound.private_to}
        thread = outbound.place.thread_id
        # Slack shows an ephemeral message to nobody in a thread without replies.
        if thread and thread != outbound.reply_to_id:
            arguments["thread_ts"] = thread
        with delivery_errors(sends=True):
            answer = await self._connected().web.api_call("chat.postEphemeral", json=arguments)
        return Receipt(message_ts(as_mapping(answer.data), "message_ts"))

    async def _respond(
        self, outbound: Outbound, body: dict[str, object], *, private: bool
    ) -> Receipt:
        """Answer a command at its response address, in a channel without the bot."""
        arguments = {**body, "response_type": "ephemeral" if private else "in_channel"}
        arguments["replace_original"] = False
        if outbound.place.thread_id:
            arguments["thread_ts"] = outbound.place.thread_id
        await self._post_response(outbound.reply_handle, arguments)
        return Receipt("")

    async def _post_response(self, url: str, arguments: dict[str, object]) -> None:
        if not self._connected().owns(url):
            raise Permanent("Slack: the response address is not Slack's")
        with delivery_errors(sends=True):
            async with self._connected().session.post(
                url, json=arguments, proxy=self._connected().web.proxy, allow_redirects=False
            ) as response:
                status = response.status
                answer = await read_body(response, MAX_ANSWER, "Slack's answer")
                check_status("Slack", status, response.headers, repeatable=False)
        if status != 200:
            raise refused(_code(answer.decode("utf-8", "replace")) or f"http_{status}")


def compose(part: Part, buttons: Sequence[Button] = ()) -> dict[str, object]:
    """`text` and, where there are any, `blocks`: the same for posting, updating and answering.

    A payload equal to its plain text has no markup and is shown literally. Raises `Permanent` for
    too many buttons, `FormatRejected` when there is no room for them below the part's blocks.
    """
    if len(buttons) > MAX_BUTTONS:
        raise Permanent(f"Slack: at most {MAX_BUTTONS} buttons under a message")
    if isinstance(part.payload, str):
        literal = part.payload == part.text
        body: dict[str, object] = {"text": escape(part.payload) if literal else part.payload}
        if literal:
            body["mrkdwn"] = False
        blocks = _sections(part.payload, literal=literal) if buttons else []
    else:
        body = dict(part.payload)
        # Screen readers and notifications use the text.
        body.setdefault("text", escape(part.text) or "–")
        given = body.get("blocks")
        blocks = list(given) if isinstance(given, list | tuple) else []
    if buttons:
        elements = [_button(button, number) for number, button in enumerate(buttons, 1)]
        blocks.append({"type": "actions", "elements": elements})
    if len(blocks) > _MAX_BLOCKS:
        raise FormatRejected(f"Slack: no room for buttons below {len(blocks) - 1} blocks")
    if blocks:
        body["blocks"] = blocks
    return body


def _sections(payload: str, *, literal: bool) -> list[object]:
    """The text as blocks: Slack does not show the text of a message with buttons, which are
    blocks."""
    kind = "plain_text" if literal else "mrkdwn"
    pieces = [payload[i : i + _MAX_SECTION] for i in range(0, len(payload), _MAX_SECTION)]
    return [
        {"type": "section", "text": {"type": kind, "text": piece}}
        for piece in pieces
        if piece.strip()
    ]


def _button(button: Button, number: int) -> dict[str, object]:
    label = button.label.strip() or button.value
    if len(label) > _MAX_LABEL:
        label = f"{label[: _MAX_LABEL - 1]}…"
    return {
        "type": "button",
        "action_id": f"parley-{number}",
        "text": {"type": "plain_text", "text": label},
        "value": button.value,
    }


def _thread(outbound: Outbound) -> str | None:
    """The thread to post in. In a channel, an answer opens one under the message it answers."""
    place = outbound.place
    if place.thread_id:
        return place.thread_id
    if place.audience is not Audience.DIRECT and outbound.reply_to_id:
        return outbound.reply_to_id
    return None


def _code(answer: str) -> str:
    """The error code in the answer of a response address: JSON, or the bare code."""
    try:
        decoded = json.loads(answer)
    except ValueError:
        return answer.strip()[:50]
    return text(as_mapping(decoded), "error", 50)


def _emoji_name(emoji: str) -> str:
    name = name_of(emoji)
    if not name:
        raise Permanent(f"Slack: no name is known for the emoji {emoji!r}")
    return name
