"""XLSX: each sheet as a table, with the values that the program computed last."""

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice, zip_longest
from typing import Any, Final

import openpyxl

from gateway.documents.archive import Archive, refuse_declarations
from gateway.documents.model import DocumentLimits, ReadDocument
from gateway.documents.pages import MAX_COLUMNS, Pages, add_rows

MAX_ROWS: Final = 200_000
"""Rows of a sheet that are looked at; empty ones may be declared by the million."""
MAX_EMPTY: Final = 5_000
"""Empty rows in a row, after which nothing more is expected."""


def read_xlsx(archive: Archive, data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return the workbook. Raises `CannotRead`."""
    computed = _checked(archive)
    options = {"read_only": True, "keep_links": False}
    values = openpyxl.load_workbook(io.BytesIO(data), data_only=True, **options)
    formulas = openpyxl.load_workbook(io.BytesIO(data), **options) if computed else None
    pages = Pages(limits)
    for sheet in values.worksheets:
        hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
        other = formulas[sheet.title] if formulas is not None else None
        add_rows(pages, f"sheet {sheet.title[:40]}{hidden}", _rows(sheet, other))
        if pages.full:
            break
    return pages.document("xlsx", title=archive.title(), left_out=archive.left_out())


def _checked(archive: Archive) -> bool:
    """Count and check the parts that the library will read; return True if there are formulas."""
    found = False
    for name in archive.names:
        if name.endswith((".xml", ".rels")):
            part = archive.read(name) or b""
            refuse_declarations(part)
            found = found or b"<f>" in part or b"<f " in part
    return found


def _rows(sheet: Any, formulas: Any) -> Iterator[list[str]]:
    for each in filter(None, (sheet, formulas)):
        each.reset_dimensions()  # several programs write a wrong size
    sheets = [each.iter_rows(max_col=MAX_COLUMNS) for each in (sheet, formulas) if each is not None]
    empty = 0
    for rows in islice(zip_longest(*sheets, fillvalue=()), MAX_ROWS):
        shown = [_shown(one) for one in rows[0]]
        for at, one in enumerate(rows[-1] if formulas is not None else ()):
            if at < len(shown) and not shown[at] and one.value is not None:
                shown[at] = str(getattr(one.value, "text", one.value))
        empty = 0 if any(shown) else empty + 1
        if empty > MAX_EMPTY:
            return
        yield shown


def _shown(one: Any) -> str:
    """Return the value of a cell as people read it."""
    match one.value:
        case None:
            return ""
        case bool(value):
            return "TRUE" if value else "FALSE"
        case int(value) | float(value):
            if "%" in str(getattr(one, "number_format", "") or ""):
                return f"{value * 100:.10g} %"
            return f"{value:.15g}"
        case datetime() as value:
            whole = value.time() == time(0)
            return value.date().isoformat() if whole else value.isoformat(" ", "seconds")
        case date() | time() as value:
            return value.isoformat()
        case timedelta() as value:
            return str(value)
        case value:
            return str(value)
