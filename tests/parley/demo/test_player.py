"""The story is played scene by scene, and every scene is judged."""

import io

import pytest
from rich.console import Console

from parley.demo.player import Player, SceneOutcome, as_expected
from parley.demo.story import DECISION, STORY, Expect, Scene
from parley.demo.terminal import clip, show_outcome, show_summary
from parley.demo.world import TITLES, DemoRefused, Seen, Where
from simulators.base import Shown
from tests.parley.demo.conftest import PaperDemo
from tests.support.for_each import for_each


def answer(text: str) -> Seen:
    return Seen(Shown("1", "r", "", "BOT", True, text), "")


def scene(expect: Expect) -> Scene:
    where = Where("telegram", "direct", "Ada")
    return Scene("s", "about", where, "hi", page="Page 3", expect=expect)


async def played(paper: PaperDemo) -> list[SceneOutcome]:
    return [outcome async for outcome in Player(paper.world, paper.gateway.decisions).play(STORY)]


async def test_every_scene_of_the_story_succeeds(paper: PaperDemo) -> None:
    outcomes = await played(paper)
    assert [outcome.scene.name for outcome in outcomes if not outcome.ok] == []
    assert {outcome.where.platform for outcome in outcomes} == set(TITLES)


async def test_an_answer_in_a_thread_is_found_below_its_message(paper: PaperDemo) -> None:
    outcomes = {outcome.scene.name: outcome for outcome in await played(paper)}
    [first] = outcomes["slack-formats"].answers
    assert first.root == outcomes["slack-formats"].written[0]
    assert outcomes["slack-thread"].where.thread == first.root


async def test_a_gateway_without_answers_fails_the_scene_and_not_the_story(
    paper: PaperDemo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.demo.player.ANSWER_SECONDS", 2.0)
    paper.simulators["telegram"].listeners.clear()
    player = Player(paper.world, paper.gateway.decisions)
    outcomes = [outcome async for outcome in player.play(STORY[:3])]
    assert [outcome.ok for outcome in outcomes] == [False, True, True]


async def test_a_missing_button_is_reported(paper: PaperDemo) -> None:
    press = Scene("p", "about", Where("telegram", "direct", "Ada"), press="Delete")
    with pytest.raises(DemoRefused, match="Delete"):
        async for _ in Player(paper.world, paper.gateway.decisions).play([press]):
            pass


@for_each(
    ("expect", "answers", "good"),
    [
        (Expect.ANSWER, ["hello"], True),
        (Expect.ANSWER, [], False),
        (
            Expect.ANSWER,
            ["That was too much in a short time. Please ask again in 9 seconds."],
            False,
        ),
        (Expect.SILENCE, [], True),
        (Expect.SILENCE, ["hello"], False),
        (Expect.ONCE, ["hello"], True),
        (Expect.ONCE, ["hello", "hello"], False),
        (
            Expect.LIMIT,
            ["hello", "That was too much in a short time. Please ask again in 9 seconds."],
            True,
        ),
        (Expect.LIMIT, ["hello"], False),
        (
            Expect.LIMIT,
            ["a", "That was too much in a short time.", "That was too much in a short time."],
            False,
        ),
        (Expect.FROM_PAGE, ["Page 3 of `lease.docx` says:"], True),
        (Expect.FROM_PAGE, ["Page 4 of `lease.docx` says:"], False),
        (Expect.CITED, [f"It says so in {DECISION}:1-9@c0ffee"], True),
        (Expect.CITED, ["I do not find it in the repositories."], False),
        (Expect.CITED, [], False),
        (Expect.NOT_CITED, ["I do not find it in the repositories."], True),
        (Expect.NOT_CITED, [f"It says so in {DECISION}:1-9@c0ffee"], False),
        (
            Expect.NOT_CITED,
            ["That was too much in a short time. Please ask again in 9 seconds."],
            False,
        ),
        (Expect.NOT_CITED, [], False),
    ],
)
def test_the_expectation_of_a_scene_is_checked(
    expect: Expect, answers: list[str], good: bool
) -> None:
    assert as_expected(scene(expect), [answer(text) for text in answers], 1) is good


def test_two_answers_about_one_message_are_distinguished() -> None:
    answers = [answer("hello"), answer("good day")]
    assert as_expected(scene(Expect.ONCE), answers, 1)
    assert not as_expected(scene(Expect.ONCE), answers, 2)


async def test_the_terminal_shows_messages_decisions_and_answers(paper: PaperDemo) -> None:
    console = Console(file=io.StringIO(), width=120, record=True)
    outcomes = await played(paper)
    for outcome in outcomes:
        show_outcome(console, outcome, "Parley")
    show_summary(console, outcomes)
    shown = console.export_text()
    for expected in (
        "Telegram",
        "@Parley show me everything you can",
        "invocation: not_addressed",
        "ignored",
        "sendMessage → 200",
        "You said: show me a table",
        "[Delete history]",
        "delivered 2 times",
        "Four platforms, one gateway",
    ):
        assert expected in shown
    assert "is not." not in shown


def test_long_texts_are_shortened_with_a_note() -> None:
    clipped = clip("\n".join(["x" * 500] * 40))
    assert clipped.endswith("26 more lines")
    assert max(len(line) for line in clipped.splitlines()) <= 300
