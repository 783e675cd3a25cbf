"""The methods of a backend, called without the gateway's checks around them."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.immutable import replace
from gateway.ports.memory_backend import (
    MAX_PAGE,
    BackendAccess,
    CanBrief,
    CanRecall,
    MemoryBackend,
    Statement,
)
from parley.testing.memory_stage import MemoryStage

ADA: Final = "chat:main:ada"
BOB: Final = "chat:main:bob"
AT: Final = datetime(2026, 5, 1, 12, 0, 0, 123_456, tzinfo=UTC)
TEXT: Final = "The gate of the red bridge opens at seven."


def private(person: str = ADA, tenant: str = "acme") -> BackendAccess:
    """The access of a person in a direct message."""
    return BackendAccess(tenant, person, (person,), private=True)


def statement(number: int = 1, **fields: object) -> Statement:
    """A statement of Ada."""
    made = Statement(
        "acme", f"mem-{number}", TEXT, "fact", AT + timedelta(seconds=number), ADA, "explicit_save"
    )
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of a statement


def tested(memory: MemoryStage) -> MemoryBackend:
    """The backend; the pytest plugin skips these tests without one."""
    assert memory.backend is not None
    return memory.backend


async def listed(backend: MemoryBackend, access: BackendAccess) -> list[Statement]:
    """Everything that an access sees, page by page."""
    statements: list[Statement] = []
    after: Statement | None = None
    while page := await backend.list_statements(access, after, 50):
        assert len(page) <= 50
        statements += page
        after = page[-1]
    return statements


async def test_every_field_of_a_statement_is_returned(memory: MemoryStage) -> None:
    backend = tested(memory)
    full = statement(
        kind="decision",
        room="chat:main:team:general",
        tags=("one", "zwei: 2"),
        channel="chat:main:general",
        messages=("m-1", "m-2"),
        confirmed=True,
        replaced_by="mem-2",
        expires_at=AT + timedelta(days=1),
        details={"session": "ses-1", "note": "a: b\n'c' – “d”"},
    )
    await backend.remember(private(), full)
    assert await listed(backend, private()) == [full]


async def test_a_list_is_newest_first_and_goes_on_after_a_page(memory: MemoryStage) -> None:
    backend = tested(memory)
    made = [statement(number, text=f"{TEXT} {number}") for number in (3, 1, 2)]
    same_time = [statement(number, at=AT + timedelta(seconds=9)) for number in (7, 8)]
    for one in (*made, *same_time):
        await backend.remember(private(), one)
    ids = [one.id for one in await listed(backend, private())]
    assert ids == ["mem-8", "mem-7", "mem-3", "mem-2", "mem-1"]
    first = await backend.list_statements(private(), None, 2)
    rest = await backend.list_statements(private(), first[-1], MAX_PAGE)
    assert [one.id for one in (*first, *rest)] == ids


async def test_the_same_id_replaces_a_statement(memory: MemoryStage) -> None:
    backend = tested(memory)
    await backend.remember(private(), statement())
    changed = statement(text="It opens at eight.", replaced_by="mem-9")
    await backend.remember(private(), changed)
    assert await listed(backend, private()) == [changed]


async def test_a_statement_of_another_person_is_not_replaced(memory: MemoryStage) -> None:
    backend = tested(memory)
    await backend.remember(private(), statement())
    taken = statement(text="Bob was here.", person=BOB)
    with contextlib.suppress(Exception):  # a backend may refuse in its own words
        await backend.remember(private(BOB), taken)
    assert await listed(backend, private()) == [statement()]


async def test_no_method_returns_what_the_access_does_not_see(memory: MemoryStage) -> None:
    backend = tested(memory)
    room, project = "chat:main:team:general", "chat:main:team"
    stored = [
        (private(), statement(1)),
        (private(BOB), statement(2, person=BOB)),
        (private(tenant="globex"), statement(3, tenant="globex")),
        (private(), statement(4, room=room)),
        (private(), statement(5, scope="project", project=project)),
        (private(), statement(6, scope="project", project="chat:main:other")),
        (private(), statement(7, scope="global")),
    ]
    for access, one in stored:
        await backend.remember(replace(access, operates=True, project=one.project), one)
    for access in (
        private(),
        private(BOB),
        private(tenant="globex"),
        replace(private(), private=False, room=room, project=project),
        replace(private(BOB), private=False, room=room, project=project),
        replace(private(), private=False, room="chat:main:team:random"),
        replace(private(), persons=(ADA, BOB)),
    ):
        visible = {one.id for _, one in stored if access.sees(one)}
        assert {one.id for one in await listed(backend, access)} == visible
        if isinstance(backend, CanRecall):
            results = await backend.recall(access, "When does the red bridge open?", 50)
            assert {one.statement.id for one in results} <= visible
        if isinstance(backend, CanBrief) and not visible:
            assert await backend.brief(access, 1_000) == ""


async def test_only_changeable_statements_are_deleted(memory: MemoryStage) -> None:
    backend = tested(memory)
    await backend.remember(private(), statement())
    for access in (private(BOB), private(tenant="globex")):
        assert list(await backend.forget(access, ["mem-1", "mem-none"])) == []
    assert list(await backend.forget(private(), ["mem-none", "mem-1"])) == ["mem-1"]
    assert await listed(backend, private()) == []


async def test_a_deleted_message_deletes_unconfirmed_statements_of_its_channel(
    memory: MemoryStage,
) -> None:
    backend = tested(memory)
    of_message = statement(channel="chat:main:ada-direct", messages=("m-1",))
    kept = (
        replace(of_message, id="mem-2", confirmed=True),
        replace(of_message, id="mem-3", channel="chat:main:general"),
        replace(of_message, id="mem-4", messages=("m-2",)),
    )
    for one in (of_message, *kept):
        await backend.remember(private(), one)
    await backend.remember(private(tenant="globex"), replace(of_message, tenant="globex"))
    gone = await backend.forget_messages("acme", "chat:main:ada-direct", ["m-1", "m-9"])
    assert [one.id for one in gone] == ["mem-1"]
    assert {one.id for one in await listed(backend, private())} == {one.id for one in kept}
    assert len(await listed(backend, private(tenant="globex"))) == 1


async def test_an_erasure_is_complete_and_touches_nobody_else(memory: MemoryStage) -> None:
    backend = tested(memory)
    shared = statement(2, scope="global", channel="c", messages=("m",), room="r")
    await backend.remember(private(), statement())
    await backend.remember(replace(private(), operates=True), shared)
    await backend.remember(private(BOB), statement(3, person=BOB))
    await backend.remember(private(tenant="globex"), statement(4, tenant="globex"))
    assert ADA in str(await backend.export("acme", (ADA,)))
    assert await backend.erase("acme", (ADA,)) >= 1
    assert list(await backend.export("acme", (ADA,))) == []
    assert [one.id for one in await listed(backend, private(BOB))] == ["mem-3", "mem-2"]
    (left,) = [one for one in await listed(backend, private()) if one.scope == "global"]
    assert (left.person, left.room, left.channel, left.messages) == ("", "", "", ())
    assert len(await listed(backend, private(tenant="globex"))) == 1


async def test_names_cannot_reach_another_tenant_or_person(memory: MemoryStage) -> None:
    backend = tested(memory)
    await backend.remember(private(), statement())
    hostile = ("../acme", "acme/", "a%63me", "ACME", "acme\0", "*", "acme' OR '1'='1", ".", "")
    for tenant in hostile:
        assert await listed(backend, private(tenant=tenant)) == []
        await backend.erase(tenant, (ADA,))
    for person in ("chat:main:../ada", "*", "", "chat:main:ADA", f"{ADA}/", "%"):
        access = private(person)
        await backend.remember(access, statement(2, person=person, text="Mine."))
        assert [one.text for one in await listed(backend, access)] == ["Mine."]
        await backend.erase("acme", (person,))
    assert await listed(backend, private()) == [statement()]


async def test_calls_run_side_by_side(memory: MemoryStage) -> None:
    backend = tested(memory)
    made = [statement(number) for number in range(1, 31)]
    await asyncio.gather(*(backend.remember(private(), one) for one in made))
    assert {one.id for one in await listed(backend, private())} == {one.id for one in made}
    ids = [one.id for one in made]
    gone = await asyncio.gather(*(backend.forget(private(), [id_]) for id_ in (*ids, *ids)))
    assert sorted(id_ for some in gone for id_ in some) == sorted(ids)


async def test_the_state_is_one_line(memory: MemoryStage) -> None:
    line = await tested(memory).health()
    assert isinstance(line, str)
    assert "\n" not in line
