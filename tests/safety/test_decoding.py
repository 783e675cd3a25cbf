"""Texts without an escape are recognised before any search in them."""

from hypothesis import given
from hypothesis import strategies as st

from safety.decoding import _ESCAPE, _PLAIN, decoded

SEEN = [chr(code) for code in range(128)]


def test_no_plain_character_starts_an_escape_or_is_hidden() -> None:
    plain = [char for char in SEEN if _PLAIN.match(char)]
    assert set(SEEN) - set(plain) >= {"&", "%", "\\", "\0", "\x7f"}
    assert not [char for char in plain if _ESCAPE.match(f"{char}41;")]


@given(st.text(st.sampled_from([*SEEN, "\N{FULLWIDTH LATIN SMALL LETTER A}", "\N{SOFT HYPHEN}"])))
def test_a_plain_text_needs_no_decoding(text: str) -> None:
    if _PLAIN.match(text):
        assert not _ESCAPE.search(text)
        assert decoded(text).view == text


def test_an_escape_after_much_plain_text_is_found() -> None:
    assert decoded("plain " * 1_000 + "&lt;").view.endswith("<")
