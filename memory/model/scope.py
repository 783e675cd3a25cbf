"""Whom a memory reaches: the one rule about who may read and change what, as a value.

An `AccessScope` is made here, from a principal and an audience that the gateway decided, and
nowhere else.
Stores take nothing but a reach: no method of theirs takes somebody's id.

In private a person sees what is theirs, the chosen project's and the tenant's. In a room everybody
sees the project's, the tenant's and the turns that were spoken in that room; what is a person's own
stays out, unless it was learned in that very room from the person who asks now, or that person
allows it. `sees` is the rule; the stores' queries say the same and are held to it by a test.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from gateway.message import Place
from gateway.people import Audience, Principal, Role
from memory.model.record import Record, Scope


@dataclass(frozen=True, slots=True)
class RequestScope:
    """On whose behalf, before whom and when memory is used: one turn, command or request.

    `persons` are the `str(PersonId)` of everybody this person is linked with, themselves included.
    `words` are what the person wrote in this turn; only they can be quoted. `project` is the one
    chosen in private or the room's own, empty for none. `notice` is what the person has to be told
    of it, empty for nothing.
    """

    principal: Principal
    persons: tuple[str, ...]
    place: Place
    at: datetime
    project: str = ""
    conversation: str = ""
    session: str = ""
    message_ids: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    shows_private: bool = False
    notice: str = ""


@dataclass(frozen=True, slots=True)
class AccessScope:
    """What may be read and changed. `person` writes; `persons` are the same human being.

    `room` is empty in private. `private` is true where the person's own memories may be shown:
    in private, or in a room when they allowed it. `operates`: may write project and global scope.
    """

    tenant: str
    person: str
    persons: tuple[str, ...]
    room: str
    project: str
    private: bool
    operates: bool


def access_scope_of(request: RequestScope) -> AccessScope:
    """What this person reaches on this occasion."""
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
    )


def system_access_scope(tenant: str, project: str) -> AccessScope:
    """What the program itself reaches of a project: for HEARTBEAT and a first BIBLE."""
    return AccessScope(tenant, "system", ("system",), "", project, private=False, operates=True)


def alone(access: AccessScope) -> AccessScope:
    """The same person with nobody listening: for what the program compares by itself and shows to
    nobody."""
    return replace(access, room="", private=True)


def sees(access: AccessScope, record: Record) -> bool:
    """Whether this memory may be shown on the occasion that the reach was made for."""
    if record.tenant != access.tenant:
        return False
    if record.scope is Scope.GLOBAL:
        return True
    if record.scope is Scope.PROJECT:
        return bool(access.project) and record.project == access.project
    own = record.provenance.person in access.persons
    here = bool(access.room) and record.provenance.room == access.room
    return (own and (access.private or here)) or (here and bool(record.role))


def may_change(access: AccessScope, record: Record) -> bool:
    """Whether this person may supersede or delete it: their own, or as an operator a shared one."""
    if record.tenant != access.tenant:
        return False
    if record.scope is Scope.USER:
        return record.provenance.person in access.persons
    return access.operates and sees(access, record)


def room_of(place: Place) -> str:
    """A room's name in the store. Threads of a room are one room, because the same people read
    them; a closed thread is a room of its own."""
    room = f"{place.platform}:{place.account}:{place.workspace_id}:{place.channel_id}"
    return f"{room}:{place.thread_id}" if place.closed_thread else room


def choice_names(place: Place) -> tuple[str, ...]:
    """Under which names memory may be off in a place: that of its channel, and in a thread that of
    the thread as well."""
    channel = f"{place.platform}:{place.account}:{place.workspace_id}:{place.channel_id}"
    return (channel, f"{channel}:{place.thread_id}") if place.thread_id else (channel,)


def channel_of(place: Place) -> str:
    """Within what a platform's message ids are unique: `Provenance.channel`."""
    return f"{place.platform}:{place.account}:{place.channel_id}"


def project_of(place: Place) -> str:
    """The project a room belongs to: its workspace, or the room itself where there is none.

    Empty in private, where the person chooses.
    """
    if place.audience is Audience.DIRECT:
        return ""
    inside = place.workspace_id or place.channel_id
    return f"{place.platform}:{place.account}:{inside}"
