"""Waiting turns become memories, and earlier changes of them have an effect."""

from collections.abc import Sequence
from datetime import timedelta

from structlog.testing import capture_logs

from gateway.immutable import replace
from gateway.ports.work_guard import Quarantined, WorkOwner
from memory.model.record import MAX_DOCUMENT, Tier
from memory.ports.memories import Filter
from memory.service.handle import MemoryHandle
from memory.stores.waiting_turns import ConsolidatedTurn, WaitingTurns
from memory.write.consolidation import AT_ONCE, Consolidation, TurnText, waiting_turn
from tests.memory.rig import DIRECT, ROOM, Rig, memory_rig
from tests.support.work import deadly, suspected

SECRET = "AKIA" + "IOSFODNN7ABCDEFG"


def consolidation(rig: Rig) -> Consolidation:
    return Consolidation(rig.stores.waiting, rig.path)


async def contents(handle: MemoryHandle) -> list[str]:
    return [match.record.content for match in await handle.read.search(Filter())]


async def test_a_turn_waits_for_the_background_work_and_keeps_its_time() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", "The key hangs behind the clock", "Noted.")
        said_at = rig.clock.now()
        await rig.clock.advance(600)
        assert await consolidation(rig).step() == 1
        assert await consolidation(rig).step() == 0
        matches = await rig.stores.memories.find(ada.access, Filter(tiers=(Tier.EPISODIC,)))
        assert {match.record.provenance.at for match in matches} == {said_at}
        assert {match.record.expires_at for match in matches} == {said_at + timedelta(days=90)}
        assert [match.record.role for match in matches] == ["assistant", "user"]


async def test_a_search_of_a_person_waits_for_their_pending_turns() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        for number in range(3 * AT_ONCE):
            await rig.said(ada, f"t{number}", f"said {number}", "")
        assert len(await contents(ada)) == 3 * AT_ONCE
        assert await rig.stores.waiting.count() == 0


async def test_a_search_in_a_room_waits_for_its_pending_turns() -> None:
    async with memory_rig() as rig:
        await rig.said(await rig.handle("bob", at=ROOM), "t1", "The demo is on Friday", "")
        await rig.said(await rig.handle("bob"), "t2", "I do not like the demo", "")
        assert await contents(await rig.handle("ada", at=ROOM)) == ["The demo is on Friday"]
        assert await rig.stores.waiting.count() == 1


async def test_a_turn_is_prepared_like_every_stored_text() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", f"the key is {SECRET}", "so it is " * MAX_DOCUMENT)
        assert await consolidation(rig).step() == 1
        answer, reply = await contents(ada)
        assert reply == "the key is [SECRET_REDACTED]"
        assert len(answer) <= MAX_DOCUMENT
        assert rig.noted.actions().count("secret_redacted") == 1


async def test_the_same_turn_is_stored_once() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        for _ in range(2):
            await rig.said(ada, "t1", "hello", "hi there")
            assert await consolidation(rig).step() == 1
        assert await contents(ada) == ["hi there", "hello"]


async def test_an_edit_or_a_deletion_applies_to_a_waiting_turn() -> None:
    async with memory_rig() as rig:
        gone, changed = rig.caller(message="m1"), rig.caller(message="m2")
        for caller, words in ((gone, "a regretted remark"), (changed, "The demo is on Friday")):
            await rig.said(await rig.memory.for_principal(caller), caller.id, words, "")
        place = gone.place
        await rig.remembrance.deleted("default", place, ["m1"])
        await rig.remembrance.edited("default", place, "m2", "The demo is on Monday")
        assert not await rig.remembrance.knows("default", place, ["m1"])
        assert await contents(await rig.handle()) == ["The demo is on Monday"]


async def test_the_message_of_a_waiting_turn_is_known() -> None:
    async with memory_rig() as rig:
        caller = rig.caller(message="m1")
        await rig.said(await rig.memory.for_principal(caller), caller.id, "hello", "")
        assert await rig.remembrance.knows("default", caller.place, ["m1"])


async def test_all_data_of_a_person_includes_waiting_turns() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", "hello", "hi there")
        rows = await ada.privacy.export_all()
        assert sorted(str(row["content"]) for row in rows if row["table"] == "memories") == [
            "hello",
            "hi there",
        ]
        await rig.said(ada, "t2", "one thing more", "")
        await rig.said(await rig.handle("bob"), "t3", "bob's", "")
        await ada.erasure.erase_all()
        assert await rig.stores.waiting.count() == 1
        assert await contents(ada) == []


