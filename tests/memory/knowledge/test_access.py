"""The people who may read the text of a repository."""

import itertools
from datetime import UTC, datetime
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import Statement
from db.values import json_list
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from memory.knowledge.access import (
    READS,
    KnowledgeAccess,
    channel_name,
    is_restricted,
    knowledge_access_of,
    reads,
)
from memory.knowledge.model import Repository
from memory.model.scope import RequestScope, project_of
from tests.support.databases import Engine
from tests.support.property_cases import cases

TEAM: Final = "slack:main:T1"
ELSEWHERE: Final = "slack:main:T2"
DIRECT: Final = Place("slack", "main", "D1", Audience.DIRECT)
GENERAL: Final = Place("slack", "main", "C1", Audience.PUBLIC_ROOM, "T1")
STAFF: Final = Place("slack", "main", "C2", Audience.PRIVATE_ROOM, "T1")
THREAD: Final = replace(GENERAL, thread_id="9")
CLOSED: Final = replace(STAFF, thread_id="9", closed_thread=True)
SHARED: Final = replace(STAFF, outsiders=True)
GROUP: Final = Place("telegram", "main", "-1", Audience.PRIVATE_ROOM)
PLACES: Final = (DIRECT, GENERAL, STAFF, THREAD, CLOSED, SHARED, GROUP)


def a_repository(
    project: str = TEAM,
    private: bool = True,
    rooms: tuple[str, ...] = (),
    tenant: str = "default",
) -> Repository:
    """A repository with the properties that the rule reads."""
    return Repository(
        *("r1", tenant, project, "api", "/srv/api", "/srv/api/.git", "", private, rooms, ()),
        created_at=datetime(2026, 11, 2, tzinfo=UTC),
    )


def asking(
    place: Place,
    *,
    project: str | None = None,
    role: Role = Role.MEMBER,
    outside: bool = False,
    tenant: str = "default",
) -> RequestScope:
    """A request in a place; `project` is by default the one that memory finds there."""
    person = PersonId(place.platform, place.account, "ada")
    if project is None:
        project = "" if outside or place.outsiders else project_of(place)
    who = Principal(tenant, person, role, outside)
    at = datetime(2026, 11, 2, tzinfo=UTC)
    return RequestScope(who, (str(person),), place, at, project=project)


def may(request: RequestScope, repository: Repository, bound: str = "") -> bool:
    return reads(knowledge_access_of(request, bound), repository)


class TestARepositoryOfAProject:
    def test_reaches_the_private_rooms_of_its_project(self) -> None:
        assert may(asking(STAFF), a_repository())
        assert may(asking(CLOSED), a_repository())

    def test_reaches_the_direct_messages_of_members_who_chose_the_project(self) -> None:
        assert may(asking(DIRECT, project=TEAM), a_repository())
        assert not may(asking(DIRECT), a_repository())
        assert not may(asking(DIRECT, project=ELSEWHERE), a_repository())

    def test_does_not_reach_rooms_of_other_projects(self) -> None:
        assert not may(asking(GROUP), a_repository(private=False))
        assert not may(asking(GENERAL), a_repository(ELSEWHERE, private=False))

    def test_reaches_a_room_that_is_bound_to_its_project(self) -> None:
        assert may(asking(GROUP), a_repository(), bound=TEAM)
        assert not may(asking(GROUP), a_repository(), bound=ELSEWHERE)

    def test_reaches_a_public_room_if_it_is_public_itself(self) -> None:
        assert may(asking(GENERAL), a_repository(private=False))
        assert not may(asking(GENERAL), a_repository())

    def test_does_not_reach_a_room_with_people_of_other_companies(self) -> None:
        assert not may(asking(SHARED), a_repository(private=False))
        assert not may(asking(SHARED), a_repository(private=False), bound=TEAM)

    def test_is_private_in_a_room_with_outsiders_that_uses_its_project(self) -> None:
        request = asking(SHARED, project=TEAM)
        assert may(request, a_repository(private=False))
        assert not may(request, a_repository())


