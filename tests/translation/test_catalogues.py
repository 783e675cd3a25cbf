"""The files of the catalogues have the sentences of the sources, and translations that fit."""

import pytest

from gateway.languages.catalogue import catalogue_of, translations_of
from gateway.languages.installed import catalogue_problems
from translation import time_names, zone_cities
from translation.catalogues import FOLDER, files
from translation.extraction import sentences
from translation.formats import TABLE, written
from translation.languages import LANGUAGES, plural_header


def test_the_files_have_the_sentences_of_the_sources() -> None:
    outdated = [path.name for path, text in files().items() if path.read_text("utf-8") != text]
    assert outdated == [], "run `make catalogues`"
    assert {path.name for path in FOLDER.iterdir()} == {path.name for path in files()}


def test_the_table_of_formats_is_the_one_of_babel() -> None:
    assert TABLE.read_text("utf-8") == written()


def test_the_tables_of_times_and_cities_are_those_of_babel() -> None:
    assert time_names.NAMES.read_text("utf-8") == time_names.written()
    assert zone_cities.CITIES.read_text("utf-8") == zone_cities.written()


@pytest.mark.parametrize("name", LANGUAGES)
def test_each_translation_fits_its_sentence(name: str) -> None:
    catalogue = catalogue_of((FOLDER / f"{name}.po").read_text("utf-8"))
    translations_of(catalogue)
    assert list(catalogue_problems(catalogue)) == []
    assert f"Plural-Forms: {plural_header(name)}\n" in catalogue[""]


def test_a_sentence_has_one_plural() -> None:
    plurals: dict[tuple[str, str], set[str]] = {}
    for found in sentences():
        plurals.setdefault((found.msgid, found.context), set()).add(found.plural)
    assert {key: forms for key, forms in plurals.items() if len(forms) > 1} == {}
