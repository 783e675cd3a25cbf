"""A question that is asked again stays with its answer until the new answer replaces both."""

import pytest

from adapters.web.chats import REPEAT_SECONDS
from adapters.web.connection import WebAdapter
from adapters.web.manifest import WebSettings
from adapters.web.page_state import MAX_REPEATS, PageChat, PageMessage
from gateway.errors import BadInput, Transient
from gateway.message import MessageReceived, Outbound, Part, Place
from gateway.people import Audience
from tests.adapters.web.conftest import NOW, Inbox, context

ADA = "web-ada"
PLACE = Place("web", "main", ADA, Audience.DIRECT)
FIRST, SECOND, THIRD = (f"{number}" * 16 for number in (1, 2, 3))


@pytest.fixture
async def page() -> WebAdapter:
    made = WebAdapter(WebSettings(enabled=True), context())
    await made.connect(Inbox())
    await made.chats.act(ADA, {"type": "message", "id": FIRST, "text": "why?"})
    await made.send(reply(FIRST, "because"))
    return made


def reply(asked: str, text: str, supersedes: str = "") -> Outbound:
    part = Part(f"<p>{text}</p>", text)
    return Outbound(f"{asked}-{text}:0", PLACE, part, reply_to_id=asked, supersedes=supersedes)


def shown(page: WebAdapter) -> list[tuple[str, str]]:
    lines = page.chats.conversations.of(ADA).lines()
    return [(line.id if line.by == "person" else "", line.text) for line in lines]


async def test_a_line_of_the_assistant_that_answers_no_message_goes_with_the_question(
    page: WebAdapter,
) -> None:
    await page.send(reply("", "Stopped."))
    await ask_again(page, SECOND)
    await page.send(reply(SECOND, "therefore", supersedes=FIRST))
    assert shown(page) == [(SECOND, "why?"), ("", "therefore")]


async def ask_again(page: WebAdapter, again: str) -> None:
    await page.chats.act(ADA, {"type": "regenerate", "id": again, "message_id": FIRST})


async def test_the_message_names_the_one_that_it_replaces(page: WebAdapter) -> None:
    await ask_again(page, SECOND)
    sink = page.chats.sink
    assert isinstance(sink, Inbox)
    event = sink.events[-1]
    assert isinstance(event, MessageReceived)
    assert (event.message.id, event.message.replaces) == (SECOND, FIRST)
    assert event.message.content == "why?"
    assert shown(page) == [(FIRST, "why?"), ("", "because")]


async def test_the_new_answer_replaces_the_exchange_in_its_place(page: WebAdapter) -> None:
    await ask_again(page, SECOND)
    epoch = page.chats.conversations.of(ADA).epoch
    await page.send(reply(SECOND, "therefore", supersedes=FIRST))
    assert shown(page) == [(SECOND, "why?"), ("", "therefore")]
    assert page.chats.conversations.of(ADA).epoch > epoch  # open pages load everything again
    await page.send(reply(SECOND, "therefore", supersedes=FIRST))
    assert shown(page) == [(SECOND, "why?"), ("", "therefore")]


async def test_a_notice_of_a_failure_leaves_it_and_it_can_be_asked_again(page: WebAdapter) -> None:
    await ask_again(page, SECOND)
    await page.send(reply(SECOND, "no model answers"))
    assert shown(page) == [(FIRST, "why?"), ("", "because"), ("", "no model answers")]
    await ask_again(page, THIRD)
    await page.send(reply(THIRD, "therefore", supersedes=FIRST))
    assert shown(page) == [(THIRD, "why?"), ("", "therefore")]


async def test_it_is_not_asked_again_while_it_is_being_answered(page: WebAdapter) -> None:
    await ask_again(page, SECOND)
    with pytest.raises(BadInput, match="being answered again"):
        await ask_again(page, THIRD)
    await page.chats.act(ADA, {"type": "stop", "id": "4" * 16})
    await ask_again(page, THIRD)


async def test_a_message_that_is_not_stored_can_be_asked_again_at_once(page: WebAdapter) -> None:
    sink = page.chats.sink
    assert isinstance(sink, Inbox)
    sink.fail = Transient("the store is unavailable")
    with pytest.raises(Transient):
        await ask_again(page, SECOND)
    assert shown(page) == [(FIRST, "why?"), ("", "because")]
    await ask_again(page, SECOND)


async def test_an_answer_after_a_restart_removes_nothing_else() -> None:
    page = WebAdapter(WebSettings(enabled=True), context())
    await page.connect(Inbox())
    await page.send(reply(SECOND, "therefore", supersedes=FIRST))
    assert shown(page) == [("", "therefore")]


def test_repeats_are_bounded_and_end_after_a_time() -> None:
    conversation = PageChat(10)
    for number in range(2 * MAX_REPEATS):
        line = PageMessage(f"m{number}", "person", NOW, "why?")
        conversation.repeat(line, PageMessage(f"n{number}", "person", NOW, "why?"), REPEAT_SECONDS)
    last = f"m{2 * MAX_REPEATS - 1}"
    assert conversation.is_repeated(last, 0.0)
    assert not conversation.is_repeated(last, REPEAT_SECONDS)
    assert not conversation.is_repeated("m0", 0.0)