class TestAPrivateRepository:
    def test_reaches_a_public_room_that_is_allowed_by_name(self) -> None:
        allowed = a_repository(rooms=("slack:main:T1:C1",))
        assert may(asking(GENERAL), allowed)
        assert may(asking(THREAD), allowed)
        assert not may(asking(replace(GENERAL, channel_id="C9")), allowed)

    def test_needs_the_project_in_a_room_that_is_allowed_by_name(self) -> None:
        allowed = a_repository(ELSEWHERE, rooms=("slack:main:T1:C1",))
        assert not may(asking(GENERAL), allowed)

    def test_does_not_reach_a_closed_thread_by_the_name_of_its_channel(self) -> None:
        allowed = a_repository("", rooms=("slack:main:T1:C2",))
        assert may(asking(STAFF), allowed)
        assert not may(asking(CLOSED), allowed)
        assert may(asking(CLOSED), a_repository("", rooms=("slack:main:T1:C2:9",)))

    def test_does_not_reach_guests(self) -> None:
        assert not may(asking(STAFF, role=Role.GUEST), a_repository())
        assert not may(asking(DIRECT, role=Role.GUEST), a_repository(""))


class TestARepositoryOfTheWholeTenant:
    def test_reaches_every_place_if_it_is_public(self) -> None:
        assert all(may(asking(place), a_repository("", private=False)) for place in PLACES)

    def test_reaches_direct_messages_if_it_is_private(self) -> None:
        reached = [place for place in PLACES if may(asking(place), a_repository(""))]
        assert reached == [DIRECT]

    def test_does_not_reach_another_tenant(self) -> None:
        theirs = a_repository("", private=False, tenant="other")
        assert not any(may(asking(place), theirs) for place in PLACES)


@pytest.mark.parametrize("place", PLACES)
def test_people_from_outside_read_only_public_repositories_of_the_whole_tenant(
    place: Place,
) -> None:
    request = asking(place, project=TEAM, role=Role.OWNER, outside=True)
    rooms = ("slack:main:T1:C1", "slack:main:T1:C2", "slack:main:T1:C2:9", "telegram:main::-1")
    assert may(request, a_repository("", private=False))
    assert not may(request, a_repository("", rooms=rooms), bound=TEAM)
    assert not may(request, a_repository(TEAM, private=False), bound=TEAM)
    assert not may(request, a_repository(TEAM, rooms=rooms), bound=TEAM)


def test_a_place_that_is_not_known_to_be_private_is_public() -> None:
    assert KnowledgeAccess("default").public
    assert not reads(KnowledgeAccess("default", member=True), a_repository(""))


def test_a_direct_message_takes_no_project_of_a_room() -> None:
    assert knowledge_access_of(asking(DIRECT, project=TEAM), ELSEWHERE).projects == (TEAM,)


def test_a_channel_has_one_name_for_all_its_threads() -> None:
    assert channel_name(THREAD) == channel_name(GENERAL) == "slack:main:T1:C1"
    assert channel_name(CLOSED) == channel_name(STAFF)
    assert channel_name(DIRECT) == ""


ROOMS: Final = ("a", "b")
PROJECTS: Final = ("p", "q")
NUMBERS: Final = itertools.count()
ASKED: Final = Statement(f"""
    WITH r AS (
        SELECT CAST(:id AS text) AS id, CAST(:tenant AS text) AS tenant,
            CAST(:project AS text) AS project, :private AS private,
            CAST(:rooms AS text) AS rooms, :forgotten AS forgotten
    )
    SELECT r.id FROM r WHERE {READS}
""")

accesses = st.builds(
    KnowledgeAccess,
    st.sampled_from(("t", "u")),
    st.lists(st.sampled_from(("", *PROJECTS)), max_size=2).map(tuple),
    st.sampled_from(("", *ROOMS)),
    st.booleans(),
    st.booleans(),
)
repositories = st.builds(
    a_repository,
    st.sampled_from(("", *PROJECTS)),
    st.booleans(),
    st.lists(st.sampled_from(ROOMS), max_size=2).map(tuple),
    st.sampled_from(("t", "u")),
)


@given(access=accesses, repository=repositories)
def test_text_is_restricted_unless_every_place_of_its_tenant_may_show_it(
    access: KnowledgeAccess, repository: Repository
) -> None:
    here = replace(access, tenant=repository.tenant)
    assert is_restricted(repository) or reads(here, repository)
    assert is_restricted(repository) == (repository.private or bool(repository.project))


@settings(
    deadline=None,
    max_examples=cases(200),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(access=accesses, repository=repositories, forgotten=st.booleans())
async def test_the_query_decides_as_the_rule(
    engine: Engine, access: KnowledgeAccess, repository: Repository, forgotten: bool
) -> None:
    row = {
        "id": repository.id,
        "tenant": repository.tenant,
        "project": repository.project,
        "private": repository.private,
        "rooms": json_list(repository.rooms),
        "forgotten": forgotten,
    }
    rows = await engine.fetch(ASKED, row | access.parameters())
    assert bool(rows) == (reads(access, repository) and not forgotten)
