"""Answers of the gateway appear on Slack unchanged, and every refusal has its own meaning."""

import asyncio

import pytest

from adapters.slack.errors import refused
from gateway.errors import (
    Ambiguous,
    BadInput,
    DeliveryError,
    FormatRejected,
    Permanent,
    PlatformFailed,
    Transient,
)
from gateway.message import (
    Attachment,
    Button,
    CommandInvoked,
    MessageReceived,
    Outbound,
    OutboundFile,
    Part,
    Place,
)
from gateway.people import Audience
from simulators.base import Fault, FaultKind, SimFile, SimRoom
from tests.adapters.slack.conftest import Rig
from tests.support.patience import PATIENCE

LONG_ANSWER = {
    "blocks": [
        {"type": "header", "text": {"type": "plain_text", "text": "Totals"}},
        {
            "type": "table",
            "rows": [
                [{"type": "raw_text", "text": "year"}, {"type": "raw_text", "text": "sum"}],
                [{"type": "raw_text", "text": "2026"}, {"type": "raw_text", "text": "42"}],
            ],
        },
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_preformatted",
                    "elements": [{"type": "text", "text": "print('a < b')\n" * 300}],
                }
            ],
        },
    ]
}


def place(rig: Rig, room: SimRoom, thread: str = "") -> Place:
    audience = Audience.DIRECT if room.kind == "direct" else Audience.PUBLIC_ROOM
    return Place("slack", "main", room.id, audience, rig.slack.world.team, thread)


def text(words: str) -> Part:
    return Part(words, words)


async def test_a_text_without_markup_is_shown_unchanged(socket_rig: Rig) -> None:
    room = socket_rig.slack.room("general")
    words = "2 * 3 * 4 < 25 & <!channel> <@U1>"
    await socket_rig.adapter.send(Outbound("k", place(socket_rig, room), text(words)))
    (shown,) = socket_rig.slack.shown(room)
    assert shown.payload["text"] == "2 * 3 * 4 &lt; 25 &amp; &lt;!channel&gt; &lt;@U1&gt;"
    assert shown.payload["mrkdwn"] is False


async def test_a_long_answer_with_code_and_a_table_arrives_completely(rig: Rig) -> None:
    room = rig.slack.room("general")
    part = Part(dict(LONG_ANSWER), "Totals")
    receipt = await rig.adapter.send(Outbound("k", place(rig, room), part))
    (shown,) = rig.slack.shown(room)
    assert shown.id == receipt.message_id
    assert "2026\t42" in shown.text
    assert shown.text.count("print('a < b')") == 300
    assert shown.payload["blocks"] == LONG_ANSWER["blocks"]
    assert (shown.payload["unfurl_links"], shown.payload["unfurl_media"]) == (False, False)


