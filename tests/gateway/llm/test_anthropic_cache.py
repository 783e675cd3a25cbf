"""Where the service is told to cache."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from gateway.llm.anthropic_format import to_body
from gateway.ports import ModelMessage, ModelRequest, TextBlock, ToolSpec
from tests.gateway.llm.asking import ADD, assistant, user

LONG = "a rule to follow " * 300
TALK = (user("one"), assistant("first"), user("two"), assistant("second"))
ASKED = ModelRequest(
    system=LONG,
    messages=(*TALK, user("three")),
    tools=(ADD,),
    system_now="<task>\nBake bread\n</task>",
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


def test_marks_stand_behind_what_lasts_what_is_settled_and_what_was_said_last() -> None:
    body = to_body(ASKED, "m")

    assert marked(body) == [LONG, "second", "three"]
    assert [block["text"] for block in body["system"]] == [LONG, ASKED.system_now]


def test_without_tools_nothing_is_asked_again_so_the_question_is_not_marked() -> None:
    assert marked(to_body(replace(ASKED, tools=()), "m")) == [LONG, "second"]


def test_many_tools_are_marked_because_everybody_has_the_same() -> None:
    tools = tuple(ToolSpec(f"tool_{n}", "does something useful " * 20, {}) for n in range(10))

    assert marked(to_body(replace(ASKED, tools=tools), "m"))[0] == "tool_9"


def test_never_more_than_four_marks() -> None:
    tools = tuple(ToolSpec(f"tool_{n}", "does something useful " * 20, {}) for n in range(10))

    assert len(marked(to_body(replace(ASKED, tools=tools), "m"))) == 4


def test_what_no_model_would_cache_has_no_marks_and_one_system_text() -> None:
    body = to_body(replace(ASKED, system="Be brief."), "m")

    assert not marked(body)
    assert body["system"] == f"Be brief.\n\n{ASKED.system_now}"


def test_what_changes_by_the_day_stands_behind_the_mark() -> None:
    today, tomorrow = (to_body(replace(ASKED, system_now=day), "m") for day in ("Fri", "Sat"))

    assert today["system"][0] == tomorrow["system"][0]
    assert today["system"][1] != tomorrow["system"][1]


def test_messages_that_are_not_sent_do_not_move_the_mark() -> None:
    empty = ModelMessage("assistant", (TextBlock(" "),))
    asked = replace(ASKED, messages=(empty, *TALK, user("three")), settled=5)

    assert marked(to_body(asked, "m")) == [LONG, "second", "three"]
