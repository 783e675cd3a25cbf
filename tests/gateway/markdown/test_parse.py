"""Ordinary text is not parsed, and reads as if it were."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.markdown import parse as module
from gateway.markdown.parse import parse
from gateway.markdown.syntax import parser
from gateway.markdown.tree import Document, Paragraph, Run

PIECES = [
    *("Hello", "b c", "z", "word. Next", "example.org", "é", "日本。", "1", "- ", "1. ", "+", "#"),
    *(" ", "  ", "\t", "\n", "\n\n", "\n\n\n", "    ", "===", "---", ":", "'s", "(c)", "\u2028"),
    *("\x85", "\xa0", "http:", "//", "www.e.org", "@", "!", '"', "$", "\x0b"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def parsed(markdown: str) -> Document:
    return module._Builder().build(parser(links=True).parse(markdown))


@given(texts)
def test_text_taken_for_plain_is_parsed_identically_by_the_parser(text: str) -> None:
    assert parse(text) == parsed(text)


def test_plain_paragraphs_need_no_parser() -> None:
    text = "There is no model.\n\nYou said: hello, it's me (twice)!"
    assert module._ORDINARY.fullmatch(text)
    first, second = text.split("\n\n")
    assert parse(text) == (Paragraph((Run(first),)), Paragraph((Run(second),)))
