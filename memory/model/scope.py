"""The rule of who may read and change a memory.

An `AccessScope` is made only here, from a principal and an audience that the gateway decided;
stores take an `AccessScope` and no ids.

In private a person sees their own memories, the chosen project's and the tenant's. In a room
everybody sees the project's, the tenant's and the turns of that room. Own memories stay out, unless
they were learned in that room from the person who asks, or that person allows them. `sees` is the
rule; `SEES` is the same in SQL, and a test compares both.

A memory that may contain text of a restricted repository is for its person alone, and for the
person's agents: no room, no share and nobody else reads it.

An agent acts for its person and never reaches more than they do, but for the memories that are
shared with it in pools (`shows_shared`, `SHOWS_SHARED`). What an agent keeps for itself
(`agent_private`) is read by that agent, and listed by its person.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Final

from msgspec import Struct

from db import among, either
from db.values import storable
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Principal, Role
from gateway.text import NO_TEXT, Text, text
from memory.model.record import Record, Scope

NO_PROJECT: Final = text(
    "No project is chosen. To choose one, write `/project` in a direct message."
)
"""The refusal, with the code `no_project`, of what belongs to a project."""
WIDEST: Final = 4
"""`SharedScope.GLOBAL`, which includes all shares."""


class Share(Struct, frozen=True):
    """A share of a record with a pool, as the rule sees it. `readers` are the pool's members, each
    with True if the pool's owner added it. `scope` is as in `SharedScope`."""

    tenant: str
    """The tenant of the pool."""
    agent: str
    """The id of the agent that shared the memory."""
    person: str
    """The `str(PersonId)` of that agent's person."""
    scope: int
    project: str
    """The project of the pool; empty for none."""
    readers: frozenset[tuple[str, bool]]


class RequestScope(Struct, frozen=True):
    """The caller, place and time of one turn, command or request.

    `persons` are the `str(PersonId)` of all linked identities, the caller's included. `words` are
    what the person wrote in this turn, which alone can be quoted. `project` is the one chosen in
    private, or the room's. `notice` is for the person.
    """

    principal: Principal
    """The caller with role and tenant."""
    persons: tuple[str, ...]
    place: Place
    at: datetime
    """The time of the request, with a time zone."""
    project: str = ""
    conversation: str = ""
    """The `str(ConversationKey)` of the conversation; empty outside of one."""
    session: str = ""
    """The id of the memory session; empty where memory is off."""
    message_ids: tuple[str, ...] = ()
    """The platform's ids of the messages of this turn."""
    words: tuple[str, ...] = ()
    shows_private: bool = False
    """True if the person allowed their private memories in rooms."""
    notice: Text = NO_TEXT
    agent: str = ""
    """The id of the person's agent that asks; empty for the person."""
    from_repository: bool = False
    """True if what the caller writes may contain text of a restricted repository."""
    zone: tzinfo = UTC
    """The time zone in which the caller counts days."""
    languages: tuple[str, ...] = ()
    """Languages in which the caller may ask, the likeliest first."""


class AccessScope(Struct, frozen=True):
    """The memories that may be read and changed. `person` writes; `persons` are their identities.

    `room` is empty in private. `private`: the person's own memories may be shown. `operates`:
    project and global scope may be written.
    """

    tenant: str
    """The tenant of all memories that are read or changed."""
    person: str
    persons: tuple[str, ...]
    room: str
    project: str
    private: bool
    operates: bool
    agent: str = ""
    """The id of the agent that asks; empty for a person."""
    widest: int = WIDEST
    """The widest scope of shares that is read, as `SharedScope`."""
    outside: bool = False
    """As `Principal.outside`."""

    def parameters(self) -> dict[str, object]:
        """Return the parameters of the SQL fragments below."""
        return {
            "for_tenant": storable(self.tenant),
            "for_persons": [storable(person) for person in self.persons],
            "for_room": storable(self.room),
            "for_project": storable(self.project),
            "for_private": self.private,
            "for_operates": self.operates,
            "for_agent": self.agent,
            "for_widest": self.widest,
            "for_inside": not self.outside,
        }


def access_scope_of(request: RequestScope) -> AccessScope:
    """Return the access of a request."""
    place, person = request.place, str(request.principal.person)
    direct = place.audience is Audience.DIRECT
    return AccessScope(
        tenant=request.principal.tenant,
        person=person,
        persons=tuple(sorted({person, *request.persons})),
        room="" if direct else room_of(place),
        project=request.project,
        private=direct or request.shows_private,
        operates=request.principal.role.at_least(Role.OPERATOR),
        agent=request.agent,
        outside=request.principal.outside,
    )


def system_access_scope(tenant: str, project: str) -> AccessScope:
    """Return the program's own access to a project, for HEARTBEAT and a first BIBLE."""
    return AccessScope(tenant, "system", ("system",), "", project, private=False, operates=True)


def alone(access: AccessScope) -> AccessScope:
    """Return the same access without other readers, for comparisons that are not shown."""
    return replace(access, room="", private=True)


def sees(access: AccessScope, record: Record, shares: Iterable[Share] = ()) -> bool:
    """True if the record may be shown; `shares` are all its shares, with the readers of each."""
    own = record.provenance.person in access.persons
    if record.tenant != access.tenant:
        return False
    if record.provenance.from_repository and (not own or access.room or not access.private):
        return False
    if any(shows_shared(access, record, share) for share in shares):
        return True
    if record.agent_private and access.agent not in {"", record.provenance.agent}:
        return False
    if record.scope is Scope.GLOBAL:
        return True
    if record.scope is Scope.PROJECT:
        return bool(access.project) and record.project == access.project
    here = bool(access.room) and record.provenance.room == access.room
    return (own and (access.private or here)) or (here and bool(record.role))


