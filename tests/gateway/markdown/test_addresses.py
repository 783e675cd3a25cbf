"""Bare addresses begin and end where a reader sees them begin and end."""

from gateway.markdown.parse import parse
from gateway.markdown.tree import Paragraph
from tests.support.for_each import for_each

ADDRESSES = {
    "请看https://example.com/a，再见 (http://example.org/z)。": "https://example.com/a http://example.org/z",
    "https://example.com/路径。请看": "https://example.com/路径",
    "（https://a.b/c）": "https://a.b/c",
    "访问 https://example.com/docs（中文说明）了解": "https://example.com/docs",
    "中文https://e.org英文": "https://e.org",
    "**https://e.org/x/31**。做 PR-2": "https://e.org/x/31",
    "**https://e.org/x/31**做PR": "https://e.org/x/31",
    "https://example.com에서 확인": "https://example.com",
    "https://example.com/qux、続き。": "https://example.com/qux",
    "こちら→https://e.org": "https://e.org",
    "ดูhttps://example.com/ไทย ครับ": "https://example.com/ไทย",
    "https://例え.jp/あ です": "https://例え.jp/あ",
    "“https://e.org/b” 「https://e.org/c」": "https://e.org/b https://e.org/c",
    "انظر https://e.org/a، ثم": "https://e.org/a",
    "https://e.org/a_(b)_c, ok": "https://e.org/a_(b)_c",
    "https://e.org/__init__.py": "https://e.org/__init__.py",
    "https://e.org/C%C3%A9?x=*&y=~z!": "https://e.org/C%C3%A9?x=*&y=~z",
    "xhttp://e.org http:// https://.": "",
}


@for_each(("markdown", "addresses"), ADDRESSES.items())
def test_an_address_is_neither_cut_nor_followed_by_prose(markdown: str, addresses: str) -> None:
    (paragraph,) = parse(markdown)
    assert isinstance(paragraph, Paragraph)
    assert " ".join(run.link for run in paragraph.runs if run.link) == addresses


MASKED = (
    "[https://a.example](https://b.example)",
    "[see **https**://a.example/x](https://b.example)",
    "[www.a.example](https://b.example)",
    "[https://b.example.a.example](https://b.example)",
    "[https://a.example](https://b.example@c.example)",
    '<a href="https://b.example">https://a.example</a>',
    "![https://a.example](https://b.example)",
    "[https://a.example](mailto:x@b.example)",
)
TRUE = (
    "[https://a.example](https://www.a.example/x?y=z)",
    "[see https://a.example, now](https://a.example)",
    "[https://a.example:80/x](https://a.example:80/x)",
    "[https://münchen.de](https://münchen.de)",
    "[README.md](https://a.example)",
    "<https://a.example/x>",
)


def has_link(text: str) -> bool:
    return any(
        run.link for block in parse(text) if isinstance(block, Paragraph) for run in block.runs
    )


@for_each("text", list(MASKED))
def test_the_text_of_a_link_names_no_other_host(text: str) -> None:
    assert not has_link(text)
    (block,) = parse(text)
    assert isinstance(block, Paragraph)
    assert "b.example" in "".join(run.text for run in block.runs).replace("b.example.a", "")


@for_each("text", list(TRUE))
def test_a_link_whose_text_is_true_stays_a_link(text: str) -> None:
    assert has_link(text)
