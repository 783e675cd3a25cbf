"""Ordinary text is not parsed, and reads as if it were."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.markdown import parse as module
from gateway.markdown.parse import parse
from gateway.markdown.syntax import parser
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import Document, Paragraph, Run, Table
from tests.support.for_each import for_each

PIECES = [
    *("Hello", "b c", "z", "word. Next", "example.org", "é", "日本。", "1", "- ", "1. ", "+", "#"),
    *(" ", "  ", "\t", "\n", "\n\n", "\n\n\n", "    ", "===", "---", ":", "'s", "(c)", "\u2028"),
    *("\x85", "\xa0", "http:", "//", "www.e.org", "@", "!", '"', "$", "\x0b"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


def parsed(markdown: str) -> Document:
    return module._TreeBuilder().build(parser(links=True).parse(markdown))


@given(texts)
def test_text_taken_for_plain_is_parsed_identically_by_the_parser(text: str) -> None:
    assert parse(text) == parsed(text)


def test_plain_paragraphs_need_no_parser() -> None:
    text = "There is no model.\n\nYou said: hello, it's me (twice)!"
    assert module._ORDINARY.fullmatch(text)
    first, second = text.split("\n\n")
    assert parse(text) == (Paragraph((Run(first),)), Paragraph((Run(second),)))


@for_each(
    ("markdown", "seen"),
    {
        "```Hello world": "Hello world",
        "~~~这是代码\nx\n~~~": "这是代码\n\nx",
        "> ```py\n> x\n```# Title\n\ny": "> x\n\n# Title\n\n\ny",
        "```{r, echo=FALSE}\nx\n```": "x",
        '```py title="a.py" {1,3}\nx\n```': "x",
        "```py:src/a.py\nx\n```": "x",
        "```": "",
        "```py": "",
    }.items(),
)
def test_words_in_the_place_of_a_language_are_text(markdown: str, seen: str) -> None:
    assert PLAIN.document(parse(markdown)) == seen


def test_a_line_without_bars_ends_a_table_with_frames() -> None:
    table, after = parse("|a|b|\n|-|-|\n|1|2|\nThe text after.")
    assert isinstance(table, Table)
    assert len(table.rows) == 1
    assert after == Paragraph((Run("The text after."),))
    assert len(parse("a|b\n-|-\n1|2\n3")) == 1
