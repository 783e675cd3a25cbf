"""The rule of who may read the text of a repository, and searches with it.

A `KnowledgeAccess` is made only here, from a request that the gateway and memory decided. `reads`
is the rule; `READS` is the same in SQL, and a test compares both.

A repository belongs to a project, or to the whole tenant. The text of a project's repository
reaches the conversations of that project: its rooms, the rooms that an operator bound to it, and
the direct messages of members who chose it. A private repository is for people with at least the
role of a member, and reaches a public room only if the room is allowed by name. If it belongs to
the whole tenant, it reaches direct messages, and of rooms only those that are allowed by name,
because people can take the assistant into new rooms. People from outside read only repositories of
the whole tenant that are not private.
"""

from typing import Final, Protocol

from msgspec import Struct

from db import among, either
from db.errors import StoreUnavailable
from db.values import storable
from gateway.message import Place
from gateway.people import Audience, Role
from memory.knowledge.model import BranchState, ChunkHit, KnowledgeQuery, Repository
from memory.model.scope import RequestScope, choice_names, room_of
from memory.stores.room_bindings import RoomBindingStore


class KnowledgeAccess(Struct, frozen=True):
    """The repositories that may be read in one place by one person, or by an agent of theirs.

    `projects` are the projects of the conversation, at most two: its own and the one that its room
    is bound to. `room` is the name under which a repository allows it, empty in private. `public`:
    the readers of the place are not known to be few. `member`: the person has at least this role.
    """

    tenant: str
    projects: tuple[str, ...] = ()
    room: str = ""
    public: bool = True
    member: bool = False

    def parameters(self) -> dict[str, object]:
        """Return the parameters of `READS`."""
        return {
            "for_tenant": storable(self.tenant),
            "for_projects": [storable(project) for project in self.projects if project],
            "for_room": storable(self.room),
            "for_public": self.public,
            "for_member": self.member,
        }


def knowledge_access_of(request: RequestScope, bound: str = "") -> KnowledgeAccess:
    """Return the access of a request. `bound` is the project that the room is bound to."""
    place, principal = request.place, request.principal
    direct = place.audience is Audience.DIRECT
    inside = not principal.outside
    projects: tuple[str, ...] = (request.project,) if inside and request.project else ()
    if projects and bound and not direct:
        projects = tuple(dict.fromkeys((*projects, bound)))
    return KnowledgeAccess(
        tenant=principal.tenant,
        projects=projects,
        room="" if direct else room_of(place),
        public=is_public(place),
        member=inside and principal.role.at_least(Role.MEMBER),
    )


def is_public(place: Place) -> bool:
    """True unless the place is a direct conversation or a private room without outsiders."""
    return place.outsiders or place.audience not in (Audience.DIRECT, Audience.PRIVATE_ROOM)


def channel_name(place: Place) -> str:
    """Return the name of a room's channel, which is bound to a project together with its threads;
    empty in private."""
    return "" if place.audience is Audience.DIRECT else choice_names(place)[0]


def reads(access: KnowledgeAccess, repository: Repository) -> bool:
    """True if the text of the repository may be shown."""
    if repository.tenant != access.tenant:
        return False
    if repository.project and repository.project not in access.projects:
        return False
    if not repository.private:
        return True
    if not access.member:
        return False
    if access.room and access.room in repository.rooms:
        return True
    return not access.public and (bool(repository.project) or not access.room)


def is_restricted(repository: Repository) -> bool:
    """True if the text of the repository may not be shown in every place of its tenant. Nothing
    that is made from it becomes a memory: memories are recalled in other places."""
    return not reads(KnowledgeAccess(repository.tenant), repository)


RESTRICTED: Final = "(r.private OR r.project <> '')"
"""`is_restricted(repository)` for a row `r` of `knowledge_repositories`."""

NAMED: Final = either(
    sqlite="(:for_room <> '' AND :for_room IN (SELECT value FROM json_each(r.rooms)))",
    postgres="(:for_room <> '' AND jsonb_exists(CAST(r.rooms AS jsonb), :for_room))",
)
READS: Final = f"""(r.tenant = :for_tenant AND NOT r.forgotten
    AND (r.project = '' OR {among("r.project", "for_projects")})
    AND (NOT r.private OR (:for_member AND ({NAMED}
        OR (NOT :for_public AND (r.project <> '' OR :for_room = ''))))))"""
"""`reads(access, repository)` for a row `r` of `knowledge_repositories`."""


class RepositoryIndex(Protocol):
    """Searches and lists what an access may read. Raises `StoreUnavailable`."""

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return matching parts of files, best first."""
        ...

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name."""
        ...

    async def states(
        self, access: KnowledgeAccess, limit: int
    ) -> list[tuple[Repository, list[BranchState]]]:
        """Return repositories by name, with their branches in the index."""
        ...

    async def any_restricted(self, tenant: str) -> bool:
        """True if a repository of the tenant may not be read by everybody."""
        ...


MAX_COMPARED: Final = 20
"""Repositories that a search compares with git: some small files of each are read."""


class KnowledgeReader:
    """The only way from a request to the text of a repository."""

    def __init__(self, index: RepositoryIndex, bindings: RoomBindingStore) -> None:
        self._index = index
        self._bindings = bindings

    async def access(self, request: RequestScope) -> KnowledgeAccess:
        """Return the access of a request."""
        channel = channel_name(request.place)
        bound = await self._bindings.project(request.principal.tenant, channel) if channel else ""
        return knowledge_access_of(request, bound)

    async def repositories(self, request: RequestScope, limit: int = 100) -> list[Repository]:
        """Return the repositories that the request may read, by name."""
        return await self._index.readable(await self.access(request), limit)

    async def may_have_read_restricted(self, request: RequestScope) -> bool:
        """True if a client of this person may have text of a restricted repository, whatever
        project they have chosen now; also if that cannot be known at the moment."""
        if request.principal.outside:
            return False
        try:
            return await self._index.any_restricted(request.principal.tenant)
        except StoreUnavailable:
            return True

    async def search(self, request: RequestScope, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return matching parts of files, best first."""
        return await self._index.search(await self.access(request), query)

    async def states(self, request: RequestScope) -> list[tuple[Repository, list[BranchState]]]:
        """Return the repositories that the request may read, at most `MAX_COMPARED`, with their
        branches in the index."""
        return await self._index.states(await self.access(request), MAX_COMPARED)
