"""Whatever Slack delivers becomes typed events or nothing."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adapters.slack
from adapters.slack.frame import Me
from adapters.slack.parse import parse
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
    SlackExtras,
    place_of,
)
from gateway.people import Audience
from tests.adapters.slack.payloads import (
    ANNA,
    BOT,
    BUTTON,
    COMMAND,
    EVERYTHING,
    MENU,
    RICH,
    ROOM,
    TEAM,
    TS,
    block_actions,
    callback,
    edited,
    message,
)

SHARED = Path(__file__).resolve().parents[4] / "shared/data/payloads/slack.json"


def received(payload: dict[str, Any], me: Me | None = None) -> ChatMessage:
    (event,) = parse(payload, me)
    assert isinstance(event, MessageReceived)
    return event.message


def only(payload: dict[str, Any]) -> InboundEvent:
    (event,) = parse(payload)
    return event


class TestImporting:
    def test_both_spellings_name_the_same_function(self) -> None:
        assert adapters.slack.parse is parse

    def test_no_library_is_imported(self) -> None:
        code = (
            "import sys, adapters.slack, adapters.slack.manifest, adapters.slack.app_manifest;"
            "sys.exit(any(m.split('.')[0] in ('slack_bolt', 'slack_sdk', 'aiohttp')"
            " for m in sys.modules))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestMessages:
    def test_every_field(self) -> None:
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
    def test_who_listens(self, changes: dict[str, Any], audience: Audience) -> None:
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
    def test_the_bots_own_mention_does_not_reach_the_model(self, written: str, read: str) -> None:
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

    def test_what_is_mentioned_is_noted(self) -> None:
        words = "<@U0BOT> <@U0BEN> <#C0NEWS> <!here>"
        heard = received(callback(message(words)))
        assert heard.extras == SlackExtras(
            mentions=(BOT, "U0BEN"), channel_mentions=("C0NEWS",), broadcast=True, team_id=TEAM
        )
        assert heard.mentions_others

    def test_a_broadcast_does_not_mention_the_bot(self) -> None:
        heard = received(callback(message("<!everyone> hello")))
        assert not (heard.mentions_bot)
        assert not (heard.mentions_others)

    def test_names_known_already_are_used(self) -> None:
        me = Me("second", BOT, "B0BOT", TEAM, {"U0BEN": "Ben", ANNA: "Anna"})
        heard = received(callback(message("<@U0BEN>!")), me)
        assert (heard.content, heard.author.name, heard.place.account) == (
            "@Ben!",
            "Anna",
            "second",
        )

    def test_a_mention_comes_twice_under_one_id(self) -> None:
        event = {"type": "app_mention", "user": ANNA, "text": "<@U0BOT> hi", "ts": TS}
        first = only(callback(event | {"channel": ROOM}))
        second = only(callback(message("<@U0BOT> hi"), event_id="Ev0OTHER"))
        assert isinstance(first, MessageReceived)
        assert isinstance(second, MessageReceived)
        assert first.event_id == second.event_id
        assert first.message.content == second.message.content == "hi"
        assert first.message.mentions_bot
        assert second.message.mentions_bot

    def test_without_knowing_the_bot_an_app_mention_is_still_a_mention(self) -> None:
        event = {
            "type": "app_mention",
            "user": ANNA,
            "text": "<@U0X> hi",
            "ts": TS,
            "channel": ROOM,
        }
        heard = received(event)
        assert (heard.content, heard.mentions_bot) == ("hi", True)

    def test_threads(self) -> None:
        root = received(callback(message(thread_ts=TS)))
        reply = received(callback(message(thread_ts="1699999999.000001")))
        assert root.place.thread_id == ""
        assert reply.place.thread_id == reply.reply_to_id == "1699999999.000001"
        assert reply.quote is None

    @pytest.mark.parametrize("subtype", ["me_message", "thread_broadcast", "file_share"])
    def test_subtypes_that_are_messages(self, subtype: str) -> None:
        assert received(callback(message(subtype=subtype))).content == "hello"

    @pytest.mark.parametrize("subtype", ["channel_join", "channel_topic", "bot_add", "ekm", "x"])
    def test_subtypes_that_are_not(self, subtype: str) -> None:
        assert parse(callback(message(subtype=subtype))) == []

    def test_another_bot(self) -> None:
        modern = received(callback(message(bot_id="B0OTHER", app_id="A0OTHER")))
        classic = message(subtype="bot_message", bot_id="B0OTHER", username="ci")
        del classic["user"]
        old = received(callback(classic))
        assert modern.author.is_bot
        assert (old.author.id, old.author.name, old.author.is_bot) == ("B0OTHER", "ci", True)

    @pytest.mark.parametrize("own", [{"user": BOT}, {"app_id": "A0APP", "bot_id": "B0BOT"}])
    def test_the_bots_own_messages_are_nothing(self, own: dict[str, str]) -> None:
        assert parse(callback(message(**own))) == []
        assert parse(callback(edited(message("b", **own), message("a", **own)))) == []

    def test_the_text_of_blocks_when_there_is_no_other(self) -> None:
        heard = received(callback(message("", blocks=RICH)))
        assert heard.content == "a < b https://example.org:wave:\none\ntwo"
        assert heard.mentions_bot
        assert isinstance(heard.extras, SlackExtras)
        assert json.loads(heard.extras.blocks) == RICH

    def test_a_forwarded_message_is_a_quote(self) -> None:
        shared = {
            "is_share": True,
            "text": "use &lt;b&gt;",
            "ts": "1690000000.000100",
            "author_id": BOT,
            "author_name": "Parley",
            "files": [{"id": "F2", "mimetype": "application/pdf", "url_private": "https://x/y"}],
        }
        heard = received(callback(message("see", attachments=[shared])))
        assert heard.quote is not None
        assert (heard.quote.id, heard.quote.text) == ("1690000000.000100", "use <b>")
        assert heard.quote.by_this_bot
        assert [a.kind for a in heard.attachments] == ["document"]

    def test_a_link_preview_is_no_quote(self) -> None:
        preview = {"title": "Page", "text": "about", "from_url": "https://x"}
        assert received(callback(message("see", attachments=[preview]))).quote is None

    def test_files(self) -> None:
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

    def test_everything_is_bounded(self) -> None:
        heard = received(callback(message("x" * 100_000, files=[{"id": "F1"}] * 100)))
        assert len(heard.content) == MAX_CONTENT
        assert len(heard.attachments) == 20

    def test_characters_no_database_takes_are_replaced(self) -> None:
        assert received(callback(message("a\0b\ud800c"))).content == "ab?c"

    def test_the_installation_decides_the_workspace(self) -> None:
        grid = callback(message(), team_id="T0HOST", enterprise_id="E0ORG")
        assert received(grid).place.workspace_id == TEAM
        assert received(grid, Me(team_id="T0MINE")).place.workspace_id == "T0MINE"


class TestChanges:
    def test_an_edit_is_the_new_state_under_the_old_id(self) -> None:
        event = only(callback(edited(message("new", edited={"ts": "1.2"}), message("old"))))
        assert isinstance(event, MessageEdited)
        assert (event.message.id, event.message.content) == (TS, "new")
        assert event.event_id == "Ev0EVENT"

    def test_a_link_preview_is_no_edit(self) -> None:
        now = message("see <https://x>", attachments=[{"title": "X"}])
        assert parse(callback(edited(now, message("see <https://x>")))) == []

    def test_a_reply_below_it_is_no_edit(self) -> None:
        now = message("root", thread_ts=TS, reply_count=1, latest_reply="2.0")
        assert parse(callback(edited(now, message("root")))) == []

    def test_a_deletion(self) -> None:
        event = only(EVERYTHING[6])
        assert isinstance(event, MessageDeleted)
        assert event.message_ids == (TS,)

    def test_a_deleted_root_of_a_thread_leaves_a_tombstone(self) -> None:
        tomb = message("This message was deleted.", subtype="tombstone", thread_ts=TS)
        event = only(callback(edited(tomb, message("root"))))
        assert isinstance(event, MessageDeleted)
        assert event.message_ids == (TS,)


class TestInteractions:
    def test_a_button_and_a_menu(self) -> None:
        pressed, chosen = parse(block_actions(BUTTON, MENU))
        assert isinstance(pressed, ButtonPressed)
        assert isinstance(chosen, ButtonPressed)
        assert (pressed.value, pressed.label, pressed.message_id) == ("yes", "Yes", TS)
        assert (chosen.value, chosen.label) == ("2", "Two")
        assert pressed.event_id != chosen.event_id
        assert pressed.reply_handle.startswith("https://hooks.slack.com/")

    def test_in_a_thread(self) -> None:
        container = {"type": "message", "message_ts": "2.0", "channel_id": ROOM, "thread_ts": TS}
        event = only(block_actions(BUTTON, container=container))
        assert place_of(event).thread_id == TS

    @pytest.mark.parametrize(
        ("name", "audience"),
        [
            ("directmessage", Audience.DIRECT),
            ("privategroup", Audience.PRIVATE_ROOM),
            ("mpdm-anna--ben-1", Audience.PRIVATE_ROOM),
            ("general", Audience.PUBLIC_ROOM),
        ],
    )
    def test_the_channels_name_says_who_listens(self, name: str, audience: Audience) -> None:
        pressed = only(block_actions(BUTTON, channel={"id": ROOM, "name": name}))
        invoked = only(COMMAND | {"channel_name": name})
        assert place_of(pressed).audience is place_of(invoked).audience is audience

    def test_as_a_form(self) -> None:
        assert parse({"payload": json.dumps(block_actions(BUTTON))}) == parse(block_actions(BUTTON))

    def test_a_slash_command(self) -> None:
        event = only(COMMAND)
        assert isinstance(event, CommandInvoked)
        assert (event.name, event.arguments) == ("ask", "what does @ben say & #room")
        assert (event.author.id, event.author.name) == (ANNA, "anna")
        assert event.event_id == "command:9.8.7"

    @pytest.mark.parametrize(
        "payload",
        [
            {"type": "view_submission", "user": {"id": ANNA}, "view": {"id": "V1"}},
            {"type": "view_closed", "user": {"id": ANNA}},
            {"type": "shortcut", "user": {"id": ANNA}, "callback_id": "x"},
            {"type": "message_action", "user": {"id": ANNA}, "message": message()},
            {"type": "block_suggestion", "user": {"id": ANNA}},
            block_actions(BUTTON, container={"type": "view"}, channel=None),
            block_actions({"type": "datepicker", "action_id": "d"}),
            {"type": "url_verification", "challenge": "c"},
            {"type": "hello"},
            {"envelope_id": 12345, "type": "integration-test"},
            {"payload": "{"},
            {},
        ],
    )
    def test_what_is_ignored(self, payload: dict[str, Any]) -> None:
        assert parse(payload) == []


class TestOthers:
    def test_a_reaction(self) -> None:
        event = only(EVERYTHING[7])
        assert isinstance(event, ReactionChanged)
        assert (event.emoji, event.message_id, event.added) == ("👍", TS, True)

    def test_the_bots_own_reaction_is_nothing(self) -> None:
        item = {"type": "message", "channel": ROOM, "ts": TS}
        event = {"type": "reaction_added", "user": BOT, "reaction": "eyes", "item": item}
        assert parse(callback(event)) == []

    def test_a_skin_tone_and_an_unknown_emoji(self) -> None:
        for name, emoji in (("+1::skin-tone-2", "👍"), ("partyparrot", ":partyparrot:")):
            payload = copy.deepcopy(EVERYTHING[7])
            payload["event"]["reaction"] = name
            event = only(payload)
            assert isinstance(event, ReactionChanged)
            assert event.emoji == emoji

    def test_membership(self) -> None:
        event = only(EVERYTHING[8])
        assert isinstance(event, MembershipChanged)
        assert event.joined
        assert event.is_self


class TestForms:
    def test_an_envelope_holds_the_same(self) -> None:
        forms: dict[str, dict[str, Any]] = {"events_api": EVERYTHING[0], "slash_commands": COMMAND}
        for kind, payload in forms.items():
            assert parse({"envelope_id": "e", "type": kind, "payload": payload}) == parse(payload)

    def test_a_repetition_reads_the_same(self) -> None:
        for payload in EVERYTHING:
            again = parse(json.loads(json.dumps(payload)))
            assert again == parse(payload)
            assert again


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "Cc"]), max_size=5),
    st.sampled_from(
        ["<@", "<@U0BOT>", "<!subteam^", "&lt;", "1.2", "9" * 30, "D1", "message", "/x"]
    ),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
    st.builds(message),
    st.just(b"bytes"),
)


def paths(node: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a payload that can be changed."""
    found = [at] if at else []
    if isinstance(node, dict):
        for key, value in node.items():
            found += paths(value, (*at, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            found += paths(value, (*at, index))
    return found


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """A payload in which up to four places hold something else, or nothing, or one another."""
    payload: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(EVERYTHING)))
    for _ in range(draw(st.integers(1, 4))):
        places = paths(payload)
        if not places:
            break
        way: list[Any]
        last: Any
        *way, last = draw(st.sampled_from(places))
        parent: Any = payload
        for step in way:
            parent = parent[step]
        how = draw(st.sampled_from(["replace", "remove", "double"]))
        if how == "remove":
            del parent[last]
        elif how == "double" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        else:
            parent[last] = draw(JUNK)
    return payload


