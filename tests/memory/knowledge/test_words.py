"""Identifiers are filed by their parts and as a whole, however they are written."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge.words import MAX_TERMS, MAX_WORD, telling_words, words_of


@pytest.mark.parametrize(
    "written",
    ["getHTTPResponse", "get_http_response", "GET_HTTP_RESPONSE", "get-http-response"],
)
def test_an_identifier_has_the_same_words_in_every_style(written: str) -> None:
    assert words_of(written) == ["get", "http", "respons", "gethttprespons"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("utf8Decoder", ["utf", "8", "decod", "utf8decod"]),
        ("parsing tokens", ["pars", "token"]),
        ("Foo.bar(x)", ["foo", "bar", "x"]),
        ("src/app/main.py", ["src", "app", "main", "py"]),
        ("$scope", ["scope"]),
        ("größe", ["gross"]),
        (unicodedata.normalize("NFD", "größe"), ["gross"]),
        (unicodedata.normalize("NFD", "ドキュメント"), words_of("ドキュメント")),
        (unicodedata.normalize("NFD", "배포"), words_of("배포")),
        ("部署", ["部署", "署"]),
        ("łódź", ["lodz"]),
        ("ship 🐈 it", ["ship", "it", "🐈"]),
        ("call +41 79 123 45 67", ["call", "41", "79", "123", "45", "67", "41791234567"]),
        ("__", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_question_has_no_common_words_unless_there_are_no_others() -> None:
    assert telling_words("how is the token parsed, the token?") == ("token", "pars")
    assert telling_words("where is it") == ("where", "is", "it")


@given(st.text(max_size=300))
def test_words_have_no_spaces_and_a_bounded_length(text: str) -> None:
    words = words_of(text)
    assert all(word and len(word) <= MAX_WORD and not word.isspace() for word in words)
    assert len(telling_words(text)) <= MAX_TERMS


@given(st.text(max_size=200))
def test_a_text_is_found_by_its_own_words(text: str) -> None:
    assert set(telling_words(text)) <= set(words_of(text))


def test_a_long_identifier_is_cut() -> None:
    assert max(map(len, words_of("Abc" * 40))) == MAX_WORD
