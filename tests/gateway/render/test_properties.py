"""Whatever a model writes: nothing is lost, every part is valid and fits, nothing ever fails."""

import json
import re
import string
import time
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gateway.message import Part
from gateway.render import limits, render, render_plain
from gateway.render.cut import units
from gateway.render.parse import parse
from gateway.render.tree import CodeBlock, Heading, Paragraph, Run
from tests.gateway.render.examples import EXAMPLES
from tests.gateway.render.readers import holds, letters, read, visible

PLATFORMS = ["discord", "slack", "telegram", "whatsapp", "web", "plain"]
LIMITS = {"discord": 2000, "telegram": 4096, "whatsapp": 4096, "plain": 2000, "web": 200_000}
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
    """What the parser's own HTML shows, without our additions to Markdown."""
    options = {"html": False, "maxNesting": 100}
    md = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    page = _Text()
    page.feed(md.render(re.sub("[\ud800-\udfff]", "\ufffd", markdown)))
    return "".join(page.found)


def unmarked(text: str) -> str:
    """Without the characters that are marks to us and not to the reference."""
    for mark in ("[ ]", "[x]", "[X]", "|"):
        text = text.replace(mark, "")
    return text


def check(markdown: str, platform: str) -> list[Part]:
    """All that has to hold for any text on any platform."""
    parts = render(markdown, platform)
    assert parts == render(markdown, platform), "the same text, the same parts"
    assert holds(read(parts, platform), visible(parse(markdown)))
    assert holds("".join(part.text for part in parts), visible(parse(markdown)))
    for part in parts:
        assert part.text.strip()
        if platform in LIMITS:
            assert isinstance(part.payload, str)
            assert len(part.payload) <= LIMITS[platform]
            assert units(part.payload) <= LIMITS[platform] or platform == "web"
            assert units(part.text) <= LIMITS[platform]
            assert part.payload.strip()
            part.payload.encode()
        if platform in ("discord", "whatsapp"):
            assert str(part.payload).count("```") % 2 == 0
        if platform == "slack":
            assert isinstance(part.payload, dict)
            assert len(part.text) <= 40_000
            assert json.loads(json.dumps(part.payload)) == part.payload
    return parts


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("markdown", EXAMPLES, ids=repr)
def test_every_construct_is_shown(markdown: str, platform: str) -> None:
    check(markdown, platform)


@pytest.mark.parametrize("markdown", EXAMPLES, ids=repr)
def test_the_tree_has_all_that_the_parsers_own_page_shows(markdown: str) -> None:
    assert holds(unmarked(visible(parse(markdown))), unmarked(reference(markdown)))


@settings(max_examples=300, deadline=None)
@given(markdowns)
def test_the_tree_of_any_text_loses_nothing(markdown: str) -> None:
    assert holds(unmarked(visible(parse(markdown))), unmarked(reference(markdown)))


@pytest.mark.parametrize("platform", PLATFORMS)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markdown=markdowns)
def test_any_text(platform: str, markdown: str) -> None:
    check(markdown, platform)


@pytest.mark.parametrize("platform", PLATFORMS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markdown=long_markdowns)
def test_any_long_text(platform: str, markdown: str) -> None:
    check(markdown, platform)


@pytest.mark.nightly
@pytest.mark.parametrize("platform", PLATFORMS)
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markdown=markdowns)
def test_any_text_many_times(platform: str, markdown: str) -> None:
    check(markdown, platform)


SIGNS = "ab .,*_~`|\\[]()<>#-+&@!:1é\n"


@pytest.mark.parametrize("platform", PLATFORMS)
@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet=SIGNS, min_size=1, max_size=40))
def test_code_is_shown_letter_by_letter(platform: str, text: str) -> None:
    fence = "`" * 41
    shown = read(render(f"{fence}\n{text}\n{fence}", platform), platform)
    assert letters(shown) == letters(text)


@pytest.mark.parametrize("platform", ["discord", "telegram", "slack", "web", "plain"])
@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet=SIGNS.replace("\n", ""), min_size=1, max_size=40))
def test_literal_text_is_shown_letter_by_letter(platform: str, text: str) -> None:
    escaped = "".join(f"\\{char}" if char in string.punctuation else char for char in text)
    shown = read(render(escaped, platform), platform)
    assert letters(shown) == letters(text)


