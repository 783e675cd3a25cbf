"""One Telegram bot, connected by long polling or by webhook."""

import asyncio
from typing import Final
from urllib.parse import urlsplit

import structlog

from adapters.shared.connection import NOT_CONNECTED, AccountAdapter
from adapters.shared.http import check_size
from adapters.shared.json_readers import as_mapping, integer, objects
from adapters.shared.json_readers import text as text_at
from adapters.telegram import doctor, send
from adapters.telegram.client import AiohttpRequest, RawBot, make_bot
from adapters.telegram.command_languages import register_languages
from adapters.telegram.errors import delivery_error, is_missing, start_error
from adapters.telegram.library import BadRequest, Forbidden, TelegramError
from adapters.telegram.manifest import MANIFEST, TelegramSettings, live_style
from adapters.telegram.media import portrait_in
from adapters.telegram.message_text import TelegramBot
from adapters.telegram.messages import is_present, names_of_people
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.polling import Poller
from adapters.telegram.receive import TelegramReceiver
from adapters.telegram.upgraded_groups import UpgradedGroups
from adapters.telegram.webhook import SECRET_HEADER, WebhookReceiver
from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.errors import Permanent, StartError, Transient, UsageError
from gateway.message import Attachment, Button, Outbound, Place, Receipt
from gateway.ports import Check, EventSink, Liveness, LiveStyle, LiveView, SpaceDescription
from gateway.text import text, verbatim

log = structlog.get_logger(__name__)

WEBHOOK_CONNECTIONS: Final = 40
"""Simultaneous requests that Telegram may make (its own default)."""
NOT_A_MEMBER: Final = (
    *("chat not found", "user not found", "member not found"),
    "participant_id_inval",
)
"""Errors for a chat that the bot is not in, and for a person who was never in the chat."""


SUPERGROUP: Final = "-100"
"""The beginning of the ids of groups whose messages have addresses."""


