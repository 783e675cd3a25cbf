"""The visible part of an unfinished answer, and its form."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.outbound.live.message import MAX_SOURCE, PartialText, RenderedText
from gateway.people import Audience
from gateway.platforms import discover, renderer_of
from gateway.policy.response_filter import filter_response
from tests.support.property_cases import cases

SECRET = "sk-ant-api03-" + "aB3dE5fG7hJ9kL2m" * 6


def text(audience: Audience = Audience.DIRECT, platform: str = "discord") -> PartialText:
    return PartialText(audience, renderer_of(discover().manifests[platform]))


def sheet_of(text: PartialText) -> RenderedText | None:
    return asyncio.run(text.render())


def text_of(text: PartialText) -> str:
    text.read()
    rendered = sheet_of(text)
    return rendered.part.text if rendered is not None else ""


def test_open_markup_is_closed_and_started_markup_is_omitted() -> None:
    made = text()
    made.write("Some **bold words and ```")
    made.read()
    rendered = sheet_of(made)
    assert rendered is not None
    assert str(rendered.part.payload) == "Some **bold words and**"


def test_each_update_names_the_new_markdown() -> None:
    made = text()
    added = []
    for piece in ("one ", "two ", "three"):
        made.write(piece)
        made.read()
        rendered = sheet_of(made)
        assert rendered is not None
        added.append(rendered.added)
        made.mark_shown(rendered)
    assert added == ["one ", "two ", "three"]


def test_text_that_was_not_shown_is_named_again() -> None:
    made = text()
    for piece in ("one ", "two "):
        made.write(piece)
        made.read()
        rendered = sheet_of(made)
    assert rendered is not None
    assert rendered.added == "one two "


def test_the_same_text_again_names_nothing_new() -> None:
    made = text()
    made.write("one")
    made.read()
    first = sheet_of(made)
    assert first is not None
    made.mark_shown(first)
    again = sheet_of(made)
    assert again is not None
    assert (again.part, again.added) == (first.part, "")


def test_markup_without_text_is_not_shown() -> None:
    made = text()
    made.write("***")
    made.read()
    assert sheet_of(made) is None


@pytest.mark.parametrize("platform", ["discord", "telegram", "slack", "web"])
def test_at_most_one_message_is_shown(platform: str) -> None:
    made = text(platform=platform)
    for number in range(3_000):
        made.write(f"Line {number}\n\n")
    assert text_of(made).startswith("Line 0")
    before = made.read()
    made.write("x" * 100_000)
    assert made.read() == before <= MAX_SOURCE


def test_the_shown_text_can_be_closed() -> None:
    made = text()
    made.write("Shown **so")
    made.read()
    rendered = sheet_of(made)
    assert rendered is not None
    made.mark_shown(rendered)
    made.write(" far** and not this")
    (part,) = made.closed("_(Stopped.)_")
    assert part.payload == "Shown **so**\n\n_(Stopped.)_"


def test_without_shown_text_only_the_mark_is_shown() -> None:
    (part,) = text().closed("_(Stopped.)_")
    assert part.text == "(Stopped.)"


@settings(max_examples=cases(200), deadline=None)
@given(
    before=st.text(alphabet="ab \n*`", max_size=40),
    cuts=st.lists(st.integers(1, 40), max_size=20),
)
def test_no_part_of_a_secret_is_shown_in_a_public_room(before: str, cuts: list[int]) -> None:
    written = f"{before} {SECRET} and more"
    if not filter_response(written, Audience.PUBLIC_ROOM).blocked:
        return
    made, at = text(Audience.PUBLIC_ROOM), 0
    for size in [*cuts, len(written)]:
        made.write(written[at : at + size])
        at += size
        assert SECRET[:8] not in text_of(made)


HALF, OTHER_HALF = "AKIAIO", "SFODNN7EXAMPL3"


@pytest.mark.parametrize("platform", ["discord", "slack", "telegram", "whatsapp"])
@pytest.mark.parametrize(
    "answer",
    [
        f'{HALF}<img alt="{OTHER_HALF}">',
        f'<img alt="{HALF}">{OTHER_HALF}',
        f"<https://e.org/{HALF}>{OTHER_HALF}",
        f"${HALF}\\left.{OTHER_HALF}\\right.$",
    ],
)
def test_a_key_that_rendering_joins_is_not_shown_in_a_public_room(
    answer: str, platform: str
) -> None:
    made = text(Audience.PUBLIC_ROOM, platform)
    seen = []
    for letter in f"Here it is: {answer} and a word after it":
        made.write(letter)
        seen.append(text_of(made))
    assert "AKIAIOS" not in "".join(seen)
    assert seen[-1].startswith("Here it is:")
    open_to_all = text(Audience.PRIVATE_ROOM, platform)
    open_to_all.write(answer)
    assert "AKIAIOS" in text_of(open_to_all)


@pytest.mark.parametrize("platform", ["discord", "slack", "telegram", "whatsapp"])
def test_a_text_for_two_messages_is_shown_in_a_public_room(platform: str) -> None:
    made = text(Audience.PUBLIC_ROOM, platform)
    made.write("One line of a long answer about whales.\n\n" * 1_000)
    assert len(text_of(made)) > 1_500