def check_events(events: list[InboundEvent]) -> None:
    """What must hold whatever was delivered."""
    for event in events:
        place = place_of(event)
        assert event.event_id
        assert len(event.event_id) <= 300
        assert place.platform == "slack"
        assert place.channel_id
        if isinstance(event, MessageReceived | MessageEdited):
            assert event.message.timestamp.tzinfo is not None
            assert len(event.message.content) <= MAX_CONTENT
            event.message.content.encode()
            assert event.message.author.id


class TestAnything:
    @given(mutations())
    @settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_a_mutation_gives_events_or_nothing(self, payload: dict[str, Any]) -> None:
        check_events(parse(payload))

    @pytest.mark.nightly
    @given(mutations())
    @settings(max_examples=12_000, deadline=None, suppress_health_check=list(HealthCheck))
    def test_twelve_thousand_mutations(self, payload: dict[str, Any]) -> None:
        check_events(parse(payload))

    @given(JUNK)
    def test_no_object_at_all(self, junk: Any) -> None:
        check_events(parse(junk))

    def test_blocks_as_deep_as_the_recursion_limit(self) -> None:
        node: dict[str, Any] = {"type": "rich_text"}
        for _ in range(5_000):
            node = {"type": "rich_text", "elements": [node]}
        assert received(callback(message("", blocks=[node]))).content == ""

    @pytest.mark.skipif(
        not SHARED.exists(), reason="the collected payloads are not beside the repo"
    )
    def test_everything_that_other_projects_recorded(self) -> None:
        records = json.loads(SHARED.read_text())
        silent = []
        for record in records:
            events = parse(record["payload"])
            check_events(events)
            event = record["payload"].get("event", record["payload"])
            complete = all(key in event for key in ("user", "ts", "channel", "text"))
            if record["kind"].endswith((":message", ":app_mention")) and complete and not events:
                silent.append(record["id"])
            if record["kind"] == "api_response":
                assert events == []
        # The only message that gives nothing is a bot's own.
        assert len(silent) <= 1
