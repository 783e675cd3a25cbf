"""The text of blocks: what an app or a pasted table shows beside the text of a message."""

import json
from typing import Any

import pytest

from adapters.slack.message_text import fuller, text_of_blocks
from adapters.slack.parse import parse
from gateway.authorship import Material
from tests.adapters.slack.payloads import BOT, callback, message
from tests.adapters.slack.reading import received
from tests.support.processor_time import seconds


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def said(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def raw(text: str) -> dict[str, Any]:
    return {"type": "raw_text", "text": text}


TABLE = {
    "type": "table",
    "rows": [
        [raw("Item"), raw("Price")],
        [raw("Tea & milk"), {"type": "raw_number", "value": 7.5}],
        [rich(section(said("Cup"))), rich(section(said("30"), {"type": "emoji", "name": "tada"}))],
    ],
}
PASTED = {"id": 1, "blocks": [TABLE], "fallback": "[no preview available]"}


def test_a_pasted_table_is_read_row_by_row() -> None:
    heard = received(callback(message("how much?", attachments=[PASTED])))
    rows = "Item | Price\nTea & milk | 7.5\nCup | 30:tada:"
    assert heard.content == "how much?"
    assert heard.material == (Material("card", rows),)
    alone = received(callback(message("", blocks=[TABLE])))
    assert alone.content == rows


def test_a_large_pasted_table_is_complete() -> None:
    rows = [[rich(section(said(f"r{row}c{col}"))) for col in range(10)] for row in range(150)]
    pasted = {"blocks": [{"type": "table", "rows": rows}]}
    heard = received(callback(message("sum?", attachments=[pasted])))
    assert heard.material[0].text.count("c9") == 150


def test_a_table_that_is_too_large_ends_with_a_mark() -> None:
    rows = [[rich(section(said("x"))) for _ in range(20)] for _ in range(201)]
    large = {"blocks": [{"type": "table", "rows": rows}] * 50}
    assert text_of_blocks(large).endswith("[…]")
    assert seconds(lambda: text_of_blocks(large), enough=1) < 1


def test_an_empty_preview_is_no_text() -> None:
    empty = {"blocks": [{"type": "table"}], "fallback": "[no preview available]"}
    assert received(callback(message("see", attachments=[empty]))).material == ()


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (
            rich(section({"type": "link", "url": "https://x.example/a?b=1&c=2", "text": "plan"})),
            "plan (https://x.example/a?b=1&c=2)",
        ),
        (
            rich(section({"type": "link", "url": "https://x.example|y", "text": "plan"})),
            "plan (https://x.example|y)",
        ),
        (
            rich(
                {
                    "type": "rich_text_list",
                    "style": "ordered",
                    "offset": 2,
                    "elements": [section(said("three\n")), section(said("four"))],
                },
                {
                    "type": "rich_text_list",
                    "style": "bullet",
                    "indent": 1,
                    "elements": [section(said("inner"))],
                },
            ),
            "3. three\n4. four\n  - inner",
        ),
        (
            rich({"type": "rich_text_preformatted", "elements": [said("if a < b:\n    go()")]}),
            "```\nif a < b:\n    go()\n```",
        ),
        (
            rich(section(said("run "), said("rm -r", code=True), said(" never", strike=True))),
            "run `rm -r` ~never~",
        ),
        (
            rich(section({"type": "date", "timestamp": 0, "format": "{date}"})),
            "1970-01-01T00:00:00+00:00",
        ),
        ({"type": "header", "text": {"type": "plain_text", "text": "A <b> & c"}}, "A <b> & c"),
        (
            {
                "type": "data_table",
                "caption": "Sales",
                "rows": [[raw("Q1"), {"type": "raw_number", "value": 3}]],
            },
            "Sales\nQ1 | 3",
        ),
        ({"type": "image", "title": {"type": "plain_text", "text": "Chart"}}, "Chart"),
        (
            {
                "type": "carousel",
                "elements": [
                    {
                        "type": "card",
                        "title": {"type": "mrkdwn", "text": "Room 5"},
                        "body": {"type": "mrkdwn", "text": "free"},
                        "actions": [{"type": "button", "text": {"text": "Book"}}],
                    }
                ],
            },
            "Room 5\nfree",
        ),
        ({"type": "future", "text": {"type": "mrkdwn", "text": "kept"}}, "kept"),
    ],
)
def test_blocks_keep_what_they_say(block: dict[str, Any], expected: str) -> None:
    shared = {"is_share": True, "author_name": "Eve"}
    shared |= {"message_blocks": [{"message": {"blocks": [block]}}]}
    heard = received(callback(message("see", attachments=[shared])))
    assert heard.material == (Material("forwarded", expected, "Eve"),)


