"""One key per person over time, whatever Meta calls them today.

A person is keyed by the business-scoped user id (BSUID) where Meta gives one, otherwise by the
phone number. A person first known by the phone keeps that key when the BSUID appears, and everybody
keeps the key when the number or the BSUID changes, because Meta signs for it. A number that turns
up under another BSUID, or without any after a silence in which a carrier may have given it to
somebody else, belongs to another person, who starts anew.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar

from adapters.whatsapp.parse import Identity, IdentityChange
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
"""How long a number alone is taken for the same person: carriers give numbers away again after 45
days at the earliest (FCC, 47 CFR 52.15(f)(1)(ii), numbers that are aging). A BSUID that appears
in that time, and never wrote before, takes the person over."""
MAX_OWNERS: Final = 1_000
"""People that one number may belong to after one another, without a BSUID."""

_ONLY_PHONE: Final = "?"
"""The mark of a number whose person has no BSUID, in front of the person's key."""

_NUMBER_SIGNS: Final = str.maketrans("", "", "+ -()")
"""What people write into a number, and Meta does not."""

_Event = TypeVar("_Event", bound=InboundEvent)


class Identities:
    """Keys and addresses of people, kept in the adapter's state.

    `user:BSUID` holds a person's key where it is not the BSUID itself, `phone:NUMBER` the key of
    the number's owner, `address:KEY` where to send when that is not the key itself,
    `owners:NUMBER` how many people without a BSUID the number was the key of.
    """

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def key(self, who: Identity) -> str:
        """The key of the person who wrote; learns what is new. Raises `StoreUnavailable`."""
        key = await self._key(who)
        await self._learn(key, who)
        return key

    async def _key(self, who: Identity) -> str:
        if not who.user_id:
            return await self._by_phone(who.phone)
        known = await self._state.get(f"user:{who.user_id}")
        owner = await self._state.get(f"phone:{who.phone}") if who.phone else None
        adopts = known is None and owner is not None and owner.startswith(_ONLY_PHONE)
        if adopts and await kept_ids(self._state, who.user_id) is None:
            known = (owner or "").removeprefix(_ONLY_PHONE) or who.phone
            await self._state.put(f"user:{who.user_id}", known, REMEMBERED)
            # The number may be somebody else's one day, the BSUID never.
            await self._state.put(f"address:{known}", who.user_id, REMEMBERED)
        key = known or who.user_id
        if who.phone:
            await self._take_phone(who.phone, key, owner)
        return key

    async def known_key(self, who: Identity) -> str:
        """The same without learning anything."""
        if who.user_id:
            return await self._state.get(f"user:{who.user_id}") or who.user_id
        owner = await self._state.get(f"phone:{who.phone}")
        return (owner or "").removeprefix(_ONLY_PHONE) or who.phone

    async def moved(self, move: IdentityChange) -> bool:
        """Keep the person's key under the new number and BSUID; False where it is not sure who
        moved: a number alone does not name a person who has a BSUID."""
        key, before, after = await self.known_key(move.before), move.before, move.after
        owner = await self._state.get(f"phone:{before.phone}") if before.phone else None
        if not key or not (before.user_id or (owner or "").startswith(_ONLY_PHONE)):
            return False
        if after.user_id and after.user_id != key:
            known = await self._state.get(f"user:{after.user_id}")
            if known not in (None, key):
                return False
            await self._state.put(f"user:{after.user_id}", key, REMEMBERED)
        if owner is not None and after.phone and owner.removeprefix(_ONLY_PHONE) in ("", key):
            await self._state.put(f"phone:{before.phone}", "", UNCONFIRMED)
        if after.phone:
            alone = not (after.user_id or before.user_id)
            owner = await self._state.get(f"phone:{after.phone}")
            await self._take_phone(after.phone, f"{_ONLY_PHONE}{key}" if alone else key, owner)
        await self._state.put(f"address:{key}", after.key, REMEMBERED)
        return True

    async def address(self, key: str) -> str:
        """Where to send to this person now: a BSUID or a phone number."""
        return await self._state.get(f"address:{key}") or key

    async def known_ids(self, key: str) -> KnownIds:
        """The ids by which Meta named this person."""
        return await kept_ids(self._state, key) or KnownIds()

    async def _by_phone(self, phone: str) -> str:
        owner = await self._state.get(f"phone:{phone}")
        if owner:
            # A message refreshes what is taken for granted of a number without BSUID only.
            if owner.startswith(_ONLY_PHONE):
                await self._state.put(f"phone:{phone}", owner, UNCONFIRMED)
            return owner.removeprefix(_ONLY_PHONE) or phone
        count = await self._state.get(f"owners:{phone}")
        if count is None and await self._state.get(f"address:{phone}"):
            count = "1"  # the bare number is the key of a person who is reached elsewhere now
        number = min(int(count or "0"), MAX_OWNERS)
        key = f"{phone}.{number}" if number else phone
        await self._state.put(f"owners:{phone}", str(number + 1), REMEMBERED)
        if key != phone:
            await self._state.put(f"address:{key}", phone, REMEMBERED)
        await self._state.put(f"phone:{phone}", f"{_ONLY_PHONE}{key}", UNCONFIRMED)
        return key

    async def _take_phone(self, phone: str, owner: str, before: str | None) -> None:
        """The number is this person's from now on, and that of the one before them no more."""
        former = (before or "").removeprefix(_ONLY_PHONE)
        if former and former != owner.removeprefix(_ONLY_PHONE):
            known = await self.known_ids(former)
            await keep_ids(self._state, former, known.without(phone))
        await self._state.put(f"phone:{phone}", owner, UNCONFIRMED)

    async def _learn(self, key: str, who: Identity) -> None:
        known = await self.known_ids(key)
        now = known.named((who.user_id, who.phone))
        if now != known:
            await keep_ids(self._state, key, now)


async def keys_named(state: AdapterState, id_: str) -> tuple[str, ...]:
    """The keys of people whom this id may name: a key, a BSUID, or the number of whoever has it
    now, also with `+` and spaces. Two where a number is one person's key and another's number."""
    digits = id_.translate(_NUMBER_SIGNS)
    number = digits if digits.isascii() and digits.isdigit() else id_
    found = [await state.get(f"user:{id_}") or ""]
    owner = await state.get(f"phone:{number}")
    if owner:
        found.append(owner.removeprefix(_ONLY_PHONE) or number)
    written = dict.fromkeys((id_, number))
    found += [one for one in written if await kept_ids(state, one) is not None]
    return tuple(dict.fromkeys(one for one in found if one))


def under_key(
    event: _Event,
    key: str,
    who: Identity,
    known: KnownIds = KnownIds(),  # noqa: B008 - frozen
) -> _Event:
    """The same event with `key` as its author and chat, the other ids of the event as aliases, and
    those by which the person was `known` before as former ones."""
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


def _rekeyed(message: ChatMessage, key: str, who: Identity, known: KnownIds) -> ChatMessage:
    place = replace(message.place, channel_id=key)
    return replace(message, place=place, author=_author(message.author, key, who, known))


def _author(author: MessageAuthor, key: str, who: Identity, known: KnownIds) -> MessageAuthor:
    aliases = tuple(one for one in (who.user_id, who.phone) if one and one != key)
    former = tuple(one for one in known.every if one not in (key, *aliases))
    return replace(author, id=key, aliases=aliases, former=former)
