"""Sentences of pages as HTML."""

from datetime import UTC, datetime

import pytest
from markupsafe import Markup

from gateway.languages.catalogue import key_of, translations_of
from gateway.languages.formats import formats_of
from gateway.text import ENGLISH, Language, Verbatim, joined, text, verbatim
from parley.console.sentences import PageSentences
from parley.console.text import age, money, number, short, when

ATTACK = "<script>`**x**`"
GERMAN = {
    "": "Plural-Forms: nplurals=2; plural=(n != 1);\n",
    "Write `{command}` to **{name}** & wait.": "**{name}** bekommt `{command}` & wartet.",
    "From": "Von",
    key_of("From", context="start"): "Ab",
    key_of("1 message", "{count} messages"): "Eine Nachricht\0{count} Nachrichten",
    key_of("{count} hour ago", "{count} hours ago"): "vor {count} Stunde\0vor {count} Stunden",
    "never": "nie",
    "Closed by {name}": "<b>Von</b> {name}",
}


def german() -> PageSentences:
    return PageSentences(Language("de", translations_of(GERMAN), formats_of("de")))


def test_backticks_and_asterisks_of_a_sentence_become_elements() -> None:
    shown = german().say("Write `{command}` to **{name}** & wait.", command="/ask", name="Ben")
    assert shown == "<strong>Ben</strong> bekommt <code>/ask</code> &amp; wartet."


def test_a_sentence_without_a_translation_is_shown_in_english() -> None:
    assert german().say("Write `{command}`", command="/a") == "Write <code>/a</code>"


@pytest.mark.parametrize("hole", [ATTACK, verbatim(ATTACK)])
def test_what_fills_a_hole_is_escaped(hole: str | Verbatim) -> None:
    shown = PageSentences(ENGLISH).say("By {name}", name=hole)
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_string_in_a_hole_keeps_its_marks() -> None:
    assert PageSentences(ENGLISH).say("By {name}", name="`**x**`") == "By `**x**`"


def test_markup_in_a_hole_stays() -> None:
    link = Markup('<a href="/x">x</a>')
    assert PageSentences(ENGLISH).say("See {link}", link=link) == f"See {link}"


def test_a_hole_in_a_hole_is_not_filled() -> None:
    assert PageSentences(ENGLISH).say("{one} {two}", one="{two}", two="b") == "{two} b"


def test_a_translation_cannot_bring_elements() -> None:
    assert german().say("Closed by {name}", name="B") == "&lt;b&gt;Von&lt;/b&gt; B"


def test_the_number_chooses_the_form() -> None:
    shown = [german().say_count("1 message", "{count} messages", n) for n in (1, 1_234)]
    assert shown == ["Eine Nachricht", "1.234 Nachrichten"]


def test_the_context_chooses_the_meaning() -> None:
    assert [german().say("From"), german().say_in("start", "From")] == ["Von", "Ab"]


def test_names_are_isolated_where_the_script_runs_from_right_to_left() -> None:
    arabic = PageSentences(Language("ar", translations_of({}), formats_of("ar")))
    assert arabic.say("By {name}", name="Ben") == "By \u2068Ben\u2069"


def test_a_text_of_the_program_is_shown_in_the_language_of_the_page() -> None:
    said = joined((text("never"), verbatim(ATTACK)), " ")
    assert german().shown(said) == "nie &lt;script&gt;<code>**x**</code>"
    assert german().shown(7) == 7


def test_times_and_numbers_have_the_forms_of_the_language() -> None:
    language = german().language
    at = datetime(2026, 11, 27, 23, 31, tzinfo=UTC)
    assert "27.11.2026, 23:31 UTC" in when(at, language=language)
    assert when(None, language=language) == "nie"
    assert money(1_234_500_000, language=language) == "1.234,5000\xa0$"
    assert number(12_345, language=language) == "12.345"
    assert age(7_300, language=language) == "vor 2 Stunden"
    assert "nie" in short(text("never"), language=language)
