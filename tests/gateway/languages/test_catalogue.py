"""Catalogues are read as gettext and Babel read them; a damaged one names its line."""

import gettext
import io
import time

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import write_po
from hypothesis import given
from hypothesis import strategies as st

from gateway.languages.catalogue import (
    MAX_BYTES,
    CatalogueError,
    catalogue_of,
    key_of,
    translations_of,
)
from tests.support.for_each import for_each
from translation.languages import LANGUAGES, plural_header

words = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\x04\r\x85\u2028\u2029"), min_size=1
)
entries = st.tuples(words, words, st.none() | st.sampled_from(["button", "command"]))


@given(st.lists(entries, max_size=8, unique_by=lambda entry: entry[0]), st.sampled_from(LANGUAGES))
def test_a_file_is_read_as_babel_compiles_it(
    rows: list[tuple[str, str, str | None]], name: str
) -> None:
    catalog = Catalog(locale=name, fuzzy=False)
    for msgid, msgstr, context in rows:
        catalog.add(msgid, msgstr, context=context, user_comments=["a\nb"])
    catalog.add(("{count} day", "{count} days"), tuple("abcdef"[: catalog.num_plurals]))
    po, mo = io.BytesIO(), io.BytesIO()
    write_po(po, catalog)
    write_mo(mo, catalog)
    read = translations_of(catalogue_of(po.getvalue().decode()))
    expected = gettext.GNUTranslations(io.BytesIO(mo.getvalue()))
    for msgid, _, context in rows:
        assert key_of(msgid, "", context or "") in catalogue_of(po.getvalue().decode()) or not msgid
        found = read.pgettext(context, msgid) if context else read.gettext(msgid)
        assert found == (expected.pgettext(context, msgid) if context else expected.gettext(msgid))
    for number in (0, 1, 2, 3, 5, 11, 21, 1_000_000):
        one = ("{count} day", "{count} days", number)
        assert read.ngettext(*one) == expected.ngettext(*one)


def test_a_fuzzy_sentence_is_left_out() -> None:
    po = 'msgid "a"\nmsgstr "b"\n\n#, fuzzy\nmsgid "c"\nmsgstr "d"\nmsgid "e"\nmsgstr "f"\n'
    assert catalogue_of(po) == {"a": "b", "e": "f"}


def test_a_sentence_without_a_translation_is_left_out() -> None:
    assert catalogue_of('msgid "a"\nmsgstr ""\n') == {}


@for_each(
    "po, line",
    [
        ("hello", "Line 1"),
        ('msgid "a"\nmsgstr "b"\nmsgid "a"\nmsgstr "c"\n', "stands twice"),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', "Line 2"),
        ('msgid "a"\n', "no msgstr"),
        ('msgstr "a"\n', "no msgid"),
        ('msgid "a\nmsgstr "b"\n', "Line 1"),
        ('"a"\n', "Line 1"),
        ("#" * (MAX_BYTES + 1), "characters"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(po: str, line: str) -> None:
    with pytest.raises(CatalogueError, match=line):
        catalogue_of(po)


@for_each(
    "header",
    [
        'nplurals=2; plural=__import__("os");',
        "nplurals=2; plural=" + "(" * 200 + "n",
        "nplurals=2; plural=1/n",
        "nonsense",
        "nplurals=2; plural=" + "n+" * 500 + "n",
    ],
)
def test_a_wrong_plural_rule_is_refused(header: str) -> None:
    with pytest.raises(CatalogueError, match="Plural-Forms"):
        translations_of({"": f"Plural-Forms: {header}\n"})


def test_a_plural_rule_that_fails_for_one_number_shows_english_there() -> None:
    days = key_of("{count} day", "{count} days")
    rule = "Plural-Forms: nplurals=2; plural=n/(n-500);\n"
    read = translations_of({"": rule, days: "{count} dag\0{count} dage"})
    assert read.ngettext("{count} day", "{count} days", 0) == "{count} dag"
    assert read.ngettext("{count} day", "{count} days", 500) == "{count} days"


def test_a_file_of_the_greatest_size_is_read_in_time_that_grows_with_its_size() -> None:
    def seconds(lines: int) -> float:
        began = time.process_time()
        assert len(catalogue_of('msgid "a"\nmsgstr ""\n' + '"xx"\n' * lines)["a"]) == 2 * lines
        return time.process_time() - began

    assert seconds(390_000) < 60 * seconds(19_500)


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_plural_rule_of_each_language_is_read(name: str) -> None:
    translations_of({"": f"Plural-Forms: {plural_header(name)}\n"})