class TelegramAdapter(AccountAdapter[TelegramSettings]):
    """A bot with its token; see `docs/reference/platforms/telegram.md`."""

    manifest = MANIFEST
    _bot: RawBot | None = None
    _reads_groups = False
    _receiver: TelegramReceiver | None = None
    _webhook: WebhookReceiver | None = None
    _poller: Poller | None = None
    _polling: asyncio.Task[None] | None = None

    async def _open(self, sink: EventSink) -> None:
        try:
            self._bot = bot = self._make_bot()
            groups = UpgradedGroups(self._context.lasting, self.account)
            bot.translate(groups)
            await bot.initialize()
            self._reads_groups = bool(bot.bot.can_read_all_group_messages)
            me = TelegramBot(str(bot.bot.id), bot.bot.username or "", self.account)
            self._receiver = TelegramReceiver(me, self._context, sink, self._answer_button, groups)
            if self._settings.mode == "polling":
                await self._start_polling(bot, self._receiver)
            else:
                await self._start_webhook(bot, self._receiver)
            await self._register_commands(bot)
        except TelegramError as error:
            raise start_error(error) from None

    def _make_bot(self) -> RawBot:
        return make_bot(self._settings.bot_token.get_secret_value(), self._settings.base_url)

    async def _start_polling(self, bot: RawBot, receiver: TelegramReceiver) -> None:
        await bot.call("deleteWebhook", {"drop_pending_updates": False})
        self._poller = poller = Poller(bot, receiver, self._context.clock)
        await poller.fetch_first()
        self._polling = asyncio.create_task(poller.run(), name=f"telegram-{self.account}")
        self._end_with(self._polling)

    async def _start_webhook(self, bot: RawBot, receiver: TelegramReceiver) -> None:
        secret = self._settings.webhook_secret.get_secret_value()
        webhook = WebhookReceiver(receiver, secret, self._context)
        try:
            await webhook.pending.restore()
        except StoreUnavailable as error:
            raise StartError(
                text("The store is unavailable: {reason}.", reason=verbatim(str(error)))
            ) from error
        self._context.webhooks.add(self.webhook_path, webhook.handle, proof=SECRET_HEADER)
        self._webhook = webhook
        request = {
            "url": public_url(self._settings.webhook_url, self.webhook_path),
            "secret_token": secret,
            "allowed_updates": list(ALLOWED_UPDATES),
            "drop_pending_updates": False,
            "max_connections": WEBHOOK_CONNECTIONS,
        }
        await bot.call("setWebhook", request)

    async def _register_commands(self, bot: RawBot) -> None:
        """Register the commands where Telegram has others; a failure is only logged."""
        commands = [
            {"command": spec.name, "description": spec.description[:256]}
            for spec in self._context.commands
        ]
        if not commands:
            return
        try:
            registered = [
                {key: command.get(key) for key in ("command", "description")}
                for command in objects(await bot.call("getMyCommands", {}))
            ]
            if registered != commands:
                await bot.call("setMyCommands", {"commands": commands})
            await register_languages(bot, self._context)
        except (TelegramError, StoreUnavailable) as error:
            self._context.count("failed", "set_my_commands")
            log.warning("commands_not_registered", platform="telegram", error=error)

    def alive(self) -> Liveness:
        """Polling: the time of the last answered poll. A webhook needs no such proof."""
        if self._bot is None:
            return Liveness(False, NOT_CONNECTED)
        return Liveness(True) if self._poller is None else self._poller.alive()

    async def _close(self) -> None:
        """Stop receiving and close every connection. Pending updates stay at Telegram."""
        polling, self._polling = self._polling, None
        poller, self._poller = self._poller, None
        webhook, self._webhook = self._webhook, None
        receiver, self._receiver = self._receiver, None
        bot, self._bot = self._bot, None
        await stop_task(polling)
        if poller is not None:
            await poller.confirm()
        if webhook is not None:
            self._context.webhooks.remove(self.webhook_path)
            await webhook.pending.close()
        if receiver is not None:
            await receiver.close()
        if bot is not None:
            await bot.shutdown()

    def _connected(self) -> RawBot:
        if self._bot is None:
            raise Transient("Telegram is not connected")
        return self._bot

    async def send(self, outbound: Outbound) -> Receipt:
        """Send one part (HTML) or one file. Raises a `DeliveryError`."""
        return await send.send(self._connected(), outbound)

    async def clear_buttons(self, outbound: Outbound) -> None:
        """Remove the buttons of a message of the bot. Raises a `DeliveryError`."""
        await send.clear_buttons(self._connected(), outbound.place, outbound.clears)

    async def delete(self, place: Place, message_id: str) -> None:
        """Delete a message of the bot, within 48 hours; a missing one is accepted. Raises a
        `DeliveryError`."""
        try:
            await self._connected().call("deleteMessage", send.message_of(place, message_id))
        except TelegramError as error:
            if not is_missing(error):
                raise delivery_error(error, repeatable=True) from error

    def message_link(self, place: Place, message_id: str) -> str:
        """The address of a message of a supergroup; ordinary groups have none."""
        chat = place.present_channel_id or place.channel_id
        if not (chat.startswith(SUPERGROUP) and message_id.isdecimal()):
            return ""
        parts = (chat.removeprefix(SUPERGROUP), place.thread_id, message_id)
        return f"https://t.me/c/{'/'.join(filter(None, parts))}"

    def overhears(self) -> bool:
        """True if privacy mode is off; administrators of a group get every message in any case."""
        return self._reads_groups

    async def typing(self, place: Place, message_id: str) -> None:
        """Show "typing…" for five seconds, or until the answer is sent. A channel's direct messages
        have no such sign. Raises a `DeliveryError`."""
        if not send.is_direct_messages(place):
            await send.run(self._connected(), "sendChatAction", send.typing_request(place))

    def live_style(self, place: Place) -> LiveStyle:
        """A draft in private chats, an edited message in groups."""
        return live_style(place)

    async def show_live(self, view: LiveView) -> str:
        """Show the answer as far as it is written. Raises a `DeliveryError`."""
        return await send.show_live(self._connected(), view)

    async def end_live(self, outbound: Outbound) -> Receipt:
        """Edit the complete answer into the live message. Raises a `DeliveryError`."""
        bot, place = self._connected(), outbound.place
        await send.edit(bot, place, outbound.replaces, outbound.part, outbound.buttons)
        return Receipt(outbound.replaces)

    async def react(self, place: Place, message_id: str, emoji: str) -> None:
        """Add an emoji of Telegram's own list. Raises a `DeliveryError`."""
        request = send.reaction_request(place, message_id, emoji)
        await send.run(self._connected(), "setMessageReaction", request)

    async def unreact(self, place: Place, message_id: str, emoji: str) -> None:
        """Remove the bot's emoji; it has at most one on a message. Raises a `DeliveryError`."""
        request = send.reaction_request(place, message_id, "")
        await send.run(self._connected(), "setMessageReaction", request)

    async def answer_inline(self, query_id: str, suggestions: tuple[Button, ...]) -> None:
        """Offer articles; the text of the chosen one is posted in the chat."""
        request = send.inline_request(query_id, suggestions)
        await send.run(self._connected(), "answerInlineQuery", request)

    async def is_member(self, space: str, person: str) -> bool:
        """True when a person is in a chat, False where the bot was removed. Telegram guarantees an
        answer about other people only to administrators. Raises a `DeliveryError`."""
        try:
            request: dict[str, object] = {"chat_id": int(space), "user_id": int(person)}
        except ValueError:
            return False
        try:
            return is_present(as_mapping(await self._connected().call("getChatMember", request)))
        except Forbidden:
            return False
        except TelegramError as error:
            reason = error.message.lower()
            if isinstance(error, BadRequest) and any(known in reason for known in NOT_A_MEMBER):
                return False
            raise delivery_error(error, repeatable=True) from error

    async def room_name(self, channel: str) -> str:
        """The title of a group or channel. Raises a `DeliveryError`."""
        try:
            chat = as_mapping(await self._connected().call("getChat", {"chat_id": channel}))
        except TelegramError as error:
            raise delivery_error(error, repeatable=True) from error
        return text_at(chat, "title")

    async def describe_space(self, space: str) -> SpaceDescription:
        """The title, the description and the administrators of a group. Raises a
        `DeliveryError`."""
        bot, request = self._connected(), dict[str, object](chat_id=space)
        try:
            chat = as_mapping(await bot.call("getChat", request))
            administrators = await bot.call("getChatAdministrators", request)
        except TelegramError as error:
            raise delivery_error(error, repeatable=True) from error
        return SpaceDescription(
            text_at(chat, "title"), text_at(chat, "description"), names_of_people(administrators)
        )

    async def _answer_button(self, handle: str) -> None:
        await self._connected().call("answerCallbackQuery", {"callback_query_id": handle})

    async def fetch(self, attachment: Attachment, limit: int) -> bytes:
        """The bytes of a file; bots can download up to 20 MB.

        Raises `BadInput` when it has more than `limit` bytes, or a `DeliveryError`.
        """
        bot = self._connected()
        check_size(attachment, limit)
        try:
            file = as_mapping(await bot.call("getFile", {"file_id": attachment.ref}))
            if (integer(file, "file_size") or 0) > limit:
                name = attachment.name or attachment.ref
                raise UsageError(f"the file {name!r} has more than {limit} bytes")
            client = bot.request
            if not isinstance(client, AiohttpRequest):
                raise Permanent("this bot's HTTP client cannot download")
            url = f"{bot.base_file_url}/{text_at(file, 'file_path')}"
            status, data = await client.download(url, limit)
        except TelegramError as error:
            raise delivery_error(error, repeatable=True) from error
        if status != 200:
            reason = f"Telegram answered with status {status} for a file"
            raise Transient(reason) if status >= 500 else Permanent(reason)
        return data

    async def portrait(self, person: str, limit: int) -> bytes:
        """The latest picture of a person, empty for one who shows none to bots. Raises `BadInput`
        and a `DeliveryError`."""
        if not person.isdecimal():
            return b""
        request: dict[str, object] = {"user_id": int(person), "limit": 1}
        try:
            shown = as_mapping(await self._connected().call("getUserProfilePhotos", request))
        except TelegramError as error:
            if isinstance(error, BadRequest) and "not found" in error.message.lower():
                return b""
            raise delivery_error(error, repeatable=True) from error
        picture = portrait_in(shown)
        return b"" if picture is None else await self.fetch(picture, limit)

    async def diagnose(self) -> list[Check]:
        """The checks of `parley doctor`, also when not connected. Never raises."""
        if not self._settings.bot_token.get_secret_value():
            advice = text("Set `{key}`.", key=verbatim("platforms.telegram.bot_token"))
            return [Check("bot token", False, text("not set"), advice)]
        if self._bot is not None:
            return await doctor.diagnose(self._bot, self._settings)
        try:
            bot = self._make_bot()
            await bot.request.initialize()
        except TelegramError as error:
            advice = text("A token looks like `123456:ABC…`.")
            return [Check("bot token", False, error.message, advice)]
        try:
            return await doctor.diagnose(bot, self._settings)
        finally:
            await bot.request.shutdown()


def public_url(configured: str, path: str) -> str:
    """The address that Telegram calls; `path` is appended to an address without a path."""
    has_path = urlsplit(configured).path.strip("/")
    return configured if has_path else configured.rstrip("/") + path
