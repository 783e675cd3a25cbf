"""REST: answers to slash commands and buttons, within three seconds and afterwards."""

import time
from datetime import UTC, datetime
from typing import Final

from aiohttp import web

from simulators.discord.announcer import Announcer
from simulators.discord.errors import (
    ALREADY_ACKNOWLEDGED,
    INVALID_WEBHOOK_TOKEN,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    invalid_form,
    refuse,
)
from simulators.discord.payloads import message_json
from simulators.discord.requests import API, json_answer, read_message
from simulators.discord.rest_channels import apply_edit, new_message
from simulators.discord.validate import check_message
from simulators.discord.world import (
    COMMAND_ANSWER,
    COMPONENT,
    EPHEMERAL,
    LOADING,
    REPLY,
    SLASH,
    Interaction,
    Message,
    StoredFile,
    World,
)

FIRST_ANSWER_SECONDS: Final = 3.0
TOKEN_SECONDS: Final = 15 * 60.0

ANSWER, DEFERRED_ANSWER, DEFERRED_UPDATE, UPDATE = 4, 5, 6, 7


class InteractionRoutes:
    """`/interactions` and the webhooks that stay open for follow-ups."""

    def __init__(self, world: World, announcer: Announcer) -> None:
        self._world = world
        self._announcer = announcer
        self.deadline = FIRST_ANSWER_SECONDS

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        webhook = API + "/webhooks/{app}/{token}"
        app.router.add_post(API + "/interactions/{id}/{token}/callback", self.callback)
        app.router.add_post(webhook, self.follow_up)
        app.router.add_get(webhook + "/messages/{message}", self.show)
        app.router.add_patch(webhook + "/messages/{message}", self.edit)
        app.router.add_delete(webhook + "/messages/{message}", self.delete)

    async def callback(self, request: web.Request) -> web.Response:
        """POST /interactions/{id}/{token}/callback: the first answer."""
        interaction = self._world.interactions.get(request.match_info["token"])
        if (
            interaction is None
            or interaction.id != request.match_info["id"]
            or time.monotonic() - interaction.created > self.deadline
        ):
            raise refuse(UNKNOWN_INTERACTION)
        body, files = await read_message(request, self._world.next_id)
        if interaction.acknowledged:
            raise refuse(ALREADY_ACKNOWLEDGED)
        self._first_answer(interaction, body, files)
        interaction.acknowledged = True
        self._announcer.signal.notify()
        if request.query.get("with_response", "").lower() not in ("1", "true"):
            return web.Response(status=204)
        return json_answer(self._callback_json(interaction, body.get("type")))

    def _callback_json(self, interaction: Interaction, kind: object) -> dict[str, object]:
        original = self._find(interaction, interaction.original_id)
        about: dict[str, object] = {
            "id": interaction.id,
            "type": interaction.kind,
            "response_message_id": interaction.original_id,
            "response_message_loading": bool(original and original.flags & LOADING),
            "response_message_ephemeral": bool(original and original.flags & EPHEMERAL),
        }
        resource: dict[str, object] = {"type": kind}
        if original is not None and kind in (ANSWER, UPDATE):
            resource["message"] = message_json(self._world, original, self._announcer.cdn())
        return {"interaction": about, "resource": resource}

    def _first_answer(
        self, interaction: Interaction, body: dict[str, object], files: tuple[StoredFile, ...]
    ) -> None:
        kind, data = body.get("type"), body.get("data") or {}
        if not isinstance(data, dict):
            raise invalid_form("data", "DICT_TYPE_CONVERT", "Only dictionaries may be used")
        if kind == ANSWER:
            check_message(data, files=len(files))
            interaction.original_id = self._post(interaction, data, files).id
        elif kind == DEFERRED_ANSWER:
            message = self._message(interaction, {"flags": data.get("flags", 0)}, ())
            message.flags |= LOADING
            interaction.original_id = self._announcer.post(message).id
        elif kind in (DEFERRED_UPDATE, UPDATE) and interaction.kind == COMPONENT:
            interaction.original_id = interaction.message_id
            if kind == UPDATE:
                self._change(self._original(interaction), data, files)
        else:
            raise invalid_form("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")

    async def follow_up(self, request: web.Request) -> web.Response:
        """POST /webhooks/{app}/{token}: fills a deferred answer first, then adds messages."""
        interaction = self._interaction(request)
        body, files = await read_message(request, self._world.next_id)
        check_message(body, files=len(files))
        original = self._find(interaction, interaction.original_id)
        if original is not None and original.flags & LOADING:
            self._change(original, body, files)
            return self._answer(original)
        return self._answer(self._post(interaction, body, files))

    async def show(self, request: web.Request) -> web.Response:
        """GET /webhooks/{app}/{token}/messages/{@original or id}."""
        return self._answer(self._named(request))

    async def edit(self, request: web.Request) -> web.Response:
        """PATCH of the same."""
        message = self._named(request)
        body, files = await read_message(request, self._world.next_id)
        check_message(body, files=len(files), editing=True)
        self._change(message, body, files)
        return self._answer(message)

    async def delete(self, request: web.Request) -> web.Response:
        """DELETE of the same."""
        message = self._named(request)
        self._announcer.delete(self._world.channels[message.channel_id], [message])
        return web.Response(status=204)

    def _interaction(self, request: web.Request) -> Interaction:
        if request.match_info["app"] != self._world.application_id:
            raise refuse(UNKNOWN_WEBHOOK)
        interaction = self._world.interactions.get(request.match_info["token"])
        if interaction is None or time.monotonic() - interaction.created > TOKEN_SECONDS:
            raise refuse(INVALID_WEBHOOK_TOKEN)
        if not interaction.acknowledged:
            raise refuse(UNKNOWN_WEBHOOK)
        return interaction

    def _named(self, request: web.Request) -> Message:
        interaction, name = self._interaction(request), request.match_info["message"]
        message_id = interaction.original_id if name == "@original" else name
        message = self._find(interaction, message_id)
        if message is None or message.author_id != self._world.bot.id:
            raise refuse(UNKNOWN_MESSAGE)
        return message

    def _original(self, interaction: Interaction) -> Message:
        message = self._find(interaction, interaction.original_id)
        if message is None:
            raise refuse(UNKNOWN_MESSAGE)
        return message

    def _find(self, interaction: Interaction, message_id: str) -> Message | None:
        return self._world.message(interaction.channel_id, message_id)

    def _message(
        self, interaction: Interaction, body: dict[str, object], files: tuple[StoredFile, ...]
    ) -> Message:
        channel = self._world.channels[interaction.channel_id]
        message = new_message(self._world, channel, body, files)
        message.webhook_id = self._world.application_id
        message.type = COMMAND_ANSWER if interaction.kind == SLASH else REPLY
        message.reply_to_id = interaction.message_id
        flags = body.get("flags", 0)
        message.flags = flags & EPHEMERAL if isinstance(flags, int) else 0
        message.only_for = interaction.user_id if message.flags & EPHEMERAL else ""
        return message

    def _post(
        self, interaction: Interaction, body: dict[str, object], files: tuple[StoredFile, ...]
    ) -> Message:
        return self._announcer.post(self._message(interaction, body, files))

    def _change(
        self, message: Message, body: dict[str, object], files: tuple[StoredFile, ...]
    ) -> None:
        was_loading = bool(message.flags & LOADING)
        apply_edit(message, body, files)
        message.flags &= ~LOADING
        if was_loading:
            message.edited, message.timestamp = None, datetime.now(UTC)
        self._announcer.change(message)

    def _answer(self, message: Message) -> web.Response:
        return json_answer(message_json(self._world, message, self._announcer.cdn()))
