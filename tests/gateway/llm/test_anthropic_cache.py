"""The positions of cache marks in a request."""

from collections.abc import Iterator
from typing import Any

import pytest

from gateway.immutable import replace
from gateway.llm.anthropic.request import APART, LETTERS, pays_for_hour, shortest_prefix, to_body
from gateway.llm.prices import DEFAULT_PRICES
from gateway.ports import ModelMessage, ModelRequest, TextBlock, ToolSpec
from simulators.anthropic.checks import cache_marks, check_request
from tests.gateway.llm.asking import ADD, assistant, user

LONG = "a rule to follow " * 300
FIRST, SECOND, THIRD = "the first answer " * 30, "the second one " * 30, "the third question " * 30
TALK = (user("one"), assistant(FIRST), user("two"), assistant(SECOND))
ASKED = ModelRequest(
    system=LONG,
    messages=(*TALK, user(THIRD)),
    tools=(ADD,),
    system_volatile="<task>\nBake bread\n</task>",
    settled=4,
)


def marked(body: dict[str, Any]) -> list[str]:
    """The texts, and the names of tools, behind which a mark stands."""

    def blocks() -> Iterator[dict[str, Any]]:
        yield from body.get("tools", ())
        system = body.get("system", [])
        yield from system if isinstance(system, list) else []
        for message in body["messages"]:
            yield from message["content"]

    return [b.get("text") or b["name"] for b in blocks() if "cache_control" in b]


def test_marks_follow_the_stable_the_settled_and_the_latest_text() -> None:
    body = to_body(ASKED, "m")

    assert marked(body) == [LONG, SECOND, THIRD]
    assert [block["text"] for block in body["system"]] == [LONG, ASKED.system_volatile]


def test_without_tools_the_question_is_not_marked() -> None:
    assert marked(to_body(replace(ASKED, tools=()), "m")) == [LONG, SECOND]


def test_many_tools_are_marked_because_they_are_the_same_for_everybody() -> None:
    tools = tuple(ToolSpec(f"tool_{n}", "does something useful " * 20, {}) for n in range(10))

    assert marked(to_body(replace(ASKED, tools=tools), "m"))[0] == "tool_9"


def test_there_are_at_most_four_marks() -> None:
    tools = tuple(ToolSpec(f"tool_{n}", "does something useful " * 20, {}) for n in range(10))

    assert len(marked(to_body(replace(ASKED, tools=tools), "m"))) == 4


def test_a_prompt_too_short_for_every_model_has_no_marks() -> None:
    short = replace(ASKED, system="Be brief.", messages=(user("hello"),), settled=0)
    body = to_body(short, "m")

    assert not marked(body)
    assert body["system"] == f"Be brief.\n\n{ASKED.system_volatile}"


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-5-5", 512),
        ("claude-opus-4-8", 1_024),
        ("claude-opus-4-7", 2_048),
        ("claude-haiku-4-5", 4_096),
        ("claude-haiku-4-5-20251001", 4_096),
        ("one that nobody has heard of", 512),
    ],
)
def test_each_model_has_its_own_minimum_prefix(model: str, tokens: int) -> None:
    assert shortest_prefix(model) == tokens

    letters = tokens * LETTERS
    enough = replace(ASKED, system="x" * letters, messages=(user("hello"),), tools=(), settled=0)
    short = replace(enough, system="x" * (letters - 1), system_volatile="")
    assert marked(to_body(enough, model)) == [enough.system]
    assert not marked(to_body(short, model))


def test_a_part_that_is_too_short_is_cached_with_the_part_before_it() -> None:
    """Tools and rules of a fresh installation, and no history yet."""
    bare = replace(ASKED, system="y" * 700, messages=(user("hello"),), settled=0)
    tools = (ToolSpec("remember", "x" * 900, {}),)

    assert not marked(to_body(bare, "claude-sonnet-5-5"))
    assert marked(to_body(replace(bare, tools=tools), "claude-sonnet-5-5")) == [bare.system]


def test_a_history_is_marked_once_the_prompt_is_long_enough() -> None:
    talk = replace(ASKED, system="Be brief.", tools=(), messages=(*TALK, user("and then?")))

    assert not marked(to_body(talk, "claude-opus-4-8"))
    assert marked(to_body(replace(talk, system="Be brief. " * 230), "claude-opus-4-8")) == [SECOND]


def test_a_mark_close_after_another_one_is_omitted() -> None:
    hello = replace(ASKED, messages=(user("x" * (APART - 60)),), settled=0)
    longer = replace(hello, messages=(user("x" * APART),))

    assert marked(to_body(hello, "m")) == [LONG]
    assert len(marked(to_body(longer, "m"))) == 2


def test_text_that_changes_daily_follows_the_mark() -> None:
    today, tomorrow = (to_body(replace(ASKED, system_volatile=day), "m") for day in ("Fri", "Sat"))

    assert today["system"][0] == tomorrow["system"][0]
    assert today["system"][1] != tomorrow["system"][1]


def test_messages_that_are_not_sent_do_not_move_the_mark() -> None:
    empty = ModelMessage("assistant", (TextBlock(" "),))
    request = replace(ASKED, messages=(empty, *TALK, user(THIRD)), settled=5)

    assert marked(to_body(request, "m")) == [LONG, SECOND, THIRD]


PRICE = DEFAULT_PRICES["claude-sonnet-5-5"]
MINUTE = 60.0


@pytest.mark.parametrize(
    ("minutes", "pays"),
    [
        ((), False),
        ((20,), False),  # one gap is no rhythm
        ((20, 20), True),
        ((50,) * 20, True),
        ((0.5,) * 20, False),
        ((4.9,) * 20, False),
        ((90,) * 20, False),
        ((0.5, 0.5, 0.5, 0.5, 40) * 4, True),
        (((0.5,) * 8 + (120,)) * 2, False),
        ((20,) * 5 + (120,) * 10, False),
    ],
)
def test_an_hour_pays_where_the_gaps_are_longer_than_minutes_and_shorter_than_an_hour(
    minutes: tuple[float, ...], pays: bool
) -> None:
    assert pays_for_hour([MINUTE * each for each in minutes], PRICE) == pays


def test_the_choice_follows_the_prices() -> None:
    gaps = [MINUTE * each for each in (0.5,) * 8 + (20,)]
    assert pays_for_hour(gaps, PRICE)
    assert not pays_for_hour(gaps, replace(PRICE, cache_write_hour=20.0))


def test_all_marks_of_a_request_have_one_duration() -> None:
    body = to_body(replace(ASKED, gaps=(1_200.0, 1_200.0)), "claude-sonnet-5-5")

    marks = [*cache_marks(body)]
    assert len(marks) == 3
    assert all(mark == {"type": "ephemeral", "ttl": "1h"} for mark in marks)
    check_request(body)
    assert marked(body) == marked(to_body(ASKED, "claude-sonnet-5-5"))