async def test_a_cleared_turn_is_not_stored_afterwards() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", "hello", "hi there")
        assert await ada.erasure.clear([Tier.EPISODIC]) == 2
        assert await consolidation(rig).step() == 0
        assert await contents(ada) == []


async def test_a_turn_erased_during_consolidation_stays_erased() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", "hello", "hi there")
        erasing = Erasing(rig.stores.waiting, ada)
        assert await Consolidation(erasing, rig.path).step() == 0
        assert await contents(ada) == []
        assert "memory_write" not in rig.noted.actions()


async def test_an_unreadable_turn_does_not_block_others() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        turn = waiting_turn("x", TurnText(ada.request, "hello", "", external=False), ada.access)
        for number in range(2 * AT_ONCE):
            await rig.keep(replace(turn, id=f"broken-{number}", body='{"of": "another version"}'))
        await rig.said(ada, "t1", "hello", "")
        taken = consolidation(rig)
        with capture_logs() as logs:
            steps = [await taken.step() for _ in range(3)]
        assert sum(steps) == 1
        assert len(logs) == 2 * AT_ONCE
        assert "another version" not in str(logs)
        assert await rig.stores.waiting.count() == 2 * AT_ONCE


async def test_surrogates_and_null_characters_are_replaced() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle(at=DIRECT)
        await rig.said(ada, "t1", "broken \ud83d and \0 text", "fine")
        assert await consolidation(rig).step() == 1
        assert any(content.startswith("broken") for content in await contents(ada))


class Erasing(WaitingTurns):
    """A person erases everything between the reading of their turns and the keeping."""

    def __init__(self, waiting: WaitingTurns, person: MemoryHandle) -> None:
        super().__init__(waiting._database)
        self.person = person

    async def take_up(self, turns: Sequence[ConsolidatedTurn]) -> set[str]:
        await self.person.erasure.erase_all()
        return await super().take_up(turns)


async def test_a_crashing_turn_is_quarantined_with_its_person() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        for number in range(3 * AT_ONCE):
            await rig.said(ada, f"t{number}", f"said {number}", "")
        guard = deadly("waiting_turn", "t1")
        taking = Consolidation(rig.stores.waiting, rig.path, guard)
        await taking.step()
        assert {item.id: owner.person for item, owner in guard.quarantined.items()} == {
            "t1": str(ada.request.principal.person)
        }
        assert guard.in_work == []
        await rig.stores.waiting.discard_quarantined("x", ("a", "b", "c"), ("m",))


async def test_a_turn_present_at_a_crash_is_processed_last_and_alone() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        for number in range(4):
            await rig.said(ada, f"t{number}", f"said {number}", "")
        guard = suspected("waiting_turn", {"t0": 4, "t1": 1})
        taking = Consolidation(rig.stores.waiting, rig.path, guard)
        while await taking.step():
            pass
        batches = [{item.id for item in items} for items in guard.marked]
        assert batches == [{"t2", "t3"}, {"t0"}, {"t1"}]
        assert await rig.stores.waiting.count() == 0


async def test_a_deleted_message_deletes_its_quarantined_turn() -> None:
    async with memory_rig() as rig:
        ada = await rig.handle()
        await rig.said(ada, "t1", "hello", "")
        (turn,) = await rig.stores.waiting.oldest(1)
        guard = deadly("waiting_turn", "t1")
        taking = Consolidation(rig.stores.waiting, rig.path, guard)
        quarantine = rig.quarantine
        owner = WorkOwner(turn.tenant, turn.person, turn.channel)
        entry = Quarantined("waiting_turn", "t1", owner, 8, rig.clock.now())
        await quarantine.add(entry)
        platform, account, channel = turn.channel.split(":", 2)
        place = (platform, account, channel)
        await taking.of_messages(turn.tenant, place, turn.message_ids)
        assert await rig.stores.waiting.count() == 1, "asking for it changes nothing"
        await taking.of_messages(turn.tenant, place, turn.message_ids, changed=True)
        assert await rig.stores.waiting.count() == 0
        assert await quarantine.listed(10) == []