@settings(max_examples=200, deadline=None)
@given(markdowns)
def test_plain_text_has_no_markup_to_lose(markdown: str) -> None:
    assert holds(render_plain(markdown), visible(parse(markdown)))


BEGINNINGS = {
    "table": "a|b\n-|-\n",
    "wide table": "|".join("a" * 100) + "\n" + "|".join(["-"] * 100) + "\n",
    "long cell": "|a|b|\n|-|-|\n|" + "x" * 20_000 + "|y|\n",
    "code": "```py\n",
    "long link": "[x](http://e.org/" + "y" * 5_000 + ") ",
}
SEEDS = {
    "brackets": "[",
    "pictures": "![",
    "links": "[a](",
    "stars": "*a ",
    "stars in a row": "*",
    "backticks": "` `` ``` ",
    "quotes": "> ",
    "bullets": "- ",
    "pipes": "|",
    "table": "x|y\n",
    "wide table": "x\n",
    "long cell": "|1|2|\n",
    "one word": "x",
    "long link": "word ",
    "backslashes": "\\",
    "ampersands": "&",
    "angles": "<a ",
    "lines": "ab\n",
    "code": "x = 1\n",
    "emoji": "👩\u200d👩\u200d👧",
    "definitions": "[a]: b\n",
}
NESTED = "\n".join("  " * depth + "- a" for depth in range(300))
ORDINARY = "# Title\n\nSome **bold** text, a [link](http://e.org) and `code`.\n\n- one\n- two\n\n"


def huge(name: str, size: int) -> str:
    """A text made to be slow."""
    return BEGINNINGS.get(name, "") + (SEEDS[name] * size)[:size]


def check_time(markdown: str, platform: str, seconds: float) -> None:
    """It ends in time, every part fits, and there is as much to see as there was."""
    begun = time.process_time()
    parts = render(markdown, platform)
    took = time.process_time() - begun
    assert took < seconds, f"{took:.1f} s"
    assert sum(len(part.text) for part in parts) > len(visible(parse(markdown))) * 0.5
    for part in parts:
        if platform in LIMITS:
            assert len(str(part.payload)) <= LIMITS[platform]


@pytest.mark.parametrize("platform", ["discord", "slack", "telegram"])
@pytest.mark.parametrize("name", SEEDS)
def test_the_worst_texts_take_seconds_at_most(name: str, platform: str) -> None:
    check_time(huge(name, 20_000), platform, 5)


@pytest.mark.nightly
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", SEEDS)
def test_the_worst_texts_at_full_length(name: str, platform: str) -> None:
    check_time(huge(name, limits.MAX_SOURCE - 30_000), platform, 20)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("markdown", [NESTED, "> " * 500 + "a", "- " * 500 + "a", "[" * 5_000])
def test_deep_nesting_ends(markdown: str, platform: str) -> None:
    check(markdown, platform)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_two_hundred_thousand_ordinary_characters(platform: str) -> None:
    check_time((ORDINARY * 3_000)[: limits.MAX_SOURCE], platform, 10)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_longer_text_is_shown_literally(platform: str) -> None:
    parts = render("**x** " * 50_000, platform)
    assert letters("".join(part.text for part in parts)) == "**x**" * 50_000


@pytest.mark.parametrize("markdown", ["", " ", "\n\n\t\n", "\u00a0"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_to_see_is_no_message(markdown: str, platform: str) -> None:
    assert render(markdown, platform) == []


def test_an_unknown_platform_gets_plain_text() -> None:
    assert render("# **a** `b`", "carrier-pigeon") == [Part("a b", "a b")]
    assert LIMITS["plain"] == limits.PLAIN_MESSAGE


def test_the_tree_is_small_and_frozen() -> None:
    heading, paragraph, code = parse("# a\n\n*b*\n\n```py\nc\n```")
    assert heading == Heading(1, (Run("a"),))
    assert paragraph == Paragraph((Run("b", italic=True),))
    assert code == CodeBlock("c", "py")
