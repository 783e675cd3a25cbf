"""Who asks, as memory knows them: linked identities, the chosen project, the session.

The only caller of `PeopleStore`. What it passes on comes from the principal and the place that the
gateway decided; nothing here takes somebody's id from outside.
"""

import hashlib
import secrets
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from gateway.errors import BadInput
from gateway.people import Audience, Principal
from gateway.ports import Clock
from gateway.remembering import Asker
from memory.scope import Occasion, project_of
from memory.store.ports import Arrival, PeopleStore, Session, SessionUse

MAX_LINKED: Final = 10
LINK_VALID: Final = timedelta(minutes=10)
LINK_TRIES: Final = 5
"""Wrong codes a person may enter within `LINK_VALID`: 5 of 2**48 are not worth guessing."""
SEEN_AGAIN: Final = timedelta(hours=12)
MAX_SEEN: Final = 10_000
SESSION_LIMITS: Final[dict[SessionUse, int]] = {"stores": 20, "supersedes": 5, "deletes": 5}
"""What the model's tools may do in one session (sources 003); people are not bound by it."""


class People:
    """Answers for the person who asks."""

    def __init__(self, store: PeopleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._seen: OrderedDict[tuple[str, str, str], datetime] = OrderedDict()
        self._wrong: OrderedDict[str, list[datetime]] = OrderedDict()

    async def arrive(self, asker: Asker) -> tuple[Occasion, Arrival]:
        """On whose behalf and before whom memory is used now, and what it begins with. Raises
        `StoreUnavailable`."""
        principal, place = asker.principal, asker.place
        tenant, person = principal.tenant, str(principal.person)
        room = None if place.audience is Audience.DIRECT else project_of(place)
        arrival = await self._store.arrive(tenant, person, asker.conversation, asker.at, room)
        known = arrival.who
        if room is not None:
            await self._note_seen(tenant, person, room)
        occasion = Occasion(
            principal=principal,
            persons=known.persons,
            place=place,
            at=asker.at,
            project=known.project if room is None else room,
            conversation=asker.conversation,
            session=arrival.session.id,
            message_ids=asker.message_ids,
            words=asker.words,
            shows_private=known.shows_private,
        )
        return occasion, arrival

    async def use(self, session: Session, what: SessionUse) -> bool:
        """Count one use by the model; False when the session has used up its share."""
        return await self._store.use(session.id, what, SESSION_LIMITS[what])

    async def brief(self, session: Session, at: datetime) -> datetime:
        """From now on the session's brief is that of `at`, unless somebody made it anew meanwhile;
        of when it is."""
        return await self._store.brief(session.id, at, session.briefed)

    async def projects(self, occasion: Occasion) -> list[tuple[str, str]]:
        """Ids and titles of the projects this person may choose from."""
        return await self._store.projects(occasion.principal.tenant, occasion.persons)

    async def choose_project(self, occasion: Occasion, wanted: str) -> str:
        """Choose by number, id or title what is meant in private; the title. "none" chooses none.

        Raises `BadInput` when it is not one of theirs.
        """
        tenant, person = occasion.principal.tenant, str(occasion.principal.person)
        if wanted.casefold() == "none":
            await self._store.choose_project(tenant, person, "")
            return ""
        known = await self.projects(occasion)
        for number, (project, title) in enumerate(known, 1):
            if wanted in (str(number), project) or wanted.casefold() == title.casefold():
                await self._store.choose_project(tenant, person, project)
                return title
        raise BadInput(f"I know no project {wanted[:80]!r} of yours. `/project` lists them.")

    async def show_private(self, principal: Principal, allowed: bool) -> None:
        """Whether what is this person's own may be used in rooms."""
        await self._store.show_private(principal.tenant, str(principal.person), allowed)

    async def link_code(self, principal: Principal) -> str:
        """A new one-time code, valid for ten minutes, to be entered on the other platform."""
        code = "-".join(secrets.token_hex(2).upper() for _ in range(3))
        until = self._clock.now() + LINK_VALID
        person = str(principal.person)
        await self._store.offer_link(principal.tenant, person, _hash(code), until)
        return code

    async def link(self, principal: Principal, code: str) -> str:
        """Become one person with whoever made the code; their identity.

        Raises `BadInput` when the code is unknown, used or too old, or after five wrong ones.
        """
        tenant, person = principal.tenant, str(principal.person)
        now = self._clock.now()
        tries = [at for at in self._wrong.get(person, ()) if at > now - LINK_VALID]
        if len(tries) >= LINK_TRIES:
            raise BadInput("That were too many wrong codes. Please wait ten minutes.")
        other = await self._store.take_link(tenant, person, _hash(code), now)
        if not other:
            self._wrong[person] = [*tries, now]
            self._wrong.move_to_end(person)
            while len(self._wrong) > MAX_SEEN:
                self._wrong.popitem(last=False)
            raise BadInput("This code is not valid. Write `/link` on the other platform for one.")
        self._wrong.pop(person, None)
        return other

    async def unlink(self, principal: Principal) -> int:
        """Leave the linked identities; how many there were."""
        return await self._store.unlink(principal.tenant, str(principal.person))

    async def _note_seen(self, tenant: str, person: str, project: str) -> None:
        key, now = (tenant, person, project), self._clock.now()
        last = self._seen.get(key)
        if last is not None and now - last < SEEN_AGAIN:
            return
        await self._store.seen_in(tenant, person, project, project)
        self._seen[key] = now
        while len(self._seen) > MAX_SEEN:
            self._seen.popitem(last=False)


def _hash(code: str) -> str:
    plain = "".join(char for char in code.upper() if char.isalnum())
    return hashlib.sha256(plain.encode()).hexdigest()
