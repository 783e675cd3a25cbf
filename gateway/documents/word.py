"""DOCX: headings, paragraphs with the numbers that Word shows before them, lists, tables, text
boxes and notes, page by page as Word last laid them out.

Read from the XML, because libraries pass over inserted text under review, content controls, text
boxes, and the numbers of clauses.
"""

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree as ET

from gateway.documents.archive import Archive, attribute, child, local
from gateway.documents.model import DocumentLimits, ReadDocument
from gateway.documents.numbering import Numbering
from gateway.documents.pages import MAX_COLUMNS, Pages, table
from gateway.documents.sections import sections

_RENDERED: Final = "\f"
_EXPLICIT: Final = "\v"
"""Marks of page breaks; XML cannot contain these characters. The breaks of Word's last layout count
where there are any, otherwise those that the author set."""
_NOTE: Final = re.compile(r"\[\^(f|e)(\d{1,9})\]")
_OTHER_WRITING: Final = frozenset(
    {"del", "moveFrom", "instrText", "delText", "Fallback", "rPr", "pPr", "rt", "sectPr"}
)
"""Deleted text, commands of fields, formatting, and the older form of a drawing."""
_PLAIN_SIGNS: Final = {
    "tab": "\t",
    "cr": "\n",
    "noBreakHyphen": "-",
    "lastRenderedPageBreak": _RENDERED,
}


def read_docx(
    archive: Archive, main: str, root: ET.Element, _: bytes, limits: DocumentLimits
) -> ReadDocument:
    """Return the document. Raises `CannotRead`."""
    word = _Word(archive, main)
    body = child(root, "body")
    text = "\n\n".join(word.blocks(body)) if body is not None else ""
    pages = Pages(limits)
    for label, part in _divided(text):
        pages.add(label, word.with_notes(part))
    return pages.document("docx", title=archive.title(), left_out=archive.left_out())


