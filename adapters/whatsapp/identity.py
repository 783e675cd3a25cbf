"""Who is who over time: one key per person, whatever Meta calls them today.

A person is keyed by the business-scoped user id (BSUID) where Meta gives one, otherwise by the
phone number. Somebody first known by the phone keeps that key when the BSUID appears, and everybody
keeps the key when the number or the BSUID changes, because Meta signs for it. A number that turns
up under another BSUID belongs to somebody else now: that person starts anew.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar

from adapters.whatsapp.parse import Identity, Moved
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.ports import AdapterState

REMEMBERED: Final = timedelta(days=3650)
UNCONFIRMED: Final = timedelta(days=90)
"""How long a number without BSUID is taken for the same person: carriers give numbers away again
after 45 to 90 days (FCC, numbering resource rules)."""

_ONLY_PHONE: Final = "?"

_Event = TypeVar("_Event", bound=InboundEvent)


class Identities:
    """Keys and addresses of people, kept in the adapter's state.

    `user:BSUID` holds a person's key where it is not the BSUID itself, `phone:NUMBER` the key of
    whoever has the number, `address:KEY` where to send when that is not the key itself.
    """

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def key(self, who: Identity) -> str:
        """The key of the person who wrote; learns what is new. Raises `StoreUnavailable`."""
        if not who.user_id:
            return await self._by_phone(who.phone)
        if known := await self._state.get(f"user:{who.user_id}"):
            return known
        if not who.phone:
            return who.user_id
        owner = await self._state.get(f"phone:{who.phone}")
        if owner == _ONLY_PHONE:
            await self._state.put(f"user:{who.user_id}", who.phone, REMEMBERED)
            await self._state.put(f"phone:{who.phone}", who.phone, REMEMBERED)
            # The number may be somebody else's one day, the BSUID never.
            await self._state.put(f"address:{who.phone}", who.user_id, REMEMBERED)
            return who.phone
        if owner != who.user_id:
            await self._state.put(f"phone:{who.phone}", who.user_id, REMEMBERED)
        return who.user_id

    async def known_key(self, who: Identity) -> str:
        """The same without learning anything."""
        if who.user_id:
            return await self._state.get(f"user:{who.user_id}") or who.user_id
        owner = await self._state.get(f"phone:{who.phone}")
        return who.phone if not owner or owner == _ONLY_PHONE else owner

    async def moved(self, move: Moved) -> None:
        """Keep the person's key under the new number and BSUID."""
        key = await self.known_key(move.before)
        if not key:
            return
        if move.before.phone and move.after.phone:
            await self._state.put(f"phone:{move.before.phone}", "", REMEMBERED)
        if move.after.phone:
            await self._state.put(f"phone:{move.after.phone}", key, REMEMBERED)
        if move.after.user_id and move.after.user_id != key:
            await self._state.put(f"user:{move.after.user_id}", key, REMEMBERED)
        await self._state.put(f"address:{key}", move.after.key, REMEMBERED)

    async def address(self, key: str) -> str:
        """Where to send to this person now: a BSUID or a phone number."""
        return await self._state.get(f"address:{key}") or key

    async def _by_phone(self, phone: str) -> str:
        owner = await self._state.get(f"phone:{phone}")
        if owner and owner != _ONLY_PHONE:
            return owner
        await self._state.put(f"phone:{phone}", _ONLY_PHONE, UNCONFIRMED)
        return phone


def under_key(event: _Event, key: str, who: Identity) -> _Event:
    """The same event with `key` as its author and chat, the other ids as aliases."""
    match event:
        case MessageReceived() | MessageEdited():
            return replace(event, message=_rekeyed(event.message, key, who))
        case CommandInvoked():
            message = _rekeyed(event.message, key, who) if event.message is not None else None
            author = _author(event.author, key, who)
            place = replace(event.place, channel_id=key)
            return replace(event, place=place, author=author, message=message)
        case ButtonPressed() | ReactionChanged():
            place = replace(event.place, channel_id=key)
            return replace(event, place=place, author=_author(event.author, key, who))
        case MessageDeleted():
            return replace(event, place=replace(event.place, channel_id=key))
        case _:
            return event


def _rekeyed(message: ChatMessage, key: str, who: Identity) -> ChatMessage:
    place = replace(message.place, channel_id=key)
    return replace(message, place=place, author=_author(message.author, key, who))


def _author(author: MessageAuthor, key: str, who: Identity) -> MessageAuthor:
    aliases = tuple(known for known in (who.user_id, who.phone) if known and known != key)
    return replace(author, id=key, aliases=aliases)
