"""Faults in transit, on every platform, that people do not notice."""

from pathlib import Path
from typing import Final

from gateway.outbound.retry_decision import REPEAT_NOTE
from simulators.anthropic.answers import last_user_text
from simulators.base import Fault, FaultKind, PlatformSimulator
from simulators.whatsapp.errors import GraphError
from simulators.whatsapp.simulator import WhatsAppSimulator
from tests.e2e.conftest import EVERY_CONNECTION, only, open_lab_with_model
from tests.e2e.harness import FAST, Lab, by_bot
from tests.support.patience import PATIENCE

SEND: Final = {
    "discord": "POST /channels/{id}/messages",
    "slack": "chat.postMessage",
    "telegram": "sendMessage",
    "whatsapp": "messages",
}
"""The name of each platform for the request that sends a text."""
TROUBLES: Final[tuple[FaultKind, ...]] = (
    "rate_limit",
    "server_error",
    "drop_within",
    "drop_before",
)


async def test_a_refused_send_is_repeated_at_the_stated_time(lab: Lab) -> None:
    method = SEND[lab.platform.platform]
    lab.platform.faults.add(Fault(method, "rate_limit", retry_after=1.0))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    assert len(await lab.quiet(room)) == 1
    sends = [call for call in lab.platform.calls if call.method == method]
    assert sends[0].status == 429
    assert sends[1].at - sends[0].at >= 1.0


async def test_a_server_error_is_retried(lab: Lab) -> None:
    """The message may be posted already. Discord recognises the repetition, and the error of
    WhatsApp says that nothing was sent."""
    lab.platform.faults.add(Fault(SEND[lab.platform.platform], "server_error", times=2))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    *notes, answer = [message.text for message in await lab.quiet(room)]
    assert "No language model" in answer
    unknown = lab.platform.platform in ("slack", "telegram")
    assert notes == ([REPEAT_NOTE.english] if unknown else [])


async def test_a_connection_that_breaks_before_the_send_loses_nothing(lab: Lab) -> None:
    lab.platform.faults.add(Fault(SEND[lab.platform.platform], "drop_before"))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    shown = await lab.quiet(room)
    assert "No language model" in shown[-1].text


async def test_an_answer_with_a_lost_receipt_is_repeated_with_a_note(
    lab: Lab,
) -> None:
    """The result is unknown: a nonce recognises a repetition, or a repeat note announces it."""
    lab.platform.faults.add(Fault(SEND[lab.platform.platform], "drop_after"))
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    texts = [message.text for message in await lab.quiet(room)]
    answers = [text for text in texts if "No language model" in text]
    if lab.platform.platform == "discord":
        assert texts == answers[:1]
    else:
        assert texts == [answers[0], REPEAT_NOTE.english, answers[0]]


async def test_the_parts_of_a_long_answer_keep_their_order_through_faults(lab: Lab) -> None:
    method = SEND[lab.platform.platform]
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "hello")
    await lab.answer(room)
    await lab.idle()
    lab.platform.faults.add(Fault(method, "server_error"))
    lab.platform.faults.add(Fault(method, "rate_limit", retry_after=1.0))
    await lab.platform.say(ada, room, "Please write something long, with a table and code")
    await lab.answer(room, after=1)
    text = " ".join(message.text for message in (await lab.quiet(room))[1:])
    places = [text.find(f"Paragraph {number}.") for number in range(1, 25)]
    assert -1 not in places
    assert places == sorted(places)
    assert text.count("Paragraph 7.") == 1


@only("discord", "slack-socket", "telegram-polling", "whatsapp")
async def test_refusals_and_cut_connections_lose_no_answer_and_no_formatting(
    variant: str, tmp_path: Path
) -> None:
    """The same as `benchmarks/refusals.py`, small."""
    overrides = {"conversation": {"overlap": "queue"}, "delivery": FAST}
    async with open_lab_with_model(variant, tmp_path, overrides) as (lab, model):
        model.reply = lambda body: f"`{last_user_text(body)}` is **noted**"
        people = [lab.platform.person(name) for name in ("Ada", "Ben")]
        for index, kind in enumerate(TROUBLES):
            method = SEND[lab.platform.platform]
            lab.platform.faults.add(Fault(method, kind, times=99, every=10, seen=8 - 2 * index))
        questions = [f"number {number}" for number in range(4)]
        for text in questions:
            for person in people:
                await lab.platform.say(person, lab.platform.direct(person), text)
        for person in people:
            reply = await lab.answers(lab.platform.direct(person), len(questions), timeout=40)
            await lab.idle(40)
            reply = by_bot(lab.platform.shown(lab.platform.direct(person)))
            answers = [m for m in reply if m.text != REPEAT_NOTE.english]
            assert list(dict.fromkeys(m.text for m in answers)) == [
                f"{a} is noted" for a in questions
            ]
            assert all("<code>" in m.html for m in answers)
            repeated = len(answers) - len(questions)
            assert repeated <= len(reply) - len(answers), "each below a note"
            assert repeated == 0 or lab.platform.platform != "discord"


def limit_one_chat(platform: PlatformSimulator, method: str) -> int:
    """Refuse the next send of this kind for its own chat's sake; the status of the refusal."""
    if isinstance(platform, WhatsAppSimulator):
        platform.fail_next(method, GraphError(131056, "too many messages to one person"))
        return 400
    platform.faults.add(Fault(method, "rate_limit", retry_after=5.0))
    return 429


async def test_a_chat_that_waits_does_not_delay_others(lab: Lab) -> None:
    method = SEND[lab.platform.platform]
    ada, ben = lab.platform.person("Ada"), lab.platform.person("Ben")
    waits, goes_on = lab.platform.direct(ada), lab.platform.direct(ben)
    status = limit_one_chat(lab.platform, method)
    await lab.platform.say(ada, waits, "hello")
    await lab.answered(method, status)
    await lab.platform.say(ben, goes_on, "hello")
    await lab.answer(goes_on)
    assert by_bot(lab.platform.shown(waits)) == []
    await lab.answer(waits)


@EVERY_CONNECTION
async def test_messages_written_while_sockets_were_cut_are_answered(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "before")
    await lab.answer(room)
    await lab.platform.drop_connections()
    await lab.platform.say(ada, room, "meanwhile")
    await lab.answer(room, after=1, timeout=PATIENCE)
    assert len(await lab.quiet(room)) == 2
