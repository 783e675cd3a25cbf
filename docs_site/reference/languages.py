"""The page of the languages in which Parley speaks, counted in their catalogues."""

import json
from pathlib import Path
from typing import Any, Final

from docs_site.reference.tables import code, table
from gateway.languages.catalogue import catalogue_of
from gateway.languages.installed import TEMPLATE, missing_of
from gateway.text import ENGLISH

LANGUAGES: Final = Path(__file__).parents[2] / "gateway" / "languages"
CATALOGUES: Final = LANGUAGES / "catalogues"
FORMATS: Final = LANGUAGES / "formats.json"
READ_BY: Final = "X-Read-By: "
HEAD: Final = """\
# Languages

The languages in which Parley speaks in chats, on its web page and in the console, and how complete
each is. A sentence without a translation is shown in English.
[Correct or add a language](../how-to/translate.md) has the steps.

A person's language is the one that they chose with `/language`, else the one that their platform
tells, else that of the place (`languages.places`), else that of the installation
(`languages.default`). Logs, the command line, the API and this documentation are English.
"""
NOTES: Final = """
*Read by* names speakers of the language who read the whole catalogue. Empty: nobody has yet, and
the translation may sound wrong in places.

`python -m docs_site.reference` writes this page from
[`gateway/languages/catalogues/`](../../gateway/languages/catalogues/).
"""


def languages() -> str:
    """The text of the page."""
    formats: dict[str, dict[str, Any]] = json.loads(FORMATS.read_text("utf-8"))
    template = catalogue_of((CATALOGUES / TEMPLATE).read_text("utf-8"), translated=False)
    total = len(template) - 1  # the headers are one entry
    rows = [
        [formats[name]["english"], formats[name]["name"], code(name), _direction(formats[name])]
        + ([f"all {total}", ""] if name == ENGLISH.code else _completeness(name, total))
        for name in sorted(formats, key=lambda one: str(formats[one]["english"]))
    ]
    head = ("Language", "Its own name", "Name in settings", "Direction", "Sentences", "Read by")
    return "\n".join([HEAD, *table(head, rows), NOTES]).rstrip() + "\n"


def _direction(formats: dict[str, Any]) -> str:
    return "right to left" if formats["direction"] == "rtl" else "left to right"


def _completeness(name: str, total: int) -> list[str]:
    """The number of translated sentences, and the readers of the catalogue."""
    catalogue = catalogue_of((CATALOGUES / f"{name}.po").read_text("utf-8"))
    missing = len(list(missing_of(catalogue)))
    read = (line for line in catalogue.get("", "").split("\n") if line.startswith(READ_BY))
    counted = f"{total - missing} of {total}" if missing else f"all {total}"
    return [counted, next(read, READ_BY).removeprefix(READ_BY).strip()]
