"""REST: messages, reactions and typing in channels."""

from datetime import UTC, datetime
from typing import Final

from aiohttp import web

from simulators.discord.announcer import Announcer
from simulators.discord.errors import (
    EMPTY_MESSAGE,
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    NOT_THE_AUTHOR,
    UNKNOWN_CHANNEL,
    UNKNOWN_MEMBER,
    UNKNOWN_MESSAGE,
    UNKNOWN_USER,
    invalid_form,
    refuse,
)
from simulators.discord.payloads import channel_json, message_json
from simulators.discord.requests import API, json_answer, read_message, read_object
from simulators.discord.validate import VOICE_MESSAGE, check_emoji, check_message, is_voice_message
from simulators.discord.world import DM, EPHEMERAL, REPLY, Channel, Message, StoredFile, World

NONCE_SECONDS: Final = 300.0
"""Discord recognises an enforced nonce "within the past few minutes"."""
MAX_HISTORY: Final = 100
_HISTORY: Final = {"limit": 50, "after": 0, "before": 1 << 63}


class ChannelRoutes:
    """The bot's side of `/channels`."""

    def __init__(self, world: World, announcer: Announcer) -> None:
        self._world = world
        self._announcer = announcer
        self.typing: list[str] = []

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        channel = API + "/channels/{channel}"
        message = channel + "/messages/{message}"
        app.router.add_get(channel, self.show_channel)
        app.router.add_post(channel + "/typing", self.show_typing)
        app.router.add_get(channel + "/messages", self.history)
        app.router.add_post(channel + "/messages", self.create)
        app.router.add_post(channel + "/messages/bulk-delete", self.delete_many)
        app.router.add_get(channel + "/thread-members/{user}", self.thread_member)
        app.router.add_get(message, self.show)
        app.router.add_patch(message, self.edit)
        app.router.add_delete(message, self.delete)
        app.router.add_put(message + "/reactions/{emoji}/@me", self.react)
        app.router.add_delete(message + "/reactions/{emoji}/@me", self.unreact)
        app.router.add_post(API + "/users/@me/channels", self.open_direct)

    async def show_channel(self, request: web.Request) -> web.Response:
        """GET /channels/{id}."""
        return json_answer(channel_json(self._world, self._channel(request)))

    async def show_typing(self, request: web.Request) -> web.Response:
        """POST /channels/{id}/typing."""
        self.typing.append(self._channel(request).id)
        del self.typing[:-1000]
        self._announcer.signal.notify()
        return web.Response(status=204)

    async def open_direct(self, request: web.Request) -> web.Response:
        """POST /users/@me/channels."""
        recipient = str((await read_object(request)).get("recipient_id"))
        if recipient not in self._world.users:
            raise refuse(UNKNOWN_USER)
        return json_answer(channel_json(self._world, direct_channel(self._world, recipient)))

    async def history(self, request: web.Request) -> web.Response:
        """GET /channels/{id}/messages: the newest, or those next to `after` or `before`, always
        with the newest first. `around` is not simulated."""
        channel = self._channel(request)
        limit, after, before = (
            _whole(request, name, default) for name, default in _HISTORY.items()
        )
        if not 1 <= limit <= MAX_HISTORY:
            raise invalid_form("limit", "NUMBER_TYPE_MAX", "int value should be 1 to 100.")
        above = self._world.channels.get(channel.parent_id, channel)
        denied = self._world.bot.id in above.without_history  # then "no messages will be returned"
        messages = [
            message
            for message in (() if denied else channel.messages.values())
            if after < int(message.id) < before
            and not message.deleted
            and not message.flags & EPHEMERAL
        ]
        chosen = messages[:limit] if "after" in request.query else messages[-limit:]
        cdn = self._announcer.cdn()
        return json_answer([message_json(self._world, m, cdn) for m in reversed(chosen)])

    async def thread_member(self, request: web.Request) -> web.Response:
        """GET /channels/{id}/thread-members/{user}."""
        channel, user = self._channel(request), request.match_info["user"]
        if user not in channel.members:
            raise refuse(UNKNOWN_MEMBER)
        joined = self._world.joined_at.isoformat()
        member = {"id": channel.id, "user_id": user, "join_timestamp": joined, "flags": 0}
        return json_answer(member)

    async def create(self, request: web.Request) -> web.Response:
        """POST /channels/{id}/messages."""
        channel = self._channel(request)
        body, files = await read_message(request, self._world.next_id)
        check_message(body, files=len(files))
        if is_voice_message(body) and self._world.voices_refused:
            raise refuse(MISSING_PERMISSIONS)
        nonce = body.get("nonce")
        if body.get("enforce_nonce"):
            known = self._world.message_of_nonce(channel.id, nonce, NONCE_SECONDS)
            if known is not None:
                return self._answer(known)
        message = new_message(self._world, channel, body, files)
        self._reply(channel, message, body.get("message_reference"))
        if nonce is not None:
            self._world.remember_nonce(channel.id, nonce, message.id)
        return self._answer(self._announcer.post(message))

    async def show(self, request: web.Request) -> web.Response:
        """GET /channels/{id}/messages/{id}."""
        return self._answer(self._message(request))

    async def edit(self, request: web.Request) -> web.Response:
        """PATCH /channels/{id}/messages/{id}."""
        message = self._message(request)
        body, files = await read_message(request, self._world.next_id)
        if message.author_id != self._world.bot.id:
            raise refuse(NOT_THE_AUTHOR)
        check_message(body, files=len(files), editing=True)
        apply_edit(message, body, files)
        self._announcer.change(message)
        return self._answer(message)

    async def delete(self, request: web.Request) -> web.Response:
        """DELETE /channels/{id}/messages/{id}; other people's messages need a permission."""
        message = self._message(request)
        if message.author_id != self._world.bot.id:
            raise refuse(MISSING_PERMISSIONS)
        self._announcer.delete(self._world.channels[message.channel_id], [message])
        return web.Response(status=204)

    async def delete_many(self, request: web.Request) -> web.Response:
        """POST /channels/{id}/messages/bulk-delete needs Manage Messages, which the bot lacks."""
        self._channel(request)
        raise refuse(MISSING_PERMISSIONS)

    async def react(self, request: web.Request) -> web.Response:
        """PUT .../reactions/{emoji}/@me."""
        return self._react(request, add=True)

    async def unreact(self, request: web.Request) -> web.Response:
        """DELETE .../reactions/{emoji}/@me."""
        return self._react(request, add=False)

    def _react(self, request: web.Request, *, add: bool) -> web.Response:
        message, emoji = self._message(request), request.match_info["emoji"]
        check_emoji(emoji)
        channel = self._world.channels[message.channel_id]
        self._announcer.react(channel, message, self._world.bot, emoji, add)
        return web.Response(status=204)

    def _answer(self, message: Message) -> web.Response:
        return json_answer(message_json(self._world, message, self._announcer.cdn()))

    def _channel(self, request: web.Request) -> Channel:
        channel = self._world.channels.get(request.match_info["channel"])
        if channel is None:
            raise refuse(UNKNOWN_CHANNEL)
        if channel.hidden_from_bot:
            raise refuse(MISSING_ACCESS)
        return channel

    def _message(self, request: web.Request) -> Message:
        channel = self._channel(request)
        message = self._world.message(channel.id, request.match_info["message"])
        if message is None or message.flags & EPHEMERAL:
            raise refuse(UNKNOWN_MESSAGE)
        return message

    def _reply(self, channel: Channel, message: Message, reference: object) -> None:
        if not isinstance(reference, dict):
            return
        original = self._world.message(channel.id, str(reference["message_id"]))
        if original is not None:
            message.reply_to_id, message.type = original.id, REPLY
        elif reference.get("fail_if_not_exists", True):
            raise invalid_form(
                "message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message"
            )


