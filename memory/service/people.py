"""The caller's identities, chosen project, choices and session.

Only this module calls `PeopleStore`, with ids from the principal and the place that the gateway
decided.
"""

import asyncio
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Principal
from gateway.ports import Clock, MembershipCheck, MembershipStatus
from gateway.ports.memory import Caller
from gateway.text import NO_TEXT, Text, text, verbatim
from memory.agents.stores.direct_places import DirectPlaces
from memory.model.scope import RequestScope, choice_names, project_of
from memory.ports.people import MemorySession, PersonChoices, SessionUse, TurnStart
from memory.stores.people import PeopleStore

SEEN_AGAIN: Final = timedelta(hours=12)
"""The precision of the time when a person was last seen in a project."""
MAX_OFF_IN: Final = 50
"""Conversations in which one person may turn memory off."""
MAX_WAITING_NOTICES: Final = 10
"""Notices that wait for a person's next direct message; beyond that the oldest are dropped."""
SESSION_LIMITS: Final[dict[SessionUse, int]] = {"stores": 20, "supersedes": 5, "deletes": 5}
"""Uses of the model's tools in one session; people are not limited."""

GONE: Final = text(
    "You are not in the project {project} any more, according to its platform, so I no longer use "
    "its memory here. If you belong to it, write to me in the group or in one of its channels, "
    "then choose it again with `/project`."
)
UNKNOWN: Final = text(
    "The platform does not say at the moment if you are still in the project {project}, so this "
    "answer does not use its memory. Try again in a minute, or leave the project with "
    "`/project none`."
)

NOT_CONFIRMED: Final = text(
    "I cannot confirm that you are in {project} now. Write to me in the group, or in one of its "
    "channels, then choose it again."
)
NO_SUCH_PROJECT: Final = text("You have no project {project}. `/project` lists yours.")
TOO_MANY_OFF: Final = text(
    "Memory is already off in 50 conversations, the maximum. `/privacy memory off` turns it off "
    "everywhere; `/privacy memory on here` turns it on again in the conversation you write it in."
)


class ProjectRules(Struct, frozen=True):
    """`seen_for`: how long a project stays available in private after the person was last seen in
    it. `shared_rooms`: rooms with outsiders ("platform:id" or the bare id) that still use their
    project."""

    seen_for: timedelta = timedelta(days=30)
    shared_rooms: AbstractSet[str] = frozenset()

    def hold(self, place: Place) -> bool:
        """True if the project of a room is used in it."""
        rooms = (place.channel_id, f"{place.platform}:{place.channel_id}")
        return not place.outsiders or any(room in self.shared_rooms for room in rooms)


