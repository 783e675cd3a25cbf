"""Edits and deletions of messages that still wait for their answer."""

from pathlib import Path

from simulators.anthropic.answers import last_user_text
from tests.e2e.conftest import DELETIONS, EDITS, open_lab_with_model
from tests.e2e.harness import FAST

QUEUED = {"conversation": {"overlap": "queue"}, "delivery": FAST}


@EDITS
async def test_a_message_edited_while_it_waited_is_answered_in_its_new_text(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, QUEUED) as (lab, model):
        model.open.clear()
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "first")
        await model.wait_for_requests(1)
        waiting = await lab.platform.say(ada, room, "the code word is aple")
        await lab.platform.edit(ada, room, waiting, "the code word is pear")
        await lab.waits("message", "message", "edit")
        model.open.set()
        await lab.answers(room, 2)
        assert len(await lab.quiet(room)) == 2
        questions = [last_user_text(body) for body in model.bodies]
        assert [text for text in questions if "code word" in text] == ["the code word is pear"]


@DELETIONS
async def test_a_message_deleted_while_it_waited_is_not_answered(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path, QUEUED) as (lab, model):
        model.open.clear()
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        await lab.platform.say(ada, room, "first")
        await model.wait_for_requests(1)
        waiting = await lab.platform.say(ada, room, "this was a mistake")
        await lab.platform.say(ada, room, "third")
        await lab.platform.delete(ada, room, waiting)
        await lab.waits("message", "message", "deletion")
        model.open.set()
        await lab.answers(room, 2)
        assert len(await lab.quiet(room)) == 2
        questions = [last_user_text(body) for body in model.bodies]
        assert questions == ["first", "third"]
        assert "this was a mistake" not in await lab.stored()
