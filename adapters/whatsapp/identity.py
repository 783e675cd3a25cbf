"""One key per person over time, whatever ids Meta uses.

The key is the business-scoped user id (BSUID) where Meta gives one, otherwise the phone number. A
person first known by the number keeps that key when a BSUID appears, and keeps it when number or
BSUID changes, because Meta signs the change. A number with another BSUID belongs to another person.
So does a number without any BSUID after a silence in which a carrier may have reassigned it.

A change never gives a person the id of another one. A BSUID that is known stays with its person,
and a number of somebody else belongs to nobody afterwards: its next message is from a new person,
unless that message has a BSUID.
"""

import asyncio
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeVar

from adapters.whatsapp.parse import IdentityChange, PersonIds
from gateway.immutable import replace
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
from gateway.people import KnownIds
from gateway.ports import AdapterState, keep_ids, kept_ids

REMEMBERED: Final = timedelta(days=3650)
UNCONFIRMED: Final = timedelta(days=45)
"""The time for which a number alone identifies the same person: carriers reassign numbers after 45
days at the earliest (FCC, 47 CFR 52.15(f)(1)(ii), aging numbers). A new BSUID that appears in that
time is the same person's."""
MAX_OWNERS: Final = 1_000
"""Successive owners of one number without a BSUID."""

_ONLY_PHONE: Final = "?"
"""The prefix of a person's key that marks a number whose owner has no BSUID."""

_NUMBER_SIGNS: Final = str.maketrans("", "", "+ -()")
"""Characters that people write into a number, and Meta does not."""

_Event = TypeVar("_Event", bound=InboundEvent)


class ChangeEffect(StrEnum):
    """The effect of a reported change of a person's number or BSUID."""

    KEPT = "kept"
    """The person keeps the key under the new ids."""
    REPEATED = "repeated"
    """The same report, or a later one, had its effect before."""
    UNCERTAIN = "uncertain"
    """The report does not say whose ids change."""
    CONFLICT = "conflict"
    """The new number or BSUID is that of another person. Nobody got what is the other one's."""


class Identities:
    """Keys and addresses of people, kept in the adapter's state.

    `user:BSUID` holds a person's key, `phone:NUMBER` the key of the number's owner ("" for a number
    that two people claim), `address:KEY` where to send when that is not the key itself,
    `owners:NUMBER` how many people without a BSUID the number was the key of, `moved:KEY` the time
    of the person's latest change.
    """

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def key(self, who: PersonIds) -> str:
        """The key of the author; stores new numbers and BSUIDs. Raises `StoreUnavailable`."""
        if not who.user_id:
            return await self._by_phone(who.phone)
        known, owner = await asyncio.gather(  # in one transaction
            self._holder(who.user_id), self._owner(who.phone)
        )
        key = known or _without_bsuid(owner) or who.user_id
        if known is None:
            await self._state.put(f"user:{who.user_id}", key, REMEMBERED)
            if key != who.user_id:  # the number may be reassigned, the BSUID is not
                await self._state.put(f"address:{key}", who.user_id, REMEMBERED)
        if who.phone:
            await self._take_phone(who.phone, key, owner)
        return key

    async def known_key(self, who: PersonIds) -> str:
        """The key, without storing anything."""
        if who.user_id:
            return await self._holder(who.user_id) or who.user_id
        owner = await self._state.get(f"phone:{who.phone}")
        return (owner or "").removeprefix(_ONLY_PHONE) or who.phone

    async def change(self, change: IdentityChange) -> ChangeEffect:
        """Keep the person's key under the new number and BSUID. A number alone does not identify a
        person with a BSUID."""
        before, after = change.before, change.after
        known, owner = await asyncio.gather(self._holder(before.user_id), self._owner(before.phone))
        key = known or _without_bsuid(owner) or before.user_id
        if not key:
            return ChangeEffect.UNCERTAIN
        latest = await self._state.get(f"moved:{key}")
        if change.at and latest and change.at <= datetime.fromisoformat(latest):
            return ChangeEffect.REPEATED
        done = await self._move(key, before, after, owner)
        if change.at:
            await self._state.put(f"moved:{key}", change.at.isoformat(), REMEMBERED)
        return done

    async def _move(
        self, key: str, before: PersonIds, after: PersonIds, owner: str | None
    ) -> ChangeEffect:
        """Give a person new ids. `owner` is that of the number before."""
        if after.user_id and await self._holder(after.user_id) not in (None, key):
            return ChangeEffect.CONFLICT
        for one in filter(None, (before.user_id, after.user_id)):
            await self._state.put(f"user:{one}", key, REMEMBERED)
        if not after.phone or after.phone == before.phone:
            number = after.phone
        else:
            if owner is not None and owner.removeprefix(_ONLY_PHONE) in ("", key):
                await self._state.put(f"phone:{before.phone}", "", UNCONFIRMED)
            alone = not (before.user_id or after.user_id)
            number = await self._moved_to(after.phone, key, alone=alone)
        if address := after.user_id or number:
            await self._state.put(f"address:{key}", address, REMEMBERED)
        return ChangeEffect.CONFLICT if number != after.phone else ChangeEffect.KEPT

    async def address(self, key: str) -> str:
        """The address of this person: a BSUID or a phone number."""
        return await self._state.get(f"address:{key}") or key

    async def store_ids(self, key: str, who: PersonIds) -> KnownIds:
        """Store new ids of this person; return all, current and former ones. Raises
        `StoreUnavailable`."""
        known = await self._known_ids(key)
        now = known.named((who.user_id, who.phone))
        if now != known:
            await keep_ids(self._state, key, now)
        return now

    async def _holder(self, user_id: str) -> str | None:
        """The key of the person with this BSUID, None if nobody was seen with it."""
        if not user_id:
            return None
        key, ids = await asyncio.gather(
            self._state.get(f"user:{user_id}"), kept_ids(self._state, user_id)
        )
        return key or (user_id if ids is not None else None)

    async def _moved_to(self, phone: str, key: str, *, alone: bool) -> str:
        """Assign a new number to a person who changed; "" if it is that of another person, and then
        of nobody. `alone`: the person has no BSUID."""
        owner = await self._owner(phone)
        if (owner or "").removeprefix(_ONLY_PHONE) not in ("", key):
            await self._take_phone(phone, "", owner)
            return ""
        await self._take_phone(phone, f"{_ONLY_PHONE}{key}" if alone else key, owner)
        return phone

    async def _known_ids(self, key: str) -> KnownIds:
        return await kept_ids(self._state, key) or KnownIds()

    async def _owner(self, phone: str) -> str | None:
        return await self._state.get(f"phone:{phone}") if phone else None

    async def _by_phone(self, phone: str) -> str:
        owner = await self._state.get(f"phone:{phone}")
        if owner:
            # A message renews the assumption about a number without a BSUID only.
            if owner.startswith(_ONLY_PHONE):
                await self._state.put(f"phone:{phone}", owner, UNCONFIRMED)
            return owner.removeprefix(_ONLY_PHONE) or phone
        count = await self._state.get(f"owners:{phone}")
        if count is None and await self._state.get(f"address:{phone}"):
            count = "1"  # the number alone is the key of a person with another address
        number = min(int(count or "0"), MAX_OWNERS)
        key = f"{phone}.{number}" if number else phone
        await self._state.put(f"owners:{phone}", str(number + 1), REMEMBERED)
        if key != phone:
            await self._state.put(f"address:{key}", phone, REMEMBERED)
        await self._state.put(f"phone:{phone}", f"{_ONLY_PHONE}{key}", UNCONFIRMED)
        return key

    async def _take_phone(self, phone: str, owner: str, before: str | None) -> None:
        """Assign the number to this person, and remove it from its former owner."""
        former = (before or "").removeprefix(_ONLY_PHONE)
        if former and former != owner.removeprefix(_ONLY_PHONE):
            known = await self._known_ids(former)
            await keep_ids(self._state, former, known.without(phone))
        await self._state.put(f"phone:{phone}", owner, UNCONFIRMED)


