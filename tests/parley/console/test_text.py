"""Texts from outside in pages and CSV files."""

import csv
import gettext
import io
import re

import pytest
from markupsafe import Markup

from gateway.languages.formats import formats_of
from gateway.text import Language
from parley.console.text import (
    MOST,
    SHOWN,
    age,
    browser,
    csv_text,
    meaning,
    number,
    outside,
    sentence,
    short,
    when,
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "\u202egnp.exe",
    "' onmouseover='alert(1)",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_from_outside_is_no_markup(text: str) -> None:
    for shown in (str(outside(text)), str(short(text))):
        inside = shown.partition(">")[2].rpartition("<")[0]
        assert "<" not in inside
        assert '"' not in inside
        assert shown.startswith('<bdi class="outside" dir="auto">')


def test_a_long_text_is_folded_and_cut() -> None:
    assert "<details>" not in outside("x" * SHOWN)
    folded = outside("x" * (SHOWN + 1))
    assert f"Show all ({SHOWN + 1:,} characters)" in folded
    assert len(outside("x" * 1_000_000)) < SHOWN + MOST + 1_000


def test_the_short_form_is_one_line() -> None:
    assert str(short("a\nb  c" * 100, 10)).count("…") == 1
    assert "\n" not in short("a\nb")


def test_no_time_is_never() -> None:
    assert when(None) == "never"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1"])
def test_no_cell_of_a_csv_file_is_a_formula(text: str) -> None:
    [_, [cell, number]] = list(
        csv.reader(io.StringIO(csv_text(("a", "b"), [(text, -1)]), newline=""))
    )
    assert cell == f"'{text}"
    assert number == "-1"


def test_other_cells_stay_as_they_are() -> None:
    rows = [("a,b", 'say "hi"'), ("two\nlines", "x\0y")]
    read = list(csv.reader(io.StringIO(csv_text(("a", "b"), rows), newline="")))
    assert read == [["a", "b"], ["a,b", 'say "hi"'], ["two\nlines", "xy"]]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_300, "2 hours ago"),
        (172_800, "2 days ago"),
        (40_000_000, "1 year ago"),
    ],
)
def test_an_age_is_in_the_largest_unit(seconds: int, shown: str) -> None:
    assert age(seconds) == shown


def test_commands_in_a_sentence_are_code_and_nothing_is_markup() -> None:
    assert sentence("Write `/link <b>` now") == "Write <code>/link &lt;b&gt;</code> now"
    assert isinstance(sentence("`/link`"), Markup)
    assert sentence("one ` alone <i>") == "one ` alone &lt;i&gt;"


AGENTS = {
    "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0": "Firefox on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64) Chrome/131.0 Safari/537.36 Edg/131.0": "Edge on Windows",
    "Mozilla/5.0 (Linux; Android 15) Chrome/131.0 Mobile Safari/537.36": "Chrome on Android",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/604": (
        "Safari on iPhone"
    ),
    "curl/8.5.0": "another browser",
    "<script>alert(1)</script>": "another browser",
}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_browser_is_named_in_words(agent: str) -> None:
    assert re.sub("[\u2068\u2069]", "", browser(agent)) == AGENTS[agent]


def test_an_explanation_leads_to_the_pages_that_it_names() -> None:
    missing = "docs/how-to/" + "no-page.md"  # not a name for the check of all names
    shown = meaning(f"<b> `a` (docs/how-to/choose-a-model.md), {missing}.")
    link = '<a href="/docs/how-to/choose-a-model.md">how-to/choose-a-model.md</a>'
    assert str(shown) == f"&lt;b&gt; <code>a</code> ({link}), {missing}."


def test_a_number_has_the_signs_of_the_language() -> None:
    german = Language("de", gettext.NullTranslations(), formats_of("de"))
    assert [number(value, 3, language=german) for value in (0.912, 1234)] == ["0,912", "1.234"]
    assert number(1234.56) == "1,234.6"