class People:
    """Manages projects, choices and sessions of callers."""

    def __init__(
        self,
        store: PeopleStore,
        clock: Clock,
        check: MembershipCheck,
        rules: ProjectRules | None = None,
        places: DirectPlaces | None = None,
    ) -> None:
        """`places`: notes the direct conversations of callers; None: they are not noted."""
        self._store = store
        self._clock = clock
        self._check = check
        self._rules = rules or ProjectRules()
        self._places = places

    async def start_turn(self, caller: Caller) -> tuple[RequestScope, TurnStart]:
        """Return the scope of a request and its initial data. Raises `StoreUnavailable`."""
        principal, place = caller.principal, caller.place
        tenant, person = principal.tenant, str(principal.person)
        room = None if place.audience is Audience.DIRECT else self.project_in(principal, place)
        names = choice_names(place)
        arrival = await self._store.start_turn(
            tenant, person, caller.conversation, caller.at, room, names
        )
        known = arrival.who
        if self._places is not None and known.remembered:
            await self._places.note(caller)
        if room is None:
            project, notice = await self._reached(caller, known)
        else:
            project, notice = room, NO_TEXT
            if known.remembered:
                await self._note_seen(tenant, person, room, known)
        if room is None and not project and not arrival.documents.keys() <= {"soul"}:
            soul = arrival.documents.get("soul")
            arrival = replace(arrival, documents={} if soul is None else {"soul": soul})
        request = RequestScope(
            principal=principal,
            persons=known.persons,
            place=place,
            at=caller.at,
            project=project,
            conversation=caller.conversation,
            session=arrival.session.id,
            message_ids=caller.message_ids,
            words=caller.words,
            shows_private=known.shows_private,
            notice=notice,
            zone=caller.zone,
            languages=caller.languages,
        )
        return request, arrival

    def erased(self, tenant: str, person: str) -> None:
        """Note the place of an erased person again when they write again."""
        if self._places is not None:
            self._places.forget(tenant, person)

    async def left(self, tenant: str, place: Place, person: str) -> None:
        """Record that a person, or everybody if empty, left the project of a place. The choice of
        the project stays until its next use."""
        if place.audience is not Audience.DIRECT:
            await self._store.forget_seen(tenant, project_of(place), person)

    async def reaches(self, request: RequestScope, project: str) -> bool:
        """True if this person belongs to a project and was seen in it lately."""
        if request.principal.outside:
            return False
        tenant = request.principal.tenant
        seen = await self._store.seen_identities(tenant, request.persons, project)
        return await self._belongs(tenant, project, seen) is MembershipStatus.MEMBER

    async def use(self, session: MemorySession, what: SessionUse) -> bool:
        """Count one use by the model; False if the session's limit is reached."""
        return await self._store.use(session.id, what, SESSION_LIMITS[what])

    async def freeze_brief(self, session: MemorySession, at: datetime) -> datetime:
        """Freeze the session's brief as of `at`, unless another process changed it; return the
        valid time."""
        return await self._store.freeze_brief(session.id, at, session.brief_at)

    async def projects(self, request: RequestScope) -> list[tuple[str, str]]:
        """Return ids and titles of the projects that this person may choose."""
        if request.principal.outside:
            return []
        since = self._clock.now() - self._rules.seen_for
        return await self._store.projects(request.principal.tenant, request.persons, since)

    async def choose_project(self, request: RequestScope, choice: str) -> str:
        """Choose a project by number, id or title; return its title. "none" chooses none.

        Raises `BadInput` if it is not available.
        """
        tenant, person = request.principal.tenant, str(request.principal.person)
        if choice.casefold() == "none":
            await self._store.choose_project(tenant, person, "")
            return ""
        known = await self.projects(request)
        for number, (project, title) in enumerate(known, 1):
            if choice in (str(number), project) or choice.casefold() == title.casefold():
                if not await self.reaches(request, project):
                    raise BadInput(NOT_CONFIRMED.of(project=verbatim(title)))
                await self._store.choose_project(tenant, person, project)
                return title
        raise BadInput(NO_SUCH_PROJECT.of(project=verbatim(repr(choice[:80]))))

    async def show_private(self, principal: Principal, allowed: bool) -> None:
        """Allow or forbid the use of own memories in rooms."""
        await self._store.show_private(principal.tenant, str(principal.person), allowed)

    async def turn_memory(self, principal: Principal, on: bool) -> None:
        """Turn memory on or off for this person."""
        await self._store.turn_memory(principal.tenant, str(principal.person), on)

    async def turn_memory_here(self, caller: Caller, on: bool) -> None:
        """Turn memory on or off for this person in this conversation. Raises `BadInput` if it is
        off in too many."""
        tenant, person = caller.principal.tenant, str(caller.principal.person)
        names = choice_names(caller.place)
        for name in names if on else names[-1:]:
            if not await self._store.turn_memory_in(tenant, person, name, on, MAX_OFF_IN):
                raise BadInput(TOO_MANY_OFF, code="full")

    async def off_in(self, principal: Principal) -> tuple[str, ...]:
        """Return the conversations in which memory is off for this person, by the names of
        `choice_names`."""
        return await self._store.off_in(principal.tenant, str(principal.person))

    async def turn_memory_on_in(self, principal: Principal, name: str) -> None:
        """Turn memory on again in a conversation that `off_in` named."""
        tenant, person = principal.tenant, str(principal.person)
        await self._store.turn_memory_in(tenant, person, name, True, MAX_OFF_IN)

    async def show_notes(self, principal: Principal, allowed: bool) -> None:
        """Show or hide what the assistant noted."""
        await self._store.show_notes(principal.tenant, str(principal.person), allowed)

    async def add_notices(self, request: RequestScope, entries: Sequence[str]) -> None:
        """Keep notices for the next direct message."""
        principal = request.principal
        await self._store.add_notices(
            principal.tenant, str(principal.person), entries, MAX_WAITING_NOTICES
        )

    async def remove_notices(self, request: RequestScope, entries: Sequence[str]) -> None:
        """Remove waiting notices."""
        principal = request.principal
        await self._store.remove_notices(principal.tenant, str(principal.person), entries)

    def project_in(self, principal: Principal, place: Place) -> str:
        """Return the project of a room; empty for outsiders and in shared rooms."""
        if principal.outside or not self._rules.hold(place):
            return ""
        return project_of(place)

    async def _reached(self, caller: Caller, known: PersonChoices) -> tuple[str, Text]:
        """Return the chosen project if this person still belongs to it, and a notice for them."""
        project, tenant = known.project, caller.principal.tenant
        if not project:
            return "", NO_TEXT
        if caller.principal.outside:
            here = caller.principal.person
            if not project.startswith(f"{here.platform}:{here.account}:"):
                return "", NO_TEXT  # chosen by a linked identity, which may be a member there
            belonging = MembershipStatus.GONE
        else:
            belonging = await self._belongs(tenant, project, known.seen)
        if belonging is MembershipStatus.MEMBER:
            return project, NO_TEXT
        if belonging is MembershipStatus.UNKNOWN:
            return "", UNKNOWN.of(project=verbatim(project))
        await self._store.choose_project(tenant, str(caller.principal.person), "")
        return "", GONE.of(project=verbatim(project))

    async def _belongs(
        self, tenant: str, project: str, seen: Sequence[tuple[str, datetime]]
    ) -> MembershipStatus:
        """Return the membership of those identities that were seen in the project lately."""
        since = self._clock.now() - self._rules.seen_for
        lately = [person for person, at in seen if at > since]
        checks = (self._check.belongs(person, project) for person in lately)
        statuses = dict(zip(lately, await asyncio.gather(*checks), strict=True))
        for person, belonging in statuses.items():
            if belonging is MembershipStatus.GONE:
                await self._store.forget_seen(tenant, project, person)
        if MembershipStatus.MEMBER in statuses.values():
            return MembershipStatus.MEMBER
        return (
            MembershipStatus.UNKNOWN
            if MembershipStatus.UNKNOWN in statuses.values()
            else MembershipStatus.GONE
        )

    async def _note_seen(
        self, tenant: str, person: str, project: str, known: PersonChoices
    ) -> None:
        last = dict(known.seen).get(person)
        if project and (last is None or self._clock.now() - last >= SEEN_AGAIN):
            await self._store.note_seen(tenant, person, project, project)
