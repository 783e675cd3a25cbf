"""Tables in a fixed-width font fit a phone; what does not fit is a list of records."""

import pytest

from gateway.markdown.parse import parse
from gateway.markdown.table import as_records, grid, width
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import GRID_WIDTH, Table, inline_text
from gateway.render import render
from tests.support.for_each import for_each


def table_of(*lines: str) -> Table:
    header, *rows = lines
    columns = header.count("|") + 1
    (table,) = parse("\n".join((header, "|".join(["-"] * columns), *rows)))
    assert isinstance(table, Table)
    return table


def test_a_small_table_is_a_grid() -> None:
    assert grid(table_of("a|b", "1|22")) == "a │ b\n──┼───\n1 │ 22"


def test_a_long_cell_is_wrapped_in_its_column() -> None:
    table = table_of("Plan|Remark", "Basic|" + "some words " * 6)
    text = grid(table)
    assert text is not None
    lines = text.split("\n")
    assert all(width(line) <= GRID_WIDTH for line in lines)
    assert len({line.index("│") for line in lines if "│" in line}) == 1
    assert " ".join(text.split()).count("some") == 6


def test_text_without_spaces_is_wrapped_between_characters() -> None:
    text = grid(table_of("套餐|备注", "基础|包括工作日的邮件支持，并在一天之内答复所有的问题。"))
    assert text is not None
    assert all(width(line) <= GRID_WIDTH for line in text.split("\n"))
    assert not any(
        line.split("│")[-1].strip().startswith(("，", "。")) for line in text.split("\n")
    )
    assert text.startswith("套餐 │ 备注")


@for_each(
    "table",
    [
        table_of("|".join("abcdefghijklmno"), "|".join("123456789012345")),
        table_of("a|b", "Donaudampfschifffahrtsgesellschaft|Rindfleischetikettierung"),
        table_of("a|b", "1|" + "some words " * 60),
        table_of("a|b", "[name](http://example.org/a/very/long/address/indeed)|1"),
        table_of("a|b", "תפוח|3"),
        table_of("a|b", "1|تفاح"),
    ],
)
def test_what_does_not_fit_is_a_list_of_records(table: Table) -> None:
    assert grid(table) is None
    assert PLAIN.document((table,)).startswith("a: ")


def test_records_name_every_value() -> None:
    (table,) = parse("||Plan A|Plan B|\n|-|-|-|\n|Support|**yes**|\n|Price|5|[6](http://e.org)|")
    assert isinstance(table, Table)
    assert PLAIN.document(as_records(table)) == (
        "Support\nPlan A: yes\n\nPrice\nPlan A: 5\nPlan B: 6 (http://e.org)"
    )


def test_records_leave_out_empty_cells_and_lose_no_name() -> None:
    (table,) = parse("|Name|Remarks|Room|\n|-|-|-|\n|Ada||7|\n|Bob|&nbsp;||\n|||9|\n||||")
    assert isinstance(table, Table)
    assert PLAIN.document(as_records(table)) == (
        "Name: Ada\nRemarks: –\nRoom: 7\n\nName: Bob\n\nRoom: 9\n\n–"
    )


@for_each(
    ("row", "cells"),
    {
        "| `a|b` | c |": ["a|b", "c"],
        "| ``a|`|b`` | c\\|d |": ["a|`|b", "c|d"],
        "| `du -k | sort` | `|` |": ["du -k | sort", "|"],
        "| `a | b` |": ["`a", "b`"],
        "| ` | ` |": ["`", "`"],
    }.items(),
)
def test_a_bar_in_code_separates_no_cells_where_a_row_has_too_many(
    row: str, cells: list[str]
) -> None:
    (table,) = parse(f"| x | y |\n|---|---|\n{row}")
    assert isinstance(table, Table)
    assert [inline_text(cell) for cell in table.rows[0]] == cells


@pytest.mark.parametrize(
    ("text", "columns"),
    {
        "a": 1,
        "é": 1,
        "한국": 4,
        "日本。": 6,
        "👩\u200d👩\u200d👧": 2,
        "🇩🇪": 2,
        "👍🏽": 2,
        "❤\ufe0f": 2,
        "1\ufe0f⃣": 2,
    }.items(),
)
def test_the_width_is_what_a_screen_shows(text: str, columns: int) -> None:
    assert width(text) == columns


def test_columns_are_aligned_whatever_the_script() -> None:
    cells = ("日本語", "👩\u200d👩\u200d👧", "e\u0301", "สวัสดี", "❤\ufe0f", "abc")
    text = grid(table_of("a|b", *(f"{cell}|x" for cell in cells)))
    assert text is not None
    assert len({width(line[: line.index("│")]) for line in text.split("\n") if "│" in line}) == 1


@for_each("platform", ["discord", "telegram", "whatsapp"])
@for_each(
    "markdown",
    [
        "|a|b|\n|-|-|\n" + "|1|2|\n" * 200,
        "|" + "a|" * 30 + "\n|" + "-|" * 30 + "\n" + ("|" + "1|" * 30 + "\n") * 200,
        "|a|\n|-|\n" + "|long cell of many words and more of them|\n" * 50,
        "|a|b|c|\n|-|-|-|\n|1|\n|1|2|3|4|\n",
    ],
)
def test_no_line_of_a_grid_is_wider_than_a_phone(markdown: str, platform: str) -> None:
    parts = render(markdown, platform)
    lines = [line for part in parts for line in part.text.split("\n") if "│" in line]
    assert all(width(line) <= GRID_WIDTH for line in lines)
    shown = "".join(part.text for part in parts)
    assert shown.count("1") >= markdown.count("1")
