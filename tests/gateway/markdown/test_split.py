"""A long answer becomes several messages at the places where a person would cut it."""

import re
from typing import Any

import pytest

from gateway.markdown.split import best_cut, character_cut, units
from gateway.message import Part
from gateway.render import render
from tests.gateway.render.readers import letters, read


def texts(markdown: str, platform: str) -> list[str]:
    return [str(part.payload) for part in render(markdown, platform)]


def test_code_is_closed_and_reopened_with_its_language() -> None:
    code = "\n".join(f"value_{i} = compute({i})" for i in range(200))
    parts = texts(f"Here:\n\n```python\n{code}\n```\n\nDone.", "discord")
    assert len(parts) == 3
    assert parts[0].startswith("Here:\n\n```python\nvalue_0")
    assert all(part.endswith("```") for part in parts[:-1])
    assert all(part.startswith("```python\n") for part in parts[1:])
    assert parts[-1].endswith("```\n\nDone.")


@pytest.mark.parametrize("platform", ["telegram", "whatsapp", "slack"])
def test_every_line_of_code_stays_in_one_part(platform: str) -> None:
    lines = [f"line number {i} <of> many & more" for i in range(900)]
    shown = read(render("```\n" + "\n".join(lines) + "\n```", platform), platform)
    assert [line for line in shown.split("\n") if line] == lines


def test_a_block_that_fits_is_not_split() -> None:
    paragraphs = [f"{i} " + "word " * 90 for i in range(20)]
    for part in texts("\n\n".join(paragraphs), "discord"):
        assert all(piece.strip() in {p.strip() for p in paragraphs} for piece in part.split("\n\n"))


def test_a_long_paragraph_is_split_between_sentences() -> None:
    parts = texts("This is a sentence of some length. " * 200, "discord")
    assert len(parts) == 4
    assert all(part.endswith("length.") and part.startswith("This") for part in parts)


def test_without_sentences_a_paragraph_is_split_between_words() -> None:
    parts = texts("word " * 1000, "telegram")
    assert all(set(part.split()) == {"word"} for part in parts)


def test_bold_text_continues_in_the_next_part() -> None:
    for part in texts("**" + "bold words " * 400 + "end**", "discord"):
        assert re.fullmatch(r"\*\*[a-z ]+\*\*", part)


def test_a_split_link_keeps_its_address_in_both_parts() -> None:
    for part in texts("[" + "text " * 900 + "end](http://e.org/x)", "telegram"):
        assert part.startswith('<a href="http://e.org/x">')
        assert part.endswith("</a>")


def test_a_link_too_long_for_a_part_is_written_out() -> None:
    address = "http://e.org/" + "x" * 5000
    assert letters(read(render(f"[a]({address})", "discord"), "discord")) == f"a({address})"


def test_a_split_table_repeats_its_header() -> None:
    rows = "\n".join(f"| name {i} | {i} |" for i in range(300))
    parts = texts(f"| Name | Number |\n|:--|--:|\n{rows}", "discord")
    assert len(parts) > 2
    assert all(re.match(r"```\nName +│ +Number\n─", part) for part in parts)
    assert letters("".join(parts)).count("name299│299") == 1


def test_a_split_list_continues_its_numbers_and_repeats_no_item() -> None:
    items = "\n".join(f"{i}. item {i} " + "x " * 30 for i in range(1, 101))
    numbers = re.findall(r"(?m)^(\d+)\. item (\d+)", "\n".join(texts(items, "telegram")))
    assert numbers == [(str(i), str(i)) for i in range(1, 101)]
    long_item = "1. " + "word " * 2000 + "\n2. end"
    assert re.findall(r"(?m)^(\d)\. ", "\n".join(texts(long_item, "telegram"))) == ["1", "2"]


def test_a_split_quotation_is_a_quotation_in_every_part() -> None:
    for part in texts("\n".join(["> " + "word " * 100, ">"] * 20), "telegram"):
        assert part.startswith("<blockquote>")
        assert part.endswith("</blockquote>")
        assert part.count("blockquote") == 2


def test_a_heading_stays_with_the_following_block() -> None:
    parts = texts("a " * 700 + "\n\n# Title\n\n" + "b " * 600, "discord")
    assert [part.split("\n")[0][:7] for part in parts] == ["a a a a", "# Title"]


def test_telegram_counts_utf16_and_splits_no_character() -> None:
    family = "👩\u200d👩\u200d👧"
    parts = texts(family * 1500, "telegram")
    assert all(units(part) <= 4096 for part in parts)
    assert all(part == family * (len(part) // len(family)) for part in parts)


def blocks_of(part: Part) -> list[dict[str, Any]]:
    """The blocks of a Slack message."""
    assert isinstance(part.payload, dict)
    blocks = part.payload["blocks"]
    assert isinstance(blocks, list)
    return blocks


def test_slack_gets_a_long_table_in_several_messages() -> None:
    rows = "\n".join(f"| {i} | x |" for i in range(250))
    parts = render(f"| n | v |\n|---|---|\n{rows}", "slack")
    assert "249" in read(parts, "slack")
    assert sum(len(blocks_of(part)[0]["rows"]) - 1 for part in parts) == 250


def test_slack_gets_at_most_49_blocks_with_buttons() -> None:
    parts = render("\n\n".join("ab" for _ in range(120)), "slack")
    assert [len(blocks_of(part)) for part in parts] == [49, 49, 22]


@pytest.mark.parametrize(
    ("text", "end", "cut"),
    [
        ("one two three", 9, 7),
        ("One. Two three", 10, 8),
        ("One more. Two", 11, 9),
        ("first line\nsecond line", 15, 10),
        ("nospacesatall", 6, 6),
        ("short", 99, 5),
    ],
)
def test_the_split_is_at_the_best_boundary(text: str, end: int, cut: int) -> None:
    assert best_cut(text, end) == cut


@pytest.mark.parametrize("cluster", ["e\u0301", "👍🏽", "🇩🇪", "👩\u200d👧", "☑\ufe0f"])
def test_no_visible_character_is_split(cluster: str) -> None:
    text = "a" * 10 + cluster + "b" * 10
    for end in range(11, 10 + len(cluster)):
        assert character_cut(text, end) == 10