async def test_an_answer_in_a_channel_opens_a_thread(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    message_id = await rig.slack.say(anna, room, "why?", mention=True)
    answer = Outbound("k", place(rig, room), text("because"), reply_to_id=message_id)
    await rig.adapter.send(answer)
    assert [m.thread_id for m in rig.slack.shown(room)] == ["", message_id]


async def test_an_answer_stays_in_its_thread(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    thread = await rig.slack.open_thread(anna, room, "plans")
    message_id = await rig.slack.say(anna, thread, "why?")
    there = place(rig, room, thread.thread_id)
    await rig.adapter.send(Outbound("k", there, text("because"), reply_to_id=message_id))
    assert [m.text for m in rig.slack.shown(thread)] == ["plans", "why?", "because"]


async def test_an_answer_to_a_direct_message_opens_no_thread(rig: Rig) -> None:
    anna = rig.slack.person("Anna")
    room = rig.slack.direct(anna)
    message_id = await rig.slack.say(anna, room, "why?")
    await rig.adapter.send(Outbound("k", place(rig, room), text("so"), reply_to_id=message_id))
    assert [m.thread_id for m in rig.slack.shown(room)] == ["", ""]


async def test_a_private_answer_is_shown_to_one_person(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    message_id = await rig.slack.say(anna, room, "help", mention=True)
    # The conversation is held in a thread that nobody has replied in yet.
    there = place(rig, room, message_id)
    whisper = Outbound("k", there, text("psst"), reply_to_id=message_id, private_to=anna.id)
    await rig.adapter.send(whisper)
    shown = rig.slack.shown(room)[-1]
    assert (shown.text, shown.only_for, shown.thread_id) == ("psst", anna.id, "")


async def test_without_the_bot_in_the_channel_a_command_is_answered_at_its_response_url(
    rig: Rig,
) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("elsewhere")
    rig.slack.world.of(room).bot_inside = False
    await rig.slack.command(anna, room, "ask", "hi")
    event = await rig.sink.first(CommandInvoked)
    for private_to in ("", anna.id):
        await rig.adapter.send(
            Outbound(
                "k",
                event.place,
                text("hello"),
                private_to=private_to,
                reply_handle=event.reply_handle,
            )
        )
    assert [(m.text, m.only_for) for m in rig.slack.shown(room)] == [
        ("hello", ""),
        ("hello", anna.id),
    ]


async def test_a_used_response_url_is_permanent(socket_rig: Rig) -> None:
    anna, room = socket_rig.slack.person("Anna"), socket_rig.slack.room("elsewhere")
    socket_rig.slack.world.of(room).bot_inside = False
    await socket_rig.slack.command(anna, room, "ask", "hi")
    event = await socket_rig.sink.first(CommandInvoked)
    answer = Outbound("k", event.place, text("x"), reply_handle=event.reply_handle)
    for _ in range(5):
        await socket_rig.adapter.send(answer)
    with pytest.raises(Permanent, match="used_url"):
        await socket_rig.adapter.send(answer)


async def test_a_response_url_of_another_host_gets_no_request(socket_rig: Rig) -> None:
    room = socket_rig.slack.room("elsewhere")
    socket_rig.slack.world.of(room).bot_inside = False
    handle = "https://hooks.slack.com.example.org/x"
    answer = Outbound("k", place(socket_rig, room), text("x"), reply_handle=handle)
    with pytest.raises(Permanent, match="not Slack's"):
        await socket_rig.adapter.send(answer)


async def test_buttons_are_below_the_text(rig: Rig) -> None:
    room = rig.slack.room("general")
    buttons = tuple(Button(f"{n}. {'choice' * 20}", f"v{n}") for n in range(25))
    outbound = Outbound("k", place(rig, room), text("Pick " * 700), buttons=buttons)
    await rig.adapter.send(outbound)
    (shown,) = rig.slack.shown(room)
    assert [b.value for b in shown.buttons] == [f"v{n}" for n in range(25)]
    assert shown.text.count("Pick") == 700


async def test_a_26th_button_is_refused(socket_rig: Rig) -> None:
    buttons = tuple(Button(str(n), str(n)) for n in range(26))
    there = place(socket_rig, socket_rig.slack.room("general"))
    with pytest.raises(Permanent, match="25 buttons"):
        await socket_rig.adapter.send(Outbound("k", there, text("x"), buttons=buttons))


async def test_a_file_is_shared_in_the_thread(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    message_id = await rig.slack.say(anna, room, "a file please", mention=True)
    file = OutboundFile("sums.csv", "text/csv", b"a,b\n1,2\n")
    receipt = await rig.adapter.send(
        Outbound("k", place(rig, room), file=file, reply_to_id=message_id)
    )
    shown = rig.slack.shown(room)[-1]
    assert [(f.name, f.data) for f in shown.files] == [("sums.csv", file.data)]
    assert shown.thread_id == message_id
    assert receipt.message_id


async def test_a_file_cannot_be_private_in_a_channel(socket_rig: Rig) -> None:
    there = place(socket_rig, socket_rig.slack.room("general"))
    file = OutboundFile("a.txt", "text/plain", b"a")
    with pytest.raises(Permanent, match="everyone"):
        await socket_rig.adapter.send(Outbound("k", there, file=file, private_to="U1"))


async def test_messages_are_edited_and_deleted_and_get_reactions(rig: Rig) -> None:
    anna, room = rig.slack.person("Anna"), rig.slack.room("general")
    there = place(rig, room)
    receipt = await rig.adapter.send(Outbound("k", there, Part(dict(LONG_ANSWER), "Totals")))
    await rig.adapter.end_live(Outbound("k", there, text("short"), replaces=receipt.message_id))
    (shown,) = rig.slack.shown(room)
    assert (shown.text, shown.edited) == ("short", True)
    message_id = await rig.slack.say(anna, room, "nice")
    for _ in range(2):
        await rig.adapter.react(there, message_id, "👍")
    stored = rig.slack.world.find(room.id, message_id)
    assert stored is not None
    assert stored.reactions == {"+1": {rig.slack.world.bot_user}}
    for _ in range(2):
        await rig.adapter.delete(there, receipt.message_id)
    assert rig.slack.shown(room)[0].deleted


async def test_messages_of_others_cannot_be_changed(socket_rig: Rig) -> None:
    anna, room = socket_rig.slack.person("Anna"), socket_rig.slack.room("general")
    sent = await socket_rig.slack.say(anna, room, "mine")
    with pytest.raises(Permanent, match="cant_update_message"):
        await socket_rig.adapter.end_live(
            Outbound("k", place(socket_rig, room), text("yours"), replaces=sent)
        )


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("chat.postMessage", "rate_limit", retry_after=17.0), Transient),
        (Fault("chat.postMessage", "server_error"), PlatformFailed),
        (Fault("chat.postMessage", "drop_before"), Ambiguous),
        (Fault("chat.postMessage", "drop_after"), Ambiguous),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
async def test_a_failed_send_has_its_error_type_and_is_not_repeated(
    socket_rig: Rig, fault: Fault, expected: type[DeliveryError]
) -> None:
    room = socket_rig.slack.room("general")
    socket_rig.slack.faults.add(fault)
    with pytest.raises(expected) as caught:
        await socket_rig.adapter.send(Outbound("k", place(socket_rig, room), text("once")))
    posts = [c for c in socket_rig.slack.calls if c.method == "chat.postMessage"]
    assert len(posts) == 1
    if fault.kind == "rate_limit":
        assert isinstance(caught.value, Transient)
        assert caught.value.retry_after == 17.0
    assert len(socket_rig.slack.shown(room)) == (1 if fault.kind == "drop_after" else 0)


@pytest.mark.parametrize("code", ["fatal_error", "internal_error"])
def test_after_an_error_of_slack_a_message_may_be_posted(code: str) -> None:
    assert type(refused(code)) is PlatformFailed
    assert type(refused(code, sends=False)) is Transient


@pytest.mark.parametrize(
    ("kind", "expected"), [("rate_limit", Transient), ("server_error", PlatformFailed)]
)
async def test_a_failed_response_to_a_command_has_its_error_type(
    socket_rig: Rig, kind: FaultKind, expected: type[DeliveryError]
) -> None:
    anna, room = socket_rig.slack.person("Anna"), socket_rig.slack.room("elsewhere")
    socket_rig.slack.world.of(room).bot_inside = False
    await socket_rig.slack.command(anna, room, "ask", "hi")
    event = await socket_rig.sink.first(CommandInvoked)
    socket_rig.slack.faults.add(Fault("response_url", kind))
    with pytest.raises(expected) as caught:
        await socket_rig.adapter.send(
            Outbound("k", event.place, text("x"), reply_handle=event.reply_handle)
        )
    assert type(caught.value) is expected


async def test_a_failed_edit_can_be_repeated(socket_rig: Rig) -> None:
    room = socket_rig.slack.room("general")
    there = place(socket_rig, room)
    sent = await socket_rig.adapter.send(Outbound("k", there, text("first")))
    socket_rig.slack.faults.add(Fault("chat.update", "server_error"))
    with pytest.raises(Transient):
        await socket_rig.adapter.end_live(
            Outbound("k", there, text("second"), replaces=sent.message_id)
        )


@pytest.mark.parametrize("step", ["files.getUploadURLExternal", "upload"])
async def test_an_upload_interrupted_before_its_end_can_be_repeated(
    socket_rig: Rig, step: str
) -> None:
    there = place(socket_rig, socket_rig.slack.room("general"))
    socket_rig.slack.faults.add(Fault(step, "drop_after"))
    file = OutboundFile("a.txt", "text/plain", b"a")
    with pytest.raises(Transient):
        await socket_rig.adapter.send(Outbound("k", there, file=file))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Part({"blocks": [{"type": "section"}]}, "x"), FormatRejected),
        (Part({"blocks": [{"type": "divider"}] * 51}, "x"), FormatRejected),
        (Part({"blocks": [{"type": "markdown", "text": "x" * 11_999}] * 2}, "x"), FormatRejected),
        (Part("x" * 40_001, "y"), Permanent),
        (Part(" ", " "), Permanent),
    ],
)
async def test_content_that_slack_refuses_is_refused_here(
    socket_rig: Rig, part: Part, expected: type[DeliveryError]
) -> None:
    there = place(socket_rig, socket_rig.slack.room("general"))
    with pytest.raises(expected):
        await socket_rig.adapter.send(Outbound("k", there, part))


