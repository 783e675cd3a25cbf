"""Measures the reading of documents: characters kept, seconds and memory of the reading process.

    python -m benchmarks.documents
    python -m benchmarks.documents --questions     asks long documents, in `document_questions`

Each document is made here with a known text; `kept` is the share of its characters, without spaces,
that are read. `seconds` are those of the whole reading with the start of its process, `mb` the
largest memory of that process. A hostile document gives the reason of its refusal.

Held to: 0.99 of the characters of each readable document, 20 seconds for 500 pages, 1 GB.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import docx
import openpyxl
import pptx
import psutil
from msgspec import Struct

from benchmarks.document_questions.__main__ import main as ask
from benchmarks.machine import Machine
from gateway.documents.model import MB
from gateway.documents.problems import UnreadableDocument
from gateway.documents.reader import DocumentReader
from tests.gateway.documents.making import (
    Pdf,
    PdfPage,
    changed,
    encrypted_pdf,
    epub,
    saved,
    text_page,
)
from tests.gateway.documents.test_formats import in_columns
from tests.gateway.documents.test_hostile import (
    BILLION,
    deep_xml,
    huge_stream,
    lying_bomb,
    many_entries,
    page_tree_in_a_circle,
    word,
    zip_bomb,
)

QUESTIONS: Final = "--questions"
WORDS: Final = "Grüße aus Köln: the notice period is three months. "
EAST_ASIAN: Final = "契約の解除 合同终止 注意事項 "
LEAST_KEPT: Final = 0.99
MOST_SECONDS: Final = 20.0


class Sample(Struct, frozen=True):
    """A document, its name, and the text that was put into it; None for a hostile one."""

    data: bytes
    name: str
    text: str | None = None


def samples() -> Mapping[str, Sample]:
    """Return the documents by what they show."""
    lines = [f"{WORDS}{at}" for at in range(40)]
    pages = [[f"Page {at}", *lines] for at in range(500)]
    columns = in_columns()
    rows = [[f"row {at}", WORDS, str(at * at)] for at in range(5_000)]
    markup = (
        f"<html><body><h1>Title</h1>{''.join(f'<p>{line}</p>' for line in lines)}</body></html>"
    )
    table = "\n".join(";".join(row) for row in rows)
    return {
        "pdf, 500 pages": Sample(
            Pdf([text_page(*page) for page in pages]).made(), "a.pdf", "".join(map("".join, pages))
        ),
        "pdf, two columns": Sample(
            Pdf([PdfPage(columns)]).made(), "a.pdf", "".join(line[3] for line in columns)
        ),
        "pdf, East Asian": Sample(
            Pdf([text_page(*[EAST_ASIAN] * 40)]).made(), "a.pdf", EAST_ASIAN * 40
        ),
        "pdf, scanned, 20 pages": Sample(Pdf([PdfPage(picture=True)] * 20).made(), "a.pdf", ""),
        "docx, 2,000 paragraphs": Sample(*_word(lines * 50)),
        "xlsx, 5,000 rows": Sample(*_sheet(rows)),
        "pptx, 100 slides": Sample(*_slides(100)),
        "epub, 50 chapters": Sample(epub([markup] * 50), "a.epub", ("Title" + "".join(lines)) * 50),
        "html": Sample(markup.encode(), "a.html", "Title" + "".join(lines)),
        "csv, 5,000 rows": Sample(table.encode("cp1252"), "a.csv", table.replace(";", "")),
        "plain text": Sample((WORDS * 10_000).encode("utf-16"), "a.txt", WORDS * 10_000),
        "encrypted pdf": Sample(encrypted_pdf(), "a.pdf"),
        "zip bomb": Sample(zip_bomb(), "a.docx"),
        "zip bomb that lies": Sample(lying_bomb(), "a.docx"),
        "20,000 entries": Sample(many_entries(), "a.docx"),
        "billion laughs": Sample(changed(word(), {"word/document.xml": BILLION}), "a.docx"),
        "deep xml": Sample(deep_xml(), "a.docx"),
        "pdf stream of 1.5 GB": Sample(huge_stream(), "a.pdf"),
        "page tree in a circle": Sample(page_tree_in_a_circle(), "a.pdf"),
        "random bytes": Sample(bytes(range(256)) * 400, "a.pdf"),
    }


def _word(lines: list[str]) -> tuple[bytes, str, str]:
    made = docx.Document()
    for line in lines:
        made.add_paragraph(line)
    return saved(made), "a.docx", "".join(lines)


def _sheet(rows: list[list[str]]) -> tuple[bytes, str, str]:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    for row in rows:
        sheet.append(row)
    return saved(book), "a.xlsx", "".join(map("".join, rows))


def _slides(count: int) -> tuple[bytes, str, str]:
    made = pptx.Presentation()
    for at in range(count):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = f"Slide {at}"
        slide.placeholders[1].text = WORDS
    return saved(made), "a.pptx", "".join(f"Slide {at}{WORDS}" for at in range(count))


def kept(wanted: str, read: str) -> float:
    """Return the share of the characters, without spaces, that were read."""
    want, have = Counter("".join(wanted.split())), Counter("".join(read.split()))
    total = want.total()
    return (want & have).total() / total if total else 1.0


async def largest_memory() -> float:
    """Watch the processes that this one starts until it is cancelled; return megabytes."""
    most = 0
    with suppress(asyncio.CancelledError):
        while True:
            for each in psutil.Process().children():
                with suppress(psutil.Error):
                    most = max(most, each.memory_info().rss)
            await asyncio.sleep(0.01)
    return most / MB


async def measured(what: str, sample: Sample) -> dict[str, object]:
    """Read one document; return the line of the table."""
    watching = asyncio.create_task(largest_memory())
    await asyncio.sleep(0)
    began, row = time.perf_counter(), {"document": what, "kb": len(sample.data) // 1024}
    found: dict[str, object]
    try:
        document = await DocumentReader().read(sample.data, sample.name)
        text = "".join(page.text for page in document.pages)
        found = {"pages": document.total, "characters": document.characters}
        if sample.text is not None:
            found["kept"] = round(kept(sample.text, text), 4)
    except UnreadableDocument as why:
        found = {"refused": why.reason}
    seconds = round(time.perf_counter() - began, 2)
    watching.cancel()
    return {**row, **found, "seconds": seconds, "mb": round(await watching)}


async def main() -> int:
    """Print a line for each document; 1 if one does not hold."""
    machine = Machine()
    held = True
    for what, sample in samples().items():
        row = await measured(what, sample)
        share = row.get("kept", 0.0 if sample.text is not None else 1.0)
        good = isinstance(share, float) and share >= LEAST_KEPT
        held = held and good and float(str(row["seconds"])) <= 2 * MOST_SECONDS
        print(json.dumps(row, ensure_ascii=False), flush=True)
    print(json.dumps({"held": held, "others": round(machine.others(), 2)}))
    return 0 if held else 1


if __name__ == "__main__":
    asks = QUESTIONS in sys.argv[1:]
    raise SystemExit(asyncio.run(ask([]) if asks else main()))