def _whole(request: web.Request, name: str, default: int) -> int:
    value = request.query.get(name)
    if value is None:
        return default
    if not value.isdecimal():
        raise invalid_form(name, "NUMBER_TYPE_COERCE", f'Value "{value[:20]}" is not int.')
    return int(value)


def direct_channel(world: World, user_id: str) -> Channel:
    """The direct conversation with this user; the same one every time."""
    for channel in world.channels.values():
        if channel.type == DM and channel.recipient_id == user_id:
            return channel
    return world.add_channel(DM, recipient_id=user_id)


def new_message(
    world: World, channel: Channel, body: dict[str, object], files: tuple[StoredFile, ...]
) -> Message:
    """A message of the bot from a checked body."""
    components, embeds = body.get("components"), body.get("embeds")
    nonce = body.get("nonce")
    return Message(
        world.next_id(),
        channel.id,
        world.bot.id,
        content=str(body.get("content") or "").strip(),
        files=files,
        components=components if isinstance(components, list) else [],
        embeds=embeds if isinstance(embeds, list) else [],
        nonce=nonce if isinstance(nonce, str | int) else None,
        flags=VOICE_MESSAGE if is_voice_message(body) else 0,
        body=body,
    )


def apply_edit(message: Message, body: dict[str, object], files: tuple[StoredFile, ...]) -> None:
    """Change what the body names. Raises `ApiError` when nothing would be left."""
    content, components = body.get("content", message.content), body.get("components")
    if not str(content or "").strip() and not message.files and not files and not message.embeds:
        raise refuse(EMPTY_MESSAGE)
    message.content = str(content or "").strip()
    if isinstance(components, list):
        message.components = components
    message.files += files
    message.edited = datetime.now(UTC)
    message.body = body
