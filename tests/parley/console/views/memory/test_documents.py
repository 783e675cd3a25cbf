"""Preferences, project notes and status in the running console, of the signed-in person only."""

import re
from pathlib import Path

import pytest

from gateway.ports.memory import Caller
from memory.actions.documents import MAX_SENT
from memory.service.handle import Memory, MemoryHandle
from parley.console.views.memory.documents import PAGE, TOO_EARLY
from tests.parley.console.kit import Console, Page, Visitor, console_in, console_settings
from tests.parley.console.views.memory.kit import in_project
from tests.parley.http.api.kit import PROJECT
from tests.support.event_loop import held_at_most

SCRIPT = "<script>alert(1)</script>"
BIDI = "abc \u202eevil"
SOURCES = {"sources": {PROJECT: {"kind": "gateway"}}}


async def add(visitor: Visitor, text: str, based_on: int, document: str = "soul") -> Page:
    fields = {"document": document, "text": text, "based_on": str(based_on)}
    return await visitor.post("/memory/lines/add", fields)


async def test_a_person_edits_their_preferences_line_by_line(either_console: Console) -> None:
    ada = await either_console.visitor("ada")
    assert "There are no preferences yet" in (await ada.get("/memory")).text
    assert "Saved as version 1 of the preferences." in (await add(ada, "Short answers.", 0)).text
    assert (await add(ada, "No jokes.", 1)).status == 200
    edit = {"document": "soul", "number": "1", "text": "Long answers.", "based_on": "2"}
    page = await ada.post("/memory/lines/edit", edit)
    assert "Long answers." in page.text
    assert "Short answers." not in page.text
    gone = {"document": "soul", "number": "2", "based_on": "3"}
    assert "No jokes." not in (await ada.post("/memory/lines/delete", gone)).text
    undone = await ada.post("/memory/versions/undo", {"document": "soul", "based_on": "4"})
    assert "No jokes." in undone.text
    handle = await either_console.program.api_client("ada").in_private()
    newest = await handle.documents.read("soul")
    assert newest is not None
    assert (newest.number, newest.content) == (5, "Long answers.\nNo jokes.")


async def test_of_two_tabs_the_loser_sees_both_texts(either_console: Console) -> None:
    one, two = await either_console.visitor("ada"), await either_console.visitor("ada")
    await add(one, "Short answers.", 0)
    lost = await add(two, "Answers in French.", 0)
    assert lost.status == 409
    assert "Short answers." in lost.text
    assert "Answers in French." in lost.text
    assert 'name="based_on" value="1"' in lost.text
    saved = await add(two, "Answers in French.", 1)
    assert saved.status == 200
    assert "Short answers." in saved.text


async def test_a_restore_from_an_old_tab_overwrites_nothing(console: Console) -> None:
    ada = await console.visitor("ada")
    await add(ada, "one", 0)
    await add(ada, "two", 1)
    stale = {"document": "soul", "version": "1", "based_on": "1"}
    assert (await ada.post("/memory/versions/restore", stale)).status == 409
    restored = await ada.post("/memory/versions/restore", {**stale, "based_on": "2"})
    assert "Saved as version 3" in restored.text


async def test_nobody_else_sees_or_changes_the_preferences(console: Console) -> None:
    await add(await console.visitor("ada"), "Ada likes tea.", 0)
    for name in ("eve", "olga", "oona", "local"):
        other = await console.visitor(name)
        assert "Ada likes tea." not in (await other.get("/memory")).text
        assert "Ada likes tea." not in (await other.get("/memory/versions?document=soul")).text
        assert (await add(other, "Mine.", 0)).status == 200
    shown = (await (await console.visitor("ada")).get("/memory")).text
    assert "Ada likes tea." in shown
    assert "Mine." not in shown
    stranger = console.stranger()
    assert (await stranger.get("/memory")).status == 401
    assert (await stranger.get("/memory/versions")).status == 401


async def test_a_change_needs_the_token_of_the_session(console: Console) -> None:
    ada, eve = await console.visitor("ada"), await console.visitor("eve")
    fields = {"document": "soul", "text": "x", "based_on": "0", "csrf": await eve.csrf()}
    assert (await ada.request("POST", "/memory/lines/add", data=fields)).status == 403
    assert "There are no preferences yet" in (await ada.get("/memory")).text


@pytest.mark.parametrize("text", [SCRIPT, BIDI, "x" * 9_999, "{{ 7 * 7 }}", "=1+1"])
async def test_a_hostile_line_is_shown_as_text(console: Console, text: str) -> None:
    ada = await console.visitor("ada")
    assert (await add(ada, text, 0)).status in (200, 422)
    page = await ada.get("/memory")
    assert page.status == 200
    assert SCRIPT not in page.text
    assert ">49<" not in page.text
    assert "\u202e" not in page.text


async def test_a_refused_line_keeps_what_the_person_wrote(console: Console) -> None:
    ada = await console.visitor("ada")
    await add(ada, "x" * 6_000, 0)
    page = await add(ada, "y" * 5_000, 1)
    assert page.status == 422
    assert "Nothing was changed: shorten or delete a line first." in page.text
    assert "y" * 5_000 in page.text


