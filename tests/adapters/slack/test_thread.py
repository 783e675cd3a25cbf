"""The earlier messages of a Slack thread, also of a long one and of one that breaks off."""

import pytest

from adapters.slack import thread
from adapters.slack.errors import AnswerTooLarge
from gateway.errors import Permanent, Transient
from gateway.message import Place
from gateway.people import Audience
from gateway.ports import ThreadMessages
from simulators.base import Fault, SimFile, SimRoom
from simulators.slack.world import Message
from tests.adapters.slack.conftest import Rig

REPLIES = "conversations.replies"


async def begun(rig: Rig, kind: str = "public") -> SimRoom:
    room = rig.slack.room(f"ops {kind}", kind)  # type: ignore[arg-type]  # one of RoomKind
    return await rig.slack.open_thread(rig.slack.person("Ada"), room, "it failed")


def place(rig: Rig, at: SimRoom) -> Place:
    team = rig.slack.world.team
    return Place("slack", "main", at.id, Audience.PUBLIC_ROOM, team, at.thread_id)


async def read(rig: Rig, at: SimRoom, before: str = "", most: int = 50) -> ThreadMessages:
    return await rig.adapter.read_thread(place(rig, at), "U1", before, most)


def filled(rig: Rig, at: SimRoom, times: list[float]) -> None:
    """Replies so many seconds after the first message, as "reply 0", "reply 1" …"""
    begin = float(at.thread_id)
    for number, seconds in enumerate(times):
        ts = f"{begin + seconds:.6f}"
        user = rig.slack.person("Bob").id
        rig.slack.world.add(Message(ts, at.id, user, f"reply {number}", thread_ts=at.thread_id))


def texts(found: ThreadMessages) -> list[str]:
    return [one.message.content for one in found.latest]


async def test_writers_have_names_and_the_assistants_messages_are_its_own(
    socket_rig: Rig,
) -> None:
    rig, bob = socket_rig, socket_rig.slack.person("Bob")
    at = await begun(rig)
    await rig.slack.say(bob, at, f"<@{rig.slack.world.bot_user}> look, <@{bob.id}>")
    world = rig.slack.world
    world.add(
        Message(world.new_ts(), at.id, world.bot_user, "mine", thread_ts=at.thread_id, by_bot=True)
    )
    found = await read(rig, at)
    assert found.first is not None
    assert (found.first.message.author.name, found.first.own) == ("Ada", False)
    assert (found.latest[0].message.author.name, found.latest[0].own) == ("Bob", False)
    assert texts(found) == ["@Parley look, @Bob", "mine"]
    assert found.latest[1].own


async def test_files_and_the_text_of_an_alert_are_read(socket_rig: Rig) -> None:
    rig, world = socket_rig, socket_rig.slack.world
    at = await begun(rig)
    await rig.slack.say(
        rig.slack.person("Bob"), at, "", files=(SimFile("a.png", "image/png", b"1"),)
    )
    alert: dict[str, object] = {"fallback": "f", "title": "5xx", "text": "error rate 12%"}
    bot = rig.slack.person("Alerts")
    world.add(Message(world.new_ts(), at.id, bot.id, thread_ts=at.thread_id, attachments=[alert]))
    picture, from_app = (one.message for one in (await read(rig, at)).latest)
    assert [(file.kind, file.name) for file in picture.attachments] == [("image", "a.png")]
    assert "error rate 12%" in from_app.content + str(from_app.material)


