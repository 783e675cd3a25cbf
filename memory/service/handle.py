"""The entry point of memory. Access is possible only through a handle for one caller and place,
and so is that to the documents that this person may read and write."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from gateway.errors import NotFound
from gateway.immutable import replace
from gateway.people import Audience, PersonId, Principal, identity_of
from gateway.ports.memory import Caller
from gateway.text import Sentence, text
from memory.documents.service import DocumentParts, DocumentResult, DocumentService
from memory.model.record import InputKind
from memory.model.scope import AccessScope, RequestScope, access_scope_of
from memory.ports.documents import Document, Version
from memory.ports.people import Linked, PersonChoices, TurnStart
from memory.service.contradictions import MemoryContradictions
from memory.service.dependencies import MemoryDependencies, RequestMemory
from memory.service.erasure import MemoryErasure
from memory.service.read import MemoryReader
from memory.service.review import MemoryReview
from memory.service.write import MemoryWriter

NOT_IN_PROJECT: Final = text("You are not in a project with this name. `/project` lists yours.")
NO_EARLIER: Final[Mapping[str, Sentence]] = {
    "soul": text("There is no earlier version of the preferences."),
    "bible": text("There is no earlier version of the project notes."),
    "heartbeat": text("There is no earlier version of the status."),
}


class MemoryPrivacy(RequestMemory, frozen=True):
    """Shows what is stored about this person, and changes their choices."""

    async def choose(
        self, *, memory: bool | None = None, notes: bool | None = None, rooms: bool | None = None
    ) -> None:
        """Change the given choices, which apply from the next request."""
        people, principal = self.dependencies.people, self.request.principal
        if memory is not None:
            await people.turn_memory(principal, memory)
        if notes is not None:
            await people.show_notes(principal, notes)
        if rooms is not None:
            await people.show_private(principal, rooms)

    async def off_in(self) -> tuple[str, ...]:
        """Return the conversations in which this person turned memory off."""
        return await self.dependencies.people.off_in(self.request.principal)

    async def turn_on_in(self, name: str) -> None:
        """Turn memory on again in one of these conversations."""
        await self.dependencies.people.turn_memory_on_in(self.request.principal, name)

    async def defer_notices(self, entries: Sequence[str]) -> None:
        """Keep these notices for the person's next direct message."""
        await self.dependencies.people.add_notices(self.request, entries)

    async def drop_notices(self, entries: Sequence[str]) -> None:
        """Remove these notices from those that wait."""
        await self.dependencies.people.remove_notices(self.request, entries)

    async def counts(self) -> list[tuple[str, int]]:
        """Return the number of stored rows of each table."""
        await self.store_waiting_turns()
        counts: dict[str, int] = {}
        for holder in self.dependencies.holders:
            for name, count in await holder.count(self.access.tenant, self.access.persons):
                counts[name] = counts.get(name, 0) + count
        return list(counts.items())

    async def export_all(self, *, audited: bool = True) -> list[dict[str, object]]:
        """Return everything that any store holds about this person, as JSON-like values."""
        await self.store_waiting_turns()
        rows: list[dict[str, object]] = []
        for holder in self.dependencies.holders:
            rows += await holder.export(self.access.tenant, self.access.persons)
        if audited:
            await self.audit("memory_export", count=len(rows))
        return rows

    async def linked(self) -> list[Linked]:
        """Return the other identities that are linked with this one."""
        return await self.dependencies.links.linked(self.access.tenant, self.access.person)


Writable = Literal["soul", "bible"]


class Memory:
    """All memory. Content is reachable only through `for_principal`."""

    def __init__(self, dependencies: MemoryDependencies) -> None:
        self._dependencies = dependencies

    async def for_principal(self, caller: Caller) -> "MemoryHandle":
        """Return the memory of this caller in this place: of an agent, where its token calls.
        Raises `StoreUnavailable`."""
        request, start = await self._dependencies.people.start_turn(caller)
        repositories = self._dependencies.repositories
        if caller.client and repositories is not None:
            restricted = await repositories.may_have_read_restricted(request)
            request = replace(request, from_repository=restricted)
        if caller.agent:
            request = replace(request, agent=caller.agent)
            start = replace(start, remembers=True)
        return MemoryHandle(self._dependencies, request, start)

    async def reaches(self, request: RequestScope, project: str) -> bool:
        """Return True if this person may use a project: in a room only that of the room, in private
        one of which they are a member. Raises `StoreUnavailable`."""
        people = self._dependencies.people
        if request.place.audience is Audience.DIRECT:
            return await people.reaches(request, project)
        return people.project_in(request.principal, request.place) == project

    async def linked(self, who: Principal) -> list[PersonId]:
        """Return the other identities that are linked with this person."""
        others = await self._dependencies.links.linked(who.tenant, str(who.person))
        return [identity_of(other.side.person) for other in others]


