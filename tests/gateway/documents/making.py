"""Makes documents for tests: with the libraries that people's programs are made of, and PDFs by
hand, so that each of their parts can be wrong."""

import io
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

CHINESE = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H"
    b" /DescendantFonts [5 0 R] >>"
)
CHINESE_GLYPHS = (
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo"
    b" << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> /DW 1000 >>"
)
RED = zlib.compress(b"\xff\x00\x00" * (200 * 300))


@dataclass
class PdfPage:
    """Lines are (x, y, size, text) from the lower left corner; CJK text is drawn as such."""

    lines: Sequence[tuple[float, float, float, str]] = ()
    picture: bool = False
    width: int = 595
    height: int = 842


@dataclass
class Pdf:
    """A PDF with the fonts that every reader has, and with a picture that pages can show."""

    pages: Sequence[PdfPage]
    title: str = ""
    extra: Sequence[bytes] = field(default=())

    def made(self) -> bytes:
        objects: list[bytes] = [
            b"",  # the catalogue and the tree of pages, which need the number of pages
            b"",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            CHINESE,
            CHINESE_GLYPHS,
            _stream(
                RED,
                b"/Type /XObject /Subtype /Image /Width 200 /Height 300 /BitsPerComponent 8"
                b" /ColorSpace /DeviceRGB /Filter /FlateDecode",
            ),
            b"<< /Title (" + self.title.encode("latin-1") + b") >>",
        ]
        kids = []
        for page in self.pages:
            objects.append(_stream(_content(page)))
            kids.append(len(objects) + 1)
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width} {page.height}]"
                f" /Contents {len(objects)} 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R >>"
                f" /XObject << /Im 6 0 R >> >> >>".encode()
            )
        objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
        listed = " ".join(f"{number} 0 R" for number in kids)
        objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
        return written([*objects, *self.extra], info=7)


def written(objects: Sequence[bytes], info: int = 0, trailer: bytes = b"") -> bytes:
    """The file with these objects, numbered from 1."""
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    begin = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    about = b" /Info %d 0 R" % info if info else b""
    size = len(objects) + 1
    out += b"trailer << /Size %d /Root 1 0 R%s%s >>\n" % (size, about, trailer)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % begin)


def _stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def _content(page: PdfPage) -> bytes:
    parts = [b"q 500 0 0 750 47 46 cm /Im Do Q"] if page.picture else []
    for x, y, size, text in page.lines:
        place = f"{size} Tf 1 0 0 1 {x} {y} Tm ".encode()
        if all(ord(char) < 256 for char in text):
            shown = text.encode("cp1252").replace(b"\\", b"\\\\")
            shown = b"(" + shown.replace(b"(", b"\\(").replace(b")", b"\\)") + b")"
            parts.append(b"BT /F1 " + place + shown + b" Tj ET")
        else:
            shown = text.encode("utf-16-be").hex().encode()
            parts.append(b"BT /F2 " + place + b"<" + shown + b"> Tj ET")
    return b"\n".join(parts)


def text_page(*lines: str, size: float = 11) -> PdfPage:
    return PdfPage([(60, 780 - 16 * at, size, line) for at, line in enumerate(lines)])


def encrypted_pdf() -> bytes:
    """A PDF that needs a password: its keys are those of no password that anybody has."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>",
        b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <%s> /U <%s> >>"
        % (b"41" * 32, b"42" * 32),
    ]
    identity = b" /Encrypt 4 0 R /ID [<00112233445566778899aabbccddeeff> <00>]"
    return written(objects, trailer=identity)


def saved(made: Any) -> bytes:
    """The file that a library of Office made."""
    output = io.BytesIO()
    made.save(output)
    return output.getvalue()


def changed(data: bytes, parts: dict[str, bytes], without: Iterable[str] = ()) -> bytes:
    """An archive with other contents of some parts, or further ones."""
    output = io.BytesIO()
    left_out = {*parts, *without}
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(output, "w") as new:
        for name in old.namelist():
            if name not in left_out:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content, zipfile.ZIP_DEFLATED)
    return output.getvalue()


def epub(chapters: Sequence[str], title: str = "A book") -> bytes:
    output = io.BytesIO()
    items = "".join(f'<item id="c{n}" href="text/{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    with zipfile.ZipFile(output, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        )
        book.writestr(
            "OEBPS/book.opf",
            f'<package xmlns="http://www.idpf.org/2007/opf"><metadata><title>{title}</title>'
            f"</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>",
        )
        # Stored in the opposite order: the spine says in which one they are read.
        for number, chapter in reversed(list(enumerate(chapters))):
            book.writestr(f"OEBPS/text/{number}.xhtml", chapter)
    return output.getvalue()
