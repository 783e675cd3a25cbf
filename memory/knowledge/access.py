"""The rule of who may read the text of a repository.

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

from typing import Final

from msgspec import Struct

from db import among, either
from db.values import storable
from gateway.message import Place
from gateway.people import Audience, Role
from memory.knowledge.model import Repository
from memory.model.scope import RequestScope, choice_names, room_of


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
