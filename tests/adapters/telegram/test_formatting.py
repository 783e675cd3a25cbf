"""Formatting of a message: mentions in formatted words, struck-out words, code."""

from typing import Any

import pytest

from adapters.telegram import parse
from gateway.message import ChatMessage, CommandInvoked, MessageReceived
from tests.adapters.telegram.updates import BOT, GROUP, ME, entity, message, units, update
from tests.support.processor_time import seconds


def read(text: str, *entities: dict[str, Any], **more: Any) -> ChatMessage:
    (event,) = parse(update(text=text, entities=list(entities), chat=GROUP, **more), ME)
    assert isinstance(event, MessageReceived)
    return event.message


@pytest.mark.parametrize("kind", ["bold", "italic", "underline", "spoiler"])
@pytest.mark.parametrize("covered", ["@OurBot", "@OurBot why? 😀"])
def test_a_formatted_name_without_an_entity_of_a_mention_is_a_mention(
    kind: str, covered: str
) -> None:
    text = "😀 @OurBot why? 😀"
    found = read(text, entity(text, covered, kind))
    assert (found.mentions_bot, found.content) == (True, "😀 why? 😀")


@pytest.mark.parametrize(
    "text",
    [
        *("@OurBot-dev hi", "@OurBot_dev hi", "@OurBotDev", "x@OurBot hi", "@@OurBot hi"),
        *("a.b@OurBot.example", "@OurBot.example", "https://x.example/@OurBot", "@OurBot@x hi"),
    ],
)
@pytest.mark.parametrize("kind", ["bold", "code"])
def test_a_part_of_another_name_or_address_is_no_mention(text: str, kind: str) -> None:
    assert not read(text, entity(text, text, kind)).mentions_bot
    name = entity(text, "@OurBot", kind)
    assert not read(text, name).mentions_bot


@pytest.mark.parametrize(
    ("text", "code", "ours"),
    [
        ("`@OurBot` why?", "@OurBot", True),
        ("@OurBot why?", "@OurBot why?", True),
        ("run ssh @OurBot now", "ssh @OurBot", False),
        ("@OurBot x is the command", "@OurBot x", False),
    ],
)
def test_in_code_a_name_alone_is_a_mention_and_an_example_is_none(
    text: str, code: str, ours: bool
) -> None:
    assert read(text, entity(text, code, "code")).mentions_bot is ours


def test_a_name_in_a_code_block_a_quotation_or_a_link_is_no_mention() -> None:
    text = "@OurBot hi"
    bold = entity(text, "@OurBot", "bold")
    assert not read(text, entity(text, text, "pre")).mentions_bot
    assert not read(text, entity(text, text, "blockquote"), bold).mentions_bot
    link = entity(text, "@OurBot", "text_link", url="https://x.example")
    assert not read(text, link, bold).mentions_bot


def test_a_link_to_the_account_of_the_bot_is_a_mention() -> None:
    text = "Our why?"
    found = read(text, entity(text, "Our", "text_link", url="tg://user?id=900"))
    assert (found.mentions_bot, found.content) == (True, "why?")
    assert not read(text, entity(text, "Our", "text_link", url="tg://user?id=9")).mentions_bot


def test_struck_out_words_do_not_arrive_as_said() -> None:
    text = "😀 I live in Rome\nin Paris. I moved."
    found = read(
        text,
        entity(text, "I live ", "strikethrough"),
        entity(text, "in Rome\nin Paris.", "strikethrough"),
        entity(text, "in Rome", "bold"),
    )
    assert found.content == "😀 ~~I live in Rome~~\n~~in Paris.~~ I moved."


def test_a_struck_out_command_is_no_command() -> None:
    text = "/ask why"
    command = entity(text, "/ask", "bot_command")
    assert read(text, entity(text, text, "strikethrough"), command).content == "~~/ask why~~"


def test_struck_out_arguments_stay_arguments() -> None:
    text = "/ask old new"
    marks = [entity(text, "/ask", "bot_command"), entity(text, "old", "strikethrough")]
    (event,) = parse(update(text=text, entities=marks), ME)
    assert isinstance(event, CommandInvoked)
    assert event.arguments == "~~old~~ new"


def test_code_is_marked_whatever_it_contains() -> None:
    text = "😀 a*b and `c` then\nprint('```')\nend"
    found = read(
        text,
        entity(text, "a*b", "code"),
        entity(text, "`c`", "code"),
        entity(text, "print('```')", "pre", language="python"),
    )
    assert found.content == "😀 `a*b` and `` `c` `` then\n````python\nprint('```')\n````\nend"


def test_code_in_a_quotation_stays_quoted_line_by_line() -> None:
    text = "a\nb\nown"
    quote = {"type": "blockquote", "offset": 0, "length": 3}
    assert read(text, quote, {**quote, "type": "pre"}).content == "> a\n> b\nown"


def test_the_mark_of_a_struck_out_quotation_stands_behind_that_of_the_quotation() -> None:
    text = "gone\nown"
    marks = [entity(text, "gone", "blockquote"), entity(text, "gone", "strikethrough")]
    assert read(text, *marks).content == "> ~~gone~~\nown"


def test_a_struck_out_part_of_a_reply_is_marked() -> None:
    earlier = "no 😀 yes"
    reply = message(earlier, message_id=6, entities=[entity(earlier, "no", "strikethrough")])
    quote = read("why?", reply_to_message=reply).quote
    assert quote is not None
    assert quote.text == "~~no~~ 😀 yes"
    selected = {"text": "no", "entities": [{"type": "strikethrough", "offset": 0, "length": 2}]}
    quote = read("why?", reply_to_message=reply, quote=selected).quote
    assert quote is not None
    assert quote.text == "~~no~~"


def test_a_text_full_of_entities_is_parsed_at_once() -> None:
    text = "@OurBot @x ` ~ " * 270
    kinds = ("bold", "code", "strikethrough", "blockquote", "pre", "italic")
    marks = [
        {"type": kinds[number % 6], "offset": number, "length": units(text) - 2 * number}
        for number in range(1_000)
    ]
    assert seconds(lambda: read(text, *marks), 0.5) < 0.5


def test_a_mention_by_the_account_is_removed_once() -> None:
    text = "Our and Our"
    marks = [entity(text, "Our", "text_mention", user=BOT), entity(text, "Our", "bold")]
    assert read(text, *marks).content == "and Our"
