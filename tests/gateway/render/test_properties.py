"""For every text of a model no text is lost, every part is valid and fits, and rendering never
fails."""

import functools
import json
import re
import string
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.markdown import tree
from gateway.markdown.parse import parse
from gateway.markdown.split import units
from gateway.markdown.text_renderer import PLAIN
from gateway.markdown.tree import CodeBlock, Heading, Paragraph, Run
from gateway.message import Part
from gateway.render import render
from tests.gateway.render.examples import EXAMPLES
from tests.gateway.render.readers import holds, letters, read, visible
from tests.support.for_each import for_each
from tests.support.property_cases import cases

pytestmark = pytest.mark.usefixtures("parsed_once")
PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]
LIMITS = {
    "discord": 2000,
    "telegram": 4096,
    "whatsapp": 4096,
    "plain": tree.PLAIN_MESSAGE,
    "web": 200_000,
}
FRAGMENTS = [
    *("**", "*", "_", "__", "~~", "||", "`", "``", "```\n", "\n```", "[", "](", ")", "!["),
    *("<", ">", "&", "\\", "\n", "\n\n", "# ", "- ", "1. ", "> ", "    ", "---\n", "- [ ] ", "~"),
    *("| a | b |\n|---|---|\n| c | d |\n", "http://e.org/a_b", "[x](http://e.org)", "@everyone"),
    *("<@1>", "a", "b c", "é", "🎉", "日本。", " ", "  \n", "|", ":", "word. Next", "\u200d"),
    "[r]: http://r.org\n",
]
markdowns = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.text(max_size=60),
    st.lists(st.sampled_from(EXAMPLES), max_size=4).map("\n\n".join),
)
long_markdowns = st.builds(
    lambda parts, times: "".join(parts) * times,
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=20)), min_size=1, max_size=12),
    st.integers(50, 400),
)


class _Text(HTMLParser):
    """The text of a page, pictures told by their text."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.found.append(dict(attrs).get("alt") or "")


def reference(markdown: str) -> str:
    """Return the text of the parser's own HTML, without our additions to Markdown."""
    options = {"html": False, "maxNesting": 100}
    md = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    page = _Text()
    page.feed(md.render(re.sub("[\ud800-\udfff]", "\ufffd", markdown)))
    return "".join(page.found)


TAGS = re.compile(r"<!--.*?-->|</?[a-z][a-z0-9]{0,9}(?: [a-z]+=[^<>]*)? ?/?>", re.DOTALL)


def unmarked(text: str) -> str:
    """Without the characters that are marks to us or to the reference and not to both."""
    for mark in ("[ ]", "[x]", "[X]", "|", "*", "_", "~~", "[^"):
        text = text.replace(mark, "")
    return TAGS.sub("", text)


seen_in = functools.lru_cache(maxsize=8)(lambda markdown: visible(parse(markdown)))
"""The visible text of a text, the same for all platforms."""


def check_everywhere(markdown: str) -> None:
    for platform in PLATFORMS:
        check(markdown, platform)


def is_complete(shown: str, seen: str, markdown: str) -> bool:
    """True when all text is there, in its order; records of a table repeat the header."""
    return holds(shown, seen) or ("|" in markdown and not Counter(letters(seen)) - Counter(shown))


def check(markdown: str, platform: str) -> list[Part]:
    """All that has to hold for any text on any platform."""
    parts = render(markdown, platform)
    assert parts == render(markdown, platform), "the same text, the same parts"
    seen = seen_in(markdown)
    assert is_complete(read(parts, platform), seen, markdown)
    assert is_complete("".join(part.text for part in parts), seen, markdown)
    for part in parts:
        assert part.text.strip()
        if platform in LIMITS:
            assert isinstance(part.payload, str)
            assert len(part.payload) <= LIMITS[platform]
            assert units(part.payload) <= LIMITS[platform] or platform == "web"
            assert units(part.text) <= LIMITS[platform]
            assert part.payload.strip()
            part.payload.encode()
        if platform == "whatsapp":
            assert str(part.payload).count("```") % 2 == 0
        if platform == "slack":
            assert isinstance(part.payload, dict)
            assert len(part.text) <= 40_000
            assert json.loads(json.dumps(part.payload)) == part.payload
    return parts


@pytest.mark.parametrize("platform", PLATFORMS)
@for_each("markdown", EXAMPLES)
def test_every_construct_is_rendered(markdown: str, platform: str) -> None:
    check(markdown, platform)


@for_each("markdown", EXAMPLES)
def test_the_tree_contains_everything_on_the_parsers_own_page(markdown: str) -> None:
    assert holds(unmarked(visible(parse(markdown))), unmarked(reference(markdown)))


@settings(max_examples=cases(300), deadline=None)
@given(markdowns)
def test_the_tree_of_any_text_loses_nothing(markdown: str) -> None:
    assert holds(unmarked(visible(parse(markdown))), unmarked(reference(markdown)))


@settings(max_examples=cases(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markdowns)
def test_any_text_is_rendered_within_the_limits(markdown: str) -> None:
    check_everywhere(markdown)


@settings(max_examples=cases(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(long_markdowns)
def test_any_long_text_is_rendered_within_the_limits(markdown: str) -> None:
    check_everywhere(markdown)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markdowns)
def test_many_generated_texts_are_rendered_within_the_limits(markdown: str) -> None:
    check_everywhere(markdown)


ESCAPED = set(string.punctuation) - set("()")
SIGNS = "ab .,*_~`|\\[]()<>#-+&@!:1é\n"


@pytest.mark.parametrize("platform", PLATFORMS)
@settings(max_examples=cases(300), deadline=None)
@given(text=st.text(alphabet=SIGNS, min_size=1, max_size=40))
def test_code_is_rendered_exactly(platform: str, text: str) -> None:
    fence = "`" * 41
    shown = read(render(f"{fence}\n{text}\n{fence}", platform), platform)
    assert letters(shown) == letters(text)


@pytest.mark.parametrize("platform", ["discord", "telegram", "slack", "web", "plain"])
@settings(max_examples=cases(300), deadline=None)
@given(text=st.text(alphabet=SIGNS.replace("\n", ""), min_size=1, max_size=40))
def test_literal_text_is_rendered_exactly(platform: str, text: str) -> None:
    # An escaped parenthesis begins a formula.
    escaped = "".join(f"\\{char}" if char in ESCAPED else char for char in text)
    shown = read(render(escaped, platform), platform)
    assert letters(shown) == letters(text)


@settings(max_examples=cases(200), deadline=None)
@given(markdowns)
def test_plain_text_without_markup_is_unchanged(markdown: str) -> None:
    assert holds(PLAIN.document(parse(markdown)), visible(parse(markdown)))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_text_beyond_the_maximum_is_rendered_literally(platform: str) -> None:
    text = "**x** " * (tree.MAX_SOURCE // 6 + 1)
    assert "".join("".join(part.text for part in render(text, platform)).split()) == "".join(
        text.split()
    )


@for_each("markdown", ["", " ", "\n\n\t\n", "\u00a0"])
@for_each("platform", PLATFORMS)
def test_a_text_without_visible_characters_gives_no_message(markdown: str, platform: str) -> None:
    assert render(markdown, platform) == []


def test_the_tree_is_small_and_frozen() -> None:
    heading, paragraph, code = parse("# a\n\n*b*\n\n```py\nc\n```")
    assert heading == Heading(1, (Run("a"),))
    assert paragraph == Paragraph((Run("b", italic=True),))
    assert code == CodeBlock("c", "py")
