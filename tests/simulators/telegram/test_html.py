"""Telegram's HTML is refused as strictly as Telegram refuses it."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.telegram.entities import Entity, find_entities, to_html, utf16_length
from simulators.telegram.html import HtmlRejected, parse_html
from tests.support.for_each import for_each


@for_each(
    ("source", "problem"),
    [
        ("<b>open", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<br>", 'Unsupported start tag "br" at byte offset 0'),
        ("ä <h1>x</h1>", 'Unsupported start tag "h1" at byte offset 3'),
        ("1 < 2", 'Unsupported start tag "" at byte offset 2'),
        ("x <b", "Unclosed start tag at byte offset 2"),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b>x</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b>x</b", "Unclosed end tag at byte offset 4"),
        ("<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'),
        ('<a href="x>y</a>', "Unclosed start tag at byte offset 0"),
        ("<a href=x/y>z</a>", "Unexpected end of name token at byte offset 8"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
        ("<i x>y</i>", 'Expected equal sign in declaration of an attribute of the tag "i"'),
        ("&#xD83D;", "Text contains invalid Unicode characters"),
    ],
)
def test_invalid_html_is_refused(source: str, problem: str) -> None:
    with pytest.raises(HtmlRejected) as caught:
        parse_html(source)
    assert str(caught.value).startswith(problem)


@for_each(
    ("source", "text", "entities"),
    [
        ("plain &lt;&amp;&gt; &quot; &#39; &copy;", "plain <&> \" ' &copy;", []),
        ("😀<b>bold</b>", "😀bold", [Entity("bold", 2, 4)]),
        ("<B>x</B>", "x", [Entity("bold", 0, 1)]),
        ("<b><i>x</i></b>", "x", [Entity("italic", 0, 1), Entity("bold", 0, 1)]),
        (
            '<pre><code class="language-python">x = 1</code></pre>',
            "x = 1",
            [Entity("pre", 0, 5, language="python")],
        ),
        (
            '<a href="https://a.example/?a=1&amp;b=2">link</a>',
            "link",
            [Entity("text_link", 0, 4, url="https://a.example/?a=1&b=2")],
        ),
        ("<blockquote expandable>q</blockquote>", "q", [Entity("expandable_blockquote", 0, 1)]),
        ("<tg-spoiler>s</tg-spoiler>", "s", [Entity("spoiler", 0, 1)]),
        ('<span class="tg-spoiler">s</span>', "s", [Entity("spoiler", 0, 1)]),
        ("<b></b>", "", []),
    ],
)
def test_valid_html_is_accepted(source: str, text: str, entities: list[Entity]) -> None:
    assert parse_html(source) == (text, tuple(entities))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaped_text_is_returned_completely(text: str) -> None:
    assert parse_html(html.escape(text, quote=False)) == (text, ())


@given(st.text())
def test_any_text_is_accepted_or_refused(text: str) -> None:
    try:
        plain, entities = parse_html(text)
    except HtmlRejected:
        return
    assert all(
        one.offset >= 0 and one.offset + one.length <= utf16_length(plain) for one in entities
    )
    assert "<script" not in to_html(plain, entities)


def test_entities_are_detected_automatically() -> None:
    text = "😀 /ask@some_bot #tag @some_user https://a.example/x. mail@a.example a/b"
    kinds = [one.kind for one in find_entities(text)]
    assert kinds == ["bot_command", "hashtag", "mention", "url", "email"]
    assert find_entities(text)[0] == Entity("bot_command", 3, 13)


def test_displayed_html_is_safe() -> None:
    evil = '<img src=x onerror="x()">'
    assert to_html(evil, ()) == html.escape(evil)
    link = (Entity("text_link", 0, 1, url='javascript:alert("1")'),)
    assert to_html("x", link) == "x"
    quoted = (Entity("text_link", 0, 1, url='https://a/"onclick="x'),)
    assert '"onclick' not in to_html("x", quoted)


def test_overlapping_entities_nest() -> None:
    crossing = (Entity("bold", 0, 4), Entity("italic", 2, 4))
    assert to_html("abcdef", crossing) == "<b>abcd</b>ef"
    inside = (Entity("bold", 0, 4), Entity("italic", 2, 2))
    assert to_html("ab😀", inside) == "<b>ab<i>😀</i></b>"
