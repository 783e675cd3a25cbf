"""Documents that are made to harm the program that reads them. Each is refused with its reason, in
bounded time, and the program that started the reading stays as it was."""

import asyncio
import io
import os
import random
import resource
import struct
import sys
import time
import zipfile
import zlib

import docx
import openpyxl
import psutil
import pytest

from gateway.documents.model import MB, DocumentLimits, ReadDocument
from gateway.documents.problems import UnreadableDocument
from gateway.documents.reader import DocumentReader
from tests.gateway.documents.making import (
    Pdf,
    changed,
    encrypted_pdf,
    epub,
    saved,
    text_page,
    written,
)

BILLION = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><w:document xmlns:w="urn:w"><w:body>&c;</w:body>
</w:document>"""
EXTERNAL = b"""<?xml version="1.0"?><!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<w:document xmlns:w="urn:w"><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>"""


def word(text: str = "text") -> bytes:
    made = docx.Document()
    made.add_paragraph(text)
    return saved(made)


def book() -> bytes:
    made = openpyxl.Workbook()
    made.active.append(["a"])
    return saved(made)


def zip_bomb() -> bytes:
    """A DOCX whose text unpacks to 400 MB."""
    body = b"<w:document xmlns:w='urn:w'><w:body>" + b" " * (400 * MB) + b"</w:body></w:document>"
    return changed(word(), {"word/document.xml": body})


def lying_bomb() -> bytes:
    """The same, but its directory claims a hundred bytes."""
    data = bytearray(zip_bomb())
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"word/document.xml"))
    struct.pack_into("<I", data, at + 24, 100)
    return bytes(data)


def many_entries() -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as archive:
        for at in range(20_000):
            archive.writestr(f"word/{at}.xml", b"")
    return output.getvalue()


def huge_stream() -> bytes:
    """A PDF with a page whose content unpacks to 1.5 GB of commands."""
    packer, packed = zlib.compressobj(9), b""
    for _ in range(1_500):
        packed += packer.compress(b"0 0 m 1 1 l S\n" * (MB // 14))
    packed += packer.flush()
    content = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (
        len(packed),
        packed,
    )
    return written(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
            content,
        ]
    )


def page_tree_in_a_circle() -> bytes:
    return written(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2000000000 >>",
        ]
    )


def deep_xml() -> bytes:
    deep = b"<w:sdt>" * 200_000 + b"</w:sdt>" * 200_000
    body = b"<w:document xmlns:w='urn:w'><w:body>" + deep + b"</w:body></w:document>"
    return changed(word(), {"word/document.xml": body})


async def refused(data: bytes, name: str = "", limits: DocumentLimits | None = None) -> str:
    """The reason of the refusal; the answer comes within the limits of time."""
    limits = limits or DocumentLimits()
    began = time.monotonic()
    with pytest.raises(UnreadableDocument) as error:
        await DocumentReader(limits).read(data, name)
    assert time.monotonic() - began < limits.wall_seconds + 10
    assert str(error.value).endswith((".", "later."))
    return error.value.reason


async def result(reader: DocumentReader, data: bytes) -> str:
    """The reason of a refusal, empty for a document that was read."""
    try:
        return "" if (await reader.read(data)).pages else "no pages"
    except UnreadableDocument as why:
        return why.reason


@pytest.mark.parametrize(
    ("make", "reasons"),
    [
        (zip_bomb, {"expands_too_much"}),
        (lying_bomb, {"expands_too_much", "damaged"}),
        (many_entries, {"expands_too_much"}),
        (lambda: changed(word(), {"word/document.xml": BILLION}), {"unsafe"}),
        (lambda: changed(word(), {"word/document.xml": EXTERNAL}), {"unsafe"}),
        (lambda: changed(book(), {"xl/worksheets/sheet1.xml": BILLION}), {"unsafe"}),
        (lambda: changed(book(), {"xl/sharedStrings.xml": EXTERNAL}), {"unsafe"}),
        (deep_xml, {"unsafe", "damaged", "too_much_memory"}),
        (encrypted_pdf, {"encrypted"}),
        (page_tree_in_a_circle, {"damaged"}),
        (lambda: Pdf([text_page("x")]).made()[:200], {"damaged"}),
        (lambda: word()[:4_000], {"damaged"}),
        (lambda: b"x" * (33 * MB), {"too_large"}),
    ],
    ids=[
        *("zip-bomb", "lying-bomb", "entries", "billion-laughs", "external-entity"),
        *("sheet-laughs", "strings-entity", "deep", "encrypted", "circle", "cut-pdf", "cut-docx"),
        "large",
    ],
)
async def test_a_hostile_document_is_refused(make: object, reasons: set[str]) -> None:
    assert callable(make)
    assert await refused(make()) in reasons


async def test_a_pdf_whose_content_unpacks_without_end_stays_within_the_limits() -> None:
    memory = psutil.Process().memory_info().rss
    limits = DocumentLimits(seconds=5, wall_seconds=15)
    began = time.monotonic()

    found = await result(DocumentReader(limits), huge_stream())

    assert found in ("", "broke_down", "too_slow", "too_much_memory", "damaged")
    assert time.monotonic() - began < 30
    assert psutil.Process().memory_info().rss - memory < 200 * MB


async def test_an_archive_within_a_document_is_not_opened() -> None:
    data = changed(word("outside"), {"word/embeddings/inner.docx": zip_bomb()})

    document = await DocumentReader().read(data)

    assert document.pages[0].text == "outside"
    assert document.left_out == ("files",)


async def test_macros_and_addresses_are_named_and_not_followed() -> None:
    rels = (
        b'<Relationships xmlns="urn:r"><Relationship Id="r1" Target="http://127.0.0.1:1/t.dotm"'
        b' Type="http://x/attachedTemplate" TargetMode="External"/></Relationships>'
    )
    parts = {"word/vbaProject.bin": b"code", "word/_rels/settings.xml.rels": rels}

    document = await DocumentReader().read(changed(word(), parts))

    assert document.left_out == ("macros", "references")


async def test_an_encrypted_book_and_workbook_are_recognised() -> None:
    locked = b'<encryption xmlns="urn:e"><EncryptionMethod Algorithm="http://x/aes"/></encryption>'
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")

    assert (
        await refused(changed(epub(["<p>x"]), {"META-INF/encryption.xml": locked})) == "encrypted"
    )
    assert await refused(ole + b"\x00" * 600, "a.xlsx") == "encrypted"


async def test_bytes_changed_at_random_never_break_the_reader() -> None:
    chance = random.Random(5)
    reader = DocumentReader()
    for data in (Pdf([text_page("text")]).made(), word(), book(), epub(["<p>x</p>"])):
        for _ in range(4):
            broken = bytearray(data)
            for _ in range(30):
                broken[chance.randrange(len(broken))] = chance.randrange(256)
            assert await result(reader, bytes(broken)) != "library_missing"


# --- the process ---------------------------------------------------------------------------------


def children() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


async def test_a_cancelled_reading_leaves_no_process() -> None:
    data = Pdf([text_page(*["line of text"] * 45)] * 900).made()
    before = len(children())
    reading = asyncio.create_task(DocumentReader().read(data))
    async with asyncio.timeout(20):
        while len(children()) == before:
            await asyncio.sleep(0.01)

    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    assert len(children()) == before


async def test_a_reading_that_takes_too_long_is_ended() -> None:
    data = Pdf([text_page(*["line of text"] * 45)] * 900).made()

    assert await refused(data, limits=DocumentLimits(wall_seconds=0.5)) == "too_slow"
    page = b"<p>x" * 6_000_000
    assert await refused(page, "a.html", DocumentLimits(seconds=1)) == "too_slow"


async def test_only_two_documents_are_read_at_a_time_and_others_wait_for_a_bounded_time() -> None:
    data = Pdf([text_page(*["line of text"] * 45)] * 400).made()
    reader = DocumentReader(wait_seconds=0.2)

    results = await asyncio.gather(*(reader.read(data) for _ in range(4)), return_exceptions=True)

    waited = [one for one in results if isinstance(one, UnreadableDocument)]
    assert [one.reason for one in waited] == ["busy", "busy"]
    assert sum(isinstance(one, ReadDocument) for one in results) == 2


LOOK = """
import os, resource, socket, sys
from gateway.documents.confinement import confine, forbid
from gateway.documents.model import DocumentLimits
confine(DocumentLimits())
forbid()
def tried(work):
    try:
        work()
    except BaseException as error:
        return type(error).__name__
    return "allowed"
