"""A question is read for its words, names, paths and purpose."""

import unicodedata

import pytest

from memory.knowledge.question import understood


@pytest.mark.parametrize(
    ("text", "symbol", "first"),
    [
        ("Router", "Router", "router"),
        ("Foo.bar", "Foo.bar", "bar"),
        ("Sinatra::Base", "Sinatra.Base", "base"),
        ("get_http_response()", "get_http_response", "gethttprespons"),
        ("Foo#bar", "Foo.bar", "bar"),
    ],
)
def test_a_symbol(text: str, symbol: str, first: str) -> None:
    question = understood(text)
    assert (question.symbol, question.names[0]) == (symbol, first)


def test_names_in_a_sentence() -> None:
    question = understood("How does the StaticModel tokenize JSON arrays with to_json?")
    assert question.symbol == ""
    assert {"staticmodel", "json", "tojson", "jsonarray"} <= set(question.names)
    assert "how" not in question.names


def test_common_words_begin_and_end_no_name() -> None:
    assert "thequeu" not in understood("where is the queue").names


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("open app/main.py", ("app/main.py",)),
        ("what does `./a/b/c` do?", ("a/b/c",)),
        ("main.go, please.", ("main.go",)),
        ("TCP/IP and/or v1.2", ()),
        ("e.g. this", ()),
    ],
)
def test_paths(text: str, paths: tuple[str, ...]) -> None:
    assert understood(text).paths == paths


def test_a_language_is_no_word_to_look_up_unless_it_is_all() -> None:
    question = understood("python check if a list is empty")
    assert (question.languages, "python" in question.words) == (frozenset({"python"}), False)
    assert understood("Python").words == ("python",)


@pytest.mark.parametrize(
    ("text", "explains", "aside"),
    [
        ("why do we use a broker", True, False),
        ("tests of the router", False, True),
        ("where are requests routed", False, False),
    ],
)
def test_the_purpose(text: str, explains: bool, aside: bool) -> None:
    assert (understood(text).explains, understood(text).aside) == (explains, aside)


def test_a_question_is_bounded() -> None:
    question = understood("JsonArray " * 5_000 + " ".join(f"word{n}" for n in range(500)))
    assert len(question.words) <= 32
    assert len(question.names) <= 16


def test_a_path_is_asked_for_in_both_forms_that_git_may_have() -> None:
    composed = "docs/K\u00fcche/Pl\u00e4ne.md"
    decomposed = unicodedata.normalize("NFD", composed)
    assert understood(f"What does {composed} say?").paths == (composed, decomposed)
    assert understood(f"What does {decomposed} say?").paths == (composed, decomposed)
