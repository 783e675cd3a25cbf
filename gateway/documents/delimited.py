"""Tables as plain text: values that a comma, a semicolon, a tab or a bar separates."""

import csv
import io
from itertools import islice
from typing import Final

from gateway.documents.model import CannotRead, DocumentLimits, ReadDocument
from gateway.documents.pages import Pages, add_rows
from gateway.documents.plain import decoded

_SEPARATORS: Final = ",;\t|"
_SAMPLE: Final = 20
"""Rows that show which separator a file has."""
MAX_FIELD: Final = 1_000_000


def read_csv(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the table. Raises `CannotRead`."""
    text = decoded(data)
    best = max(_SEPARATORS, key=lambda separator: _columns(text, separator))
    return _read(text, best, limits).document("csv")


def read_tsv(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the table. Raises `CannotRead`."""
    return _read(decoded(data), "\t", limits).document("tsv")


def _columns(text: str, separator: str) -> tuple[int, int]:
    """Return how many of the first rows have the commonest number of columns, where that is more
    than one, and that number."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        widths = [len(row) for row in islice(rows, _SAMPLE) if row]
    except csv.Error:
        return 0, 0
    wide = [width for width in widths if width > 1]
    commonest = max(wide, key=wide.count, default=0)
    return wide.count(commonest), commonest


def _read(text: str, separator: str, limits: DocumentLimits) -> Pages:
    csv.field_size_limit(MAX_FIELD)
    pages = Pages(limits)
    try:
        add_rows(pages, "", csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error:
        raise CannotRead("damaged") from None
    return pages