print(tried(lambda: socket.create_connection(("127.0.0.1", 1))))
print(tried(lambda: os.system("true")))
print(tried(lambda: os.fork()))
print(tried(lambda: open("/etc/hostname").read()))
print(tried(lambda: open("/tmp/parley-written", "w")))
print(tried(lambda: os.remove("/tmp/parley-written")))
print(tried(lambda: bytearray(1500 * 1024 * 1024)))
print(sorted(os.environ))
"""


async def test_the_process_has_no_network_files_processes_or_environment() -> None:
    os.environ["PARLEY_SECRET"] = "secret"
    from gateway.documents import reader  # noqa: PLC0415 - its command

    command = (*reader._COMMAND[:-1], f"import sys; sys.path.append({str(reader._ROOT)!r}){LOOK}")
    process = await asyncio.create_subprocess_exec(
        *command, env={}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, errors = await process.communicate()

    lines = output.decode().splitlines()
    assert lines[:7] == [*["Forbidden"] * 6, "MemoryError"], errors.decode()
    assert "PARLEY_SECRET" not in lines[7]
    assert not os.path.exists("/tmp/parley-written")


async def test_reading_imports_no_library_into_this_process() -> None:
    code = (
        "import asyncio, sys\n"
        "from gateway.documents.reader import DocumentReader\n"
        "data = bytes.fromhex(sys.stdin.read())\n"
        "document = asyncio.run(DocumentReader().read(data))\n"
        "print(document.pages[0].text, 'pypdfium2' in sys.modules, 'openpyxl' in sys.modules)\n"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate(Pdf([text_page("read")]).made().hex().encode())

    assert output.decode().split() == ["read", "False", "False"]


def test_the_limits_of_this_process_stay() -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 0