def _without_bsuid(owner: str | None) -> str:
    """The key of a number's owner who has no BSUID, "" for another one or none."""
    return owner.removeprefix(_ONLY_PHONE) if owner and owner.startswith(_ONLY_PHONE) else ""


async def keys_named(state: AdapterState, id_: str) -> tuple[str, ...]:
    """The keys of people with this id: a key, a BSUID, or a number, also with `+` and spaces. Two
    keys where a number is one person's key and another's number."""
    digits = id_.translate(_NUMBER_SIGNS)
    number = digits if digits.isascii() and digits.isdigit() else id_
    keys = [await state.get(f"user:{id_}") or ""]
    owner = await state.get(f"phone:{number}")
    if owner:
        keys.append(owner.removeprefix(_ONLY_PHONE) or number)
    written = dict.fromkeys((id_, number))
    keys += [one for one in written if await kept_ids(state, one) is not None]
    return tuple(dict.fromkeys(key for key in keys if key))


def under_key(
    event: _Event,
    key: str,
    who: PersonIds,
    known: KnownIds = KnownIds(),  # noqa: B008 - frozen
) -> _Event:
    """The same event with `key` as its author and chat, the event's other ids as aliases, and the
    person's other `known` ids as former ones."""
    match event:
        case MessageReceived() | MessageEdited():
            return replace(event, message=_rekeyed(event.message, key, who, known))
        case CommandInvoked():
            message = (
                _rekeyed(event.message, key, who, known) if event.message is not None else None
            )
            author = _author(event.author, key, who, known)
            place = replace(event.place, channel_id=key)
            return replace(event, place=place, author=author, message=message)
        case ButtonPressed() | ReactionChanged():
            place = replace(event.place, channel_id=key)
            return replace(event, place=place, author=_author(event.author, key, who, known))
        case MessageDeleted():
            return replace(event, place=replace(event.place, channel_id=key))
        case _:
            return event


def _rekeyed(message: ChatMessage, key: str, who: PersonIds, known: KnownIds) -> ChatMessage:
    place = replace(message.place, channel_id=key)
    return replace(message, place=place, author=_author(message.author, key, who, known))


def _author(author: MessageAuthor, key: str, who: PersonIds, known: KnownIds) -> MessageAuthor:
    aliases = tuple(one for one in (who.user_id, who.phone) if one and one != key)
    former = tuple(one for one in known.every if one not in (key, *aliases))
    return replace(author, id=key, aliases=aliases, former=former)
