"""Names of folders and files from ids and texts.

The name of a folder determines the id again, on file systems without case too, and never leaves its
folder.
"""

import hashlib
import re
import unicodedata
from typing import Final

MAX_NAME: Final = 120
MAX_SLUG: Final = 48
_PLAIN: Final = re.compile(r"[a-z0-9_-]")
_SLUG: Final = re.compile(r"[^\w]+")


def folder_name(id_: str) -> str:
    """Return the folder of an id: small letters, digits, `-` and `_` stay, every other byte becomes
    `=XX`. A long name ends in a hash."""
    name = "".join(
        char if _PLAIN.fullmatch(char) else "".join(f"={byte:02x}" for byte in _bytes(char))
        for char in id_
    )
    if len(name) > MAX_NAME:
        digest = hashlib.sha256(_bytes(id_)).hexdigest()[:40]
        return f"{name[: MAX_NAME - 42]}=={digest}"
    return name or "="


def file_name(text: str, id_: str) -> str:
    """Return the name of a new file: the first words of the statement, and its id."""
    plain = unicodedata.normalize("NFC", text[: 4 * MAX_SLUG]).casefold()
    slug = _SLUG.sub("-", plain)[:MAX_SLUG].strip("-_")
    while len(slug.encode()) > MAX_NAME:
        slug = slug[:-1]
    return f"{slug or 'note'}--{id_}.md"


def file_id(name: str) -> str:
    """Return the id of a file that has none, such as one that a person wrote."""
    return f"mem-{hashlib.sha256(_bytes(name)).hexdigest()[:32]}"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
