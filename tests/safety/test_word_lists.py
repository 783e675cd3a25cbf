"""Lists of words are read from the text file beside a module."""

from pathlib import Path

import pytest

from safety.word_lists import phrases_of, read_word_lists

TEXT = """# Words of two languages.

[English]
one two
# also
three

[German: phrases]
ein Wort, zwei Wörter,
drei
"""


def test_lists_are_read_by_their_names_without_comments(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(TEXT, "utf-8")
    lists = read_word_lists(str(tmp_path / "words.py"))
    assert lists["English"].split() == ["one", "two", "three"]
    assert phrases_of(lists["German: phrases"]) == ["ein Wort", "zwei Wörter", "drei"]
    assert len(lists) == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"words\.txt"):
        read_word_lists(str(tmp_path / "words.py"))