@pytest.mark.parametrize(
    ("times", "requests"),
    [
        ([float(n + 1) for n in range(900)], 2),
        ([float(n + 1) for n in range(3_000)], 4),
        ([400.0 * n for n in range(1, 4_500)], 6),
        ([*(n / 100 for n in range(1, 4_000)), 1e6], 6),
        ([1.0, *(1.99e6 + n for n in range(4_000))], 6),
    ],
    ids=["two pages", "four pages", "even", "quiet at the end", "busy at the end"],
)
async def test_of_a_long_thread_the_first_and_the_latest_messages_are_read(
    socket_rig: Rig, times: list[float], requests: int
) -> None:
    rig = socket_rig
    at = await begun(rig)
    filled(rig, at, times)
    question = f"{float(at.thread_id) + 2e6:.6f}"
    filled(rig, at, [3e6])  # after the question
    found = await read(rig, at, question, 5)
    assert found.first is not None
    assert found.first.message.content == "it failed"
    assert texts(found)[-1] == f"reply {len(times) - 1}"
    assert found.between == pytest.approx(len(times) - len(found.latest), abs=2)
    assert not found.newest_missing
    assert sum(call.method == REPLIES for call in rig.slack.calls) <= requests


async def test_a_thread_that_breaks_off_says_that_later_messages_are_missing(
    socket_rig: Rig,
) -> None:
    rig = socket_rig
    at = await begun(rig)
    filled(rig, at, [float(n + 1) for n in range(500)])
    rig.slack.faults.add(Fault(REPLIES, "rate_limit", every=2))
    found = await read(rig, at, f"{float(at.thread_id) + 1e6:.6f}", 5)
    assert found.newest_missing
    assert texts(found)[-1] == f"reply {thread.FIRST_PAGE - 2}"


@pytest.mark.parametrize(
    ("kind", "scope"), [("public", "channels:history"), ("private", "groups:history")]
)
async def test_a_missing_scope_is_named_with_the_step(
    socket_rig: Rig, kind: str, scope: str
) -> None:
    at = await begun(socket_rig, kind)
    socket_rig.slack.scopes.discard(scope)
    with pytest.raises(Permanent, match=f"needs {scope}.*reinstall the app"):
        await read(socket_rig, at)


async def test_a_rate_limit_says_when_to_ask_again(socket_rig: Rig) -> None:
    at = await begun(socket_rig)
    socket_rig.slack.faults.add(Fault(REPLIES, "rate_limit", retry_after=30.0))
    with pytest.raises(Transient) as caught:
        await read(socket_rig, at)
    assert caught.value.retry_after == 30.0


def dense(rig: Rig, at: SimRoom, number: int) -> None:
    """So many replies of many short links each: the JSON that takes longest to parse."""
    link = {"type": "link", "url": "https://a.example/x", "text": "l"}
    words = {"type": "rich_text_section", "elements": [{"type": "text", "text": "w "}, link] * 500}
    user, begin = rig.slack.person("Bob").id, float(at.thread_id)
    for each in range(number):
        ts = f"{begin + each + 1:.6f}"
        blocks: list[dict[str, object]] = [{"type": "rich_text", "elements": [words]}]
        text = f"reply {each} " + "w <https://a.example/x|l> " * 500
        message = Message(ts, at.id, user, text, thread_ts=at.thread_id, blocks=blocks)
        rig.slack.world.add(message)


async def test_of_a_thread_of_large_messages_the_latest_are_read_in_small_answers(
    socket_rig: Rig,
) -> None:
    rig = socket_rig
    at = await begun(rig)
    dense(rig, at, 400)
    found = await read(rig, at, f"{float(at.thread_id) + 401:.6f}", 5)
    assert found.first is not None
    assert found.first.message.content == "it failed"
    assert [text.split()[:2] for text in texts(found)] == [
        ["reply", str(n)] for n in range(395, 400)
    ]
    assert found.between == pytest.approx(395, abs=2)
    assert not found.newest_missing


async def test_an_answer_that_is_too_large_is_not_parsed(socket_rig: Rig) -> None:
    rig = socket_rig
    at = await begun(rig)
    dense(rig, at, 400)
    assert rig.adapter._threads is not None
    with pytest.raises(AnswerTooLarge):
        await rig.adapter._threads._page(place(rig, at), "", limit=300)
