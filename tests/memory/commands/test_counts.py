"""The used part of a plan and of a document is shown before it is full."""

import pytest

from memory.documents.service import NEARLY_FULL
from memory.model.plans import Plans
from tests.memory.commands.test_command_set import press, say
from tests.memory.rig import memory_rig


async def test_every_list_shows_the_use_of_the_plan() -> None:
    async with memory_rig(plans=Plans(default="pro")) as rig:
        for number in range(8):
            await say(rig, f"/remember fact number {number}")
        answer = await say(rig, "/remember the ninth")
        for reply in (answer, await say(rig, "/memories"), await say(rig, "/privacy")):
            assert "9 of 15 memories of your plan are used." in reply.markdown
        question = await say(rig, "/forget ninth")
        await press(rig, question, "Forget")
        assert "8 of 15" in (await say(rig, "/memories")).markdown


async def test_a_full_plan_is_reported_with_advice() -> None:
    async with memory_rig(plans=Plans(default="free")) as rig:
        for number in range(3):
            reply = await say(rig, f"/remember fact number {number}")
        assert "3 of 3 memories of your plan are used. Delete one" in reply.markdown
        assert "(3/3)" in (await say(rig, "/remember one more")).markdown


async def test_without_a_limit_no_use_is_shown() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember I prefer tabs")
        for line in ("/memories", "/privacy"):
            assert "of your plan" not in (await say(rig, line)).markdown


@pytest.mark.parametrize(("size", "warned"), [(NEARLY_FULL - 1, False), (NEARLY_FULL, True)])
async def test_a_document_warns_from_9000_of_10000_characters(size: int, warned: bool) -> None:
    async with memory_rig() as rig:
        text = ("word " * 2_000)[: size - 1] + "."
        written = await say(rig, f"/soul {text}")
        shown = await say(rig, "/soul")
        for reply in (written, shown):
            assert (f"It has {size:,} of 10,000 characters." in reply.markdown) is warned
