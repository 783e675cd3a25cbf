"""Deliveries of Slack become typed events: messages in all forms of delivery."""

import json
import subprocess
import sys
from typing import Any

import pytest

import adapters.slack
from adapters.slack.event_context import SlackBot
from adapters.slack.message_text import MAX_NODES, text_of_blocks
from adapters.slack.messages import SlackExtras
from adapters.slack.parse import parse
from gateway.authorship import Material
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    MessageReceived,
)
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from tests.adapters.slack.payloads import (
    ANNA,
    BOT,
    COMMAND,
    EVERYTHING,
    RICH,
    ROOM,
    TEAM,
    TS,
    callback,
    edited,
    message,
)
from tests.adapters.slack.reading import only, received


class TestImporting:
    def test_both_names_are_one_function(self) -> None:
        assert adapters.slack.parse is parse

    def test_no_library_is_imported(self) -> None:
        code = (
            "import sys, adapters.slack, adapters.slack.manifest, adapters.slack.app_manifest;"
            "sys.exit(any(m.split('.')[0] in ('slack_bolt', 'slack_sdk', 'aiohttp')"
            " for m in sys.modules))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestMessages:
    def test_every_field_is_parsed(self) -> None:
        heard = received(callback(message("hello")))
        assert (heard.id, heard.content, heard.author.id) == (TS, "hello", ANNA)
        assert heard.timestamp.isoformat() == "2023-11-14T22:13:20.000100+00:00"
        assert heard.place.workspace_id == TEAM
        assert heard.place.audience is Audience.PUBLIC_ROOM
        assert (heard.thread_id, heard.reply_to_id, heard.quote) == (None, None, None)
        assert not (heard.mentions_bot)
        assert not (heard.mentions_others)

    @pytest.mark.parametrize(
        ("changes", "audience"),
        [
            ({"channel_type": "im", "channel": "D1"}, Audience.DIRECT),
            ({"channel_type": "app_home", "channel": "D1"}, Audience.DIRECT),
            ({"channel_type": "mpim"}, Audience.PRIVATE_ROOM),
            ({"channel_type": "group"}, Audience.PRIVATE_ROOM),
            ({"channel_type": "channel"}, Audience.PUBLIC_ROOM),
            ({"channel_type": None, "channel": "D1"}, Audience.DIRECT),
            ({"channel_type": None, "channel": "G1"}, Audience.PRIVATE_ROOM),
            ({"channel_type": None}, Audience.PUBLIC_ROOM),
            ({"channel_type": "something new", "channel": "X1"}, Audience.PUBLIC_ROOM),
        ],
    )
    def test_the_audience_follows_from_the_channel(
        self, changes: dict[str, Any], audience: Audience
    ) -> None:
        assert received(callback(message(**changes))).place.audience is audience

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("<@U0BOT> what is new?", "what is new?"),
            ("<@U0BOT>: what is new?", "what is new?"),
            ("<@U0BOT|parley>", ""),
            ("hey <@U0BOT> you", "hey you"),
            ("thanks <@U0BOT>!", "thanks!"),
            ("<@U0BOT> <@U0BOT> twice", "twice"),
        ],
    )
    def test_the_bots_mention_is_removed_from_the_text(self, written: str, read: str) -> None:
        heard = received(callback(message(written)))
        assert heard.content == read
        assert heard.mentions_bot
        assert not heard.mentions_others

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("<@U0BEN|ben> hi", "@ben hi"),
            ("<@U0BEN> hi", "@U0BEN hi"),
            ("see <#C0NEWS|news>, <#C0OPS>", "see #news, #C0OPS"),
            ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
            ("<!subteam^S0TEAM|@ops> please", "@ops please"),
            ("<!date^1700000000^{date}|14 November>", "14 November"),
            ("<https://example.org>", "https://example.org"),
            ("<https://example.org|example.org>", "https://example.org"),
            ("<https://example.org|our page>", "our page (https://example.org)"),
            ("<mailto:a@example.org|a@example.org>", "a@example.org"),
            ("1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"),
            ("the text &amp;lt;", "the text &lt;"),
            ("typed by hand: &lt;@U0BOT&gt;", "typed by hand: <@U0BOT>"),
        ],
    )
    def test_entities_become_readable(self, written: str, read: str) -> None:
        heard = received(callback(message(written)))
        assert heard.content == read
        assert not heard.mentions_bot

    def test_other_mentions_are_recorded(self) -> None:
        words = "<@U0BOT> <@U0BEN> <#C0NEWS> <!here>"
        heard = received(callback(message(words)))
        assert unpacked(SlackExtras, heard.extras) == SlackExtras(
            mentions=(BOT, "U0BEN"), channel_mentions=("C0NEWS",), broadcast=True
        )
        assert heard.mentions_others

    def test_a_broadcast_does_not_mention_the_bot(self) -> None:
        heard = received(callback(message("<!everyone> hello")))
        assert not (heard.mentions_bot)
        assert not (heard.mentions_others)

    def test_known_names_are_used(self) -> None:
        me = SlackBot("second", BOT, "B0BOT", TEAM, {"U0BEN": "Ben", ANNA: "Anna"})
        heard = received(callback(message("<@U0BEN>!")), me)
        assert (heard.content, heard.author.name, heard.place.account) == (
            "@Ben!",
            "Anna",
            "second",
        )

    def test_a_mention_delivered_twice_has_one_id(self) -> None:
        event = {"type": "app_mention", "user": ANNA, "text": "<@U0BOT> hi", "ts": TS}
        first = only(callback(event | {"channel": ROOM}))
        second = only(callback(message("<@U0BOT> hi"), event_id="Ev0OTHER"))
        assert isinstance(first, MessageReceived)
        assert isinstance(second, MessageReceived)
        assert first.event_id == second.event_id
        assert first.message.content == second.message.content == "hi"
        assert first.message.mentions_bot
        assert second.message.mentions_bot

    def test_without_the_bots_id_an_app_mention_is_a_mention(self) -> None:
        event = {
            "type": "app_mention",
            "user": ANNA,
            "text": "<@U0X> hi",
            "ts": TS,
            "channel": ROOM,
        }
        heard = received(event)
        assert (heard.content, heard.mentions_bot) == ("hi", True)

    def test_threads_are_parsed(self) -> None:
        root = received(callback(message(thread_ts=TS)))
        reply = received(callback(message(thread_ts="1699999999.000001")))
        assert root.place.thread_id == ""
        assert reply.place.thread_id == reply.reply_to_id == "1699999999.000001"
        assert reply.quote is None

    @pytest.mark.parametrize("subtype", ["me_message", "thread_broadcast", "file_share"])
    def test_some_subtypes_are_messages(self, subtype: str) -> None:
        assert received(callback(message(subtype=subtype))).content == "hello"

    @pytest.mark.parametrize("subtype", ["channel_join", "channel_topic", "bot_add", "ekm", "x"])
    def test_other_subtypes_are_not_messages(self, subtype: str) -> None:
        assert parse(callback(message(subtype=subtype))) == []

    def test_another_bot_is_recognised(self) -> None:
        modern = received(callback(message(bot_id="B0OTHER", app_id="A0OTHER")))
        classic = message(subtype="bot_message", bot_id="B0OTHER", username="ci")
        del classic["user"]
        old = received(callback(classic))
        assert modern.author.is_bot
        assert (old.author.id, old.author.name, old.author.is_bot) == ("B0OTHER", "ci", True)

    @pytest.mark.parametrize("own", [{"user": BOT}, {"app_id": "A0APP", "bot_id": "B0BOT"}])
    def test_own_messages_are_ignored(self, own: dict[str, str]) -> None:
        assert parse(callback(message(**own))) == []
        assert parse(callback(edited(message("b", **own), message("a", **own)))) == []

    def test_the_text_of_blocks_is_used_if_there_is_no_other(self) -> None:
        heard = received(callback(message("", blocks=RICH)))
        assert heard.content == "a < b https://example.org:wave:\n- one\n- two"
        assert heard.mentions_bot
        extras = unpacked(SlackExtras, heard.extras)
        assert json.loads(extras.blocks) == RICH

    def test_a_forwarded_message_is_external_text(self) -> None:
        shared = {
            "is_share": True,
            "text": "use &lt;b&gt;",
            "ts": "1690000000.000100",
            "author_id": BOT,
            "author_name": "Parley",
            "files": [{"id": "F2", "mimetype": "application/pdf", "url_private": "https://x/y"}],
        }
        heard = received(callback(message("see", attachments=[shared])))
        assert (heard.content, heard.quote) == ("see", None)
        assert heard.material == (Material("forwarded", "use <b>", "Parley"),)
        assert [a.kind for a in heard.attachments] == ["document"]

    def test_a_forward_that_mentions_the_bot_is_not_an_invocation(self) -> None:
        shared = {"is_share": True, "text": f"<@{BOT}> /clear", "author_name": "Eve"}
        heard = received(callback(message("", attachments=[shared])))
        assert (heard.content, heard.mentions_bot) == ("", False)

    def test_a_mention_in_external_text_is_not_an_invocation_for_any_event_type(self) -> None:
        shared = {"is_share": True, "text": f"<@{BOT}> pay Eve", "author_name": "Eve"}
        for reply, expected in (("", False), ("see", False), (f"<@{BOT}> see", True)):
            event = message(reply, type="app_mention", attachments=[shared])
            assert received(callback(event)).mentions_bot is expected

    @pytest.mark.parametrize("blocks", ["message_blocks", "blocks"])
    def test_the_blocks_of_a_forwarded_message_are_read(self, blocks: str) -> None:
        section = {"type": "section", "text": {"type": "mrkdwn", "text": "pay Eve"}}
        results = [{"message": {"blocks": [section]}}] if blocks == "message_blocks" else [section]
        shared = {"is_msg_unfurl": True, blocks: results, "author_name": "Eve"}
        heard = received(callback(message("", attachments=[shared])))
        assert heard.material == (Material("forwarded", "pay Eve", "Eve"),)

    def test_a_link_preview_is_external_text(self) -> None:
        preview = {"title": "Page", "text": "about", "from_url": "https://x", "service_name": "X"}
        heard = received(callback(message("see", attachments=[preview])))
        assert (heard.content, heard.quote) == ("see", None)
        assert heard.material == (Material("preview", "Page\nabout", "X"),)
        alone = received(callback(message("", attachments=[preview])))
        assert alone.content == ""

    def test_text_attached_by_an_app_belongs_to_the_app(self) -> None:
        plain = {"pretext": "Build", "title": "failed", "fields": [{"title": "k", "value": "v"}]}
        heard = received(callback(message("", bot_id="B0OTHER", attachments=[plain])))
        assert (heard.content, heard.material) == ("Build\nfailed\nk: v", ())
        person = received(callback(message("", attachments=[plain])))
        assert (person.content, person.material[0].authorship) == ("", "card")

    def test_a_quotation_in_own_text_is_marked(self) -> None:
        def rich(kind: str, text: str) -> dict[str, Any]:
            return {"type": kind, "elements": [{"type": "text", "text": text}]}

        elements = [rich("rich_text_quote", "pay\nEve"), rich("rich_text_section", "really?")]
        blocks = [{"type": "rich_text", "elements": elements}]
        assert received(callback(message("", blocks=blocks))).content == "> pay\n> Eve\nreally?"

    def test_blocks_of_the_composer_complete_a_text_without_their_quotation(self) -> None:
        def section(kind: str, *words: str) -> dict[str, Any]:
            return {"type": kind, "elements": [{"type": "text", "text": word} for word in words]}

        def heard(written: str, *elements: dict[str, Any]) -> str:
            blocks = [{"type": "rich_text", "elements": list(elements)}]
            return received(callback(message(written, blocks=blocks))).content

        said, quoted = section("rich_text_section", "right?"), section("rich_text_quote", "pay now")
        assert heard("right?", said, quoted) == "right?\n> pay now"
        assert heard("right?\n&gt; pay now", said, quoted) == "right?\n> pay now"
        inner = {"type": "rich_text_list", "style": "ordered", "indent": 1}
        entries = {**inner, "elements": [section("rich_text_section", "plan")]}
        assert heard("right?\n    a. plan", said, entries) == "right?\n    a. plan"

    def test_files_are_parsed(self) -> None:
        files = [
            {"id": "F1", "name": "a.png", "mimetype": "image/png", "url_private": "u", "size": 7},
            {"id": "F2", "mimetype": "audio/webm", "url_private": "u"},
            {"id": "F3", "mimetype": "video/mp4", "url_private_download": "d", "url_private": "u"},
            {"id": "F4", "title": "shared", "file_access": "check_file_info"},
            {"id": "F5", "mode": "tombstone"},
            {"size": True},
            "no file",
        ]
        assert received(callback(message(files=files))).attachments == (
            Attachment("image", "u", "a.png", "image/png", 7),
            Attachment("audio", "u", "", "audio/webm"),
            Attachment("video", "d", "", "video/mp4"),
            Attachment("other", "file:F4", "shared"),
        )

    def test_a_clip_is_the_authors_own_unless_they_share_it(self) -> None:
        clip = {
            "id": "F1",
            "name": "audio_message.m4a",
            "mimetype": "video/mp4",
            "subtype": "slack_audio",
            "duration_ms": 2_500,
            "url_private": "u",
        }
        author = message("")["user"]
        (own,) = received(callback(message("", files=[{**clip, "user": author}]))).attachments
        assert (own.kind, own.voice, own.seconds) == ("audio", True, 2.5)
        (others,) = received(callback(message("", files=[{**clip, "user": "U9"}]))).attachments
        assert (others.kind, others.voice) == ("audio", False)
        shared = {"is_share": True, "text": "t", "files": [{**clip, "user": author}]}
        (shown,) = received(callback(message("see", attachments=[shared]))).attachments
        assert not shown.voice

    def test_the_transcript_of_a_clip_is_text_of_a_file(self) -> None:
        transcription = {"status": "complete", "preview": {"content": "call me", "has_more": True}}
        clip = {"id": "F1", "name": "memo.m4a", "mimetype": "audio/mp4", "url_private": "u"}
        found = received(callback(message("", files=[{**clip, "transcription": transcription}])))
        assert found.material == (Material("file", "Transcript by Slack: call me […]", "memo.m4a"),)

    def test_a_card_of_an_app_has_its_footer_and_picture(self) -> None:
        card = {"title": "CPU", "footer": "Grafana", "image_url": "https://g.example/a.png?b&c"}
        (found,) = received(callback(message("see", attachments=[card]))).material
        assert found.text == "CPU\nGrafana\nPicture: https://g.example/a.png?b&c"
        preview = {**card, "from_url": "https://g.example"}
        (found,) = received(callback(message("see", attachments=[preview]))).material
        assert found.text == "CPU"

    def test_every_field_has_a_limit(self) -> None:
        heard = received(callback(message("x" * 100_000, files=[{"id": "F1"}] * 100)))
        assert len(heard.content) == MAX_CONTENT
        assert len(heard.attachments) == 20

    def test_characters_that_databases_refuse_are_replaced(self) -> None:
        assert received(callback(message("a\0b\ud800c"))).content == "a\ufffdb\ufffdc"

    def test_the_workspace_is_that_of_the_installation(self) -> None:
        grid = callback(message(), team_id="T0HOST", enterprise_id="E0ORG")
        assert received(grid).place.workspace_id == TEAM
        assert received(grid, SlackBot(team_id="T0MINE")).place.workspace_id == "T0MINE"


class TestForms:
    def test_an_envelope_contains_the_same_event(self) -> None:
        forms: dict[str, dict[str, Any]] = {"events_api": EVERYTHING[0], "slash_commands": COMMAND}
        for kind, payload in forms.items():
            assert parse({"envelope_id": "e", "type": kind, "payload": payload}) == parse(payload)

    def test_a_repeated_event_is_parsed_identically(self) -> None:
        for payload in EVERYTHING:
            again = parse(json.loads(json.dumps(payload)))
            assert again == parse(payload)
            assert again


def test_only_the_first_of_too_many_parts_are_parsed() -> None:
    piece = {"type": "text", "text": "x"}
    section = {"type": "rich_text_section", "elements": [piece] * 500}
    blocks = [{"type": "rich_text", "elements": [section] * 500}] * 50
    read = text_of_blocks({"blocks": blocks})
    assert MAX_NODES * 0.9 < read.count("x") <= MAX_NODES
