"""Catalogues of sentences: files in gettext's `.po` form, read when a language is first needed.

The program reads `.po` files and no compiled ones: a file takes about 15 ms, and the files of an
operator have the same form as those of Parley.
"""

import gettext
import io
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

MAX_BYTES: Final = 2_000_000
"""Of one file."""
MAX_ENTRIES: Final = 10_000
"""Sentences of one file."""
MAX_PLURAL: Final = 500
"""Characters of the header `Plural-Forms`."""
_PLURAL: Final = "Plural-Forms:"
_PLURAL_OF_ENGLISH: Final = f"{_PLURAL} nplurals=2; plural=n != 1;"
_TRIED: Final = (*range(201), 1_000_000)
"""Numbers for which a plural rule is tried when it is read."""
_UTF_8: Final = "Content-Type: text/plain; charset=UTF-8"
_CONTEXT: Final = "\x04"
"""Between context and sentence in a key, as gettext has it."""
_FORM: Final = "\0"
"""Between the forms of a sentence, as gettext has it."""
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
_LINE: Final = re.compile(r'(msgctxt|msgid|msgid_plural|msgstr(?:\[[0-9]\])?)[ \t]+"(.*)"')
_MORE: Final = re.compile(r'".*"')
_FIRST: Final = frozenset({"msgctxt", "msgid"})
"""The fields with which an entry begins, in their order."""
_MAGIC: Final = 0x950412DE
_HEADER_BYTES: Final = 28
_ROW_BYTES: Final = 16


class CatalogueError(ValueError):
    """A file is no catalogue; the text names the line and what is wrong."""


class _Translations(gettext.GNUTranslations):
    """Sentences whose plural rule may fail for numbers for which it was not tried."""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Return the form for a number; the English one where the rule divides by zero."""
        try:
            return super().ngettext(msgid1, msgid2, n)
        except ArithmeticError:
            return msgid1 if n == 1 else msgid2


def catalogue_of(po: str, *, translated: bool = True) -> Mapping[str, str]:
    """Return the translated sentences of a `.po` file by gettext's key, without those marked
    `fuzzy`; the key "" has the headers. `translated=False` returns the sentences without a
    translation as well. Raises CatalogueError."""
    if len(po) > MAX_BYTES:
        raise CatalogueError(f"The file has more than {MAX_BYTES:,} characters")
    found: dict[str, str] = {}
    for number, fuzzy, entry in _entries(po):
        if "msgid" not in entry or not any(field.startswith("msgstr") for field in entry):
            raise CatalogueError(f"Line {number}: an entry has no msgid or no msgstr")
        key, text = _pair(entry)
        if key in found:
            raise CatalogueError(f"Line {number}: the sentence stands twice")
        if not translated or (text.strip(_FORM) and (not fuzzy or not key)):
            found[key] = text
        if len(found) > MAX_ENTRIES:
            raise CatalogueError(f"The file has more than {MAX_ENTRIES:,} sentences")
    return found


def translations_of(catalogue: Mapping[str, str]) -> gettext.GNUTranslations:
    """Return the sentences for gettext. Raises CatalogueError where the plural rule is wrong."""
    headers = catalogue.get("", "").split("\n")
    plural = next((header for header in headers if header.startswith(_PLURAL)), _PLURAL_OF_ENGLISH)
    if len(plural) > MAX_PLURAL:
        raise CatalogueError(f"The header Plural-Forms has more than {MAX_PLURAL} characters")
    known = {**catalogue, "": f"{_UTF_8}\n{plural}\n"}
    try:
        translations = _Translations(io.BytesIO(_compiled(known)))
        for number in _TRIED:
            super(_Translations, translations).ngettext("", "", number)
    except (ArithmeticError, LookupError, ValueError, RecursionError) as error:
        raise CatalogueError(f"The header Plural-Forms cannot be read: {error}") from error
    return translations


def key_of(msgid: str, plural: str = "", context: str = "") -> str:
    """Return the key of a sentence in a catalogue."""
    prefix = f"{context}{_CONTEXT}" if context else ""
    return f"{prefix}{msgid}{_FORM}{plural}" if plural else f"{prefix}{msgid}"


def parts_of(key: str) -> tuple[str, str, str]:
    """Return the context, the sentence and its plural of a key."""
    context, _, text = key.rpartition(_CONTEXT)
    msgid, _, plural = text.partition(_FORM)
    return context, msgid, plural


def _entries(po: str) -> Iterator[tuple[int, bool, dict[str, str]]]:
    """Return each entry with the number of its last line and whether it is marked `fuzzy`."""
    entry: dict[str, list[str]] = {}
    field, fuzzy = "", False
    for number, line in enumerate(map(str.strip, po.removeprefix("\ufeff").split("\n")), 1):
        begins = _LINE.fullmatch(line)
        if line.startswith("#") or (begins and begins[1] in _FIRST):
            if field.startswith("msgstr"):
                yield number - 1, fuzzy, _joined(entry)
                entry, field, fuzzy = {}, "", False
            fuzzy = fuzzy or (line.startswith("#,") and "fuzzy" in line)
        if begins:
            field = begins[1]
            if field in entry:
                raise CatalogueError(f"Line {number}: the entry has {field} twice")
            entry[field] = [_unescaped(begins[2])]
        elif field and _MORE.fullmatch(line):
            entry[field].append(_unescaped(line[1:-1]))
        elif line and not line.startswith("#"):
            raise CatalogueError(f"Line {number}: {line[:60]!r} is no part of a catalogue")
    if entry:
        yield number, fuzzy, _joined(entry)


def _joined(entry: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {field: "".join(lines) for field, lines in entry.items()}


def _pair(entry: Mapping[str, str]) -> tuple[str, str]:
    key = key_of(entry["msgid"], entry.get("msgid_plural", ""), entry.get("msgctxt", ""))
    if "msgid_plural" not in entry:
        return key, entry.get("msgstr", "")
    forms = sorted(field for field in entry if field.startswith("msgstr["))
    return key, _FORM.join(entry[form] for form in forms)


def _unescaped(text: str) -> str:
    return (
        _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text) if "\\" in text else text
    )


def _compiled(catalogue: Mapping[str, str]) -> bytes:
    """Return the form that gettext reads: two tables of lengths and places, then the texts."""
    rows = sorted((key.encode(), text.encode()) for key, text in catalogue.items())
    count = len(rows)
    place = _HEADER_BYTES + _ROW_BYTES * count
    tables: list[int] = []
    texts = [key for key, _ in rows] + [text for _, text in rows]
    for text in texts:
        tables += (len(text), place)
        place += len(text) + 1
    second = _HEADER_BYTES + _ROW_BYTES // 2 * count
    header = struct.pack("<7I", _MAGIC, 0, count, _HEADER_BYTES, second, 0, 0)
    return (
        header + struct.pack(f"<{len(tables)}I", *tables) + b"".join(text + b"\0" for text in texts)
    )
