"""A notice that is shown with a person's next direct message, on both engines."""

import json
from gettext import NullTranslations

import pytest

from gateway.immutable import replace
from gateway.languages.formats import formats_of
from gateway.people import Audience
from gateway.ports.memory import REDACTION_NOTICE
from gateway.text import ENGLISH, Language, Text, text
from memory.turns.footer import entries_at
from tests.memory.rig import DIRECT, Rig

SAID = text("In a group you wrote what looks like a password or a key.")
SENTENCE = SAID.english
SECRET = "My bank is Alba and my password is Xy12zz89x"
GROUP = replace(DIRECT, channel_id="group", audience=Audience.PRIVATE_ROOM)
WEEK = 7 * 86_400


class Shouting(NullTranslations):
    """A language that is English in capitals."""

    def gettext(self, message: str) -> str:
        return message.upper()


async def writes_a_secret(rig: Rig, name: str = "ada") -> None:
    """In a group whose platform shows nothing to one person alone."""
    turn = await rig.remembrance.turn(replace(rig.caller(name, at=GROUP, says=SECRET), alone=False))
    stored = {"type": "fact", "content": SECRET, "quote": SECRET}
    await turn.tools.call("memory_store", stored)
    await turn.tell_later(SAID)
    assert (await turn.finish("ok", [], without=(REDACTION_NOTICE,))).shown(ENGLISH).note == ""


async def under_a_direct_answer(rig: Rig, name: str = "ada") -> str:
    turn = await rig.remembrance.turn(rig.caller(name, at=DIRECT, says="hello"))
    return (await turn.finish("ok", [])).shown(ENGLISH).note


@pytest.mark.parametrize("without", [(), (REDACTION_NOTICE,)])
async def test_a_footer_omits_the_named_notices(rig: Rig, without: tuple[Text, ...]) -> None:
    turn = await rig.remembrance.turn(rig.caller("ada", at=DIRECT, says=SECRET))
    stored = {"type": "fact", "content": SECRET, "quote": SECRET}
    await turn.tools.call("memory_store", stored)
    note = (await turn.finish("ok", [], without)).shown(ENGLISH).note
    assert (REDACTION_NOTICE.english in note) == (not without)


async def test_a_deferred_note_is_shown_to_its_person_once(rig: Rig) -> None:
    await writes_a_secret(rig)
    await writes_a_secret(rig)
    assert SENTENCE not in await under_a_direct_answer(rig, "bob")
    answer = await under_a_direct_answer(rig)
    assert answer.count(SENTENCE) == 1
    assert REDACTION_NOTICE.english not in answer
    assert await under_a_direct_answer(rig) == ""


async def test_a_repeated_note_leaves_space_for_others(rig: Rig) -> None:
    for _ in range(20):
        turn = await rig.remembrance.turn(replace(rig.caller(at=GROUP), alone=False))
        await turn.tell_later(SAID)
    assert len((await rig.handle()).choices.waiting_notices) == 1
    await rig.clock.advance(2 * 86_400)
    turn = await rig.remembrance.turn(replace(rig.caller(at=GROUP), alone=False))
    await turn.tell_later(SAID)
    await rig.clock.advance(WEEK - 86_400)
    assert SENTENCE in await under_a_direct_answer(rig), "the later one still waits"


async def test_a_private_command_shows_deferred_notes(rig: Rig) -> None:
    await writes_a_secret(rig)
    reply = await rig.commands.run("memories", "", rig.caller())
    assert SENTENCE in reply.markdown


async def test_deferred_notes_expire_after_a_week(rig: Rig) -> None:
    turn = await rig.remembrance.turn(replace(rig.caller(at=GROUP), alone=False))
    await turn.tell_later(SAID)
    await rig.clock.advance(WEEK + 1)
    assert await under_a_direct_answer(rig) == ""


async def test_a_note_of_an_earlier_version_is_shown_as_it_was_stored(rig: Rig) -> None:
    handle = await rig.handle()
    earlier = f"={SENTENCE}"
    await handle.privacy.defer_notices(entries_at(handle.request.at, [earlier]))
    assert SENTENCE in await under_a_direct_answer(rig)


async def test_a_waiting_note_is_exported_as_people_read_it(rig: Rig) -> None:
    turn = await rig.remembrance.turn(replace(rig.caller(at=GROUP), alone=False))
    await turn.tell_later(SAID)
    handle = await rig.handle()
    (row,) = [one for one in await handle.privacy.export_all() if one["table"] == "people_choices"]
    (waiting,) = json.loads(json.dumps(row["waiting_notices"]))
    assert waiting.endswith(f"|={SENTENCE}")


async def test_a_waiting_note_is_shown_in_the_language_of_its_reader(rig: Rig) -> None:
    await writes_a_secret(rig)
    turn = await rig.remembrance.turn(rig.caller(at=DIRECT, says="hello"))
    shouting = Language("xx", Shouting(), formats_of("en"))
    assert SENTENCE.upper() in (await turn.finish("ok", [])).shown(shouting).note
