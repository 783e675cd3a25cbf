"""Taking back a replacement, and the operators' way to what a project shares."""

import pytest

from gateway.errors import NotFound
from gateway.people import Role
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind, Scope
from memory.ports.memories import Filter
from tests.memory.rig import memory_rig

TEA, COFFEE = "Drinks green tea", "Drinks black coffee"


async def test_the_replaced_memory_is_valid_again_and_only_its_person_takes_it_back() -> None:
    async with memory_rig() as rig:
        ada, eve = await rig.handle("ada"), await rig.handle("eve")
        tea = await ada.write.remember(Draft(TEA, Kind.PREFERENCE))
        coffee = await ada.write.remember(Draft(COFFEE, Kind.PREFERENCE, supersedes=tea.memory_id))
        for handle, name in ((eve, coffee.memory_id), (ada, tea.memory_id), (ada, "mem-none")):
            with pytest.raises(NotFound):
                await handle.write.undo_replacement(name)
        restored = await ada.write.undo_replacement(coffee.memory_id)
        assert (restored.id, restored.current) == (tea.memory_id, True)
        found = await ada.read.search(Filter(superseded=True))
        assert [one.record.content for one in found] == [TEA]
        assert "memory_delete" in rig.noted.actions()


async def test_only_operators_reach_a_project_without_being_in_it() -> None:
    async with memory_rig() as rig:
        olga = (await rig.handle("olga", role=Role.OPERATOR)).for_operator("test:main:guild")
        shared = await olga.write.remember(Draft("We sell tea", Kind.FACT, scope=Scope.PROJECT))
        assert shared.outcome is Outcome.STORED
        ada = await rig.handle("ada")
        with pytest.raises(NotFound):
            ada.for_operator("test:main:guild")
        assert await ada.read.get(shared.memory_id) is None
        assert await olga.for_operator("test:main:other").read.get(shared.memory_id) is None
