"""The files of the catalogues: a template with every sentence, and one file for each language."""

import io
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from gateway.languages.installed import TEMPLATE
from translation.extraction import ROOT, template
from translation.languages import LANGUAGES

FOLDER: Final = ROOT / "gateway/languages/catalogues"
READ_BY: Final = "X-Read-By"
"""The header that names the speakers of the language who read the whole catalogue."""


def files() -> dict[Path, str]:
    """Return every file as it should be: with the sentences of the sources, in their order, and the
    translations that it has."""
    sentences = template()
    made = {FOLDER / TEMPLATE: written(sentences)}
    for name in LANGUAGES:
        path = FOLDER / f"{name}.po"
        made[path] = written(updated(path, name, sentences))
    return made


def read(path: Path, name: str) -> Catalog:
    """Return a file's catalogue, an empty one where there is no file."""
    if not path.exists():
        return Catalog(locale=name, charset="utf-8", fuzzy=False)
    return read_po(io.BytesIO(path.read_bytes()), locale=name, charset="utf-8")


def updated(path: Path, name: str, sentences: Catalog) -> Catalog:
    """Return the catalogue of a language with the present sentences; a translation whose sentence
    is gone goes as well, and one whose sentence changed is needed anew."""
    catalog = read(path, name)
    catalog.update(sentences, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    return catalog


def written(catalog: Catalog) -> str:
    """Return a catalogue as the text of a file, without dates and places."""
    catalog.header_comment = "# Sentences of Parley."
    headers = [("Language", str(catalog.locale or "")), (READ_BY, _read_by(catalog))]
    if catalog.locale:
        headers.append(("Plural-Forms", catalog.plural_forms))
    headers.append(("Content-Type", "text/plain; charset=utf-8"))
    out = io.BytesIO()
    write_po(out, catalog, no_location=True, omit_header=True, width=100)
    head = "".join(f'"{name}: {value}\\n"\n' for name, value in headers)
    return f'msgid ""\nmsgstr ""\n{head}\n{out.getvalue().decode()}'


def _read_by(catalog: Catalog) -> str:
    found = (value for name, value in catalog.mime_headers if name == READ_BY)
    return next(found, "")
