"""Discord's Markdown as people see it; the HTML of every text contains no foreign markup."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulators.discord.markdown import look
from tests.support.for_each import for_each
from tests.support.property_cases import cases

ALLOWED = {
    "p", "br", "strong", "em", "u", "s", "code", "pre", "blockquote", "h1", "h2", "h3", "a",
    "span", "div", "time",
}  # fmt: skip


def name(kind: str, value: str) -> str:
    return f"{kind}{value}"


@for_each(
    ("written", "html"),
    [
        ("**a** *b* _c_", "<p><strong>a</strong> <em>b</em> <em>c</em></p>"),
        ("__d__ ~~e~~", "<p><u>d</u> <s>e</s></p>"),
        ("***both***", "<p><strong><em>both</em></strong></p>"),
        ("**a *b* c**", "<p><strong>a <em>b</em> c</strong></p>"),
        ("||spoiler||", '<p><span class="spoiler">spoiler</span></p>'),
        ("`a **b** <c>`", "<p><code>a **b** &lt;c&gt;</code></p>"),
        ("```py\nx = '<'\n```", '<pre><code class="language-py">x = &#x27;&lt;&#x27;</code></pre>'),
        ("```\n**raw**\n```", "<pre><code>**raw**</code></pre>"),
        ("`` a\n```\nb\n``` ``", "<p><code> a<br>```<br>b<br>```</code></p>"),
        ("`a`\n```\nb\n```", "<p><code>a</code></p><pre><code>b</code></pre>"),
        ("# A\n## B\n### C\n#### D", "<h1>A</h1><h2>B</h2><h3>C</h3><p>#### D</p>"),
        ("> a\n> b\nc", "<blockquote>a<br>b</blockquote><p>c</p>"),
        (">>> a\nb", "<blockquote>a<br>b</blockquote>"),
        ("snake_case_name and 2*3*4", "<p>snake_case_name and 2<em>3</em>4</p>"),
        (r"\*not\* \<b>", "<p>*not* &lt;b&gt;</p>"),
        ("| a | b |\n|---|---|", "<p>| a | b |<br>|---|---|</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        (
            "[x](https://a.b/?q=1&r=2)",
            '<p><a href="https://a.b/?q=1&amp;r=2" rel="noopener noreferrer">x</a></p>',
        ),
        (
            "see https://a.b/c.",
            '<p>see <a href="https://a.b/c" rel="noopener noreferrer">https://a.b/c</a>.</p>',
        ),
        ("<@7>", '<p><span class="mention">@user7</span></p>'),
        ("</memories:9>", '<p><span class="mention">/memories</span></p>'),
        ("</soul show:9>", '<p><span class="mention">/soul show</span></p>'),
        ("</memories>", "<p>&lt;/memories&gt;</p>"),
        ("<#8>", '<p><span class="mention">#channel8</span></p>'),
        ("2 < 3 & 4 > 1", "<p>2 &lt; 3 &amp; 4 &gt; 1</p>"),
    ],
)  # fmt: skip
def test_markup_looks_as_on_discord(written: str, html: str) -> None:
    assert look(written, name).html == html


def test_the_text_is_the_same_without_markup() -> None:
    written = "# Title\n- **one**\n  - two\n1. `three`\n> quote\n```sh\nls -l\n```\ndone"
    assert look(written, name).text == "Title\n• one\n  • two\n1. three\nquote\n\nls -l\ndone"


class Reader(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for key, value in attrs:
            assert key in {"class", "style", "href", "rel"}
            if key == "href":
                assert (value or "").startswith(("https://", "http://"))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


MARKS = [
    "*",
    "**",
    "_",
    "__",
    "~~",
    "||",
    "`",
    "```",
    "[",
    "](http://a",
    ")",
    "<",
    ">",
    "&",
    '"',
    "'",
    "\\",
    "a",
    "<@1>",
    "https://x.y",
    "<b>",
    "onclick=",
]
PIECES = st.sampled_from([*MARKS, "\n", "> ", ">>> ", "# ", "- ", " "])


@settings(max_examples=cases(300), deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_the_html_is_closed_and_contains_only_its_own_tags(written: str) -> None:
    reader = Reader()
    reader.feed(look(written, name).html)
    reader.close()
    assert reader.open == []
    assert reader.tags <= ALLOWED


@pytest.mark.parametrize("mark", ["*", "**", "_", "||", "`", "[", "> ", "<", "\\", "```"])
def test_a_hostile_text_is_rendered_quickly(mark: str) -> None:
    look((mark + "a") * 1000, name)
    look(mark * 2000, name)
