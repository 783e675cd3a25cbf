"""Answers are complete and clean, and show only text for people."""

import re
from pathlib import Path
from typing import Final

from gateway.llm.offline_samples import CODE, TABLE, long_text
from gateway.policy.response_filter import REPLACEMENT
from gateway.render import render
from simulators.base import SimFile
from tests.e2e.conftest import ROOMS, only, open_lab, open_lab_with_model
from tests.e2e.harness import Lab

LONGEST: Final = {"discord": 2_000, "slack": 40_000, "telegram": 4_096, "whatsapp": 4_096}
"""Characters (Telegram: UTF-16 units) that a platform takes in one message."""
SECRET: Final = "AKIA" + "QYLPMN5HHHFPZ7XW"


async def test_a_long_answer_with_code_and_a_table_arrives_completely(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "Please write something long, with a table and code")
    await lab.answer(room)
    parts = await lab.quiet(room)
    text = "\n".join(part.text for part in parts)
    expected = words(" ".join(part.text for part in render(long_text(), "plain")))
    assert words(text) >= expected
    assert in_order(text, [f"Paragraph {number}." for number in range(1, 25)])
    most = LONGEST[lab.platform.platform]
    assert all(len(part.text.encode("utf-16-le")) // 2 <= most for part in parts)
    assert all(call.status < 400 for call in lab.platform.calls), "a send was refused"


async def test_code_is_split_between_lines(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "Please write something long, with a table and code")
    await lab.answer(room)
    parts = await lab.quiet(room)
    code = CODE.removeprefix("```python\n").removesuffix("\n```")
    (holder,) = [part for part in parts if "def greet" in part.text]
    assert lines(code) <= lines(holder.text), "every line of the code, in one message"
    for part in parts:
        body = part.payload.get("content") or part.payload.get("text")
        assert str(body).count("```") % 2 == 0, "a fence is left open"
    cells = words(TABLE)
    (table,) = [part for part in parts if "Longest" in part.text]
    assert cells <= words(table.text)


async def test_an_answer_with_every_construct_has_the_format_of_the_platform(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "show me everything you can do")
    await lab.answer(room)
    text = " ".join(part.text for part in await lab.quiet(room))
    assert all(call.status < 400 for call in lab.platform.calls), "a send was refused"
    assert {"bold", "struck", "Discord", "greet", "Rest"} <= words(text)
    assert "<b>&amp;</b>" in text, "code is shown letter by letter"


@ROOMS
async def test_a_secret_is_withheld_in_public_and_answered_in_private(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    question = f"say exactly: the key is {SECRET}"
    direct = lab.platform.direct(ada)
    await lab.platform.say(ada, direct, question)
    assert SECRET in (await lab.answer(direct)).text
    await lab.platform.say(ada, room, question, mention=True)
    assert (await lab.answer(room)).text == REPLACEMENT.english
    closed = lab.platform.room("staff", "private")
    await lab.platform.say(ada, closed, question, mention=True)
    assert SECRET in (await lab.answer(closed)).text


@only("discord", "slack-socket", "slack-http")
async def test_a_refusal_is_shown_to_its_person(variant: str, tmp_path: Path) -> None:
    async with open_lab(variant, tmp_path, {"limits": {"user_per_minute": 1}}) as lab:
        ada, room = lab.platform.person("Ada"), lab.platform.room("general")
        await lab.platform.command(ada, room, "ask", "one")
        await lab.answer(room)
        await lab.platform.command(ada, room, "ask", "two")
        refusal = await lab.answer(room, after=1)
        assert "That was too much in a short time" in refusal.text
        assert refusal.only_for == ada.id


# --- what reaches the model ---------------------------------------------------------------------


@only("discord", "telegram-polling", "telegram-webhook")
async def test_the_text_of_another_person_reaches_the_model_in_a_reply(
    variant: str, tmp_path: Path
) -> None:
    """WhatsApp and Slack's threads name the replied message by its id only."""
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, ben = lab.platform.person("Ada"), lab.platform.person("Ben")
        room = lab.platform.room("general")
        claim = await lab.platform.say(ben, room, "Suva is the capital of Fiji")
        await lab.platform.say(ada, room, "is that so?", reply_to=claim, mention=True)
        await lab.answer(room)
        (body,) = model.bodies
        sent = str(body["messages"])
        assert "is that so?" in sent
        assert "Suva is the capital of Fiji" in sent
        assert await lab.stored() == ["is that so?"], "Ben's words are shown, not kept"


@only("slack-socket", "slack-http", "whatsapp")
async def test_a_reply_to_the_assistant_refers_to_its_text_in_the_conversation(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        model.script("The capital of Fiji is Suva.", "So it is.")
        ada = lab.platform.person("Ada")
        # On Slack a reply is an answer in the thread that the assistant's answer opened.
        slack = variant.startswith("slack")
        room = lab.platform.room("general") if slack else lab.platform.direct(ada)
        message_id = await lab.platform.say(ada, room, "what about Fiji?", mention=True)
        answer = await lab.answer(room)
        await lab.idle()
        replied = message_id if slack else answer.id
        await lab.platform.say(ada, room, "are you sure?", reply_to=replied, mention=True)
        await lab.answer(room, after=1)
        sent = str(model.bodies[-1]["messages"])
        assert "are you sure?" in sent
        assert "Suva" in sent


async def test_the_request_of_a_first_hello_is_small(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = lab.platform.person("Ada")
        await lab.platform.say(ada, lab.platform.direct(ada), "hello")
        await lab.answer(lab.platform.direct(ada))
        (request,) = [one for one in model.requests if one.path == "/v1/messages"]
        assert request.size < 3_000
        assert ada.id not in str(request.body), "the model has no use for ids"


@only("telegram-polling", "telegram-webhook")
async def test_an_album_is_one_question(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        files = tuple(SimFile(f"{n}.txt", "text/plain", f"page {n}".encode()) for n in range(1, 4))
        await lab.platform.say(ada, room, "what is on these pages?", files=files)
        await lab.answer(room)
        assert len(await lab.quiet(room)) == 1
        (body,) = model.bodies
        assert all(f"page {n}" in str(body["messages"]) for n in range(1, 4))


def words(text: str) -> set[str]:
    """The words of a text; numbers of a list may be drawn by the platform."""
    matches = re.findall(r"\w+", re.sub(r"https?://\S+", " ", text))
    return {word for word in matches if not word.isdigit()}


def lines(text: str) -> set[str]:
    """The lines of a text, without what surrounds them."""
    return {line.strip() for line in text.splitlines() if line.strip()}


def in_order(text: str, pieces: list[str]) -> bool:
    """True when every piece is there, one after the other."""
    places = [text.find(piece) for piece in pieces]
    return -1 not in places and places == sorted(places)
