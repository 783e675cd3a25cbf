"""An installation speaks the languages of Parley and those that its operator adds."""

import os
import threading
from pathlib import Path

import pytest

from gateway.languages.installed import LanguageError, LanguagePolicy, Languages, Worded
from gateway.text import DAYS, SECONDS, Language, text, verbatim
from tests.support.for_each import for_each

DANISH = """
msgid ""
msgstr "Plural-Forms: nplurals=2; plural=n != 1;\\n"

msgid "{count} day"
msgid_plural "{count} days"
msgstr[0] "én dag"
msgstr[1] "{count} dage"
"""


def test_every_language_of_parley_is_offered() -> None:
    offered = Languages(LanguagePolicy()).offered
    assert offered[0] == "en"
    assert {"de", "ar", "ja", "zh_Hans", "zh_Hant"} < set(offered)


def test_a_language_that_is_not_offered_is_shown_in_the_default() -> None:
    languages = Languages(LanguagePolicy(default="de", offered=("de", "fr")))
    assert languages.named("ja").code == "de"
    assert languages.fitting("ja-JP") == ""
    assert languages.fitting("fr-CA") == "fr"
    assert languages.named("en").code == "en"


def test_an_operator_adds_a_language_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "da.po").write_text(DANISH, encoding="utf-8")
    languages = Languages(LanguagePolicy(default="da"), tmp_path)
    languages.check()
    assert languages.fitting("da-DK") == "da"
    assert languages.named("da").shown(DAYS.of(count=1)) == "én dag"
    assert languages.named("da").shown(text("Not translated.")) == "Not translated."


def test_an_operator_words_a_sentence_anew() -> None:
    worded: dict[str, Worded] = {"{count} day": ("{count} Tag", "{count} Tage hindurch")}
    english: dict[str, Worded] = {"{count} second": ("one tick", "{count} ticks")}
    languages = Languages(LanguagePolicy(sentences={"de": worded, "en": english}))
    languages.check()
    assert languages.named("de").shown(DAYS.of(count=3)) == "3 Tage hindurch"
    assert languages.named("en").shown(SECONDS.of(count=3)) == "3 ticks"
    assert SECONDS.of(count=3).english == "3 seconds"


@for_each(
    "policy, problem",
    [
        ({"default": "xx"}, 'no language "xx"'),
        ({"places": {"slack:T1": "da"}}, 'no language "da"'),
        ({"sentences": {"de": {"No such sentence.": "Nein."}}}, "no sentence"),
        ({"sentences": {"de": {"{count} day": "Tag"}}}, "1 forms instead of 2"),
        ({"sentences": {"de": {"{count} day": ("{n} Tag", "{n} Tage")}}}, "unknown hole {n}"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(
    policy: dict[str, object], problem: str
) -> None:
    with pytest.raises(LanguageError, match=problem):
        Languages(LanguagePolicy.model_validate(policy)).check()


@for_each(
    "content, problem",
    [
        (b"\xff", "da.po"),
        (b"hello", "Line 1"),
        (DANISH.replace("dage", "{who}").encode(), "unknown hole {who}"),
        (DANISH.replace("n != 1", "1/n").encode(), "Plural-Forms"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "da.po").write_bytes(content)
    with pytest.raises(LanguageError, match=problem):
        Languages(LanguagePolicy(), tmp_path).check()


def test_words_of_people_are_no_part_of_a_pattern() -> None:
    languages = Languages(LanguagePolicy())
    assert languages.named("de").shown(verbatim("{count} day")) == "{count} day"


async def test_a_catalogue_is_read_in_a_thread_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading one takes the processor for tens of milliseconds."""
    languages, threads = Languages(LanguagePolicy()), list[int]()
    read = Languages._loaded

    def noted(self: Languages, name: str, context: str = "") -> Language:
        threads.append(threading.get_ident())
        return read(self, name, context)

    monkeypatch.setattr(Languages, "_loaded", noted)
    for _ in range(2):
        assert (await languages.loaded("de")).code == "de"
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


def test_only_files_are_read_as_languages(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "da.po")  # a reader would wait for its writer
    (tmp_path / "nb.po").mkdir()
    languages = Languages(LanguagePolicy(), tmp_path)
    languages.check()
    assert not {"da", "nb"} & set(languages.offered)
