"""The document of the demo: a lease of four pages, as a word processor saves it."""

import io
import zipfile
from typing import Final
from xml.sax.saxutils import escape

from simulators.base import SimFile

LEASE: Final = "lease.docx"
MIME: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PAGES: Final = (
    ("Lease", "between Harbour Property and the tenant, for the office at 4 Quay Street."),
    ("Rent", "The rent is 2,400 a month, due on the third working day."),
    ("Notice", "The notice period is three months to the end of a quarter, in writing."),
    ("Keys", "The tenant gets four keys and returns all of them."),
)
_NAMES: Final = "http://schemas.openxmlformats.org"
_TYPES: Final = (
    f'<Types xmlns="{_NAMES}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Override PartName="/word/document.xml"'
    f' ContentType="{MIME}.main+xml"/></Types>'
)
_RELATIONSHIPS: Final = (
    f'<Relationships xmlns="{_NAMES}/package/2006/relationships"><Relationship Id="r1"'
    f' Type="{_NAMES}/officeDocument/2006/relationships/officeDocument"'
    ' Target="word/document.xml"/></Relationships>'
)


def file_of(name: str) -> SimFile:
    """Return the file of a scene. Raises KeyError for another name."""
    return {LEASE: SimFile(LEASE, MIME, _lease())}[name]


def _lease() -> bytes:
    paragraphs: list[str] = []
    for number, (heading, text) in enumerate(_PAGES):
        begin = "<w:lastRenderedPageBreak/>" if number else ""
        level = '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'
        paragraphs.append(f"<w:p>{level}<w:r>{begin}<w:t>{escape(heading)}</w:t></w:r></w:p>")
        paragraphs.append(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>")
    names = f'xmlns:w="{_NAMES}/wordprocessingml/2006/main"'
    body = f"<w:document {names}><w:body>{''.join(paragraphs)}</w:body></w:document>"
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONSHIPS)
        archive.writestr("word/document.xml", body)
    return output.getvalue()
