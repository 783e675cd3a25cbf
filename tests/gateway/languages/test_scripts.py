"""The sentences of scripts in pages."""

import gettext
import json

from gateway.languages.catalogue import key_of, translations_of
from gateway.languages.formats import formats_of
from gateway.languages.scripts import block, script, sentences_of
from gateway.text import ENGLISH, Language, Sentence

SOURCE = """
say("Sent \\"twice\\" {at}", { at: when });
assay("no sentence");
say_count("{count} file", "{count} files",
  { count: files.length });
say(variable);
"""
POLISH = "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"


def polish() -> Language:
    catalogue = {
        "": f"Plural-Forms: {POLISH}\n",
        'Sent "twice" {at}': "Wysłano </script> {at}",
        key_of("{count} file", "{count} files"): "{count} plik\0{count} pliki\0{count} plików",
    }
    return Language("pl", translations_of(catalogue), formats_of("pl"))


def test_the_sentences_of_a_script_are_those_of_its_calls() -> None:
    once, counts = Sentence('Sent "twice" {at}'), Sentence("{count} file", (), "{count} files")
    assert sentences_of(SOURCE) == {once, counts}


def test_the_page_gets_each_sentence_and_the_form_for_each_number() -> None:
    found = json.loads(block(polish(), sentences_of(SOURCE)))
    assert found["said"] == {'Sent "twice" {at}': "Wysłano </script> {at}"}
    counts = found["counted"]["{count} file"]
    shown = [counts["forms"][counts["places"][n]] for n in (1, 2, 5, 12, 22, 112)]
    assert shown == [
        "{count} plik",
        "{count} pliki",
        "{count} plików",
        "{count} plików",
        "{count} pliki",
        "{count} plików",
    ]


def test_no_sentence_brings_an_element() -> None:
    assert "<" not in block(polish(), sentences_of(SOURCE))


def test_sentences_that_are_the_same_in_english_are_left_out() -> None:
    untranslated = Language("da", gettext.NullTranslations(), formats_of("en"))
    for language in (ENGLISH, untranslated):
        assert json.loads(block(language, sentences_of(SOURCE))) == {}


def test_the_script_is_in_the_package() -> None:
    assert b"globalThis.say_count" in script()
