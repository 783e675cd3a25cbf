"""PDF: the text of each page in the order in which it is read, and the pages without text as a PDF
of their own."""

import io
import time
from collections.abc import Sequence
from typing import Final

import pypdfium2
import pypdfium2.raw as pdfium

from gateway.documents.model import CannotRead, DocumentLimits, LeftOut, ReadDocument
from gateway.documents.page_layout import Run, laid_out
from gateway.documents.pages import Pages
from gateway.immutable import replace

_PASSWORD: Final = 4
"""`FPDF_ERR_PASSWORD`."""
_ALMOST_NONE: Final = 40
"""Characters of a page that is a picture with a stamp: a page number, the name of a scanner."""
_COVERED: Final = 0.5
"""The share of a page that its pictures then cover."""
_MAX_RUNS: Final = 5_000
"""Pieces of text on a page that are put in order; a page with more keeps the order of the file."""
_LOST: Final = 0.02
_MAX_OBJECTS: Final = 500
_IN_ORDER: Final = 0.5
"""The share of the processor time within which pages are put in order; later ones keep the order
of the file, so that a long document is read to its end."""


def read_pdf(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the document. Raises `CannotRead`."""
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        encrypted = getattr(error, "err_code", 0) == _PASSWORD
        raise CannotRead("encrypted" if encrypted else "damaged") from None
    total = len(pdf)
    if not total:
        raise CannotRead("damaged")
    pages, pictured, unread = Pages(limits), [], 0
    for number in range(min(total, limits.pages)):
        try:
            in_order = time.process_time() < _IN_ORDER * limits.seconds
            text, picture = _page(pdf, number, in_order=in_order)
        except pypdfium2.PdfiumError:
            text, picture, unread = "", False, unread + 1
        if picture:
            pictured.append(number)
        pages.add(f"page {number + 1}", text, picture=picture)
        if pages.full:
            break
    if unread == len(pages):
        raise CannotRead("damaged")
    title = pdf.get_metadata_value("Title")
    left_out: tuple[LeftOut, ...] = ("files",) if pdf.count_attachments() > 0 else ()
    document = pages.document("pdf", total=total, title=title, left_out=left_out)
    kept, own = _of_pictures(pdf, pictured[: limits.picture_pages], limits.picture_bytes)
    return replace(document, picture_pdf=own, pictured=tuple(number + 1 for number in kept))


def _page(pdf: pypdfium2.PdfDocument, number: int, *, in_order: bool) -> tuple[str, bool]:
    """Return the text of a page, and True if it is a picture. Raises `PdfiumError`."""
    page = pdf[number]
    try:
        text_page = page.get_textpage()
        try:
            text = _text(text_page, in_order=in_order)
        finally:
            text_page.close()
        picture = len(text.strip()) < _ALMOST_NONE and _is_picture(page, text)
        return text, picture
    finally:
        page.close()


def _text(page: pypdfium2.PdfTextPage, *, in_order: bool) -> str:
    """Return the text with its layout; that of the file if too much would be lost by it."""
    plain = page.get_text_range(errors="replace")
    count = page.count_rects() if in_order else 0
    if not plain.strip() or not 0 < count <= _MAX_RUNS:
        return _clean(plain)
    runs = []
    for at in range(count):
        left, bottom, right, top = page.get_rect(at)
        text = page.get_text_bounded(left, bottom, right, top, errors="replace")
        if text.strip():
            size = _font_size(page, left, bottom, right, top)
            runs.append(Run(left, bottom, right, top, _clean(text), size))
    text = laid_out(runs)
    whole, kept = (sum(not char.isspace() for char in each) for each in (_clean(plain), text))
    signs = text.count("|") + text.count("---") * 3 + text.count("#")
    return text if abs(kept - signs - whole) <= whole * _LOST + signs + 2 else _clean(plain)


def _font_size(
    page: pypdfium2.PdfTextPage, left: float, bottom: float, right: float, top: float
) -> float:
    at = page.get_index(left + 1, (bottom + top) / 2, 3, (top - bottom) / 2 + 1)
    return pdfium.FPDFText_GetFontSize(page, at) if at is not None and at >= 0 else top - bottom


def _clean(text: str) -> str:
    """Return text without the marks that PDFium has for hyphens at the ends of lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\ufffe", "-").replace("\x02", "-").replace("\x00", "")


def _is_picture(page: pypdfium2.PdfPage, text: str) -> bool:
    """Return True for a page that shows something without any text, or is covered by pictures."""
    covered, objects = 0.0, 0
    for each in page.get_objects(max_depth=3):
        objects += 1
        if objects > _MAX_OBJECTS:
            break
        if each.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = each.get_bounds()
            covered += max(0.0, right - left) * max(0.0, top - bottom)
    if not text.strip():
        return objects > 0
    width, height = page.get_size()
    return bool(covered > _COVERED * width * height)


def _of_pictures(
    pdf: pypdfium2.PdfDocument, wanted: Sequence[int], most: int
) -> tuple[Sequence[int], bytes]:
    """Return the first of these pages that fit into a PDF of at most `most` bytes, and the PDF."""
    while wanted:
        own = pypdfium2.PdfDocument.new()
        try:
            own.import_pages(pdf, pages=list(wanted))
            output = io.BytesIO()
            own.save(output)
        except pypdfium2.PdfiumError:
            return (), b""
        finally:
            own.close()
        if output.tell() <= most:
            return wanted, output.getvalue()
        wanted = wanted[: len(wanted) // 2]
    return (), b""
