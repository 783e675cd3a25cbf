"""The list of memories, one memory with its versions, and deletions, in the running console."""

import re
from pathlib import Path

import pytest

from memory.model.record import Kind, Scope
from parley.console.views.memory.memories import PAGE
from tests.parley.console.kit import Console, console_in, console_settings
from tests.parley.console.views.memory.kit import in_project, infer, remember, shared
from tests.parley.http.api.kit import PROJECT

SCRIPT = "<script>alert(1)</script> is a text"
BIDI = "tea \u202eevil"


async def test_a_person_searches_filters_and_opens_their_memories(either_console: Console) -> None:
    tea = await remember(either_console, "ada", "I drink green tea.", Kind.PREFERENCE)
    await remember(either_console, "ada", "The meeting is on Tuesday.")
    ada = await either_console.visitor("ada")
    whole = (await ada.get("/memory/entries")).text
    assert whole.count('name="ids"') == 2
    assert "you asked to keep it" in whole
    for query in ("q=tea", "kind=preference", "q=tea&how=meaning", "source=explicit_save&q=tea"):
        page = (await ada.get(f"/memory/entries?{query}")).text
        assert "green tea" in page, query
        assert "Tuesday" not in page, query
    assert "No memory matches" in (await ada.get("/memory/entries?trust=low")).text
    one = (await ada.get(f"/memory/entries/{tea}")).text
    assert "I drink green tea." in one
    assert "you asked to keep it" in one


async def test_an_edit_keeps_the_earlier_text_and_can_be_undone(either_console: Console) -> None:
    tea = await remember(either_console, "ada", "I drink green tea.", Kind.PREFERENCE)
    ada = await either_console.visitor("ada")
    edited = await ada.post(f"/memory/entries/{tea}/edit", {"text": "I drink black coffee."})
    assert "The new text is saved." in edited.text
    assert "I drink green tea." in edited.text
    found = re.search(r"entries/(mem-[0-9a-f-]+)/undo", edited.text)
    assert found is not None
    listed = (await ada.get("/memory/entries")).text
    assert "black coffee" in listed
    assert "green tea" not in listed
    assert "green tea" in (await ada.get("/memory/entries?replaced=yes")).text
    late = await ada.post(f"/memory/entries/{tea}/edit", {"text": "I drink water."})
    assert late.status == 409
    undone = await ada.post(f"/memory/entries/{found[1]}/undo")
    assert "The earlier text is valid again." in undone.text
    listed = (await ada.get("/memory/entries")).text
    assert "green tea" in listed
    assert "coffee" not in listed


async def test_of_two_memories_the_person_says_which_is_true(either_console: Console) -> None:
    old = await remember(either_console, "ada", "My name is Jon.")
    new = await remember(either_console, "ada", "My name is John.")
    ada, eve = await either_console.visitor("ada"), await either_console.visitor("eve")
    assert (await ada.get("/memory/entries")).text.count("may contradict another one") == 2
    page = (await ada.get(f"/memory/entries/{old}")).text
    assert "Which one is true?" in page
    assert "My name is John." in page
    answer = {"other": new, "true": "other"}
    assert (await eve.post(f"/memory/entries/{old}/settle", answer)).status == 404
    settled = await ada.post(f"/memory/entries/{old}/settle", answer)
    assert "Recorded." in settled.text
    assert "Which one is true?" not in settled.text
    assert (await ada.post(f"/memory/entries/{old}/settle", answer)).status == 404
    gone = (await ada.get(f"/memory/entries/{old}")).text
    assert f"/memory/entries/{old}/restore" in gone
    assert (await eve.post(f"/memory/entries/{old}/restore")).status == 404
    restored = await ada.post(f"/memory/entries/{old}/restore")
    assert "This text is valid again" in restored.text
    assert "Which one is true?" in restored.text
    assert f"/memory/entries/{old}/restore" not in restored.text
    both = await ada.post(f"/memory/entries/{old}/settle", {"other": new, "true": "both"})
    assert "Which one is true?" not in both.text
    assert (await ada.get("/memory/entries")).text.count("may contradict another one") == 0


async def test_a_note_of_the_assistant_is_confirmed_or_taken_back(console: Console) -> None:
    first = await infer(console, "ada", "Ada works at the harbour of Hamburg.")
    ada = await console.visitor("ada")
    page = (await ada.get(f"/memory/entries/{first}")).text
    assert "your own words" in page
    confirmed = await ada.post(f"/memory/entries/{first}/confirm")
    assert "Confirmed:" in confirmed.text
    assert "Undo what the assistant noted" not in confirmed.text
    second = await infer(console, "ada", "Ada owns a sailing boat called Nina.")
    gone = await ada.post(f"/memory/entries/{second}/undo")
    assert "1 memory that the assistant noted in one turn is deleted." in gone.text
    listed = (await ada.get("/memory/entries")).text
    assert "harbour" in listed
    assert "sailing" not in listed


async def test_a_deletion_names_its_number_and_needs_it(either_console: Console) -> None:
    tea = await remember(either_console, "ada", "I drink green tea.")
    coffee = await remember(either_console, "ada", "I drink black coffee.", supersedes=tea)
    boat = await remember(either_console, "ada", "My boat is called Nina.")
    mine = await either_console.visitor("eve")
    ada = either_console.signed_in("ada")
    asked = await ada("POST", "/console/memory/delete", {"ids": [coffee, boat]})
    assert (asked.json["deleted"], asked.json["number"], asked.json["earlier"]) == (0, 3, 1)
    wrong = await ada("POST", "/console/memory/delete", {"ids": [coffee, boat], "number": 2})
    assert wrong.json["deleted"] == 0
    stolen = await mine.post("/memory/delete", {"ids": boat, "number": "1"})
    assert stolen.status == 422
    visitor = await either_console.visitor("ada")
    page = await visitor.post("/memory/delete", {"ids": coffee, "back": "kind=fact&of=mine"})
    assert "Delete 2 memories?" in page.text
    assert "1 earlier version is included." in page.text
    assert "/memory/entries?kind=fact" in page.text
    done = await visitor.post("/memory/delete", {"ids": coffee, "number": "2"})
    assert "2 memories are deleted." in done.text
    listed = (await visitor.get("/memory/entries?replaced=yes")).text
    assert "Nina" in listed
    assert "I drink" not in listed