def _divided(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pages, or without any break the sections."""
    mark, other = (_RENDERED, _EXPLICIT) if _RENDERED in text else (_EXPLICIT, _RENDERED)
    text = text.replace(other, "")
    if mark not in text:
        yield from sections(text)
        return
    for number, part in enumerate(text.split(mark), 1):
        yield f"page {number}", part


class _Word:
    def __init__(self, archive: Archive, main: str) -> None:
        self._styles = _Styles(archive.xml(archive.one(main, "styles")))
        self._numbering = Numbering(archive.xml(archive.one(main, "numbering")))
        self._notes: dict[str, str] = {}
        for letter, kind in (("f", "footnotes"), ("e", "endnotes")):
            notes = archive.xml(archive.one(main, kind))
            for note in notes if notes is not None else ():
                text = " ".join("".join(_inline(each)) for each in note)
                self._notes[f"{letter}{attribute(note, 'id')}"] = " ".join(text.split())

    def blocks(self, parent: ET.Element) -> Iterator[str]:
        """Yield paragraphs and tables as Markdown."""
        for element in parent:
            match local(element):
                case "p":
                    if text := self._paragraph(element):
                        yield text
                case "tbl":
                    yield from self._table(element)
                case name if name not in _OTHER_WRITING:
                    yield from self.blocks(element)  # content controls, inserted paragraphs

    def _paragraph(self, paragraph: ET.Element) -> str:
        text = "".join(_inline(paragraph))
        if not text.strip(" \t\n"):
            return ""
        properties = child(paragraph, "pPr")
        style = attribute(child(properties, "pStyle"), "val")
        if not text.strip():
            return text  # page breaks alone
        number = self._numbering.next(*self._styles.list_of(properties, style))
        rank = self._styles.rank(properties, style)
        if rank:
            breaks = "".join(sign for sign in text if sign in (_RENDERED, _EXPLICIT))
            words = " ".join((number.strip(" -"), *text.split())).strip()
            return f"{breaks}{'#' * rank} {words}"
        breaks = ""
        while text[:1] in (_RENDERED, _EXPLICIT):
            breaks, text = breaks + text[0], text[1:]
        return f"{breaks}{number}{text}"

    def _table(self, element: ET.Element) -> Iterator[str]:
        """Yield a table; where a page ends within it, the heading is repeated on the next one."""
        heading: list[str] = []
        rows: list[list[str]] = []
        for row in _rows(element):
            cells = [text for each in row for text in self._cells(each)]
            for mark in (_RENDERED, _EXPLICIT):
                breaks = max((one.count(mark) for one in cells), default=0)
                cells = [one.replace(mark, " ") for one in cells]
                if breaks:
                    yield table(rows)
                    yield mark * breaks
                    rows = [heading] if heading else []
            heading = heading or cells
            rows.append(cells)
        if shown := table(rows):
            yield shown

    def _cells(self, cell: ET.Element) -> list[str]:
        """Return the text of a cell, and an empty one for each further column that it covers."""
        span = attribute(child(cell, "tcPr", "gridSpan"), "val")
        wide = min(int(span), MAX_COLUMNS) if span.isdecimal() else 1
        return ["\n".join(self.blocks(cell)), *[""] * (wide - 1)]

    def with_notes(self, page: str) -> str:
        """Return a page with the notes that it refers to below it."""
        wanted = dict.fromkeys(f"{one[1]}{one[2]}" for one in _NOTE.finditer(page))
        notes = [f"[^{name}]: {self._notes[name]}" for name in wanted if self._notes.get(name)]
        return "\n\n".join((page, *notes)) if notes else page


def _rows(element: ET.Element) -> Iterator[list[ET.Element]]:
    """Yield the cells of each row, also of rows and cells within content controls."""
    for row in _inner(element, "tr"):
        yield list(_inner(row, "tc"))


def _inner(parent: ET.Element, name: str) -> Iterator[ET.Element]:
    for each in parent:
        found = local(each)
        if found == name:
            yield each
        elif found in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _inner(each, name)


def _inline(parent: ET.Element) -> Iterator[str]:
    """Yield the text within a paragraph in its order."""
    for element in parent:
        name = local(element)
        if name in _OTHER_WRITING:
            continue
        match name:
            case "t":
                yield element.text or ""
            case "br":
                yield _EXPLICIT if attribute(element, "type") == "page" else "\n"
            case "footnoteReference" | "endnoteReference":
                yield f"[^{name[0]}{attribute(element, 'id')}]"
            case "docPr":
                if said := attribute(element, "descr").strip():
                    yield f"[picture: {' '.join(said.split())[:200]}]"
            case "txbxContent":
                yield "".join(f"\n{''.join(_inline(each))}" for each in element)
                yield "\n"
            case _ if name in _PLAIN_SIGNS:
                yield _PLAIN_SIGNS[name]
            case _:
                yield from _inline(element)


class _Styles:
    """The styles of paragraphs: which are headings, and which are numbered."""

    def __init__(self, root: ET.Element | None) -> None:
        self._styles = {
            attribute(each, "styleId"): each
            for each in (root if root is not None else ())
            if local(each) == "style"
        }

    def rank(self, properties: ET.Element | None, style: str) -> int:
        """Return the rank of a heading from 1 to 6, 0 for other paragraphs."""
        level = attribute(child(properties, "outlineLvl"), "val")
        for each in self._chain(style):
            name = attribute(child(each, "name"), "val").lower()
            if name == "title":
                return 1
            found = re.fullmatch(r"heading ([1-9])", name)
            if found is not None:
                return min(int(found[1]), 6)
            level = level or attribute(child(each, "pPr", "outlineLvl"), "val")
        return min(int(level) + 1, 6) if level.isdecimal() and int(level) < 9 else 0

    def list_of(self, properties: ET.Element | None, style: str) -> tuple[str, int]:
        """Return the id of the list of a paragraph and its level; an empty id for none."""
        holders = [properties, *(child(each, "pPr") for each in self._chain(style))]
        id_ = level = ""
        for holder in holders:
            numbers = child(holder, "numPr")
            id_ = id_ or attribute(child(numbers, "numId"), "val")
            level = level or attribute(child(numbers, "ilvl"), "val")
        return ("" if id_ == "0" else id_), (min(int(level), 8) if level.isdecimal() else 0)

    def _chain(self, style: str) -> Iterator[ET.Element]:
        for _ in range(10):
            found = self._styles.get(style)
            if found is None:
                return
            yield found
            style = attribute(child(found, "basedOn"), "val")
