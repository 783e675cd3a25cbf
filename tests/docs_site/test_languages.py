"""The page of languages counts what each catalogue translates, and names its readers."""

from pathlib import Path

import pytest

from docs_site.reference import languages

TEMPLATE = 'msgid ""\nmsgstr ""\n\nmsgid "Yes."\nmsgstr ""\n\nmsgid "No."\nmsgstr ""\n'
HEAD = 'msgid ""\nmsgstr ""\n"Language: {name}\\n"\n"X-Read-By: {read}\\n"\n\n'


def test_every_language_is_listed_once_with_its_own_name() -> None:
    rows = [line for line in languages.languages().splitlines() if line.startswith("| ")][1:]
    files = sorted(path.stem for path in languages.CATALOGUES.glob("*.po"))
    assert sorted(row.split("`")[1] for row in rows) == sorted([*files, "en"])
    (arabic,) = [row for row in rows if "`ar`" in row]
    assert "right to left" in arabic


def test_translated_sentences_are_counted_and_fuzzy_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = {path.stem for path in languages.CATALOGUES.glob("*.po")}
    (tmp_path / "parley.pot").write_text(TEMPLATE, "utf-8")
    for name in every:
        head = HEAD.format(name=name, read="Ada Example" if name == "de" else "")
        body = (
            'msgid "Yes."\nmsgstr "Ja."\n'
            if name == "de"
            else '#, fuzzy\nmsgid "Yes."\nmsgstr "?"\n'
        )
        (tmp_path / f"{name}.po").write_text(head + body, "utf-8")
    monkeypatch.setattr(languages, "CATALOGUES", tmp_path)
    monkeypatch.setattr(languages, "missing_of", lambda kept: {"Yes.", "No."} - set(kept))
    text = languages.languages()
    assert "| German | Deutsch | `de` | left to right | 1 of 2 | Ada Example |" in text
    assert "| French | Français | `fr` | left to right | 0 of 2 |  |" in text
    assert "| English | English | `en` | left to right | all 2 |  |" in text
