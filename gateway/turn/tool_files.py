"""Files that tools return: pictures and downloads of an answer, within bounds. Pure."""

import binascii
import re
from base64 import b64decode
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

from gateway.message import OutboundFile, image_mime
from gateway.ports import ImageBlock
from safety.unicode import safe_unicode

MAX_FILES: Final = 4
"""Files below one answer."""
MAX_FILE: Final = 5 * 1024 * 1024
"""Bytes of one file."""
MAX_ALL: Final = 10 * 1024 * 1024
"""Bytes of all files of one answer: they are rows of the outbox."""
MAX_SEEN: Final = 5 * 1024 * 1024 * 3 // 4
"""Bytes of a picture that the model sees: Anthropic counts 5 MB of its base64 text."""
MAX_ENCODED: Final = (MAX_FILE + 2) // 3 * 4
"""Characters of the base64 text of the largest file."""
MAX_NAME: Final = 80
DOWNLOAD: Final = "application/octet-stream"
TOO_LARGE: Final = f"larger than {MAX_FILE >> 20} MB"
UNREADABLE: Final = "its data cannot be read"

_PICTURES: Final = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
}
_ENDINGS: Final = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "audio/mp4": ".m4a",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "video/mp4": ".mp4",
}
_MIME: Final = re.compile(r"[a-z]{1,20}/[a-z0-9][a-z0-9.+_-]{0,79}")
_ACTIVE: Final = re.compile(r"html|svg|script|xml(?!formats)|xhtml|flash|x-msdownload|x-sh")
"""Types that a client may run or draw: their files are downloads without a type."""
_IN_NAMES: Final = re.compile(r"[^\w .()+-]+")
_LAST_DOTS: Final = " .-_"


def decoded(encoded: str) -> bytes | str:
    """Return the bytes of a base64 text, or the reason why there are none."""
    if len(encoded) > MAX_ENCODED:
        return TOO_LARGE
    try:
        data = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return UNREADABLE
    if len(data) > MAX_FILE:
        return TOO_LARGE
    return data or "empty"


def file_of(data: bytes, mime: str, name: str) -> OutboundFile:
    """Return the file as people get it. The first bytes decide if it is a picture; a type that a
    client may run is sent as a download without a type."""
    picture = image_mime(data)
    if picture:
        return OutboundFile(_named(name, "picture", _PICTURES[picture]), picture, data)
    kind = mime.partition(";")[0].strip().lower()
    usable = _MIME.fullmatch(kind) and not _ACTIVE.search(kind) and not kind.startswith("image/")
    kind = kind if usable else DOWNLOAD
    return OutboundFile(_named(name, "file", _ENDINGS.get(kind, "")), kind, data)


def name_in(uri: str) -> str:
    """Return the last part of the path of an address, as a name for its file; "" for none."""
    try:
        path = urlsplit(uri[:1_000]).path
    except ValueError:
        return ""
    return unquote(path).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _named(name: str, otherwise: str, ending: str) -> str:
    """Return a name in one line, without separators of folders and hidden characters. A picture has
    the ending of its type."""
    plain = " ".join(_IN_NAMES.sub("_", safe_unicode(name[:1_000])).split()).strip(_LAST_DOTS)
    stem, own = PurePosixPath(plain).stem, PurePosixPath(plain).suffix
    own = ending if ending in _PICTURES.values() else own or ending
    return f"{stem[: MAX_NAME - len(own[:12])] or otherwise}{own[:12]}"


class ShownFiles:
    """The files below one answer. `types` are the media types that the platform takes, none: all of
    them."""

    def __init__(self, types: Collection[str] = ()) -> None:
        self._types = types
        self._files: list[OutboundFile] = []

    @property
    def files(self) -> tuple[OutboundFile, ...]:
        """The files in the order in which they came."""
        return tuple(self._files)

    def take(self, files: Sequence[OutboundFile]) -> tuple[str, tuple[ImageBlock, ...]]:
        """Add the files of a result; returns what the model is told about them, and the pictures
        that it sees."""
        lines: list[str] = []
        seen: list[ImageBlock] = []
        for file in files:
            shown = next((each for each in self._files if each.data == file.data), None)
            if shown is None:
                if problem := self._problem(file):
                    lines.append(f"({file.name} is not shown to the person: {problem})")
                    continue
                shown = self._distinct(file)
                self._files.append(shown)
            lines.append(f"({shown.name} is shown to the person below your answer: do not link it)")
            if image_mime(file.data) and len(file.data) <= MAX_SEEN:
                seen.append(ImageBlock(file.mime, file.data))
        return "\n".join(lines), tuple(seen)

    def _problem(self, file: OutboundFile) -> str:
        if self._types and file.mime not in self._types:
            return f"this platform takes no files of the type {file.mime}"
        if len(self._files) == MAX_FILES:
            return f"an answer has at most {MAX_FILES} files"
        if sum(len(each.data) for each in self._files) + len(file.data) > MAX_ALL:
            return f"the files of an answer have at most {MAX_ALL >> 20} MB together"
        return ""

    def _distinct(self, file: OutboundFile) -> OutboundFile:
        """Return the file under a name that no other one has."""
        names = {each.name for each in self._files}
        if file.name not in names:
            return file
        path = PurePosixPath(file.name)
        numbered = (f"{path.stem}-{number}{path.suffix}" for number in range(2, MAX_FILES + 2))
        return OutboundFile(next(n for n in numbered if n not in names), file.mime, file.data)
