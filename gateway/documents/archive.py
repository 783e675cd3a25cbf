"""The archives that documents are: only the parts that are asked for are unpacked, and their bytes
are counted while that happens, because the sizes in an archive may be wrong."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree as ET
from xml.parsers import expat

from msgspec import Struct

from gateway.documents.model import CannotRead, DocumentLimits, LeftOut, ReadDocument

_CHUNK: Final = 256 * 1024
_ENCRYPTED: Final = 1
_HARMLESS: Final = frozenset({"hyperlink", "slide"})
"""Kinds of external relationships that a program does not fetch by itself."""
Reader = Callable[[bytes, DocumentLimits], ReadDocument]


class Relationship(Struct, frozen=True):
    """A reference from one part of an archive to another, or to an address outside."""

    kind: str
    """The last word of its type: "styles", "image", "hyperlink"."""
    target: str
    """The name of the part in the archive, or the address."""
    external: bool


class Archive:
    """The parts of a document by name."""

    def __init__(self, data: bytes, limits: DocumentLimits) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
            raise CannotRead("damaged") from None
        self.names = frozenset(self._zip.namelist())
        if len(self._zip.infolist()) > limits.entries:
            raise CannotRead("expands_too_much")
        self._left = limits.unpacked_bytes

    def read(self, name: str) -> bytes | None:
        """Return a part, None if there is none. Raises `CannotRead`."""
        if name not in self.names:
            return None
        info = self._zip.getinfo(name)
        if info.flag_bits & _ENCRYPTED:
            raise CannotRead("encrypted")
        content = bytearray()
        try:
            with self._zip.open(info) as part:
                while chunk := part.read(_CHUNK):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise CannotRead("expands_too_much")
                    content += chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            raise CannotRead("damaged") from None
        return bytes(content)

    def xml(self, name: str) -> ET.Element | None:
        """Return the root of a part, None if there is no such part. Raises `CannotRead`."""
        data = self.read(name)
        return None if data is None else parse_xml(data)

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Return the references of a part by their id; those of the whole archive for ""."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, Relationship] = {}
        for each in root if root is not None else ():
            external = each.get("TargetMode", "") == "External"
            target = each.get("Target", "")
            if not external:
                target = inside(folder, target)
            kind = each.get("Type", "").rpartition("/")[2]
            found[each.get("Id", "")] = Relationship(kind, target, external)
        return found

    def one(self, part: str, kind: str) -> str:
        """Return the name of the part of a kind that another one refers to; empty for none."""
        named = (one.target for one in self.relationships(part).values() if one.kind == kind)
        return next(named, "")

    def title(self) -> str:
        """Return the title in the properties of a document of Office."""
        title = child(self.xml("docProps/core.xml"), "title")
        return (title.text or "") if title is not None else ""

    def left_out(self) -> Iterator[LeftOut]:
        """Yield what a document of Office has besides its text and must not be run or opened."""
        for name in self.names:
            base = posixpath.basename(name).lower()
            if base.startswith("vbaproject") or "/macrosheets/" in name or "/activex/" in name:
                yield "macros"
            elif "/embeddings/" in name:
                yield "files"
            elif "comments" in base and base.endswith(".xml"):
                yield "comments"
            elif base.endswith(".rels") and self._refers_outside(name):
                yield "references"

    def _refers_outside(self, name: str) -> bool:
        root = self.xml(name)
        return any(
            each.get("TargetMode", "") == "External"
            and each.get("Type", "").rpartition("/")[2] not in _HARMLESS
            for each in (root if root is not None else ())
        )


def inside(folder: str, target: str) -> str:
    """Return the name of a part that another one in `folder` refers to."""
    path = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")


class _Begun(Exception):
    """The root element began."""


def refuse_declarations(data: bytes) -> None:
    """Raise `CannotRead` for a part with declarations of its own: entities could expand without
    end, or name files and addresses. They can only stand before the root element."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise CannotRead("unsafe")

    def begin(*_: object) -> None:
        raise _Begun

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = begin
    try:
        parser.Parse(data, True)
    except _Begun:
        return
    except expat.ExpatError:
        raise CannotRead("damaged") from None


def parse_xml(data: bytes) -> ET.Element:
    """Return the root of a part. Raises `CannotRead`."""
    refuse_declarations(data)
    try:
        return ET.fromstring(data)  # noqa: S314 - it declares no entities
    except ET.ParseError:
        raise CannotRead("damaged") from None


def local(element: ET.Element) -> str:
    """Return the name of an element without its namespace, of which Office has two."""
    return element.tag.rpartition("}")[2]


def attribute(element: ET.Element | None, name: str) -> str:
    """Return an attribute by its name without a namespace; empty if there is none."""
    if element is None:
        return ""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return ""


def child(element: ET.Element | None, *path: str) -> ET.Element | None:
    """Return the first element on a path of names without namespaces."""
    for name in path:
        if element is None:
            return None
        element = next((each for each in element if local(each) == name), None)
    return element


def reader_of(data: bytes, limits: DocumentLimits) -> Reader:
    """Import and return the reader of the document that an archive is; only a workbook needs a
    library. Raises `CannotRead`, and ImportError without it."""
    archive = Archive(data, limits)
    if "META-INF/container.xml" in archive.names:
        from gateway.documents.book import read_epub  # noqa: PLC0415 - read when needed

        return partial(read_epub, archive)
    main = archive.one("", "officeDocument") if "_rels/.rels" in archive.names else ""
    if not main.endswith(".xml"):
        raise CannotRead("unsupported")
    root = archive.xml(main)
    if root is None:
        raise CannotRead("damaged")
    match local(root):
        case "document":
            from gateway.documents.word import read_docx  # noqa: PLC0415 - read when needed

            return partial(read_docx, archive, main, root)
        case "presentation":
            from gateway.documents.slides import read_pptx  # noqa: PLC0415 - read when needed

            return partial(read_pptx, archive, main, root)
        case "workbook":
            from gateway.documents.sheets import read_xlsx  # noqa: PLC0415 - read when needed

            return partial(read_xlsx, archive)
    raise CannotRead("unsupported")