class MemoryHandle:
    """The memory of one caller in one place. Every method raises `StoreUnavailable`."""

    def __init__(
        self, dependencies: MemoryDependencies, request: RequestScope, start: TurnStart
    ) -> None:
        self._dependencies = dependencies
        self._start = start
        self.request = request
        self.access = access_scope_of(request)
        bound = (dependencies, request, self.access, start)
        self.write = MemoryWriter(*bound)
        self.read = MemoryReader(*bound)
        self.review = MemoryReview(*bound)
        self.contradictions = MemoryContradictions(*bound)
        self.privacy = MemoryPrivacy(*bound)
        self.erasure = MemoryErasure(*bound)
        self.documents = OwnDocuments(dependencies.documents, request, self.access)

    async def in_project(self, project: str) -> "MemoryHandle":
        """Return the handle for another project. Raises `NotFound` unless this person is in it."""
        if not await self._dependencies.people.reaches(self.request, project):
            raise NotFound(NOT_IN_PROJECT)
        request = replace(self.request, project=project)
        return MemoryHandle(self._dependencies, request, replace(self._start, documents={}))

    async def projects(self) -> list[tuple[str, str]]:
        """Return the ids and titles of the projects that this person may choose."""
        return await self._dependencies.people.projects(self.request)

    async def choose_project(self, choice: str) -> str:
        """Choose a project by its id, or none with "none"; return its title. Raises `BadInput` if
        it is not available."""
        return await self._dependencies.people.choose_project(self.request, choice)

    def for_operator(self, project: str) -> "MemoryHandle":
        """Return the handle with which an operator reads and changes what the members of a project
        share. Raises `NotFound` for other people."""
        if not self.access.operates:
            raise NotFound(NOT_IN_PROJECT)
        request = replace(self.request, project=project)
        return MemoryHandle(self._dependencies, request, replace(self._start, documents={}))

    def before_others(self) -> "MemoryHandle":
        """Return the handle for an answer that everybody in the room reads: private memories from
        other places stay out, even if this person allows them in rooms."""
        request = replace(self.request, shows_private=False)
        return MemoryHandle(self._dependencies, request, self._start)

    def for_agent(self, agent_id: str) -> "MemoryHandle":
        """Return the handle for an agent of this person: what `AgentRegistry.own` returned. It
        also reads what pools share with the agent, and everything it writes is an inference."""
        request = replace(self.request, agent=agent_id)
        return MemoryHandle(self._dependencies, request, replace(self._start, remembers=True))

    @property
    def choices(self) -> PersonChoices:
        """This person's choices about memory, and the notices that wait for them."""
        return self._start.who

    @property
    def remembers(self) -> bool:
        """False if there was certainly nothing to recall at the start of the turn."""
        return self._start.remembers

    @property
    def brief_at(self) -> datetime | None:
        """The time as of which the session's brief is frozen; None before the first one."""
        return self._start.session.brief_at

    async def refresh_brief(self) -> datetime:
        """Freeze the session's brief as of this turn; return the time, which is another turn's if
        that was faster."""
        return await self._dependencies.people.freeze_brief(self._start.session, self.request.at)

    async def brain_parts(self) -> DocumentParts:
        """Return the documents for the prompt, as of the start of the turn."""
        return await self._dependencies.documents.parts(self.access, self._start.documents)


class OwnDocuments:
    """Explicit changes of documents by a person. Every method raises `BadInput`, with words for the
    person, if the document is not available here."""

    def __init__(
        self, documents: DocumentService, request: RequestScope, access: AccessScope
    ) -> None:
        self._documents = documents
        self._request = request
        self._access = access

    async def read(self, document: Document) -> Version | None:
        """The newest version."""
        return await self._documents.read(self._access, document)

    async def versions(self, document: Document) -> list[Version]:
        """Return all stored versions, newest first."""
        return await self._documents.versions(self._access, document)

    async def write(
        self,
        document: Writable,
        text: str,
        *,
        based_on: int | None = None,
        may_be_empty: bool = False,
    ) -> DocumentResult:
        """Write it, or propose it where this person may not. The result is a conflict if `based_on`
        is no longer the newest version, 0 for none."""
        return await self._documents.write(
            *(self._request, self._access, document, text, InputKind.EXPLICIT),
            based_on=based_on,
            may_be_empty=may_be_empty,
        )

    async def restore(
        self, document: Writable, number: int, *, based_on: int | None = None
    ) -> DocumentResult:
        """Make an earlier version the newest one."""
        return await self._documents.restore(
            self._request, self._access, document, number, based_on=based_on
        )

    async def take_back(self, document: Writable, number: int) -> bool:
        """Delete the newest version, where it has this number and is less than a day old."""
        return await self._documents.take_back(self._request, self._access, document, number)

    async def undone_version(self, document: Writable) -> int:
        """Return the number of the version that an undo restores; a further undo goes one step
        further back."""
        before = standing_before(await self.versions(document))
        if before is None:
            raise NotFound(NO_EARLIER[document])
        return before.number


def standing_before(kept: Sequence[Version]) -> Version | None:
    """Return the version that an undo restores, from versions newest first; None at the beginning.

    An undo adds a version. One with the content of the version before the replaced one counts as an
    undo, so each further undo goes one step back.
    """
    stood: list[Version] = []
    for version in reversed(kept):
        if len(stood) > 1 and stood[-2].content == version.content:
            stood.pop()
        elif not stood or stood[-1].content != version.content:
            stood.append(version)
    return stood[-2] if len(stood) > 1 else None