async def test_pages_end_and_show_each_memory_once(console: Console) -> None:
    for number in range(PAGE + 2):
        await remember(console, "ada", f"Thing {number:02} has the number {number * 7919}.")
    ada = await console.visitor("ada")
    first = (await ada.get("/memory/entries")).text
    following = re.search(r'rel="next" href="/console([^"]+)"', first)
    assert following is not None
    second = (await ada.get(following[1].replace("&amp;", "&"))).text
    ids = re.findall(r'value="(mem-[^"]+)"', first + second)
    assert len(ids) == len(set(ids)) == PAGE + 2
    assert 'rel="next"' not in second
    gone = await ada.get("/memory/entries?after=mem-00000000-0000-0000-0000-000000000000")
    assert gone.status == 404


async def test_nobody_reads_or_changes_private_memories_of_others(console: Console) -> None:
    tea = await remember(console, "ada", "Ada drinks green tea.")
    for name in ("eve", "olga", "oona", "local"):
        other = await console.visitor(name)
        for path in ("/memory/entries?q=tea", "/memory/entries?q=tea&how=meaning"):
            assert "green tea" not in (await other.get(path)).text
        assert (await other.get(f"/memory/entries/{tea}")).status == 404
        for action, fields in (
            ("edit", {"text": "x"}),
            ("confirm", {}),
            ("undo", {}),
            ("restore", {}),
            ("settle", {"other": tea, "true": "both"}),
        ):
            assert (await other.post(f"/memory/entries/{tea}/{action}", fields)).status == 404
        assert (await other.post("/memory/delete", {"ids": tea, "number": "1"})).status == 422
    assert "green tea" in (await (await console.visitor("ada")).get("/memory/entries")).text


async def test_operators_see_and_change_what_projects_share(console: Console) -> None:
    coffee = await shared(console, "We sell coffee.")
    everybody = await shared(console, "We are open on Monday.", Scope.GLOBAL)
    await in_project(console, "ada")
    ada, eve, oona = [await console.visitor(name) for name in ("ada", "eve", "oona")]
    project = f"/memory/entries?of=project&project={PROJECT}"
    assert "We sell coffee." in (await oona.get(project)).text
    page = (await ada.get("/memory/entries?of=project")).text
    assert "We sell coffee." in page
    assert 'name="ids"' not in page
    assert "olga" not in page
    assert (await eve.get(project)).status == 404
    assert "No project is chosen" in (await eve.get("/memory/entries?of=project")).text
    assert "Monday" in (await eve.get("/memory/entries?of=everybody")).text
    assert (await eve.get(f"/memory/entries/{coffee}")).status == 404
    refused = await ada.post(f"/memory/entries/{coffee}/edit", {"text": "We sell tea."})
    assert refused.status == 409
    assert (await ada.post("/memory/delete", {"ids": everybody, "number": "1"})).status == 422
    changed = await oona.post(
        f"/memory/entries/{coffee}/edit", {"text": "We sell tea.", "project": PROJECT}
    )
    assert "The new text is saved." in changed.text
    assert "We sell tea." in (await ada.get("/memory/entries?of=project")).text


@pytest.mark.parametrize(
    "text", [SCRIPT, BIDI, "tea" + "a" * 60 + " is long", "{{ 7 * 7 }} is a text"]
)
async def test_a_hostile_memory_is_shown_as_text(console: Console, text: str) -> None:
    ada = await console.visitor("ada")
    one = await remember(console, "ada", text)
    for path in ("/memory/entries", f"/memory/entries/{one}"):
        page = await ada.get(path)
        assert page.status == 200
        assert SCRIPT not in page.text
        assert ">49" not in page.text
        assert "\u202e" not in page.text
    page = await ada.post("/memory/delete", {"ids": one})
    assert "<script>alert" not in page.text


async def test_a_refused_edit_keeps_what_the_person_wrote(console: Console) -> None:
    tea = await remember(console, "ada", "I drink green tea.")
    await remember(console, "ada", "My boat is called Nina.")
    ada = await console.visitor("ada")
    page = await ada.post(f"/memory/entries/{tea}/edit", {"text": "My boat is called Nina."})
    assert page.status == 409
    assert "I know that already." in page.text
    assert re.search(r"<textarea[^>]*>My boat is called Nina.</textarea>", page.text)
    assert (await ada.post(f"/memory/entries/{tea}/edit", {"text": "x" * 2_001})).status == 422


async def test_the_list_says_how_much_of_the_plan_is_used(tmp_path: Path) -> None:
    settings = console_settings(tmp_path, plans={"default": "free"})
    async with console_in(settings) as console:
        await remember(console, "ada", "I drink green tea.")
        page = (await (await console.visitor("ada")).get("/memory/entries")).text
        assert "1 of 3 memories of your plan are used." in page
        for text in ("The meeting is on Tuesday.", "My boat is called Nina."):
            await remember(console, "ada", text)
        page = (await (await console.visitor("ada")).get("/memory/entries")).text
        assert "Delete one to make room for another." in page
