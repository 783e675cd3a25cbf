"""The view of people: safe HTML as in Slack, and the same as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.slack.look import html_of, mrkdwn, text_of
from simulators.slack.world import Message, World

WORLD = World("T0LOOK", "Parley")
ANNA = WORLD.person("Anna")


def shown(text: str = "", blocks: list[dict[str, Any]] | None = None) -> tuple[str, str]:
    message = Message("1.2", "C1", "U1", text, blocks or [])
    return html_of(message, WORLD), text_of(message, WORLD)


@pytest.mark.parametrize(
    ("source", "html", "text"),
    [
        ("*bold* _it_ ~no~ `a*b*`", "<b>bold</b> <i>it</i> <s>no</s> <code>a*b*</code>", None),
        ("2*3*4 snake_case_name", "2*3*4 snake_case_name", None),
        ("```x = 1\n*y*```", "<pre>x = 1\n*y*</pre>", "x = 1\n*y*"),
        ("a &lt; b &amp; c", "a &lt; b &amp; c", "a < b & c"),
        (f"<@{ANNA.id}> hi", '<span class="mention">@Anna</span> hi', "@Anna hi"),
        ("&gt; said\nthen", "<blockquote>said</blockquote>then", "said\nthen"),
        ("<javascript:alert(1)|x>", "x (javascript:alert(1))", None),
    ],
)
def test_mrkdwn_is_displayed(source: str, html: str, text: str | None) -> None:
    made, readable = shown(source)
    assert made == f"<p>{html}</p>"
    if text is not None:
        assert readable == text


def test_a_link_opens_in_another_window() -> None:
    html, text = shown("<https://example.org/?a=1&amp;b=2|our page>")
    assert 'href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer"' in html
    assert text == "our page"


def test_blocks_are_displayed() -> None:
    html, text = shown(
        "not shown",
        [
            {"type": "header", "text": {"type": "plain_text", "text": "Head & tail"}},
            {
                "type": "table",
                "rows": [
                    [{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}],
                    [{"type": "raw_text", "text": "1"}, {"type": "raw_text", "text": "<2>"}],
                ],
            },
            {
                "type": "rich_text",
                "elements": [
                    {
                        "type": "rich_text_list",
                        "style": "ordered",
                        "offset": 2,
                        "elements": [
                            {
                                "type": "rich_text_section",
                                "elements": [
                                    {"type": "text", "text": "x", "style": {"bold": True}},
                                    {"type": "user", "user_id": ANNA.id},
                                ],
                            }
                        ],
                    },
                    {
                        "type": "rich_text_preformatted",
                        "elements": [{"type": "text", "text": "a\n  b"}],
                    },
                ],
            },
        ],
    )
    assert "<h3>Head &amp; tail</h3>" in html
    assert "<th>a</th>" in html
    assert "<td>&lt;2&gt;</td>" in html
    assert '<ol class="indent-0" start="3"><li><b>x</b>' in html
    assert text == "Head & tail\na\tb\n1\t<2>\n• x@Anna\na\n  b"


def test_a_markdown_block_displays_no_html_of_its_own() -> None:
    html, _ = shown(
        blocks=[{"type": "markdown", "text": "**b** <script>x</script> ![i](http://x)"}]
    )
    assert "<strong>b</strong>" in html
    assert "<script" not in html
    assert "<img" not in html


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_no_text_becomes_a_tag(source: str) -> None:
    allowed = ("b", "i", "s", "code", "pre", "br", "blockquote", "span", "a")
    made = mrkdwn(source, WORLD.name_of)
    for piece in made.split("<")[1:]:
        name = piece.lstrip("/").split(">")[0].split(" ")[0]
        assert name in allowed, made
