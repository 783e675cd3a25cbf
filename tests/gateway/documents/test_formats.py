"""The text that is read of each format, with its structure."""

import io
import random
import time
import zipfile
from collections.abc import Sequence
from datetime import date

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from openpyxl.styles import numbers
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from gateway.documents.model import DocumentLimits, ReadDocument
from gateway.documents.plain import decoded
from gateway.documents.problems import UnreadableDocument
from gateway.documents.reader import DocumentReader
from tests.gateway.documents.making import Pdf, PdfPage, changed, epub, saved, text_page

UMLAUTS = "Grüße aus Köln, naïve façade"
EAST_ASIAN = "契約の解除 合同终止 계약"


async def read(data: bytes, name: str = "", limits: DocumentLimits | None = None) -> ReadDocument:
    return await DocumentReader(limits).read(data, name)


def labels(document: ReadDocument) -> list[str]:
    return [page.label for page in document.pages]


# --- PDF ------------------------------------------------------------------------------------------


async def test_a_pdf_has_its_pages_and_its_title() -> None:
    document = await read(Pdf([text_page("One"), text_page("Two")], title="Terms").made())

    assert (document.format, document.total, document.title) == ("pdf", 2, "Terms")
    assert [(page.label, page.text) for page in document.pages] == [
        ("page 1", "One"),
        ("page 2", "Two"),
    ]


@pytest.mark.parametrize("text", [UMLAUTS, "契約の解除 合同终止"])
async def test_a_pdf_keeps_its_characters(text: str) -> None:
    document = await read(Pdf([text_page("Before", text, "after")]).made())

    assert document.pages[0].text == f"Before\n{text}\nafter"


def in_columns(rows: int = 12) -> Sequence[tuple[float, float, float, str]]:
    """Two columns whose lines the file has row by row, below a heading and above a footer."""
    lines: list[tuple[float, float, float, str]] = [(60, 780, 18, "A paper")]
    for row in range(rows):
        y = 740 - 14 * row
        lines.append((60, y, 9, f"left line {row} of the first column"))
        lines.append((310, y, 9, f"right line {row} of the second column"))
    across = "A line that runs across the whole width of the page, below both of its columns."
    return [*lines, (60, 740 - 14 * rows - 30, 11, across)]


async def test_columns_are_read_one_after_the_other() -> None:
    (page,) = (await read(Pdf([PdfPage(in_columns())]).made())).pages

    lines = [line for line in page.text.split("\n") if line]
    assert lines[0] == "# A paper"
    assert lines[1:13] == [f"left line {row} of the first column" for row in range(12)]
    assert lines[13:25] == [f"right line {row} of the second column" for row in range(12)]
    assert lines[25].startswith("A line that runs across")


async def test_a_table_of_a_pdf_keeps_its_rows() -> None:
    rows = [("Item", "Amount"), ("Tea", "12.50"), ("Grüße", "7")]
    lines = [
        (60 + 140 * column, 700 - 16 * row, 11, text)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]

    (page,) = (await read(Pdf([PdfPage(lines)]).made())).pages

    assert page.text == "| Item | Amount |\n| --- | --- |\n| Tea | 12.50 |\n| Grüße | 7 |"


async def test_scanned_pages_are_kept_as_a_pdf_of_their_own() -> None:
    stamp = PdfPage([(50, 20, 8, "Scanned by X")], picture=True)
    pages = [PdfPage(picture=True), text_page("Text that is longer than a stamp on a scan"), stamp]

    document = await read(Pdf(pages).made())

    assert [page.picture for page in document.pages] == [True, False, True]
    assert document.pictured == (1, 3)
    own = await read(document.picture_pdf)
    assert [page.picture for page in own.pages] == [True, True]


async def test_only_so_many_scanned_pages_are_kept() -> None:
    pages = Pdf([PdfPage(picture=True)] * 30).made()

    document = await read(pages, limits=DocumentLimits(picture_pages=7))
    none = await read(pages, limits=DocumentLimits(picture_bytes=100))

    assert document.pictured == tuple(range(1, 8))
    assert (none.pictured, none.picture_pdf) == ((), b"")


async def test_500_pages_are_read_in_seconds_and_the_last_one_too() -> None:
    lines = [f"line {line}: the quick brown fox jumps over the lazy dog" for line in range(40)]
    data = Pdf([text_page(f"Page number {at}", *lines) for at in range(1, 501)]).made()
    began = time.monotonic()

    document = await read(data)

    assert document.total == len(document.pages) == 500
    assert document.pages[430].text.startswith("Page number 431\n")
    assert time.monotonic() - began < 30


# --- DOCX -----------------------------------------------------------------------------------------


