"""The Bot API's methods, by name."""

import re
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from simulators.telegram.limits import (
    MAX_COMMANDS,
    MAX_DOWNLOAD,
    MAX_INLINE_RESULTS,
    MAX_POLL_SECONDS,
    MAX_TEXT,
)
from simulators.telegram.params import ApiError, Params, bad_request
from simulators.telegram.sending import Sending
from simulators.telegram.updates import Superseded, UpdateQueue, Waiting
from simulators.telegram.webhook import WebhookSender, WebhookSettings
from simulators.telegram.world import World

_COMMAND = re.compile(r"[a-z0-9_]{1,32}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{1,256}")
TOO_OLD: Final = "query is too old and response timeout expired or query ID is invalid"

Answer: TypeAlias = "dict[str, object] | list[object] | list[Waiting] | bool"


class BotApi:
    """One bot's Bot API. `privacy` is BotFather's privacy mode (on for every new bot)."""

    def __init__(
        self,
        world: World,
        queue: UpdateQueue,
        webhook: WebhookSender,
        sending: Sending,
        changed: Callable[[], None],
    ) -> None:
        self._world = world
        self._queue = queue
        self._webhook = webhook
        self._sending = sending
        self._changed = changed
        self.privacy = True
        self.commands: dict[str, list[object]] = {}
        self.callback_queries: dict[str, bool] = {}
        self.inline_answers: dict[str, list[dict[str, object]] | None] = {}
        self._quick: dict[str, Callable[[Params], Answer]] = {
            "getMe": self._get_me,
            "sendMessage": sending.send_message,
            "sendDocument": lambda params: sending.send_file(params, "document"),
            "sendVoice": lambda params: sending.send_file(params, "voice"),
            "sendPhoto": lambda params: sending.send_file(params, "photo"),
            "sendChatAction": sending.chat_action,
            "sendMessageDraft": sending.draft,
            "editMessageText": sending.edit_text,
            "editMessageReplyMarkup": sending.edit_keyboard,
            "deleteMessage": sending.delete,
            "setMessageReaction": sending.react,
            "setWebhook": self._set_webhook,
            "deleteWebhook": self._delete_webhook,
            "getWebhookInfo": self._webhook_info,
            "setMyCommands": self._set_commands,
            "getMyCommands": self._get_commands,
            "deleteMyCommands": self._delete_commands,
            "getChat": self._chat,
            "getChatAdministrators": self._administrators,
            "getChatMember": self._chat_member,
            "getFile": self._get_file,
            "getUserProfilePhotos": self._portraits,
            "answerCallbackQuery": self._answer_callback,
            "answerInlineQuery": self._answer_inline,
        }
        self._slow: dict[str, Callable[[Params], Awaitable[Answer]]] = {
            "getUpdates": self._get_updates
        }
        self._names = {name.lower(): name for name in (*self._quick, *self._slow)}

    def name_of(self, method: str) -> str:
        """The method's proper spelling (the Bot API ignores case), as given when unknown."""
        return self._names.get(method.lower(), method)

    async def call(self, method: str, params: Params) -> Answer:
        """Run a method; raises `ApiError`."""
        quick = self._quick.get(method)
        if quick is not None:
            return quick(params)
        slow = self._slow.get(method)
        if slow is None:
            raise ApiError(404, "Not Found")
        return await slow(params)

    def _get_me(self, params: Params) -> Answer:
        return {
            **self._world.me,
            "can_join_groups": True,
            "can_read_all_group_messages": not self.privacy,
            "supports_inline_queries": True,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }

    def _chat(self, params: Params) -> Answer:
        chat = self._sending.chat(params)
        about = {"description": chat.description} if chat.description else {}
        return chat.as_json() | about

    def _administrators(self, params: Params) -> Answer:
        """Those of a group: people, and other bots (Bot API, getChatAdministrators)."""
        chat = self._sending.chat(params)
        if not chat.is_group:
            raise bad_request("there are no administrators in the private chat")
        people = [p for p in self._world.people.values() if int(p.id) in chat.administrators]
        listed: list[object] = [
            {"user": self._world.user(one), "status": "administrator"} for one in people
        ]
        return listed

    def _chat_member(self, params: Params) -> Answer:
        chat, number = self._sending.chat(params), params.integer("user_id")
        user = next((p for p in self._world.people.values() if int(p.id) == number), None)
        if user is None or not chat.is_group:
            raise bad_request("user not found")
        status = chat.gone.get(number, "member")
        return {"user": self._world.user(user), "status": status}

    def _portraits(self, params: Params) -> Answer:
        """The pictures of a person: in an array of sizes each (Bot API, UserProfilePhotos)."""
        user_id = str(params.integer("user_id"))
        if all(one.id != user_id for one in self._world.people.values()):
            raise bad_request("user not found")
        picture = self._world.portraits.get(user_id)
        if picture is None:
            return {"total_count": 0, "photos": []}
        return {"total_count": 1, "photos": [self._world.sizes_of(picture, (160, 320, 640))]}

    async def _get_updates(self, params: Params) -> Answer:
        if self._webhook.settings is not None:
            raise ApiError(
                409,
                "Conflict: can't use getUpdates method while webhook is active; "
                "use deleteWebhook to delete the webhook first",
            )
        if "allowed_updates" in params.values:
            self._allow(params)
        timeout = min(max(0, params.integer("timeout")), MAX_POLL_SECONDS)
        try:
            return await self._queue.poll(
                params.integer("offset"), params.integer("limit", 100) or 100, timeout
            )
        except Superseded:
            raise ApiError(
                409,
                "Conflict: terminated by other getUpdates request; "
                "make sure that only one bot instance is running",
            ) from None

    def _allow(self, params: Params) -> None:
        self._queue.allow([str(kind) for kind in params.listing("allowed_updates")])

    def _set_webhook(self, params: Params) -> Answer:
        url = params.text("url")
        if not url:
            return self._delete_webhook(params)
        if not url.startswith("https://"):
            raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
        secret = params.text("secret_token")
        if secret and not _SECRET.fullmatch(secret):
            raise bad_request("secret token contains unallowed characters")
        if "allowed_updates" in params.values:
            self._allow(params)
        if params.flag("drop_pending_updates"):
            self._queue.drop_all()
        connections = params.integer("max_connections", 40)
        if not 1 <= connections <= 100:
            raise bad_request("max_connections must be between 1 and 100")
        self._queue.take_over()
        self._webhook.configure(WebhookSettings(url, secret, connections))
        self._changed()
        return True

    def _delete_webhook(self, params: Params) -> Answer:
        if params.flag("drop_pending_updates"):
            self._queue.drop_all()
        self._webhook.configure(None)
        return True

    def _webhook_info(self, params: Params) -> Answer:
        settings = self._webhook.settings
        info: dict[str, object] = {
            "url": settings.url if settings else "",
            "has_custom_certificate": False,
            "pending_update_count": len(self._queue.waiting),
        }
        if self._webhook.last_error:
            info["last_error_message"] = self._webhook.last_error
        return info

    def _set_commands(self, params: Params) -> Answer:
        commands = params.listing("commands")
        if len(commands) > MAX_COMMANDS:
            raise bad_request("BOT_COMMANDS_TOO_MUCH")
        for one in commands:
            name = one.get("command") if isinstance(one, dict) else None
            text = one.get("description") if isinstance(one, dict) else None
            if not isinstance(name, str) or not _COMMAND.fullmatch(name):
                raise bad_request("BOT_COMMAND_INVALID")
            if not isinstance(text, str) or not 1 <= len(text) <= 256:
                raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
        self.commands[_command_key(params)] = commands
        return True

    def _get_commands(self, params: Params) -> Answer:
        return self.commands.get(_command_key(params), [])

    def _delete_commands(self, params: Params) -> Answer:
        self.commands.pop(_command_key(params), None)
        return True

    def _get_file(self, params: Params) -> Answer:
        file_id = params.text("file_id")
        file = self._world.files.get(file_id)
        if file is None:
            raise bad_request("wrong file_id or the file is temporarily unavailable")
        if len(file.data) > MAX_DOWNLOAD:
            raise bad_request("file is too big")
        return {
            "file_id": file_id,
            "file_unique_id": f"u{file_id}",
            "file_size": len(file.data),
            "file_path": f"documents/{file_id}",
        }

    def _answer_callback(self, params: Params) -> Answer:
        number = params.text("callback_query_id")
        if self.callback_queries.get(number) is not False:
            raise bad_request(TOO_OLD)
        if len(params.text("text")) > 200:
            raise bad_request("MESSAGE_TOO_LONG")
        self.callback_queries[number] = True
        self._changed()
        return True

    def _answer_inline(self, params: Params) -> Answer:
        number = params.text("inline_query_id")
        if number not in self.inline_answers:
            raise bad_request(TOO_OLD)
        results = params.listing("results")
        if len(results) > MAX_INLINE_RESULTS:
            raise bad_request("RESULTS_TOO_MUCH")
        kept: list[dict[str, object]] = []
        seen: set[str] = set()
        for one in results:
            if not isinstance(one, dict) or one.get("type") != "article":
                raise bad_request("this simulator takes inline results of type article only")
            identity = str(one.get("id", ""))
            if not 1 <= len(identity.encode()) <= 64 or identity in seen:
                raise bad_request("RESULT_ID_INVALID")
            seen.add(identity)
            if not one.get("title"):
                raise bad_request("ARTICLE_TITLE_EMPTY")
            content = one.get("input_message_content")
            text = content.get("message_text") if isinstance(content, dict) else None
            if not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT:
                raise bad_request("MESSAGE_EMPTY")
            kept.append(one)
        self.inline_answers[number] = kept
        self._changed()
        return True


def _command_key(params: Params) -> str:
    scope = params.mapping("scope").get("type", "default")
    return f"{scope}/{params.text('language_code')}"
