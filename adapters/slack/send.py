"""What leaves for Slack: one request per send, one meaning per answer."""

import json

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client import is_slack
from adapters.slack.compose import compose
from adapters.slack.emoji import name_of
from adapters.slack.errors import NotInConversation, code_of, delivery_errors, refused
from adapters.slack.files import Files
from adapters.slack.json_readers import as_mapping, stamp, text
from adapters.slack.message_text import escape
from gateway.errors import Permanent, Transient
from gateway.message import Button, Outbound, Part, Place, Receipt
from gateway.people import Audience


class Sender:
    """Posts, changes and deletes as one account."""

    def __init__(
        self,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        base_url: str,
        files: Files,
    ) -> None:
        self._client = client
        self._session = session
        self._base_url = base_url
        self._files = files

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part or file. Raises a `DeliveryError`."""
        place = outbound.place
        private = bool(outbound.private_to) and place.audience is not Audience.DIRECT
        if outbound.file is not None:
            if private:
                raise Permanent("Slack: a file in a channel is seen by everybody there")
            comment = escape(outbound.part.text) if outbound.part is not None else ""
            thread = _thread(outbound)
            return await self._files.upload(outbound.file, place.channel_id, thread, comment)
        if outbound.part is None:
            raise Permanent("Slack: there is nothing to send")
        body = compose(outbound.part, outbound.buttons)
        try:
            if private:
                return await self._whisper(outbound, body)
            return await self._post(outbound, body)
        except NotInConversation:
            if not outbound.reply_handle:
                raise
            return await self._respond(outbound, body, private=private)

    async def edit(
        self, place: Place, message_id: str, part: Part, buttons: tuple[Button, ...] = ()
    ) -> None:
        """Replace what a message of ours says. Raises a `DeliveryError`."""
        body = compose(part, buttons)
        body.pop("mrkdwn", None)
        # Without the key, Slack would keep the old blocks and show those.
        body.setdefault("blocks", [])
        with delivery_errors(sends=False):
            await self._client.api_call(
                "chat.update", json={"channel": place.channel_id, "ts": message_id, **body}
            )

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Show a message of ours once more without its buttons. An ephemeral one is reached only by
        the address that came with a press, and is taken away. Raises a `DeliveryError`."""
        if outbound.private_to and outbound.place.audience is not Audience.DIRECT:
            return
        if outbound.part is not None:
            await self.edit(outbound.place, outbound.clears, outbound.part)
        elif outbound.reply_handle:
            await self._post_back(outbound.reply_handle, {"delete_original": True})

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours; one that is gone already is fine. Raises a `DeliveryError`."""
        with delivery_errors(sends=False):
            try:
                await self._client.chat_delete(channel=place.channel_id, ts=message_id)
            except SlackApiError as error:
                if code_of(error) != "message_not_found":
                    raise

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add a reaction; one that is there already is fine. Raises a `DeliveryError`."""
        name = _emoji_name(emoji)
        with delivery_errors(sends=False):
            try:
                await self._client.reactions_add(
                    channel=place.channel_id, timestamp=message_id, name=name
                )
            except SlackApiError as error:
                if code_of(error) != "already_reacted":
                    raise

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our reaction back; one that is gone already is fine. Raises a `DeliveryError`."""
        name = _emoji_name(emoji)
        with delivery_errors(sends=False):
            try:
                await self._client.reactions_remove(
                    channel=place.channel_id, timestamp=message_id, name=name
                )
            except SlackApiError as error:
                if code_of(error) not in ("no_reaction", "message_not_found"):
                    raise

    async def _post(self, outbound: Outbound, body: dict[str, object]) -> Receipt:
        arguments = {"unfurl_links": False, "unfurl_media": False, **body}
        arguments |= {"channel": outbound.place.channel_id}
        thread = _thread(outbound)
        if thread:
            arguments["thread_ts"] = thread
        with delivery_errors(sends=True):
            answer = await self._client.api_call("chat.postMessage", json=arguments)
        return Receipt(message_id=stamp(as_mapping(answer.data), "ts"))

    async def _whisper(self, outbound: Outbound, body: dict[str, object]) -> Receipt:
        arguments = {**body, "channel": outbound.place.channel_id, "user": outbound.private_to}
        thread = outbound.place.thread_id
        # In a thread that nobody has replied in yet, Slack shows an ephemeral message to nobody.
        if thread and thread != outbound.reply_to_id:
            arguments["thread_ts"] = thread
        with delivery_errors(sends=True):
            answer = await self._client.api_call("chat.postEphemeral", json=arguments)
        return Receipt(message_id=stamp(as_mapping(answer.data), "message_ts"))

    async def _respond(
        self, outbound: Outbound, body: dict[str, object], *, private: bool
    ) -> Receipt:
        """Answer a command where the bot itself is not, at the address that came with it."""
        arguments = {**body, "response_type": "ephemeral" if private else "in_channel"}
        arguments["replace_original"] = False
        if outbound.place.thread_id:
            arguments["thread_ts"] = outbound.place.thread_id
        await self._post_back(outbound.reply_handle, arguments)
        return Receipt(message_id="")

    async def _post_back(self, url: str, arguments: dict[str, object]) -> None:
        if not is_slack(url, self._base_url):
            raise Permanent("Slack: the response address is not Slack's")
        with delivery_errors(sends=True):
            async with self._session.post(
                url, json=arguments, proxy=self._client.proxy, allow_redirects=False
            ) as response:
                status, answer = response.status, await response.text()
                wait = response.headers.get("Retry-After", "")
        if status == 429:
            raise Transient("Slack: response URL 429", float(wait) if wait.isdigit() else None)
        if status >= 500:
            raise Transient(f"Slack: response URL answered {status}")
        if status != 200:
            raise refused(_code(answer) or f"http_{status}")


def _thread(outbound: Outbound) -> str | None:
    """The thread to post in. In a channel an answer opens one under the message it answers."""
    place = outbound.place
    if place.thread_id:
        return place.thread_id
    if place.audience is not Audience.DIRECT and outbound.reply_to_id:
        return outbound.reply_to_id
    return None


def _code(answer: str) -> str:
    """The error's name in a response URL's answer: JSON, or the bare name."""
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
