"""Clients: what they store may be text of a repository that not everybody may read."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from db.errors import StoreUnavailable
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Role
from memory.knowledge.access import KnowledgeAccess, KnowledgeReader
from memory.knowledge.model import Repository
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, Scope
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.service.handle import MemoryHandle
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineOutcome, bring_in
from memory.write.statement import ExternalText
from parley.wiring.storage import MemoryStores
from tests.memory.knowledge.hits import HIT, REPOSITORY, GivenHits
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

WORD: Final = "zephyrine"
ROOM: Final = Place("telegram", "main", "-100", Audience.PUBLIC_ROOM)
DRAFT: Final = Draft(f"The queue of the shop is called {WORD}", Kind.FACT)
PRIVATE: Final = replace(HIT, repository=replace(REPOSITORY, private=True))
PUBLIC: Final = replace(HIT, repository=replace(REPOSITORY, private=False, project=""))


class Index(GivenHits):
    """An index that may be out of reach."""

    lost = False

    async def any_restricted(self, tenant: str) -> bool:
        if self.lost:
            raise StoreUnavailable("the index cannot be read")
        return await super().any_restricted(tenant)

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        return [] if self.lost else await super().readable(access, limit)


@pytest.fixture
def index() -> Index:
    return Index([PRIVATE])


@pytest.fixture
async def rig(tmp_path: Path, index: Index) -> AsyncIterator[Rig]:
    clock, database = FakeClock(), sqlite_database(tmp_path / "test.db")
    await database.start()
    stores = MemoryStores(database, clock)
    yield rig_on(
        stores,
        database,
        clock,
        repositories=KnowledgeReader(index, stores.room_bindings),
    )
    await database.stop()


async def client(rig: Rig, name: str = "ada", *, outside: bool = False) -> MemoryHandle:
    return await rig.memory.for_principal(rig.caller(name, client=True, outside=outside))


class TestAClient:
    async def test_may_have_read_a_repository_of_another_project_than_the_chosen_one(
        self, rig: Rig, index: Index
    ) -> None:
        index.hits = [replace(HIT, repository=replace(REPOSITORY, project="slack:main:T9"))]
        assert (await client(rig)).request.from_repository

    async def test_may_have_read_it_while_the_index_is_out_of_reach(
        self, rig: Rig, index: Index
    ) -> None:
        index.hits, index.lost = [PUBLIC], True
        assert (await client(rig)).request.from_repository

    async def test_writes_freely_where_everybody_may_read_everything(
        self, rig: Rig, index: Index
    ) -> None:
        index.hits = [PUBLIC]
        assert not (await client(rig)).request.from_repository

    async def test_of_a_person_from_outside_has_read_nothing(self, rig: Rig) -> None:
        assert not (await client(rig, outside=True)).request.from_repository

    async def test_is_no_chat(self, rig: Rig) -> None:
        assert not (await rig.handle()).request.from_repository


async def in_rooms(rig: Rig, name: str = "ada") -> MemoryHandle:
    """The memory of a person in a room in which they allow their own memories."""
    caller = rig.caller(name, at=ROOM)
    await rig.people.show_private(caller.principal, True)
    return await rig.memory.for_principal(caller)


async def finds(handle: MemoryHandle) -> bool:
    found = [match.record for match in await handle.read.search(Filter())]
    recalled = await handle.read.recall(Query("How is the queue called?", handle.request.at, 10))
    found += [one.record for one in recalled.results]
    return any(WORD in record.content for record in found)


class TestItsMemory:
    async def test_stays_with_its_person(self, rig: Rig) -> None:
        assert (await (await client(rig)).write.remember(DRAFT)).outcome is Outcome.STORED
        home = await rig.handle()
        assert await finds(home)
        assert await finds(home.for_agent("agent-1"))
        assert not await finds(await in_rooms(rig))

    async def test_that_nothing_restricts_is_shown_in_rooms(self, rig: Rig, index: Index) -> None:
        index.hits = [PUBLIC]
        await (await client(rig)).write.remember(DRAFT)
        assert await finds(await in_rooms(rig))

    async def test_stays_so_after_its_approval_and_after_an_import(self, rig: Rig) -> None:
        external = ExternalText()
        external.any = True
        proposed = await (await client(rig)).write.infer(DRAFT, external)
        home = await rig.handle()
        await home.review.approve(proposed.review_id)
        assert await finds(home)
        assert not await finds(await in_rooms(rig))
        file, _ = await personal_file(home)
        await home.erasure.erase_all()
        home = await rig.handle()
        outcomes = [report.outcome async for report in bring_in(home, file)]
        assert LineOutcome.STORED in outcomes
        assert await finds(home)
        assert not await finds(await in_rooms(rig))

    async def test_is_no_duplicate_of_what_the_person_stores_in_a_chat(self, rig: Rig) -> None:
        await (await client(rig)).write.remember(DRAFT)
        assert (await (await rig.handle()).write.remember(DRAFT)).outcome is Outcome.STORED
        assert await finds(await in_rooms(rig))
        again = await (await client(rig)).write.remember(DRAFT)
        assert again.code == "duplicate"

    async def test_makes_an_answer_one_of_a_repository(self, rig: Rig) -> None:
        await (await client(rig)).write.remember(replace(DRAFT, kind=Kind.PREFERENCE))
        turn = await rig.remembrance.turn(rig.caller(says="How is the queue called?"))
        assert WORD not in str(await turn.prompt_parts()), "it would be in every prompt"
        assert WORD in await turn.tools.call("memory_search", {"query": "queue"})
        after = await turn.finish(f"It is called {WORD}.", [])
        assert [one.authorship for one in after.derived] == ["repository"]
        assert after.turn is not None
        assert WORD not in after.turn.body

    async def test_makes_an_answer_one_of_a_repository_by_the_brief(self, rig: Rig) -> None:
        await (await client(rig)).write.remember(DRAFT)
        turn = await rig.remembrance.turn(rig.caller(says="What do you know?"))
        assert WORD in await turn.tools.call("memory_brief", {})
        stored = {"type": "fact", "content": f"The queue is {WORD}"}
        assert (
            "private repository"
            in json.loads(await turn.tools.call("memory_store", stored))["error"]
        )

    @pytest.mark.parametrize("scope", [Scope.PROJECT, Scope.GLOBAL])
    async def test_is_for_its_person_only(self, rig: Rig, scope: Scope) -> None:
        caller = rig.caller(role=Role.OPERATOR, client=True)
        handle = await rig.memory.for_principal(caller)
        result = await handle.write.remember(replace(DRAFT, scope=scope))
        assert (result.outcome, result.code) == (Outcome.REFUSED, "from_repository")


class TestADocument:
    async def test_is_not_written_by_a_client(self, rig: Rig) -> None:
        with pytest.raises(BadInput, match="stays as it is"):
            await (await client(rig)).documents.write("soul", f"Call it {WORD}.")

    async def test_of_before_can_be_restored_by_a_client(self, rig: Rig) -> None:
        home = await rig.handle()
        for text in ("Be brief.", "Be long."):
            await home.documents.write("soul", text)
        await (await client(rig)).documents.restore("soul", 1)
        newest = await home.documents.read("soul")
        assert newest is not None
        assert newest.content == "Be brief."
