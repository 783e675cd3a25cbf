"""Groups that became supergroups. Telegram gives such a group another id, and numbers its messages
from 1 again.

Parley keeps the first id of a group, so that its conversation, memory, access and settings stay
where they are. Ids are translated at the border to Telegram only: in updates and answers to the
first id, in requests to the present one. Messages of the supergroup count from `RENUMBERED`, so
that none is taken for an earlier one of the group.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog

from adapters.shared.json_readers import JsonObject, as_mapping, integer, mapping
from adapters.telegram.messages import PRESENT
from gateway.latest import Latest
from gateway.ports import AdapterState

log = structlog.get_logger(__name__)

RENUMBERED: Final = 2**40
"""Above every message id of Telegram, which has at most 32 bits."""
KEEP: Final = timedelta(days=3_650)
MAX_KNOWN: Final = 10_000
"""Chats whose answer of the store is kept in memory."""
_DEEPEST: Final = 16
_CHATS: Final = ("group", "supergroup", "channel")
_NO_NOTICE: Final = frozenset({"forward_origin", "forward_date", "forward_from", "via_bot"})


class MessageLeftBehind(Exception):
    """The message stayed in the group that became a supergroup; a bot cannot reach it there."""


class UpgradedGroups:
    """The groups of one account that became supergroups, in the durable state of its adapter."""

    def __init__(self, state: AdapterState, account: str) -> None:
        self._state = state
        self._prefix = f"telegram:{account}:group"
        self._known: Latest[tuple[str, int], int] = Latest(MAX_KNOWN)

    async def learn(self, former: int, present: int) -> bool:
        """Record that a group has another id now. False if it contradicts what is known: a group
        is upgraded once. Raises `StoreUnavailable`."""
        if former >= 0 or present >= 0 or former == present:
            return False
        known = await self._present(former), await self._former(present)
        if known == (present, former):
            return True
        chained = await self._former(former) or await self._present(present)
        if known[0] not in (0, present) or known[1] not in (0, former) or chained:
            log.error("upgrade_of_group_contradicts", platform="telegram")
            return False
        # In this order: what was received under the new id is never taken for another group.
        await self._put("was", present, former)
        await self._put("is", former, present)
        log.info("group_became_supergroup", platform="telegram", former=former, present=present)
        return True

    async def translated(self, update: JsonObject) -> JsonObject:
        """The update with the first id of its group; learns from the notice of an upgrade. Raises
        `StoreUnavailable`."""
        notice = _upgrade_in(update)
        if notice is not None:
            await self.learn(*notice)
        chat = _chat_of(update)
        former = await self._former(chat) if chat < 0 else 0
        return as_mapping(_renamed(update, chat, former, _DEEPEST)) if former else update

    async def addressed(self, request: Mapping[str, object]) -> tuple[dict[str, object], int]:
        """The request with the present id of its chat; and that id, 0 if the chat has its first.
        Raises `MessageLeftBehind` and `StoreUnavailable`."""
        chat = request.get("chat_id")
        present = await self._present(chat) if type(chat) is int and chat < 0 else 0
        if not present:
            return dict(request), 0
        moved = {**request, "chat_id": present}
        message = request.get("message_id")
        if type(message) is int:
            if message < RENUMBERED:
                raise MessageLeftBehind
            moved["message_id"] = message - RENUMBERED
        reply = request.get("reply_parameters")
        if isinstance(reply, dict):
            answered = integer(reply, "message_id") or 0
            del moved["reply_parameters"]
            if answered >= RENUMBERED:
                moved["reply_parameters"] = {**reply, "message_id": answered - RENUMBERED}
        return moved, present

    @staticmethod
    def answered(result: object, former: object, present: int) -> object:
        """The result of a request with the first id of the chat."""
        if not present or type(former) is not int:
            return result
        return _renamed(result, present, former, _DEEPEST)

    async def _present(self, former: int) -> int:
        return await self._get("is", former)

    async def _former(self, present: int) -> int:
        return await self._get("was", present)

    async def _get(self, kind: str, chat: int) -> int:
        """The other id of a chat; 0 for a chat with one id."""
        known = self._known.get((kind, chat))
        if known is None:
            stored = await self._state.get(f"{self._prefix}:{kind}:{chat}")
            # Learned meanwhile, perhaps.
            known = self._known.get((kind, chat)) or int(stored or 0)
            self._remember(kind, chat, known)
        return known

    async def _put(self, kind: str, chat: int, other: int) -> None:
        await self._state.put(f"{self._prefix}:{kind}:{chat}", str(other), KEEP)
        self._remember(kind, chat, other)

    def _remember(self, kind: str, chat: int, other: int) -> None:
        self._known[kind, chat] = other


def _upgrade_in(update: JsonObject) -> tuple[int, int] | None:
    """The former and the present id in Telegram's notice of an upgrade.

    Telegram alone makes it, as a message without content in one of both chats; what is forwarded
    or replied to is none.
    """
    message = mapping(update, "message")
    if not message or not _NO_NOTICE.isdisjoint(message):
        return None
    chat = integer(mapping(message, "chat"), "id") or 0
    if present := integer(message, "migrate_to_chat_id"):
        return chat, present
    former = integer(message, "migrate_from_chat_id")
    return (former, chat) if former else None


def _chat_of(update: JsonObject) -> int:
    """The id of the chat of an update, 0 without one."""
    for body in update.values():
        if isinstance(body, dict):
            chat = mapping(body, "chat") or mapping(mapping(body, "message"), "chat")
            return integer(chat, "id") or 0
    return 0


def _renamed(value: object, present: int, former: int, depth: int) -> object:
    """The JSON with the first id of the chat and the numbers of its messages."""
    if depth <= 0 or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [_renamed(one, present, former, depth - 1) for one in value]
    renamed = {key: _renamed(one, present, former, depth - 1) for key, one in value.items()}
    if value.get("id") == present and value.get("type") in _CHATS:
        renamed["id"], renamed[PRESENT] = former, present
    number = integer(value, "message_id")
    if number is not None and mapping(value, "chat").get("id") == present:
        renamed["message_id"] = number + RENUMBERED
    return renamed
