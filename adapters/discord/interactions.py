"""Responses to slash commands and buttons.

Discord expects a first response within three seconds and then keeps the interaction open for 15
minutes. The first response is a deferral, as soon as the event is stored. A command's first answer
then replaces the "thinking" message; every other answer is an ordinary message in the channel,
because only ordinary messages carry a nonce and can be repeated without appearing twice. An answer
for one person has to be a follow-up of the interaction.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

import structlog
from discord.http import Route

from adapters.discord.client import RestClient
from adapters.discord.errors import RequestRefused
from adapters.discord.event_context import InteractionHandle
from adapters.discord.send import EPHEMERAL, NO_BUTTONS, SUPPRESS_EMBEDS, body_of, form_of
from adapters.shared.json_readers import JsonObject, identifier, integer, text
from gateway.errors import DeliveryError, Permanent
from gateway.message import Outbound

log = structlog.get_logger(__name__)

DEFERRED_ANSWER, DEFERRED_UPDATE = 5, 6
LOADING: Final = 1 << 7
MAX_OPEN: Final = 1000
DEFERRAL_SECONDS: Final = 5.0
GONE: Final = frozenset({10008, 10015, 10062, 50027})
"""Unknown message, webhook or interaction, or an expired token: the interaction is over."""
ORIGINAL: Final = "@original"
"""The id of a command's first answer, which only the interaction can change."""

_WEBHOOK: Final = "/webhooks/{webhook_id}/{webhook_token}"
_ORIGINAL: Final = f"{_WEBHOOK}/messages/{ORIGINAL}"


@dataclass(slots=True)
class _OpenInteraction:
    """An interaction of this process.

    `loading`: this process created the "thinking" message. `filled_by`: the key of the send that
    replaced it, "?" when another process did.
    """

    deferred: asyncio.Event = field(default_factory=asyncio.Event)
    loading: bool = False
    filled_by: str = ""


class InteractionResponses:
    """The open interactions of one account."""

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest
        self._open: OrderedDict[str, _OpenInteraction] = OrderedDict()

    def expect(self, handle: InteractionHandle) -> bool:
        """Note a new interaction; its answers wait for the deferral. False for a known one."""
        if handle.interaction_id in self._open:
            return False
        self._open[handle.interaction_id] = _OpenInteraction()
        while len(self._open) > MAX_OPEN:
            self._open.popitem(last=False)
        return True

    async def defer(self, handle: InteractionHandle) -> None:
        """Send the first response. Never raises: without it, the answer goes into the channel."""
        is_command = handle.kind == "command"
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=handle.interaction_id,
            webhook_token=handle.token,
        )
        state = self._open.get(handle.interaction_id) or _OpenInteraction()
        try:
            kind = DEFERRED_ANSWER if is_command else DEFERRED_UPDATE
            await self._rest.call(route, json={"type": kind})
            state.loading = is_command
        except DeliveryError as error:
            log.warning("interaction_not_deferred", platform="discord", error=error)
        finally:
            state.deferred.set()

    async def fill(self, handle: InteractionHandle, outbound: Outbound) -> JsonObject | None:
        """Replace the "thinking" message by a public answer.

        None when that message was replaced or is gone: the answer then goes into the channel. A
        second call with the same key changes nothing. Raises a `DeliveryError`.
        """
        if handle.kind != "command":
            return None
        state = await self._state(handle)
        try:
            if not state.filled_by:
                free = state.loading or await self._is_free(handle, outbound)
                state.filled_by = outbound.key if free else "?"
            if state.filled_by != outbound.key:
                return None
            return await self._send("PATCH", _ORIGINAL, handle, body_of(outbound), outbound)
        except RequestRefused as error:
            if error.code in GONE:
                return None
            raise

    async def refill(self, handle: InteractionHandle, outbound: Outbound) -> str:
        """Change the answer that replaced the "thinking" message; returns its id. Raises a
        `DeliveryError`."""
        changed = await self._send("PATCH", _ORIGINAL, handle, body_of(outbound), outbound)
        return identifier(changed, "id")

    async def clear(self, handle: InteractionHandle, message_id: str) -> bool:
        """Remove the buttons of a message that only its interaction can change, as a message for
        one reader. False when the interaction is over. Raises a `DeliveryError`."""
        if handle.interaction_id in self._open:
            await self._state(handle)
        target = ORIGINAL if handle.kind == "button" else message_id
        path = f"{_WEBHOOK}/messages/{{message_id}}"
        try:
            await self._rest.call(_route("PATCH", path, handle, message_id=target), json=NO_BUTTONS)
        except RequestRefused as error:
            if error.code in GONE:
                return False
            raise
        return True

    async def dismiss(self, handle: InteractionHandle) -> None:
        """End a command that gets no answer. Raises a `DeliveryError`."""
        await self._state(handle)
        if handle.kind == "command":
            await self._delete_loading(handle)

    async def send_ephemeral(self, handle: InteractionHandle, outbound: Outbound) -> JsonObject:
        """Answer so that only the person who asked sees it. Raises a `DeliveryError`."""
        await self.dismiss(handle)
        body = body_of(outbound) | {"flags": EPHEMERAL | SUPPRESS_EMBEDS}
        return await self._send("POST", _WEBHOOK, handle, body, outbound)

    async def _state(self, handle: InteractionHandle) -> _OpenInteraction:
        state = self._open.get(handle.interaction_id)
        if state is None:
            self.expect(handle)
            state = self._open[handle.interaction_id]
            state.deferred.set()
        try:
            async with asyncio.timeout(DEFERRAL_SECONDS):
                await state.deferred.wait()
        except TimeoutError:
            log.warning("interaction_never_deferred", platform="discord")
        return state

    async def _is_free(self, handle: InteractionHandle, outbound: Outbound) -> bool:
        """True while the "thinking" message is there, or this very answer in its place."""
        original = await self._rest.call(_route("GET", _ORIGINAL, handle))
        if (integer(original, "flags") or 0) & LOADING:
            return True
        part = outbound.part
        return part is not None and text(original, "content") == str(part.payload).strip()

    async def _delete_loading(self, handle: InteractionHandle) -> None:
        """Delete the public "thinking" message: a follow-up would inherit its visibility."""
        try:
            original = await self._rest.call(_route("GET", _ORIGINAL, handle))
            flags = integer(original, "flags") or 0
            if flags & LOADING and not flags & EPHEMERAL:
                await self._rest.call(_route("DELETE", _ORIGINAL, handle))
        except RequestRefused as error:
            if error.code not in GONE:
                raise

    async def _send(
        self,
        method: str,
        path: str,
        handle: InteractionHandle,
        body: dict[str, object],
        outbound: Outbound,
    ) -> JsonObject:
        route, form = _route(method, path, handle), form_of(body, outbound.file)
        return await self._rest.call(route, json=body, form=form, repeatable=method != "POST")


def _route(method: str, path: str, handle: InteractionHandle, **parameters: str) -> Route:
    ids = {"webhook_id": handle.application_id, "webhook_token": handle.token}
    return Route(method, path, **ids, **parameters)


def handle_of(outbound: Outbound) -> InteractionHandle | None:
    """The interaction that an outbound answers. Raises `Permanent` for another handle."""
    if not outbound.reply_handle:
        return None
    handle = InteractionHandle.read(outbound.reply_handle)
    if handle is None:
        raise Permanent("the reply handle is not one of Discord's")
    return handle
