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
