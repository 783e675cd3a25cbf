"""One Telegram bot, connected."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

import structlog
from telegram.error import TelegramError

from adapters.telegram import doctor, live, members, send
from adapters.telegram.client import AiohttpRequest, RawBot, make_bot
from adapters.telegram.errors import delivery_error, start_error
from adapters.telegram.json_readers import integer, listing, mapping, text
from adapters.telegram.manifest import MANIFEST, TelegramSettings, live_style
from adapters.telegram.message_text import BotIdentity
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.polling import Poller
from adapters.telegram.receive import Receiver
from adapters.telegram.webhook import SECRET_HEADER, WebhookReceiver, path_for
from gateway.errors import BadInput, Permanent, StartError, StoreUnavailable, Transient
from gateway.message import Attachment, Button, Outbound, Part, Place, Receipt
from gateway.ports import (
    AdapterContext,
    Capabilities,
    Check,
    EventSink,
    Liveness,
    LiveStyle,
    LiveView,
)

log = structlog.get_logger(__name__)
WEBHOOK_CONNECTIONS: Final = 40
"""Requests that Telegram may have under way at once (its own default)."""


class TelegramAdapter:
    """A bot with its token; see `docs/platforms/telegram.md`."""

    def __init__(self, settings: TelegramSettings, context: AdapterContext) -> None:
        self._settings = settings
        self._context = context
        self._bot: RawBot | None = None
        self._intake: Receiver | None = None
        self._receiver: WebhookReceiver | None = None
        self._poller: Poller | None = None
        self._polling: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    @property
    def platform(self) -> str:
        return MANIFEST.platform

    @property
    def account(self) -> str:
        return self._context.account

    @property
    def capabilities(self) -> Capabilities:
        return MANIFEST.capabilities

    async def connect(self, sink: EventSink) -> None:
        """Say hello, register commands, begin to receive. Raises `StartError`."""
        await self.disconnect()
        self._closed.clear()
        if not self._settings.configured():
            missing = ", ".join(self._settings.missing() or ("bot_token",))
            raise StartError(
                f"platforms.telegram lacks {missing}.",
                "Set it, or run parley init.",
                permanent=True,
            )
        try:
            self._bot = bot = self._make_bot()
            await bot.initialize()
            me = BotIdentity(str(bot.bot.id), bot.bot.username or "")
            self._intake = intake = Receiver(
                self.account,
                me,
                sink,
                self._context.count,
                self._answer_button,
                self._context.guard,
            )
            if self._settings.mode == "polling":
                await self._start_polling(bot, intake)
            else:
                await self._start_webhook(bot, intake)
            await self._register_commands(bot)
        except TelegramError as problem:
            await self.disconnect()
            raise start_error(problem) from None
        except BaseException:
            await self.disconnect()
            raise

    def _make_bot(self) -> RawBot:
        return make_bot(self._settings.bot_token.get_secret_value(), self._settings.base_url)

    async def _start_polling(self, bot: RawBot, intake: Receiver) -> None:
        await bot.call("deleteWebhook", {"drop_pending_updates": False})
        self._poller = poller = Poller(bot, intake, self._context.clock)
        await poller.first()
        self._polling = asyncio.create_task(poller.run(), name=f"telegram-{self.account}")

    async def _start_webhook(self, bot: RawBot, intake: Receiver) -> None:
        secret = self._settings.webhook_secret.get_secret_value()
        receiver = WebhookReceiver(intake, secret, self._context.state, self._context.clock)
        path = path_for(self.account)
        try:
            await receiver.pending_updates.restore()
        except StoreUnavailable as problem:
            raise StartError(f"The store does not answer: {problem}.") from problem
        self._context.webhooks.add(path, receiver.handle, proof=SECRET_HEADER)
        self._receiver = receiver
        await bot.call(
            "setWebhook",
            {
                "url": public_url(self._settings.webhook_url, path),
                "secret_token": secret,
                "allowed_updates": list(ALLOWED_UPDATES),
                "drop_pending_updates": False,
                "max_connections": WEBHOOK_CONNECTIONS,
            },
        )

    async def _register_commands(self, bot: RawBot) -> None:
        """Tell Telegram our commands, if it knows others; a failure is only noted."""
        wanted = [
            {"command": one.name, "description": one.description[:256]}
            for one in self._context.commands
        ]
        if not wanted:
            return
        try:
            known = [
                {
                    "command": mapping(one).get("command"),
                    "description": mapping(one).get("description"),
                }
                for one in listing(await bot.call("getMyCommands", {}))
            ]
            if known != wanted:
                await bot.call("setMyCommands", {"commands": wanted})
        except TelegramError as problem:
            self._context.count("failed", "set_my_commands")
            log.warning("commands_not_registered", platform="telegram", error=problem)

    def alive(self) -> Liveness:
        """Whether Telegram answers our polls; requests to our own listener need no such proof."""
        if self._bot is None:
            return Liveness(False, "not connected")
        return Liveness(True) if self._poller is None else self._poller.alive()

    async def wait_closed(self) -> None:
        """Return after `disconnect`. Raises `StartError` when polling died."""
        polling = self._polling
        if polling is None:
            await self._closed.wait()
            return
        closed = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait((polling, closed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            closed.cancel()
        if polling.done() and not polling.cancelled():
            polling.result()

    async def disconnect(self) -> None:
        """Stop receiving and close every socket. What waits at Telegram stays there."""
        polling, self._polling = self._polling, None
        poller, self._poller = self._poller, None
        receiver, self._receiver = self._receiver, None
        intake, self._intake = self._intake, None
        bot, self._bot = self._bot, None
        self._closed.set()
        if polling is not None:
            polling.cancel()
            await asyncio.gather(polling, return_exceptions=True)
        if poller is not None:
            await poller.confirm()
        if receiver is not None:
            self._context.webhooks.remove(path_for(self.account))
            await receiver.pending_updates.close()
        if intake is not None:
            await intake.close()
        if bot is not None:
            await bot.shutdown()

    def _connected(self) -> RawBot:
        if self._bot is None:
            raise Transient("Telegram is not connected")
        return self._bot

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part (HTML) or one file. Raises a `DeliveryError`."""
        return await send.send(self._connected(), outbound)

    async def edit(self, place: Place, message_id: str, part: Part) -> None:
        """Replace a text; one that stands there already is fine. Raises a `DeliveryError`."""
        await send.edit(self._connected(), place, message_id, part)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Take the buttons away from under a message of ours. Raises a `DeliveryError`."""
        await send.clear_buttons(self._connected(), outbound.place, outbound.clears)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of ours (Telegram allows it for 48 hours)."""
        await send.run(self._connected(), "deleteMessage", send.delete_request(place, message_id))

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "typing…" for five seconds, or until the answer is there; a channel's direct
        messages have no such sign."""
        if send.is_direct_messages(place):
            return
        await send.run(self._connected(), "sendChatAction", send.typing_request(place))

    def live_style(self, place: Place) -> LiveStyle:
        """A draft in private chats, an edited message in groups."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show what is written so far. Raises a `DeliveryError`."""
        return await live.show(self._connected(), view)

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Edit the answer into the message that grew. Raises a `DeliveryError`."""
        return await live.end(self._connected(), outbound)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Put an emoji of Telegram's own list under a message."""
        request = send.reaction_request(place, message_id, emoji)
        await send.run(self._connected(), "setMessageReaction", request)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Take our emoji back; a bot has one under a message at most."""
        request = send.reaction_request(place, message_id, "")
        await send.run(self._connected(), "setMessageReaction", request)

    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        """Offer articles; the text of the chosen one is posted in the chat."""
        request = send.inline_request(query_id, suggestions)
        await send.run(self._connected(), "answerInlineQuery", request)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is in a chat. Raises a `DeliveryError`."""
        return await members.is_member(self._connected(), space, person)

    async def _answer_button(self, handle: str) -> None:
        await self._connected().call("answerCallbackQuery", {"callback_query_id": handle})

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """A file's bytes (Telegram gives files up to 20 MB to bots).

        Raises `BadInput` when it has more than `limit` bytes, or a `DeliveryError`.
        """
        bot = self._connected()
        if attachment.size is not None and attachment.size > limit:
            raise _too_large(attachment, limit)
        try:
            described = mapping(await bot.call("getFile", {"file_id": attachment.ref}))
            if (integer(described.get("file_size")) or 0) > limit:
                raise _too_large(attachment, limit)
            transport = bot.request
            if not isinstance(transport, AiohttpRequest):
                raise Permanent("this bot has a transport that cannot download")
            url = f"{bot.base_file_url}/{text(described.get('file_path'))}"
            status, data = await transport.download(url, limit)
        except TelegramError as problem:
            raise delivery_error(problem) from problem
        if status != 200:
            reason = f"Telegram answered with status {status} for a file"
            raise Transient(reason) if status >= 500 else Permanent(reason)
        return data

    async def diagnose(self) -> list[Check]:
        """Checks for `parley doctor`, also when not connected. Never raises."""
        if not self._settings.bot_token.get_secret_value():
            advice = "Set platforms.telegram.bot_token."
            return [Check("bot token", False, "not set", advice)]
        if self._bot is not None:
            return await doctor.diagnose(self._bot, self._settings)
        try:
            bot = self._make_bot()
            await bot.request.initialize()
        except TelegramError as problem:
            return [Check("bot token", False, problem.message, "It looks like 123456:ABC…")]
        try:
            return await doctor.diagnose(bot, self._settings)
        finally:
            await bot.request.shutdown()


def public_url(configured: str, path: str) -> str:
    """The address that Telegram calls: ours is appended to an address without a path."""
    has_path = urlsplit(configured).path.strip("/")
    return configured if has_path else configured.rstrip("/") + path


def _too_large(attachment: Attachment, limit: int) -> BadInput:
    return BadInput(f"the file {attachment.name or attachment.ref!r} has more than {limit} bytes")
