"""A long document is found in its conversation, while its message is stored, and nowhere else."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from db import Statement, Work
from gateway.documents.model import DocumentPage, ReadDocument
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import long_documents as bounds
from memory.knowledge.long_documents import index as index_module
from memory.knowledge.long_documents import passages
from memory.knowledge.long_documents.passages import SplitDocument
from memory.knowledge.ports import WordIndex
from memory.knowledge.stores import long_documents as rows
from tests.memory.knowledge.long_documents.conftest import (
    DIRECT,
    ROOM,
    Library,
    document,
    place_of,
)

FILLING = "# Services\nThe parties meet every quarter to review the services and the open points.\n"
NOTICE = "# Notice\nEither party may terminate with three months of notice."
CONTRACT = document(*([FILLING] * 30), NOTICE, *([FILLING] * 49))
TABLES = ("passages", "words", "word_totals")


async def rows_left(library: Library) -> list[int]:
    names = ("long_documents", "long_documents_gone", *(f"long_document_{one}" for one in TABLES))
    counts = []
    for name in names:
        ((count,),) = await library.database.fetch(Statement(f"SELECT count(*) FROM {name}"))
        counts.append(int(count))
    return counts


async def cleaned(library: Library) -> None:
    for _ in range(100):
        if not await library.index.clean():
            return
    raise AssertionError("the cleaning does not end")


async def test_the_page_of_the_answer_is_found_first(library: Library) -> None:
    kept = await library.keep("m1", CONTRACT)
    assert kept is not None
    assert (kept.total, kept.searchable, kept.complete) == (80, 80, True)
    best = (await library.find("What does it say about notice periods?"))[0]
    assert best.citation == "page 31 of 80"
    assert best.heading == "Notice"
    assert best.document.name == "contract.pdf"
    assert "three months" in best.text
    assert 0 < best.share <= 1


async def test_headings_of_earlier_pages_stand_above_a_passage(library: Library) -> None:
    await library.keep("m1", document("# 4 Liability\nfirst", "the cap is one million euros"))
    assert [one.heading for one in await library.find("cap")] == ["4 Liability"]


async def test_a_document_answers_in_its_own_conversation_only(library: Library) -> None:
    await library.keep("m1", CONTRACT)
    thread = DIRECT._replace(thread="9")
    tenant = DIRECT._replace(tenant="other")
    for key in (ROOM, thread, tenant):
        assert await library.find("notice", key, current=("m1",)) == []
        assert await library.index.listed(place_of(key, ("m1",))) == []
    assert await library.find("notice")


async def test_it_is_found_while_its_message_is_answered_or_stored(library: Library) -> None:
    await library.keep("m1", CONTRACT, stored=False)
    assert await library.find("notice") == []
    assert await library.find("notice", current=("m1",))
    await library.say("m1")
    assert await library.find("notice")


@pytest.mark.parametrize("way", ["message", "conversation", "age", "origin", "edit"])
async def test_it_leaves_with_its_message(library: Library, way: str) -> None:
    await library.keep("m1", CONTRACT, origin_id="m0")
    await library.keep("m2", document("a report on sales"), name="report.docx")
    conversations = library.conversations
    match way:
        case "message":
            place = Place("slack", "main", "D1", Audience.DIRECT, workspace_id="T1")
            await conversations.delete("default", place, ["m1"])
        case "origin":
            assert await library.index.knows(DIRECT.channel_name, ["m0"])
            await library.index.deleted(DIRECT.channel_name, ["m0"])
        case "edit":
            for message_id, names in (("m0", ["contract.pdf"]), ("m1", []), ("m0", [""])):
                await library.index.edited(DIRECT.channel_name, message_id, names)
            assert await library.find("notice", current=()), "its message still has it"
            await library.index.edited(DIRECT.channel_name, "m0", ["other.pdf"])
        case "conversation":
            await conversations.clear(DIRECT)
        case "age":
            await conversations.prune(library.clock.now() + timedelta(days=365_000))
    assert await library.find("notice", current=()) == []
    assert not await library.index.knows(DIRECT.channel_name, ["m0"])
    await cleaned(library)
    left = await rows_left(library)
    assert left == ([1, 0, 1, 1, 1] if way in ("message", "origin", "edit") else [0, 0, 0, 0, 0])


async def test_a_document_whose_message_is_never_stored_is_deleted(library: Library) -> None:
    await library.keep("m1", CONTRACT, stored=False)
    await cleaned(library)
    assert (await rows_left(library))[0] == 1
    await library.clock.advance(timedelta(days=1, minutes=1).total_seconds())
    await cleaned(library)
    assert await rows_left(library) == [0, 0, 0, 0, 0]


async def test_a_document_is_stored_once_for_a_message(library: Library) -> None:
    first = await library.keep("m1", CONTRACT)
    assert await library.keep("m1", CONTRACT) == first
    assert len(await library.index.listed(place_of(DIRECT))) == 1
    pages = [one.page for one in await library.find("notice")]
    assert pages == [31]


async def test_a_document_that_two_messages_show_gives_each_passage_once(library: Library) -> None:
    await library.keep("m1", CONTRACT)
    await library.keep("m2", CONTRACT)
    assert [one.page for one in await library.find("notice")] == [31]


async def test_a_process_that_ends_in_the_middle_is_continued(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "MAX_STEP", 1_000)

    def ends(number: int, split: SplitDocument, places: range, words: WordIndex) -> Work[bool]:
        if places.start > 10:
            raise RuntimeError("killed")
        return (yield from rows.grown(number, split, places, words))

    monkeypatch.setattr(index_module, "grown", ends)
    with pytest.raises(RuntimeError):
        await library.keep("m1", CONTRACT)
    ((stored,),) = await library.database.fetch(Statement("SELECT passages FROM long_documents"))
    assert 0 < stored < 80
    (unfinished,) = await library.index.listed(place_of(DIRECT, ("m1",)))
    assert not unfinished.complete
    assert unfinished.searchable < 80
    monkeypatch.setattr(index_module, "grown", rows.grown)
    kept = await library.keep("m1", CONTRACT)
    assert kept is not None
    assert kept.complete
    left = await rows_left(library)
    assert left == [1, 0, 80, 80, 1]
    assert kept.characters == sum(len(page.text.strip()) for page in CONTRACT.pages)


async def test_another_text_under_the_same_reference_replaces_the_first(library: Library) -> None:
    await library.keep("m1", CONTRACT)
    await library.keep("m1", document("a report on sales"))
    assert await library.find("notice") == []
    assert await library.find("sales")
    await cleaned(library)
    assert await rows_left(library) == [1, 0, 1, 1, 1]


async def test_a_name_chooses_a_document(library: Library) -> None:
    await library.keep("m1", CONTRACT)
    await library.keep("m2", document("The notice of the report"), name="Report.docx")
    found = await library.find("notice", name="report")
    assert {one.document.name for one in found} == {"Report.docx"}
    assert await library.find("notice", name="none") == []


@pytest.mark.parametrize(
    ("bound", "value"),
    [("MAX_DOCUMENTS", 20), ("MAX_CHARACTERS_OF_ALL", 20_000_000)],
)
def test_the_bounds_are_those_of_the_port(bound: str, value: int) -> None:
    assert getattr(bounds, bound) == value
    assert getattr(rows, bound) == value


async def test_the_oldest_document_gives_way(library: Library) -> None:
    for number in range(bounds.MAX_DOCUMENTS + 2):
        await library.keep(f"m{number}", document(f"report {number}"), name=f"{number}.pdf")
    names = [one.name for one in await library.index.listed(place_of(DIRECT))]
    assert names == [f"{number}.pdf" for number in range(21, 1, -1)]


async def test_documents_of_one_person_are_bounded_over_conversations(
    library: Library,
) -> None:
    for number in range(bounds.MAX_DOCUMENTS_OF_PERSON + 3):
        key = DIRECT._replace(thread=str(number // 10))
        await library.keep(f"m{number}", document(f"report {number}"), key)
    ((count,),) = await library.database.fetch(Statement("SELECT count(*) FROM long_documents"))
    assert count == bounds.MAX_DOCUMENTS_OF_PERSON
    ((first,),) = await library.database.fetch(
        Statement("SELECT min(length(message_id)) FROM long_documents WHERE message_id = 'm2'")
    )
    assert first is None


async def test_secrets_are_not_stored(library: Library) -> None:
    key = "sk-ant-" + "api03-" + "Ab1" * 30 + "AA"
    await library.keep("m1", document(f"The key of the service is {key}"))
    (found,) = await library.find("key of the service")
    assert key not in found.text
    assert "REDACTED" in found.text


async def test_a_document_without_text_is_complete(library: Library) -> None:
    kept = await library.keep("m1", document("", "  "))
    assert kept is not None
    assert (kept.complete, kept.characters) == (True, 0)
    assert await library.find("anything") == []


@pytest.mark.parametrize("query", ["", "   ", "?!", "\x00", "the of and", "'\"*():&|", "a" * 600])
async def test_any_question_is_answered(library: Library, query: str) -> None:
    await library.keep("m1", CONTRACT)
    assert isinstance(await library.find(query), Sequence)


async def test_a_document_of_very_many_pages_is_bounded(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MAX_STORED", 50)
    pages = tuple(DocumentPage(n, f"page {n}", f"word{n}") for n in range(1, 201))
    kept = await library.keep("m1", ReadDocument("pdf", pages, 1_000_000))
    assert kept is not None
    assert (kept.searchable, kept.total, kept.complete) == (50, 1_000_000, True)