def contract() -> bytes:
    made = docx.Document()
    made.core_properties.title = "The contract"
    made.add_heading("Notice", 1)
    made.add_paragraph(f"{UMLAUTS} {EAST_ASIAN}")
    made.add_paragraph("first", style="List Number")
    made.add_paragraph("second", style="List Number")
    made.add_paragraph("a point", style="List Bullet")
    table = made.add_table(2, 2)
    for at, text in enumerate(("Term", "Months", "Notice | period", "3")):
        table.cell(at // 2, at % 2).text = text
    made.add_page_break()  # type: ignore[no-untyped-call]  # the library
    made.add_heading("Payment", 2)
    made.add_paragraph("within 30 days")
    return saved(made)


async def test_a_docx_has_headings_lists_tables_and_pages() -> None:
    document = await read(contract())

    first, second = document.pages
    assert (document.format, document.title) == ("docx", "The contract")
    assert (first.label, second.label) == ("page 1", "page 2")
    assert first.text == (
        f"# Notice\n\n{UMLAUTS} {EAST_ASIAN}\n\n1. first\n\n2. second\n\n- a point\n\n"
        "| Term | Months |\n| --- | --- |\n| Notice \\| period | 3 |"
    )
    assert second.text == "## Payment\n\nwithin 30 days"


async def test_text_that_a_library_passes_over_is_read() -> None:
    made = docx.Document()
    names = nsdecls("w")
    parts = {
        "inserted": f"<w:p {names}><w:ins><w:r><w:t>inserted</w:t></w:r></w:ins></w:p>",
        "control": f"<w:sdt {names}><w:sdtContent><w:p><w:r><w:t>control</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>",
        "deleted": f"<w:p {names}><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del></w:p>",
    }
    for xml in parts.values():
        made.element.body.insert(0, parse_xml(xml))

    (page,) = (await read(saved(made))).pages

    assert page.text == "control\n\ninserted"


NUMBERING = """<w:numbering {names}><w:abstractNum w:abstractNumId="1">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/>
</w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>"""


async def test_clauses_have_the_numbers_that_word_shows() -> None:
    made = docx.Document()
    for level, text in ((0, "Parties"), (0, "Notice"), (1, "period"), (1, "form"), (0, "Law")):
        properties = made.add_paragraph(text)._p.get_or_add_pPr().get_or_add_numPr()
        properties.get_or_add_ilvl().val = level
        properties.get_or_add_numId().val = 7
    own = NUMBERING.format(names=nsdecls("w")).encode()

    (page,) = (await read(changed(saved(made), {"word/numbering.xml": own}))).pages

    assert page.text.split("\n\n") == [
        "1. Parties",
        "2. Notice",
        "  2.a) period",
        "  2.b) form",
        "3. Law",
    ]


async def test_words_own_page_breaks_count_before_those_of_the_author() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("one ")
    paragraph._p.append(
        parse_xml(f"<w:r {nsdecls('w')}><w:lastRenderedPageBreak/><w:t>two</w:t></w:r>")
    )
    made.add_page_break()  # type: ignore[no-untyped-call]  # the library
    made.add_paragraph("three")

    document = await read(saved(made))

    assert [page.text.strip() for page in document.pages] == ["one", "two\n\nthree"]


async def test_a_page_may_begin_within_or_at_a_heading() -> None:
    made = docx.Document()
    made.add_paragraph("before")
    for text in ("Notice", "Payment"):
        run = made.add_heading(text, 1).runs[0]._r
        run.insert(0, parse_xml(f"<w:lastRenderedPageBreak {nsdecls('w')}/>"))

    document = await read(saved(made))

    assert [(page.label, page.text.strip()) for page in document.pages] == [
        ("page 1", "before"),
        ("page 2", "# Notice"),
        ("page 3", "# Payment"),
    ]


async def test_a_table_goes_on_under_its_heading_on_the_next_page() -> None:
    made = docx.Document()
    table = made.add_table(3, 2)
    for at, text in enumerate(("a", "b", "1", "2", "3", "4")):
        table.cell(at // 2, at % 2).text = text
    run = table.cell(2, 0).paragraphs[0].runs[0]._r
    run.insert(0, parse_xml(f"<w:lastRenderedPageBreak {nsdecls('w')}/>"))

    first, second = (await read(saved(made))).pages

    assert first.text == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert second.text.strip() == "| a | b |\n| --- | --- |\n| 3 | 4 |"


async def test_cells_keep_their_columns_in_a_table() -> None:
    made = docx.Document()
    table = made.add_table(2, 3)
    for at, text in enumerate(("Date", "By", "Note", "1 May", "Ada", "made")):
        table.cell(at // 3, at % 3).text = text
    row = table.rows[1]._tr
    held = parse_xml(f"<w:sdt {nsdecls('w')}><w:sdtContent/></w:sdt>")
    wrapped = row.tc_lst[0]
    row.replace(wrapped, held)
    held[0].append(wrapped)
    wide = made.add_table(2, 3)
    wide.cell(0, 0).merge(wide.cell(0, 1)).text = "both"
    wide.cell(0, 2).text = "third"
    wide.cell(1, 2).text = "below"
    wide.cell(1, 1).text = "x"

    (page,) = (await read(saved(made))).pages

    assert "| Date | By | Note |\n| --- | --- | --- |\n| 1 May | Ada | made |" in page.text
    assert "| both |  | third |\n| --- | --- | --- |\n|  | x | below |" in page.text


async def test_a_long_docx_without_pages_is_divided_at_its_headings() -> None:
    made = docx.Document()
    for at in range(6):
        made.add_heading(f"Part {at}", 1)
        made.add_paragraph("word " * 500)

    document = await read(saved(made))

    assert labels(document)[:2] == ['section "Part 0"', 'section "Part 1"']
    assert len(document.pages) == 6


# --- XLSX -----------------------------------------------------------------------------------------


async def test_an_xlsx_has_its_sheets_as_tables() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Budget"
    for row in (
        ("Item", "Amount", "On"),
        ("Tea", 12.5, date(2026, 3, 1)),
        (EAST_ASIAN, 0.25, None),
    ):
        sheet.append(row)
    sheet["B3"].number_format = numbers.FORMAT_PERCENTAGE
    sheet["A5"] = "=SUM(B2:B3)"
    hidden = book.create_sheet("Notes")
    hidden.append([UMLAUTS])
    hidden.sheet_state = "hidden"

    document = await read(saved(book))

    assert labels(document) == ["sheet Budget", "sheet Notes (hidden)"]
    assert document.pages[0].text == (
        "| Item | Amount | On |\n| --- | --- | --- |\n| Tea | 12.5 | 2026-03-01 |\n"
        f"| {EAST_ASIAN} | 25 % |  |\n| =SUM(B2:B3) |  |  |"
    )
    assert UMLAUTS in document.pages[1].text


async def test_a_sheet_is_read_whole_whatever_size_it_claims() -> None:
    book = openpyxl.Workbook()
    for row in (("a", "b"), (1, 2), (3, 4)):
        book.active.append(row)
    name = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(saved(book))) as archive:
        part = archive.read(name)
    assert b'<dimension ref="A1:B3"' in part
    wrong = part.replace(b'<dimension ref="A1:B3"', b'<dimension ref="A1"')

    (page,) = (await read(changed(saved(book), {name: wrong}))).pages

    assert page.text == "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


async def test_a_long_sheet_is_divided_and_repeats_its_heading() -> None:
    book = openpyxl.Workbook()
    for row in range(450):
        book.active.append(["Number", "Square"] if row == 0 else [row, row * row])

    document = await read(saved(book))

    assert labels(document)[1] == "sheet Sheet, rows 201 to 400"
    assert document.pages[1].text.startswith("| Number | Square |\n| --- | --- |\n| 200 | 40000 |")
    assert document.pages[2].text.endswith("| 449 | 201601 |")


# --- PPTX -----------------------------------------------------------------------------------------


async def test_a_pptx_has_slides_notes_tables_and_charts() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Goals"
    slide.placeholders[1].text = f"{UMLAUTS}\n{EAST_ASIAN}"
    slide.notes_slide.notes_text_frame.text = "Speak slowly"
    second = made.slides.add_slide(made.slide_layouts[6])
    size = (Inches(1), Inches(1), Inches(4), Inches(3))
    table = second.shapes.add_table(2, 2, *size).table
    for at, text in enumerate(("a", "b", "c", "d")):
        table.cell(at // 2, at % 2).text = text
    figures = CategoryChartData()  # type: ignore[no-untyped-call]  # the library
    figures.categories = ["East", "West"]
    figures.add_series("Sales", (19.2, 21.4))  # type: ignore[no-untyped-call]  # the library
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, figures)

    document = await read(saved(made))

    assert labels(document) == ["slide 1", "slide 2"]
    first, other = (page.text for page in document.pages)
    assert first == f"# Goals\n\n- {UMLAUTS}\n- {EAST_ASIAN}\n\nNotes: Speak slowly"
    assert "| a | b |\n| --- | --- |\n| c | d |" in other
    assert "|  | Sales |\n| --- | --- |\n| East | 19.2 |\n| West | 21.4 |" in other


# --- EPUB, HTML, tables as text, plain text -----------------------------------------------------


async def test_an_epub_is_read_in_the_order_of_its_spine() -> None:
    chapters = [f"<html><body><h1>{one}</h1><p>{UMLAUTS}</p></body></html>" for one in "ABC"]

    document = await read(epub(chapters))

    assert (document.format, document.title) == ("epub", "A book")
    assert [page.text.split("\n")[0] for page in document.pages] == ["# A", "# B", "# C"]
    assert labels(document) == ["chapter 1", "chapter 2", "chapter 3"]


PAGE = f"""<!doctype html><html><head><title>The page</title>
<style>p {{ color: red }}</style></head>
<body><script>alert(1)</script><h2>Prices</h2><p>{UMLAUTS}<p>second
<p hidden>not seen<p style="display: none">not seen<p>{EAST_ASIAN}
<ul><li>one<li>two<ol><li>inner</ol></ul>
<table><tr><th>a<th>b<tr><td>1<td>2<tr><td colspan=2>all</table><pre>  kept
    as is</pre>&lt;tag&gt;</body></html>"""


async def test_html_is_read_as_people_see_it() -> None:
    document = await read(PAGE.encode(), "page.html")

    (page,) = document.pages
    assert (document.format, document.title) == ("html", "The page")
    assert page.text == (
        f"## Prices\n\n{UMLAUTS}\n\nsecond\n\n{EAST_ASIAN}\n\n- one\n- two\n\n  1. inner\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| all |  |\n\n  kept\n    as is\n\n<tag>"
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
async def test_a_csv_is_a_table_with_any_separator(separator: str, encoding: str) -> None:
    rows = (("Name", "Grüße"), ("Tee", '"1\n2"'), ("x", "3"))
    text = "\n".join(separator.join(row) for row in rows)

    (page,) = (await read(text.encode(encoding), "a.csv")).pages

    assert page.text == "| Name | Grüße |\n| --- | --- |\n| Tee | 1 2 |\n| x | 3 |"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
async def test_plain_text_is_read_in_its_encoding(encoding: str) -> None:
    document = await read(UMLAUTS.encode(encoding), "notes.txt")

    assert (document.format, document.pages[0].text) == ("text", UMLAUTS)


LANGUAGES = {
    "cp1252": [
        "Die Kündigungsfrist beträgt drei Monate; Größe, Maß und Straße stehen im Anhang.",
        "Irtisanomisaika on kolme kuukautta; määräaika päättyy ääneen sanottuna.",
        "La durée du préavis est de trois mois, à compter de la réception, même en été.",
    ],
    "cp1251": ["Срок уведомления составляет три месяца, начиная с первого числа."],
    "cp932": ["解約の予告期間は三か月です。書面で通知してください。カタカナも含みます。"],
    "cp949": ["계약 해지 통보 기간은 삼 개월입니다. 서면으로 알려 주십시오."],
    "gb18030": ["合同的通知期为三个月，必须以书面形式提出，并在季度末生效。"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(name, text) for name, texts in LANGUAGES.items() for text in texts]
)
def test_texts_are_read_in_the_encoding_of_their_language(encoding: str, text: str) -> None:
    assert decoded(f"1;{text}\n2;x\n".encode(encoding)) == f"1;{text}\n2;x\n"


# --- the bytes decide -----------------------------------------------------------------------------


async def test_the_bytes_decide_about_the_format_not_the_name() -> None:
    pdf, word = Pdf([text_page("x")]).made(), contract()

    formats = [
        (await read(data, name)).format
        for data, name in ((pdf, "a.docx"), (word, "a.pdf"), (word, "a.txt"), (pdf, ""))
    ]

    assert formats == ["pdf", "docx", "docx", "pdf"]


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "a.pdf", "empty"),
        (random.Random(7).randbytes(5_000), "a.pdf", "damaged"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a.bin", "unsupported"),
        (b"PK\x03\x04" + b"x" * 200, "a.docx", "damaged"),
        (changed(contract(), {}, without=["_rels/.rels"]), "a.zip", "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "a.doc", "unsupported"),
    ],
    ids=["empty", "random", "picture", "cut", "archive", "before-2007"],
)
async def test_what_is_no_document_is_refused_with_the_reason(
    data: bytes, name: str, reason: str
) -> None:
    with pytest.raises(UnreadableDocument) as refused:
        await read(data, name)

    assert refused.value.reason == reason
    assert str(refused.value)


async def test_limits_of_pages_and_characters_cut_and_say_so() -> None:
    data = Pdf([text_page("x" * 50)] * 9).made()

    pages = await read(data, limits=DocumentLimits(pages=4))
    characters = await read(data, limits=DocumentLimits(characters=120))

    assert (len(pages.pages), pages.total, pages.cut) == (4, 9, True)
    assert (characters.characters, characters.total, characters.cut) == (120, 9, True)