async def test_a_long_line_is_refused_and_returned_and_a_megabyte_is_refused_unread(
    console: Console,
) -> None:
    ada = await console.visitor("ada")
    await add(ada, "Short answers.", 0)
    line = {"document": "soul", "number": "1", "based_on": "1", "csrf": await ada.csrf()}
    for size, status, problem in (
        (10_001, 422, "Nothing was changed: shorten or delete a line first."),
        (MAX_SENT, 422, "Nothing was changed: shorten or delete a line first."),
        (MAX_SENT + 1, 422, "at most 100,000 characters"),
        (1_000_000, 413, "A form has at most 256 kB. Nothing was changed."),
    ):
        text = "y" * size
        async with held_at_most(0.1):
            page = await ada.request("POST", "/memory/lines/edit", data={**line, "text": text})
        assert page.status == status, size
        assert problem in page.text
        assert (text in page.text) == (size <= MAX_SENT)
    documents = (await console.program.api_client("ada").in_private()).documents
    newest = await documents.read("soul")
    assert newest is not None
    assert (newest.number, newest.content) == (1, "Short answers.")


async def test_a_nearly_full_document_says_so(console: Console) -> None:
    ada = await console.visitor("ada")
    assert "Text beyond this limit" not in (await add(ada, "x" * 8_999, 0)).text
    assert "It has 9,001 of 10,000 characters." in (await add(ada, "y", 1)).text


async def test_versions_show_what_changed_page_by_page(console: Console) -> None:
    ada = await console.visitor("ada")
    handle = await console.program.api_client("ada").in_private()
    for number in range(PAGE + 2):
        await handle.documents.write("soul", f"first\nline {number}")
    first = (await ada.get("/memory/versions?document=soul")).text
    assert len(re.findall(r"<ins>", first)) == PAGE
    assert re.search(r"Added: </span>.*line 11", first)
    assert re.search(r"Removed: </span>.*line 10", first)
    second = (await ada.get("/memory/versions?document=soul&after=3")).text
    assert 'id="version-2"' in second
    assert 'id="version-3"' not in second
    assert 'rel="next"' not in second


async def test_the_api_returns_and_changes_the_same(console: Console) -> None:
    ada = console.signed_in("ada")
    body = {"document": "soul", "text": "Short answers.", "based_on": 0}
    saved = await ada("POST", "/console/memory/lines/add", body)
    assert saved.json["soul"]["lines"] == [{"number": 1, "text": "Short answers."}]
    late = await ada("POST", "/console/memory/lines/add", body)
    assert (late.status, late.code, late.where) == (409, "conflict", "body.based_on")
    other = await console.program.api_client("eve")("GET", "/console/memory")
    assert other.json["soul"]["lines"] == []


async def test_a_program_with_a_token_counts_as_a_client(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    callers: list[Caller] = []
    of_caller = Memory.for_principal

    async def noting(memory: Memory, caller: Caller) -> MemoryHandle:
        callers.append(caller)
        return await of_caller(memory, caller)

    ada = await console.visitor("ada")
    monkeypatch.setattr(Memory, "for_principal", noting)
    await ada.get("/memory")
    await console.program.api_client("ada")("GET", "/console/memory")
    assert [one.client for one in callers] == [False, True]


async def test_project_notes_are_changed_by_operators_and_proposed_by_members(
    console: Console,
) -> None:
    await in_project(console, "ada")
    await in_project(console, "olga")
    ada, olga = await console.visitor("ada"), await console.visitor("olga")
    assert "Only operators change them" in (await ada.get("/memory")).text
    proposed = await add(ada, "We sell tea.", 1, "bible")
    assert "I proposed it to them." in proposed.text
    saved = await add(olga, "We sell coffee.", 1, "bible")
    assert "Saved as version 2 of the project notes." in saved.text
    assert "We sell coffee." in (await ada.get("/memory")).text


async def test_project_notes_without_a_project_are_refused(console: Console) -> None:
    ada = await console.visitor("ada")
    page = await add(ada, "We sell tea.", 0, "bible")
    assert page.status == 409
    assert "No project is chosen" in page.text


async def test_an_operator_syncs_the_status_and_not_too_often(tmp_path: Path) -> None:
    settings = console_settings(tmp_path, heartbeat=SOURCES)
    async with console_in(settings) as console:
        await in_project(console, "olga")
        await in_project(console, "ada")
        olga, ada = await console.visitor("olga"), await console.visitor("ada")
        assert "Sync now" in (await olga.get("/memory")).text
        assert "Sync now" not in (await ada.get("/memory")).text
        assert (await ada.post("/memory/status/sync")).status == 403
        assert "The status is synced." in (await olga.post("/memory/status/sync")).text
        again = await olga.post("/memory/status/sync")
        assert again.status == 409
        assert TOO_EARLY.english in again.text


async def test_a_project_without_a_source_is_not_synced(console: Console) -> None:
    await in_project(console, "olga")
    olga = await console.visitor("olga")
    assert "Sync now" not in (await olga.get("/memory")).text
    assert (await olga.post("/memory/status/sync")).status == 409


async def test_without_memory_the_page_says_so(tmp_path: Path) -> None:
    async with console_in(console_settings(tmp_path, memory={"enabled": False})) as console:
        page = await (await console.visitor("ada")).get("/memory")
        assert page.status == 409
        assert "Memory is off" in page.text
