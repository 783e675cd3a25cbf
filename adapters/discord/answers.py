"""Answering slash commands and buttons.

Discord wants a first sign within three seconds and then keeps the interaction open for 15 minutes.
The first sign is a deferral, as soon as the event is stored. A command's first answer then fills
the "thinking" message; everything else goes into the channel as an ordinary message, because only
those carry a nonce and can be repeated without showing twice. What only one person may see has to
be a follow-up of the interaction.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from discord.http import Route

from adapters.discord.api import Api, RequestRefused
from adapters.discord.interactions import InteractionHandle
from adapters.discord.json_readers import identity, integer, text
from adapters.discord.send import EPHEMERAL, NO_BUTTONS, SUPPRESS_EMBEDS, body_of, form_of
from gateway.errors import DeliveryError, Permanent
from gateway.message import Outbound

log = structlog.get_logger(__name__)

DEFERRED_ANSWER, DEFERRED_UPDATE = 5, 6
LOADING: Final = 1 << 7
MAX_OPEN: Final = 1000
DEFERRAL_SECONDS: Final = 5.0
GONE: Final = frozenset({10008, 10015, 10062, 50027})
"""Unknown message, webhook or interaction, or an expired token: the interaction is over."""

_WEBHOOK: Final = "/webhooks/{webhook_id}/{webhook_token}"
_MESSAGE: Final = _WEBHOOK + "/messages/{message_id}"
ORIGINAL: Final = "@original"
_ORIGINAL: Final = f"{_WEBHOOK}/messages/{ORIGINAL}"


@dataclass(slots=True)
class _Open:
    """An interaction of this run.

    `loading`: it was this run that put the "thinking" message there. `filled_by`: the key of the
    send that took its place, "?" when that was another run's.
    """

    deferred: asyncio.Event = field(default_factory=asyncio.Event)
    loading: bool = False
    filled_by: str = ""


class InteractionResponses:
    """The open interactions of one account."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._open: OrderedDict[str, _Open] = OrderedDict()

    def expect(self, handle: InteractionHandle) -> bool:
        """An interaction arrived; its answers wait for the deferral. False when it is known."""
        if handle.interaction_id in self._open:
            return False
        self._open[handle.interaction_id] = _Open()
        while len(self._open) > MAX_OPEN:
            self._open.popitem(last=False)
        return True

    async def defer(self, handle: InteractionHandle) -> None:
        """Give the first sign. Never raises: an answer then goes into the channel."""
        kind = DEFERRED_ANSWER if handle.kind == "command" else DEFERRED_UPDATE
        route = Route(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            webhook_id=handle.interaction_id,
            webhook_token=handle.token,
        )
        state = self._open.get(handle.interaction_id)
        try:
            await self._api.call(route, json={"type": kind})
            if state is not None:
                state.loading = handle.kind == "command"
        except DeliveryError as error:
            log.warning("interaction_not_deferred", platform="discord", error=error)
        finally:
            if state is not None:
                state.deferred.set()

    async def fill(
        self, handle: InteractionHandle, outbound: Outbound
    ) -> Mapping[str, object] | None:
        """Put a public answer in the place of the "thinking" message.

        None when that place is taken or gone: the answer then belongs into the channel. Doing it
        again under the same key changes nothing. Raises a `DeliveryError`.
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
            return await self._post("PATCH", _ORIGINAL, handle, body_of(outbound), outbound)
        except RequestRefused as error:
            if error.code in GONE:
                return None
            raise

    async def refill(self, handle: InteractionHandle, outbound: Outbound) -> str:
        """Change what took the place of the "thinking" message; returns its id. Raises a
        `DeliveryError`."""
        changed = await self._post("PATCH", _ORIGINAL, handle, body_of(outbound), outbound)
        return identity(changed.get("id"))

    async def clear(self, handle: InteractionHandle, message_id: str) -> bool:
        """Take the buttons away from a message that only its interaction reaches, as one for a
        single reader is; False where that interaction is over. Raises a `DeliveryError`."""
        if handle.interaction_id in self._open:
            await self._state(handle)
        named = ORIGINAL if handle.kind == "button" else message_id
        route = Route(
            "PATCH",
            _MESSAGE,
            webhook_id=handle.application_id,
            webhook_token=handle.token,
            message_id=named,
        )
        try:
            await self._api.call(route, json=NO_BUTTONS)
        except RequestRefused as error:
            if error.code in GONE:
                return False
            raise
        return True

    async def dismiss(self, handle: InteractionHandle) -> None:
        """End a command that gets no answer: nothing is left of it. Raises a `DeliveryError`."""
        await self._state(handle)
        if handle.kind == "command":
            await self._clear_public_place(handle)

    async def whisper(self, handle: InteractionHandle, outbound: Outbound) -> Mapping[str, object]:
        """Answer so that only the person who asked sees it. Raises a `DeliveryError`."""
        await self._state(handle)
        if handle.kind == "command":
            await self._clear_public_place(handle)
        body = body_of(outbound) | {"flags": EPHEMERAL | SUPPRESS_EMBEDS}
        return await self._post("POST", _WEBHOOK, handle, body, outbound)

    async def _state(self, handle: InteractionHandle) -> _Open:
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
        """True while nothing stands there yet, or what stands there is this very answer."""
        original = await self._api.call(_route("GET", _ORIGINAL, handle))
        loading = (integer(original.get("flags")) or 0) & LOADING
        ours = (
            outbound.part is not None
            and text(original.get("content")) == str(outbound.part.payload).strip()
        )
        return bool(loading) or ours

    async def _clear_public_place(self, handle: InteractionHandle) -> None:
        """A follow-up would inherit the public place of the "thinking" message: take it away."""
        try:
            original = await self._api.call(_route("GET", _ORIGINAL, handle))
            flags = integer(original.get("flags")) or 0
            if flags & LOADING and not flags & EPHEMERAL:
                await self._api.call(_route("DELETE", _ORIGINAL, handle))
        except RequestRefused as error:
            if error.code not in GONE:
                raise

    async def _post(
        self,
        method: str,
        path: str,
        handle: InteractionHandle,
        body: dict[str, object],
        outbound: Outbound,
    ) -> Mapping[str, object]:
        route = _route(method, path, handle)
        form = form_of(body, outbound.file)
        return await self._api.call(route, json=body, form=form, repeatable=method != "POST")


def _route(method: str, path: str, handle: InteractionHandle) -> Route:
    return Route(method, path, webhook_id=handle.application_id, webhook_token=handle.token)


def handle_of(outbound: Outbound) -> InteractionHandle | None:
    """The interaction that an outbound answers. Raises `Permanent` for a foreign handle."""
    if not outbound.reply_handle:
        return None
    handle = InteractionHandle.read(outbound.reply_handle)
    if handle is None:
        raise Permanent("the reply handle is not one of Discord's")
    return handle