def shows_shared(access: AccessScope, record: Record, share: Share) -> bool:
    """True if the asking agent reads a record by this share."""
    member = any(agent == access.agent for agent, _ in share.readers)
    granted = (access.agent, True) in share.readers
    if record.tenant != access.tenant or share.tenant != access.tenant:
        return False
    if not member or share.scope > access.widest or not may_be_shared(record):
        return False
    match share.scope:
        case 0:
            return share.agent == access.agent
        case 1:
            return share.person in access.persons
        case 2:
            return granted or (bool(share.project) and share.project == access.project)
        case 3:
            return granted or not access.outside
        case _:
            return True


def may_be_shared(record: Record) -> bool:
    """False for what an agent keeps for itself, and for possible text of a restricted
    repository."""
    return not (record.agent_private or record.provenance.from_repository)


def may_change(access: AccessScope, record: Record) -> bool:
    """True if the record may be superseded or deleted: their own, or for an operator a shared
    one."""
    if record.tenant != access.tenant:
        return False
    if record.agent_private and access.agent not in {"", record.provenance.agent}:
        return False
    if record.scope is Scope.USER:
        return record.provenance.person in access.persons
    return access.operates and sees(access, record)


OWN: Final = f"(m.scope = 'user' AND {among('m.person', 'for_persons')})"
"""The person's own memory `m`, learned in any place."""
TENANT: Final = either(sqlite="+m.tenant", postgres="m.tenant") + " = :for_tenant"
"""The plus keeps SQLite from reading a whole tenant by an index."""
IN_ROOM: Final = "(:for_room <> '' AND m.room = :for_room)"
IN_PROJECT: Final = "(m.scope = 'project' AND :for_project <> '' AND m.project = :for_project)"
OPERATED: Final = f"(:for_operates AND (m.scope = 'global' OR {IN_PROJECT}))"
CONFINED: Final = f"""(NOT m.from_repository
    OR ({among("m.person", "for_persons")} AND :for_private AND :for_room = ''))"""
"""Possible text of a restricted repository: for its person alone."""
SHOWN: Final = f"({OWN} AND (:for_private OR {IN_ROOM}))"
READ_BY_AGENT: Final = "(NOT m.agent_private OR :for_agent IN ('', m.agent))"
"""Not kept by another agent for itself."""
SEES: Final = f"""({TENANT} AND {READ_BY_AGENT} AND {CONFINED} AND (
    m.scope = 'global' OR {IN_PROJECT} OR (m.scope = 'user' AND {IN_ROOM} AND m.role <> '')
    OR {SHOWN}
))"""
"""`sees(access, record)` for a row `m` with the columns of `memories`."""
MAY_BE_SHARED: Final = "(NOT m.agent_private AND NOT m.from_repository)"
"""`may_be_shared(record)`, likewise."""
MAY_CHANGE: Final = f"({TENANT} AND {READ_BY_AGENT} AND ({OWN} OR ({CONFINED} AND {OPERATED})))"
"""`may_change(access, record)`, likewise."""
SHARES: Final = """pool_members r JOIN pool_memories s ON s.pool = r.pool
    JOIN pool_members o ON o.seq = s.member JOIN pool_members w ON w.seq = s.writer"""
"""The shares `s` that a member `r` may find, while the agents that shared it (`o`) and wrote its
text (`w`) are members."""
READS_SHARE: Final = """(s.tenant = :for_tenant AND r.agent = :for_agent
    AND s.scope <= :for_widest AND CASE s.scope
        WHEN 0 THEN s.agent = :for_agent
        WHEN 1 THEN {persons}
        WHEN 2 THEN r.granted OR (s.project <> '' AND s.project = :for_project)
        WHEN 3 THEN r.granted OR :for_inside
        ELSE true END)""".replace("{persons}", among("s.person", "for_persons"))
SHOWS_SHARED: Final = f"({TENANT} AND {MAY_BE_SHARED} AND {READS_SHARE})"
"""`shows_shared(access, record, share)` for a row `m` and rows of `SHARES`."""
SEES_SHARED: Final = f"""({SEES} OR ({MAY_BE_SHARED} AND {TENANT} AND EXISTS (
    SELECT 1 FROM {SHARES} WHERE s.number = m.seq AND {READS_SHARE}
)))"""
"""`SEES` for the request of an agent. Other requests do not read the tables of pools."""


def room_of(place: Place) -> str:
    """Return the stored name of a room. Threads belong to their room, because the same people read
    them; a closed thread is a room of its own."""
    room = f"{place.platform}:{place.account}:{place.workspace_id}:{place.channel_id}"
    return f"{room}:{place.thread_id}" if place.closed_thread else room


def choice_names(place: Place) -> tuple[str, ...]:
    """Return the names under which memory may be off in a place: its channel's, and its
    thread's."""
    channel = f"{place.platform}:{place.account}:{place.workspace_id}:{place.channel_id}"
    return (channel, f"{channel}:{place.thread_id}") if place.thread_id else (channel,)


def channel_of(place: Place) -> str:
    """Return the channel in which a platform's message ids are unique: `Provenance.channel`."""
    return f"{place.platform}:{place.account}:{place.channel_id}"


def project_of(place: Place) -> str:
    """Return the project of a room: its workspace, or else the room itself; empty in private."""
    if place.audience is Audience.DIRECT:
        return ""
    inside = place.workspace_id or place.channel_id
    return f"{place.platform}:{place.account}:{inside}"