async def test_an_unknown_channel_is_permanent(socket_rig: Rig) -> None:
    nowhere = Place("slack", "main", "C0NOWHERE", Audience.PUBLIC_ROOM)
    with pytest.raises(Permanent, match="channel_not_found"):
        await socket_rig.adapter.send(Outbound("k", nowhere, text("x")))


async def test_a_missing_scope_is_named(socket_rig: Rig) -> None:
    socket_rig.slack.scopes.discard("chat:write")
    there = place(socket_rig, socket_rig.slack.room("general"))
    with pytest.raises(Permanent, match=r"needs chat:write.*reinstall"):
        await socket_rig.adapter.send(Outbound("k", there, text("x")))


class TestFetching:
    async def attachment(self, rig: Rig, data: bytes) -> Attachment:
        anna = rig.slack.person("Anna")
        file = SimFile("data.bin", "application/octet-stream", data)
        await rig.slack.say(anna, rig.slack.direct(anna), "", files=(file,))
        return (await rig.sink.first(MessageReceived)).message.attachments[0]

    async def test_a_file_beyond_the_limit_is_not_read(self, socket_rig: Rig) -> None:
        attachment = await self.attachment(socket_rig, b"x" * 100_000)
        with pytest.raises(BadInput, match="more than 99999"):
            await socket_rig.adapter.fetch(attachment, 99_999)
        unknown = Attachment("document", attachment.ref)
        with pytest.raises(BadInput):
            await socket_rig.adapter.fetch(unknown, 99_999)
        assert len(await socket_rig.adapter.fetch(unknown, 100_000)) == 100_000

    async def test_a_file_is_fetched_by_its_id_alone(self, socket_rig: Rig) -> None:
        attachment = await self.attachment(socket_rig, b"data")
        file_id = next(iter(socket_rig.slack.world.files))
        by_id = Attachment("document", f"file:{file_id}")
        assert await socket_rig.adapter.fetch(by_id, 10) == b"data"
        assert await socket_rig.adapter.fetch(attachment, 10) == b"data"

    async def test_the_token_is_sent_to_slack_only(self, socket_rig: Rig) -> None:
        elsewhere = Attachment("image", "https://files.slack.com.example.org/cat.png")
        with pytest.raises(Permanent, match="not Slack's"):
            await socket_rig.adapter.fetch(elsewhere, 10)

    async def test_without_the_scope_the_sign_in_page_of_slack_is_recognised(
        self, socket_rig: Rig
    ) -> None:
        attachment = await self.attachment(socket_rig, b"data")
        socket_rig.slack.scopes.discard("files:read")
        with pytest.raises(Permanent, match="files:read"):
            await socket_rig.adapter.fetch(attachment, 10)


async def test_after_disconnecting_nothing_is_sent(socket_rig: Rig) -> None:
    await socket_rig.adapter.disconnect()
    there = place(socket_rig, socket_rig.slack.room("general"))
    with pytest.raises(Transient, match="not connected"):
        await socket_rig.adapter.send(Outbound("k", there, text("x")))
    await asyncio.wait_for(socket_rig.adapter.wait_closed(), PATIENCE)
