"""EPUB: the chapters of a book in the order in which it is read."""

import posixpath
from typing import Final
from xml.etree import ElementTree as ET

from gateway.documents.archive import Archive, attribute, inside, local
from gateway.documents.model import CannotRead, DocumentLimits, ReadDocument
from gateway.documents.pages import Pages
from gateway.documents.web_page import html_text, markdown_of

_CONTAINER: Final = "META-INF/container.xml"
_ENCRYPTION: Final = "META-INF/encryption.xml"
_OF_FONTS: Final = ("idpf.org", "ns.adobe.com")
"""Methods that hide fonts only; any other one hides the text."""


def read_epub(archive: Archive, _: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the book. Raises `CannotRead`."""
    _refuse_encrypted(archive)
    container = archive.xml(_CONTAINER)
    files = (attribute(each, "full-path") for each in _all(container, "rootfile"))
    package = next((name for name in files if name in archive.names), "")
    root = archive.xml(package)
    if root is None:
        raise CannotRead("damaged")
    named = {attribute(item, "id"): attribute(item, "href") for item in _all(root, "item")}
    spine = [named.get(attribute(item, "idref"), "") for item in _all(root, "itemref")]
    title = next(("".join(each.itertext()) for each in _all(root, "title")), "")
    pages, folder = Pages(limits), posixpath.dirname(package)
    chapters = 0
    for href in spine:
        data = archive.read(inside(folder, href)) if href and not pages.full else None
        if data is None:
            continue
        text, _title = markdown_of(html_text(data))
        if text.strip():
            chapters += 1
            pages.add(f"chapter {chapters}", text)
    return pages.document("epub", title=title)


def _all(root: ET.Element | None, name: str) -> list[ET.Element]:
    return [each for each in root.iter() if local(each) == name] if root is not None else []


def _refuse_encrypted(archive: Archive) -> None:
    root = archive.xml(_ENCRYPTION)
    for method in _all(root, "EncryptionMethod"):
        if not any(known in attribute(method, "Algorithm") for known in _OF_FONTS):
            raise CannotRead("encrypted")