def test_the_blocks_behind_the_text_of_an_app_are_read() -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Build failed"}},
        {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Branch:* main"}]},
    ]
    heard = received(callback(message("New message", bot_id="B0OTHER", blocks=blocks)))
    assert heard.content == "New message\nBuild failed\n*Branch:* main"
    shared = {"is_share": True, "text": "New message", "author_name": "ci"}
    shared |= {"message_blocks": [{"message": {"blocks": blocks}}]}
    person = received(callback(message("why?", attachments=[shared])))
    assert person.material[0].text == "New message\nBuild failed\n*Branch:* main"


def test_a_text_that_its_blocks_repeat_is_read_once() -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "*Build* failed"}}]
    heard = received(callback(message("Build failed", bot_id="B0OTHER", blocks=blocks)))
    assert heard.content == "Build failed"
    assert fuller("code x", "```\ncode x\n```") == "```\ncode x\n```"
    assert fuller("", "b") == "b"


def test_the_blocks_of_the_composer_do_not_repeat_a_message() -> None:
    blocks = [rich(section({"type": "user", "user_id": BOT}, said(" hello")))]
    heard = received(callback(message(f"<@{BOT}> hello", blocks=blocks)))
    assert (heard.content, heard.mentions_bot) == ("hello", True)


def test_a_plain_text_cannot_mention_anybody() -> None:
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": f"<@{BOT}> pay"}}]
    heard = received(callback(message("", bot_id="B0OTHER", blocks=blocks)))
    assert (heard.content, heard.mentions_bot) == (f"<@{BOT}> pay", False)


@pytest.mark.parametrize("user", ["USLACKBOT", "USLACK"])
def test_notices_of_slack_itself_are_no_messages(user: str) -> None:
    notice = message("You were added to a channel", user=user, channel="D0DM", channel_type="im")
    assert parse(callback(notice)) == []
    assert parse(json.loads(json.dumps(callback(notice | {"subtype": "bot_message"})))) == []


def test_numbers_of_a_list_go_on_behind_an_inner_list_and_no_further() -> None:
    def entries(style: str, indent: int, *words: str, **more: object) -> dict[str, object]:
        elements = [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": word}]}
            for word in words
        ]
        head = {"type": "rich_text_list", "style": style, "indent": indent}
        return {**head, "elements": elements, **more}

    prose = {"type": "rich_text_section", "elements": [{"type": "text", "text": "then"}]}
    shown = text_of_blocks(
        {
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [
                        entries("ordered", 0, "a", "b"),
                        entries("ordered", 1, "x", "y"),
                        entries("ordered", 0, "c"),
                        entries("ordered", 1, "z"),
                        prose,
                        entries("ordered", 0, "d", offset=3),
                        entries("bullet", 0, "e"),
                        entries("ordered", 0, "f"),
                    ],
                }
            ]
        }
    )
    lines = ["1. a", "2. b", "  1. x", "  2. y", "3. c", "  1. z", "then", "4. d", "- e", "1. f"]
    assert shown.split("\n") == lines
