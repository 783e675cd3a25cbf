"""A password in a chat message is not stored, and its author is told; a possible key is asked
about."""

from pathlib import Path

from tests.e2e.conftest import open_lab_with_model
from tests.e2e.test_authorship import rows
from tests.e2e.test_memory import direct, kept

ROW = "Zm9vYmFyYmF6cXV4" * 5
SECRET = "Xy12zz89x"


async def test_the_author_of_a_secret_is_told(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = direct(lab)
        model.script("It is long enough.", f"{ROW} is base64.", "Hello.")
        answer = await ada.say(f"my password is {SECRET}, is that good?")
        assert "It is long enough." in answer.text
        assert "looks like a password or a key" in answer.text
        answer = await ada.say(f"what is {ROW} here?")
        assert "may be a key" in answer.text
        assert "/remember" in answer.text
        answer = await ada.say("and what is a password manager?")
        assert answer.text == "Hello."
        sent = str(model.bodies[-1])
        assert SECRET not in sent
        assert ROW not in sent
        await lab.idle()
        stored = str(await rows(lab, "SELECT text FROM turns")) + str(await kept(lab))
        stored += str(await rows(lab, "SELECT content FROM memories"))
        assert SECRET not in stored
        assert ROW not in stored


async def test_a_possible_secret_is_stored_after_confirmation(tmp_path: Path) -> None:
    async with open_lab_with_model("telegram-polling", tmp_path) as (lab, _):
        ada = direct(lab)
        reply = await ada.command("remember", f"the licence is {ROW}")
        assert "may contain a password or a key" in reply.text
        await ada.press(reply, "Keep")
        assert f"the licence is {ROW}" in await kept(lab)


async def test_with_memory_off_no_note_about_storing_is_sent(tmp_path: Path) -> None:
    async with open_lab_with_model("telegram-polling", tmp_path) as (lab, model):
        ada = direct(lab)
        await ada.command("privacy", "memory off")
        model.script("It is long enough.", "It is base64.")
        assert (
            await ada.say(f"my password is {SECRET}, is that good?")
        ).text == "It is long enough."
        assert (await ada.say(f"what is {ROW} here?")).text == "It is base64."
