"""Links two identities: a one-time code, a confirmation from both sides, and the end of a link. A
code alone shares nothing. The person who enters it and the person who made it both see the other
side, and both confirm; `memory/commands/link.py` asks them. Every step is in the audit log, with
ids and without names.
"""

import hashlib
import secrets
from collections import OrderedDict, deque
from datetime import datetime, timedelta
from typing import Final, Literal

from gateway.errors import BadInput
from gateway.people import Audience, PersonId
from gateway.ports import Clock
from gateway.ports.memory import Caller
from gateway.text import text
from memory.ports.people import Linked, LinkRequest, LinkSide, LinkStep
from memory.stores.audit import Audit
from memory.stores.links import LinkStore
from safety.unicode import shown_name

LINK_VALID: Final = timedelta(minutes=10)
"""The time to enter a code, and then again to confirm."""
LINK_TRIES: Final = 5
"""Wrong codes that a person may enter within `LINK_VALID`, out of 2**48."""
HUMAN_FOR: Final = timedelta(minutes=1)
"""The longest time until a link made by another process counts towards limits."""
MAX_HUMANS: Final = 10_000
ALL_TRIES: Final = 50_000
"""Wrong codes of all people within `LINK_VALID`, in one process: few of 2**48, and more than a
hundred accounts can use to block other people."""
MAX_GUESSERS: Final = 10_000

LinkEvent = Literal["offered", "redeemed", "confirmed", "refused", "expired", "linked", "unlinked"]

TOO_MANY_TRIES: Final = text("Too many wrong codes were entered. Please try again in ten minutes.")
WRONG_CODE: Final = text(
    "This code is not valid. It may be mistyped, used already, or older than ten minutes. Write "
    "`/link` on the other platform for a new one."
)


class Guesses:
    """Wrong codes of the last ten minutes, by person and in all."""

    def __init__(self) -> None:
        self._by: OrderedDict[str, list[datetime]] = OrderedDict()
        self._all: deque[datetime] = deque(maxlen=ALL_TRIES)

    def exhausted(self, person: str, now: datetime) -> bool:
        """Return True if this person, or all people together, entered too many wrong codes."""
        mine = [at for at in self._by.get(person, ()) if at > now - LINK_VALID]
        full = len(self._all) == ALL_TRIES and self._all[0] > now - LINK_VALID
        return len(mine) >= LINK_TRIES or full

    def note(self, person: str, now: datetime) -> None:
        """Count another wrong code."""
        mine = [at for at in self._by.get(person, ()) if at > now - LINK_VALID]
        self._by[person] = [*mine, now][-LINK_TRIES:]
        self._by.move_to_end(person)
        while len(self._by) > MAX_GUESSERS:
            self._by.popitem(last=False)
        self._all.append(now)


class Links:
    """Runs the steps of a link for the caller, and records each one in the audit log."""

    def __init__(self, store: LinkStore, audit: Audit, clock: Clock) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock
        self._guesses = Guesses()
        self._humans: OrderedDict[tuple[str, str], tuple[str, datetime]] = OrderedDict()

    async def offer(self, caller: Caller) -> str:
        """Create a one-time code, which replaces the last one, to be entered on the other
        platform."""
        code = "-".join(secrets.token_hex(2).upper() for _ in range(3))
        until = self._clock.now() + LINK_VALID
        tenant, person = _who(caller)
        await self._store.offer(tenant, side_of(caller), _hash(code), until)
        await self._note("offered", tenant, person)
        return code

    async def redeem(self, caller: Caller, code: str) -> LinkStep:
        """Enter a code. Nothing is linked by that.

        Raises `BadInput` when the code is unknown, used or too old, or after too many wrong ones.
        """
        tenant, person = _who(caller)
        now = self._clock.now()
        if self._guesses.exhausted(person, now):
            raise BadInput(TOO_MANY_TRIES, code="too_soon")
        id_, until = secrets.token_hex(4), now + LINK_VALID
        step = await self._store.redeem(tenant, side_of(caller), _hash(code), id_, now, until)
        if step.outcome in ("unknown", "same_account"):
            self._guesses.note(person, now)
        if step.outcome == "unknown":
            raise BadInput(WRONG_CODE)
        if step.request is not None:
            event: LinkEvent = "redeemed" if step.outcome == "redeemed" else "refused"
            await self._note(event, tenant, person, step.request.maker)
        return step

    async def active(self, caller: Caller) -> LinkRequest | None:
        """Return the request of this person, if its code was entered."""
        return await self._store.active(*_who(caller), self._clock.now())

    async def confirm(self, caller: Caller, request_id: str) -> LinkStep:
        """Confirm this request for this person."""
        tenant, person = _who(caller)
        now = self._clock.now()
        step = await self._store.confirm(tenant, person, request_id, caller.id, now)
        if step.request is None or step.outcome in ("waiting", "early"):
            return step
        other = step.request.opposite(person)
        if step.outcome in ("agreed", "linked"):
            await self._note("confirmed", tenant, person, other)
        if step.outcome in ("same_account", "too_many"):
            await self._note("refused", tenant, person, other)
        if step.outcome == "linked":
            await self._note("linked", tenant, person, other)
        return step

    async def cancel(self, caller: Caller, request_id: str = "") -> LinkRequest | None:
        """Refuse a request or cancel a code for this person; return the ended request."""
        tenant, person = _who(caller)
        ended = await self._store.cancel(tenant, person, self._clock.now(), request_id)
        if ended is not None:
            await self._note("refused", tenant, person, ended.opposite(person))
        return ended

    async def expire(self) -> list[LinkRequest]:
        """End expired requests; return those that were not completed."""
        ended = await self._store.expire(self._clock.now())
        for request in ended:
            await self._note("expired", request.tenant, request.maker.person, request.redeemer)
        return ended

    async def human(self, tenant: str, person: PersonId) -> str:
        """The first of the linked identities; implements `IdentityResolver`. Raises
        `StoreUnavailable`."""
        key, now = (tenant, str(person)), self._clock.now()
        known = self._humans.get(key)
        if known is not None and now - known[1] < HUMAN_FOR:
            return known[0]
        others = [linked.side.person for linked in await self._store.linked(*key)]
        human = min((str(person), *others))
        self._humans[key] = (human, now)
        self._humans.move_to_end(key)
        while len(self._humans) > MAX_HUMANS:
            self._humans.popitem(last=False)
        return human

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """Return the identities that are linked with this one."""
        return await self._store.linked(tenant, person)

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Unlink an identity; return the identities that it was linked with."""
        others = await self._store.unlink(tenant, person)
        await self.note_unlinked(tenant, person, others)
        return others

    async def note_unlinked(self, tenant: str, person: str, others: list[Linked]) -> None:
        """Record that an identity is no longer linked with these."""
        for other in others:
            await self._note("unlinked", tenant, person, other.side)

    async def _note(
        self, what: LinkEvent, tenant: str, person: str, other: LinkSide | None = None
    ) -> None:
        if what in ("linked", "unlinked"):
            self._humans.clear()
        details = {} if other is None else {"other": other.person}
        await self._audit.append("people_link", tenant, person, what=what, **details)


def side_of(caller: Caller) -> LinkSide:
    """Return the caller as the other side sees them."""
    place = caller.place if caller.place.audience is Audience.DIRECT else None
    return LinkSide(str(caller.principal.person), shown_name(caller.name), place)


def _who(caller: Caller) -> tuple[str, str]:
    return caller.principal.tenant, str(caller.principal.person)


def _hash(code: str) -> str:
    plain = "".join(char for char in code.upper() if char.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()
