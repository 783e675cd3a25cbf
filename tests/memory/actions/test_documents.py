"""Documents are changed line by line, on the newest version only, with the rights of the caller."""

import asyncio

import pytest

from gateway.errors import BadInput
from gateway.people import Role
from gateway.ports.rights import Credential, Denied, Proof, TokenScope
from memory.actions import documents as on
from memory.actions.call import MemoryCall
from memory.service.handle import MemoryHandle
from tests.memory.rig import ROOM, Rig, memory_rig


def signed_in(handle: MemoryHandle) -> MemoryCall:
    """The call of a person in a browser."""
    return MemoryCall(Proof(Credential.SESSION, Role.GUEST), handle)


async def add(call: MemoryCall, text: str, based_on: int) -> on.WrittenOut:
    given = on.NewLines(document="soul", text=text, based_on=based_on)
    return await on.add_line(call, given)


async def edit(call: MemoryCall, number: int, text: str, based_on: int) -> on.WrittenOut:
    given = on.ChangedLine(document="soul", number=number, text=text, based_on=based_on)
    return await on.edit_line(call, given)


async def delete(call: MemoryCall, number: int, based_on: int) -> on.WrittenOut:
    given = on.NumberedLine(document="soul", number=number, based_on=based_on)
    return await on.delete_line(call, given)


async def restore(call: MemoryCall, number: int, based_on: int) -> on.WrittenOut:
    given = on.Restore(document="soul", version=number, based_on=based_on)
    return await on.restore(call, given)


def content(written: on.WrittenOut) -> str:
    assert written.document is not None
    return written.document.content


async def test_lines_are_edited_on_the_newest_version_only(rig: Rig) -> None:
    ada, other_tab = signed_in(await rig.handle("ada")), signed_in(await rig.handle("ada"))
    assert content(await add(ada, "Short answers.", 0)) == "Short answers."
    await add(ada, "No jokes.", 1)
    with pytest.raises(on.DocumentChanged, match="is 2") as late:
        await edit(other_tab, 1, "Long answers.", 1)
    assert late.value.newest is not None
    assert late.value.newest.content == "Short answers.\nNo jokes."
    assert content(await edit(other_tab, 1, "Long answers.", 2)) == "Long answers.\nNo jokes."


async def test_an_edit_of_a_line_that_another_tab_deleted_is_a_conflict(rig: Rig) -> None:
    ada = signed_in(await rig.handle("ada"))
    await add(ada, "one\ntwo", 0)
    await delete(ada, 2, 1)
    with pytest.raises(on.DocumentChanged):
        await edit(ada, 2, "2", 1)


@pytest.mark.both_engines
async def test_of_two_edits_at_once_one_wins(rig: Rig) -> None:
    ada = signed_in(await rig.handle("ada"))
    results = await asyncio.gather(
        *(add(ada, f"Line {number}", 0) for number in range(4)), return_exceptions=True
    )
    assert sum(isinstance(one, on.DocumentChanged) for one in results) == 3
    assert sum(isinstance(one, on.WrittenOut) for one in results) == 1


async def test_a_document_can_be_emptied_line_by_line(rig: Rig) -> None:
    handle = await rig.handle("ada")
    ada = signed_in(handle)
    await add(ada, "Short answers.", 0)
    assert content(await delete(ada, 1, 1)) == ""
    assert (await rig.documents(handle.access)).soul == ""
    assert content(await restore(ada, 1, based_on=2)) == "Short answers."


async def test_a_restore_is_based_on_the_newest_version(rig: Rig) -> None:
    ada = signed_in(await rig.handle("ada"))
    await add(ada, "one", 0)
    await add(ada, "two", 1)
    with pytest.raises(on.DocumentChanged):
        await restore(ada, 1, based_on=1)


async def test_an_undo_is_based_on_the_newest_version_and_goes_one_step_back(rig: Rig) -> None:
    ada = signed_in(await rig.handle("ada"))
    await add(ada, "one", 0)
    await add(ada, "two", 1)
    with pytest.raises(on.DocumentChanged):
        await on.undo(ada, on.DocumentChange(document="soul", based_on=1))
    assert content(await on.undo(ada, on.DocumentChange(document="soul", based_on=2))) == "one"


async def test_a_line_of_which_nothing_may_be_stored_is_refused(rig: Rig) -> None:
    handle = await rig.handle("ada")
    with pytest.raises(BadInput, match="no text is left"):
        await add(signed_in(handle), "\u202e", 0)
    assert await handle.documents.read("soul") is None


async def test_a_members_line_of_the_project_notes_is_proposed() -> None:
    async with memory_rig() as rig:
        root = await rig.handle("root", at=ROOM, role=Role.OPERATOR)
        start = await root.documents.read("bible")
        assert start is not None
        await on.edit_line(
            signed_in(root),
            on.ChangedLine(document="bible", number=1, text="We sell tea.", based_on=start.number),
        )
        ada = signed_in(await rig.handle("ada", at=ROOM))
        given = on.NewLines(document="bible", text="We sell coffee.", based_on=start.number + 1)
        result = await on.add_line(ada, given)
        assert (result.outcome, result.is_pending) == ("proposed", True)
        (pending,) = await root.review.waiting()
        assert pending.record.content == "We sell tea.\nWe sell coffee."


async def test_an_action_checks_its_caller_wherever_it_is_called(rig: Rig) -> None:
    handle = await rig.handle("ada")
    agent = Proof(Credential.AGENT, Role.GUEST, frozenset(TokenScope))
    for proof in (agent, Proof(Credential.TOKEN, Role.OWNER, frozenset(TokenScope))):
        with pytest.raises(Denied):
            await add(MemoryCall(proof, handle), "one", 0)
    with pytest.raises(Denied, match="memory_read"):
        await on.read(MemoryCall(agent, handle), on.DocumentName(document="soul"))
    assert await handle.documents.read("soul") is None
