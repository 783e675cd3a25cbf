"""The memories that a viewer reaches, and how they are shown: their own, those of a project, and
those of everybody in the tenant."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from gateway.people import Audience
from gateway.ports.action import Output
from memory.actions.call import MemoryCall
from memory.model.record import MAX_TAGS, Provenance, Record, Scope
from memory.model.scope import may_change
from memory.service.handle import MemoryHandle
from memory.stores.conflicts import MAX_OPEN
from parley.console.reading import Excerpt, PlaceOut
from parley.console.services import ConsoleServices
from parley.console.viewer import TextSource, Viewer, may_read_text
from parley.http.api.operations import MAX_PROJECT

MAX_CHAIN: Final = 20
"""Earlier and later versions of a memory that a page follows."""
MAX_PROJECTS: Final = 100

Project = Annotated[str, StringConstraints(max_length=MAX_PROJECT)]
Whose = Literal["mine", "project", "everybody"]


class ProjectOut(Output):
    """A project, and the number of entries that wait for an operator there."""

    id: str
    title: str
    waiting: int


class ShownMemoryOut(Output):
    """A memory. `of` says whose it is, `yours` if the viewer's words made it. `role` is who spoke,
    for stored messages; `person` is given to operators, and of one's own. `place` is where it was
    learned, None if that is not known; `age` is in seconds. `from_repository`: it may contain text
    of a private repository, so it is for its person alone. `contradicts` are the ids of other
    memories of which only one may be true."""

    id: str
    text: Excerpt
    kind: str
    tier: str
    of: Whose
    project: str
    tags: tuple[str, ...] = Field(max_length=MAX_TAGS)
    role: str
    source: str
    trust: str
    confidence: float
    source_id: str
    tool: str
    agent: str
    backend: str
    external: bool
    from_repository: bool
    yours: bool
    person: str
    place: PlaceOut | None
    written_at: datetime
    age: int
    true_from: datetime | None
    true_until: datetime | None
    expires_at: datetime | None
    supersedes: str
    superseded_by: str
    contradicts: tuple[str, ...] = Field(max_length=MAX_OPEN)
    confirmed: bool
    may_change: bool


async def handle_in(viewer: Viewer, services: ConsoleServices, project: str) -> MemoryHandle:
    """Return the viewer's memory with a project: the chosen one if it is empty. Operators reach all
    projects of their tenant. Raises `NotFound` and `CallRefused` (404)."""
    handle = await services.memory_of(viewer)
    if project in ("", handle.access.project):
        return handle
    if viewer.is_operator:
        return handle.for_operator(project)
    return await handle.in_project(project)


async def call_in(viewer: Viewer, services: ConsoleServices, project: str) -> MemoryCall:
    """Return a call of the viewer with a project, raising as `handle_in` does."""
    return MemoryCall(viewer.proof, await handle_in(viewer, services, project))


async def projects_of(viewer: Viewer, services: ConsoleServices) -> tuple[ProjectOut, ...]:
    """Return the projects of the tenant to operators, nothing to others."""
    if not viewer.is_operator:
        return ()
    found = await services.storage.memory.counts.projects(viewer.tenant, MAX_PROJECTS)
    return tuple(ProjectOut(id=one.id, title=one.title, waiting=one.waiting) for one in found)


def may_show(viewer: Viewer, record: Record) -> bool:
    """Decide if the viewer may read a memory that the store returned to them: one of a person is a
    private text; who reads one of a project, the store decides."""
    if record.scope is not Scope.USER:
        return record.tenant == viewer.tenant
    persons = frozenset({record.provenance.person} - {""})
    source = TextSource(record.tenant, Audience.DIRECT, persons)
    return may_read_text(viewer, source).allowed


def memory_out(
    viewer: Viewer,
    handle: MemoryHandle,
    record: Record,
    text: Excerpt,
    now: datetime,
    contradicts: Sequence[str] = (),
) -> ShownMemoryOut:
    """Return a memory for a page, with the ids of those that it may contradict."""
    provenance, evidence = record.provenance, record.evidence
    yours = provenance.person in handle.access.persons
    shown = yours or viewer.is_operator
    return ShownMemoryOut(
        id=record.id,
        text=text,
        kind=record.kind.value,
        tier=record.tier.value,
        of=_whose(record),
        project=record.project,
        tags=record.tags,
        role=record.role,
        source=provenance.source.value,
        trust=provenance.trust.value,
        confidence=evidence.confidence,
        source_id=evidence.source_id,
        tool=provenance.tool,
        agent=provenance.agent if shown else "",
        backend=provenance.backend,
        external=provenance.external,
        from_repository=provenance.from_repository,
        yours=yours,
        person=provenance.person if shown else "",
        place=_place(provenance) if shown else None,
        written_at=provenance.at,
        age=max(0, round((now - provenance.at).total_seconds())),
        true_from=record.true_from,
        true_until=record.true_until,
        expires_at=record.expires_at,
        supersedes=record.supersedes,
        superseded_by=record.superseded_by,
        contradicts=tuple(contradicts),
        confirmed=record.confirmed,
        may_change=may_change(handle.access, record),
    )


def whole(record: Record) -> Excerpt:
    """Return the whole text of a memory."""
    return Excerpt(text=record.content, characters=len(record.content))


async def earlier_versions(handle: MemoryHandle, record: Record) -> list[Record]:
    """Return the stored memories that a memory replaced, the latest first."""
    return await _versions(handle, record, lambda one: one.supersedes)


async def later_versions(handle: MemoryHandle, record: Record) -> list[Record]:
    """Return the stored memories that replaced a memory, the earliest first."""
    return await _versions(handle, record, lambda one: one.superseded_by)


async def _versions(
    handle: MemoryHandle, record: Record, next_of: Callable[[Record], str]
) -> list[Record]:
    """Return the memories that follow a memory; the id of the next is empty after the last one."""
    found: list[Record] = []
    name = next_of(record)
    while name and len(found) < MAX_CHAIN:
        one = await handle.read.get(name)
        if one is None:
            break
        found.append(one)
        name = next_of(one)
    return found


def _whose(record: Record) -> Whose:
    if record.scope is Scope.USER:
        return "mine"
    return "project" if record.scope is Scope.PROJECT else "everybody"


def _place(provenance: Provenance) -> PlaceOut | None:
    platform, _, rest = provenance.channel.partition(":")
    account, _, channel = rest.partition(":")
    if not platform:
        return None
    return PlaceOut(
        platform=platform,
        account=account,
        workspace="",
        channel=channel,
        thread="",
        audience=provenance.audience.value,
    )
