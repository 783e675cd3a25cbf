"""From the answer's Markdown to sends: their number, and the content of each."""

from dataclasses import replace

import pytest

from gateway.message import Button, ButtonPressed, MessageAuthor, OutboundFile, Part, Reply
from gateway.outbound.send import address
from gateway.ports import Capabilities
from gateway.turn.render import LEFT_OUT
from gateway.turn.tool_loop import NO_ANSWER
from tests.support.gateway import gateway
from tests.support.messages import direct, place, received

PARTS = [Part("one", "one"), Part("two", "two")]
BUTTONS = (Button("Yes", "y"),)
FILE = OutboundFile("a.txt", "text/plain", b"a")


def test_the_first_part_replies_the_last_has_the_buttons_and_files_follow() -> None:
    reply = Reply("…", BUTTONS, (FILE,), private_to="ada")
    sends = address("r", direct(), PARTS, reply, reply_to_id="m1", reply_handle="h")
    assert [send.key for send in sends] == ["r:0", "r:1", "r:2"]
    assert [send.reply_to_id for send in sends] == ["m1", "", ""]
    assert [send.buttons for send in sends] == [(), BUTTONS, ()]
    assert [send.file for send in sends] == [None, None, FILE]
    assert {(send.private_to, send.reply_handle) for send in sends} == {("ada", "h")}


async def test_an_answer_with_too_many_parts_states_that_it_is_incomplete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.turn.render.MAX_PARTS", 3)
    async with gateway() as g:
        g.model.reply = lambda request: "\n\n".join(f"paragraph {n} " * 300 for n in range(9))
        await g.take(received("tell me all"))
        assert len(g.texts) == 3
        assert g.texts[-1] == LEFT_OUT.strip("_")
        detail = next(d.detail for d in g.traces[0].decisions if d.stage == "render")
        assert detail.startswith("the first 2 of ")


async def test_an_answer_with_the_maximum_of_parts_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = [Part(str(n), str(n)) for n in range(3)]
    monkeypatch.setattr("gateway.turn.render.MAX_PARTS", 3)
    monkeypatch.setattr("gateway.render.render_with", lambda *_: list(parts))
    async with gateway() as g:
        await g.take(received("tell me all"))
        assert g.texts == ["0", "1", "2"]


async def test_an_answer_of_markup_only_is_not_empty() -> None:
    async with gateway() as g:
        g.model.reply = lambda request: "```\n```"
        await g.take(received("hello"))
        assert g.texts == [NO_ANSWER]


async def test_a_button_press_is_not_a_message_to_reply_to() -> None:
    capabilities = Capabilities(max_buttons=3)
    async with gateway(capabilities=capabilities) as g:
        room = replace(place(), thread_id="")
        await g.take(ButtonPressed("action:1", room, MessageAuthor("ada"), "go-on", "Go on"))
        assert [send.reply_to_id for send in g.adapter.sent] == [""]
