"""Formatting is shown, and nothing a person writes becomes HTML."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.whatsapp.format import look


@pytest.mark.parametrize(
    ("text", "html", "plain"),
    [
        ("*b* _i_ ~s~ `c`", "<b>b</b> <i>i</i> <s>s</s> <code>c</code>", "b i s c"),
        ("*_both_*", "<b><i>both</i></b>", "both"),
        ("2*3*4 snake_case_name", "2*3*4 snake_case_name", "2*3*4 snake_case_name"),
        ("* not bold*", "• not bold*", "• not bold*"),
        ("- a\n- *b*", "• a<br>• <b>b</b>", "• a\n• b"),
        ("> said", "<q>said</q>", "said"),
        ("```x = *1*\ny```", "<code>x = *1*<br>y</code>", "x = *1*\ny"),
        ("`a*b*` <i>", "<code>a*b*</code> &lt;i&gt;", "a*b* <i>"),
        ("https://x.example/a_b_c", "https://x.example/a_b_c", "https://x.example/a_b_c"),
    ],
)
def test_formatting_marks_are_displayed(text: str, html: str, plain: str) -> None:
    seen = look(text)
    assert (seen.html, seen.plain) == (html, plain)


class Tags(HTMLParser):
    """Collects tags and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += len(attrs)


@given(st.text("*_~`> -\n<&\"'abc</script>", max_size=200))
def test_the_html_contains_only_its_own_tags(text: str) -> None:
    seen = Tags()
    seen.feed(look(text).html)
    assert seen.tags <= {"b", "i", "s", "code", "q", "br"}
    assert seen.attributes == 0
