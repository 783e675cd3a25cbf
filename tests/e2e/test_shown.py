"""What people show and point at reaches the model, on every platform, through the real clients."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import SimFile, SimPerson, SimRoom
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.conftest import only, open_lab_with_model
from tests.e2e.harness import Lab, by_bot
from tests.gateway.turn.test_attachments import PNG

PICTURE = SimFile("menu.png", "image/png", PNG)
NOTES = SimFile("notes.txt", "text/plain", b"numbers 17 25 39")
SOUND = SimFile("memo.ogg", "audio/ogg", b"OggS" + bytes(60))
REPLYING = ("discord", "telegram-polling", "whatsapp")
ONE_WORD = {"picture": PICTURE, "text": NOTES, "sound": SOUND}


def asked(model: AnthropicSimulator) -> list[dict[str, Any]]:
    """The blocks of the latest question."""
    content = model.bodies[-1]["messages"][-1]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def words(model: AnthropicSimulator) -> str:
    return "\n".join(str(block.get("text", "")) for block in asked(model))


def place_of(lab: Lab, person: SimPerson) -> SimRoom:
    whatsapp = isinstance(lab.platform, WhatsAppSimulator)
    return lab.platform.direct(person) if whatsapp else lab.platform.room("team")


async def say(lab: Lab, person: SimPerson, room: SimRoom, text: str, **more: Any) -> str:
    """Write to the assistant, and wait until everything is answered; the message's id."""
    before = len(by_bot(lab.platform.shown(room)))
    written = await lab.platform.say(person, room, text, mention=True, **more)
    await lab.answer(room, after=before)
    await lab.idle()
    return written


@only(*REPLYING)
@pytest.mark.parametrize("kind", list(ONE_WORD))
async def test_a_reply_to_a_file_gives_the_model_the_file(
    variant: str, kind: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, sim = lab.platform.person("Ada"), lab.platform
        room = place_of(lab, ada)
        if room.kind == "direct":
            shown = await say(lab, ada, room, "", files=(ONE_WORD[kind],))
        else:  # Ben does not address the assistant
            shown = await sim.say(sim.person("Ben"), room, "", files=(ONE_WORD[kind],))
        await say(lab, ada, room, "what does it say?", reply_to=shown)
        told, types = words(model), [block["type"] for block in asked(model)]
    assert '<material kind="quoted"' in told
    assert "Files of the message that is replied to:" in told
    assert ("image" in types) is (kind == "picture")
    assert ("numbers 17 25 39" in told) is (kind == "text")
    if kind == "sound":
        assert "You cannot read these files of the message that is replied to" in told


@pytest.mark.parametrize("kind", list(ONE_WORD))
async def test_a_message_without_words_stays_in_the_history(
    variant: str, kind: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        model.script("a soup for 7 euros", "yes")
        await say(lab, ada, room, "", files=(ONE_WORD[kind],))
        await say(lab, ada, room, "is it cheap?")
        messages = model.bodies[-1]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant", "user"]
    first = json.dumps(messages[0])
    assert {"picture": "(sent a picture)", "sound": "(sent a recording)"}.get(
        kind, "(sent a file)"
    ) in first
    assert '<material kind=\\"file\\">' in first
    assert "a soup for 7 euros" in json.dumps(messages[1])


@only("whatsapp")
async def test_replies_on_whatsapp_are_completed_from_the_conversation(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, sim = lab.platform.person("Ada"), lab.platform
        room = sim.direct(ada)
        long = "\n\n".join(f"Paragraph {number}. " + "word " * 100 for number in range(20))
        model.script("the whale weighs 100 tons", long, "ok", "ok", "ok")
        question = await say(lab, ada, room, "how heavy is a whale?")
        await say(lab, ada, room, "tell me everything")
        parts = by_bot(sim.shown(room))
        assert len(parts) > 2, "the answer has several messages"

        await say(lab, ada, room, "are you sure?", reply_to=parts[0].id)
        assert '<material kind="your_answer">\nthe whale weighs 100 tons' in words(model)
        await say(lab, ada, room, "and this part?", reply_to=parts[-1].id)
        told = words(model)
        assert "Paragraph 19." in told
        assert "Paragraph 0." not in told
        await say(lab, ada, room, "that one", reply_to=question)
        assert '<material kind="quoted" from="Ada">\nhow heavy is a whale?' in words(model)


@only("whatsapp")
async def test_an_answer_of_any_length_arrives_whole_and_each_part_can_be_replied_to(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, sim = lab.platform.person("Ada"), lab.platform
        room = sim.direct(ada)
        count = 150
        model.script("\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(count)))
        await say(lab, ada, room, "tell me everything")
        parts = by_bot(sim.shown(room))
        assert all(len(part.text) <= 4_096 for part in parts)
        shown = "\n".join(part.text for part in parts)
        assert [f"Paragraph {n}." in shown for n in range(count)] == [True] * count
        assert shown.count("word") == 100 * count

        model.script("ok", "ok")
        await say(lab, ada, room, "and this part?", reply_to=parts[2].id)
        told = words(model)
        assert parts[2].text.split("\n\n")[1] in told
        assert "Paragraph 0." not in told
        await say(lab, ada, room, "and the end?", reply_to=parts[-1].id)
        told = words(model)
        assert "(in reply to a message that I cannot see)" in told, "stored up to 40,000 characters"
        assert "Paragraph 0." not in told


@only("whatsapp")
async def test_a_reply_to_an_unknown_message_says_so(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, sim = lab.platform.person("Ada"), lab.platform
        room = sim.direct(ada)
        await sim.command(ada, room, "help", "")
        answer = await lab.answer(room)
        await lab.idle()
        await say(lab, ada, room, "what is that?", reply_to=answer.id)
        told = words(model)
    assert "(in reply to a message that I cannot see)" in told


@only("whatsapp")
async def test_messages_that_are_not_passed_on_get_one_sentence(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        sim = lab.platform
        assert isinstance(sim, WhatsAppSimulator)
        ada = sim.person("Ada")
        room = sim.direct(ada)
        await sim.send_raw(ada, "unsupported", {"type": "poll_creation"})
        first = await lab.answer(room)
        assert "please write it as text" in first.text
        await sim.send_raw(ada, "unsupported", {"type": "view_once"})
        await sim.send_raw(ada, "unknown", {})
        assert await sim.settled()
        assert len(await lab.quiet(room)) == 1
        assert not model.bodies, "no model is asked"


@only("whatsapp")
async def test_a_stranger_gets_no_sentence(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(
        variant, tmp_path, {"access": {"allowed_users": ["whatsapp:4900"]}}
    ) as (lab, _):
        sim = lab.platform
        assert isinstance(sim, WhatsAppSimulator)
        eve = sim.person("Eve")
        await sim.send_raw(eve, "unsupported", {"type": "poll_creation"})
        assert await sim.settled()
        assert await lab.quiet(sim.direct(eve)) == []
