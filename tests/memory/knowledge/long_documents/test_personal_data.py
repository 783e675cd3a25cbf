"""The documents of a person are exported by name and pages, and erased with their text."""

from db import Statement
from tests.memory.knowledge.long_documents.conftest import ANNA, DIRECT, ROOM, Library, document

BEN = "slack:main:U2"
PEOPLE = [ANNA]


async def count(library: Library, table: str) -> int:
    ((rows,),) = await library.database.fetch(Statement(f"SELECT count(*) FROM {table}"))
    return int(rows)


async def filled(library: Library) -> None:
    await library.keep("m1", document("the notice period", "second"), name="contract.pdf")
    await library.keep("m2", document("the sales"), ROOM, name="report.docx")
    await library.keep("m3", document("the notice of Ben"), ROOM, name="ben.pdf", person=BEN)
    other = DIRECT._replace(tenant="other")
    await library.keep("m4", document("another tenant"), other, name="other.pdf")


async def test_an_export_has_names_and_pages_and_no_text(library: Library) -> None:
    await filled(library)
    exported = await library.index.export("default", PEOPLE)
    assert [(row["name"], row["pages"]) for row in exported] == [
        ("contract.pdf", 2),
        ("report.docx", 1),
    ]
    assert {row["table"] for row in exported} == {"long_documents"}
    assert "notice" not in str(exported)
    assert await library.index.count("default", PEOPLE) == [("long_documents", 2)]
    assert await library.index.count("default", ["slack:main:U9"]) == []


async def test_an_erasure_takes_the_text_along(library: Library) -> None:
    await filled(library)
    assert await library.index.erase("default", PEOPLE) == 2
    assert await library.index.export("default", PEOPLE) == []
    assert await library.find("notice") == []
    assert [one.document.name for one in await library.find("notice", ROOM)] == ["ben.pdf"]
    for table in ("long_documents", "long_document_passages", "long_document_words"):
        assert await count(library, table) == 2
    assert await count(library, "long_documents_gone") == 0


async def test_the_text_of_documents_whose_messages_are_erased_goes_too(library: Library) -> None:
    await filled(library)
    await library.conversations.clear(DIRECT)
    assert await count(library, "long_document_passages") == 5
    assert await library.index.erase("default", PEOPLE) == 1
    assert await count(library, "long_document_passages") == 2
