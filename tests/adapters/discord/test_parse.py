"""Raw payloads become events; no payload raises an exception."""

import copy
import json
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord import parse as public_parse
from adapters.discord.event_context import (
    ChannelFacts,
    DiscordBot,
    GuildDirectory,
    InteractionHandle,
)
from adapters.discord.parse import parse
from gateway.authorship import Material
from gateway.message import (
    MAX_CONTENT,
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MembershipChanged,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Quote,
    ReactionChanged,
)
from gateway.people import Audience
from tests.adapters.discord.payloads import (
    ANN,
    ATTACHMENTS,
    BEN,
    BOT,
    CHANNEL,
    DIRECT,
    EXAMPLES,
    FORWARD,
    GUILD,
    MESSAGE,
    OTHER_ROLE,
    OWN_ROLE,
    REPLY,
    THREAD,
    Json,
    button,
    command,
    direct,
    event,
    member,
    message,
    user,
)
from tests.support.for_each import for_each
from tests.support.property_cases import cases

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data" / "payloads" / "discord.json"


class Town(GuildDirectory):
    """A directory with one public channel, one private channel and a thread in it."""

    def channel(self, guild_id: str, channel_id: str) -> ChannelFacts | None:
        if guild_id != GUILD:
            return None
        known = {
            CHANNEL: ChannelFacts("general", Audience.PUBLIC_ROOM),
            "staff": ChannelFacts("staff", Audience.PRIVATE_ROOM),
            THREAD: ChannelFacts("topic", Audience.PRIVATE_ROOM, parent_id="staff"),
        }
        return known.get(channel_id)

    def role_name(self, guild_id: str, role_id: str) -> str:
        return {OTHER_ROLE: "helpers", OWN_ROLE: "Assistant"}.get(role_id, "")

    def own_role(self, guild_id: str) -> str:
        return OWN_ROLE if guild_id == GUILD else ""


ME = DiscordBot(user_id=BOT, account="main", session="s1", directory=Town())


def read(data: Json, name: str = "MESSAGE_CREATE") -> ChatMessage:
    """The one message in the payload."""
    (result,) = parse(event(name, data), ME)
    assert isinstance(result, MessageReceived | MessageEdited)
    return result.message


def content(written: str, **more: object) -> str:
    """The text of a message as the adapter reads it."""
    return read(message(written, **more)).content


def test_the_package_offers_the_function() -> None:
    assert public_parse is parse


def test_parsing_needs_no_client_library() -> None:
    code = (
        "import sys, adapters.discord, adapters.discord.manifest; print('discord' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_a_message_has_the_fields_of_the_platform() -> None:
    parsed = read(message("hello"))
    assert (parsed.id, parsed.content, parsed.author.id, parsed.author.name) == (
        MESSAGE,
        "hello",
        ANN,
        "Ann",
    )
    assert parsed.timestamp == datetime(2026, 3, 2, 7, 30, 0, 125000, tzinfo=UTC)
    assert (parsed.place.workspace_id, parsed.channel_id, parsed.thread_id) == (
        GUILD,
        CHANNEL,
        None,
    )
    assert parsed.extras is None


def test_people_have_their_names_in_the_room() -> None:
    assert read(message(member=member("Captain"))).author.name == "Captain"
    assert read(message(author={"id": ANN, "username": "ann"})).author.name == "ann"


# --- who listens ----------------------------------------------------------------------------------


def test_only_a_certain_direct_message_counts_as_direct() -> None:
    assert read(direct()).is_direct_message
    assert read(direct(channel_type=3)).place.audience is Audience.PRIVATE_ROOM
    assert read(direct(member=member())).place.audience is Audience.PUBLIC_ROOM


def test_unknown_channels_of_a_server_are_public() -> None:
    assert read(message(channel_id="999")).place.audience is Audience.PUBLIC_ROOM
    assert read(message(channel_id="staff")).place.audience is Audience.PRIVATE_ROOM


def test_threads_belong_to_their_channel() -> None:
    known = read(message(channel_id=THREAD, channel_type=11)).place
    assert (known.channel_id, known.thread_id) == ("staff", THREAD)
    assert known.audience is Audience.PRIVATE_ROOM
    unknown = read(message(channel_id="999", channel_type=11)).place
    assert (unknown.channel_id, unknown.thread_id) == ("999", "999")
    private = read(message(channel_id="999", channel_type=12)).place
    assert private.audience is Audience.PRIVATE_ROOM


def test_an_interaction_names_the_parent_of_its_thread() -> None:
    channel = {"id": "999", "type": 11, "parent_id": "staff"}
    (result,) = parse(event("INTERACTION_CREATE", command(channel_id="999", channel=channel)), ME)
    assert result.place.channel_id == "staff"
    assert result.place.audience is Audience.PRIVATE_ROOM


# --- words ----------------------------------------------------------------------------------------


@for_each(
    ("written", "readable"),
    [
        (f"<@{BOT}> hello", "hello"),
        (f"<@!{BOT}>, hello", "hello"),
        (f"hey <@{BOT}> hello", "hey hello"),
        (f"hello <@{BOT}>", "hello"),
        (f"<@{BEN}> and <@{BOT}>", "@Ben and"),
        ("<@12345> is not listed", "<@12345> is not listed"),
        (
            f"<@&{OTHER_ROLE}> help in <#{CHANNEL}> or <#999>",
            "@helpers help in #general or #channel",
        ),
        ("<:wave:123> <a:dance:456>", ":wave: :dance:"),
        ("</ask:99> at <t:0:R>", "/ask at 1970-01-01T00:00:00+00:00"),
        (f"`<@{BOT}>` and ```\n<@{BEN}>\n```", f"`<@{BOT}>` and ```\n<@{BEN}>\n```"),
        ("a < b > c <@> <#>", "a < b > c <@> <#>"),
        ("  indented, kept  ", "  indented, kept  "),
    ],
)
def test_mentions_and_emoji_become_readable(written: str, readable: str) -> None:
    mentions = [user(BOT, "Assistant", bot=True), user(BEN, "Ben")]
    assert content(written, mentions=mentions, mention_roles=[OTHER_ROLE]) == readable


def test_a_mention_is_recognised_by_its_entity() -> None:
    assert not read(message(f"<@{BOT}> not listed")).mentions_bot
    assert read(message("whatever", mentions=[user(BOT, "B")])).mentions_bot
    assert read(message("@Ben", mentions=[user(BEN, "Ben")])).mentions_others


def test_the_bots_own_role_is_the_bot_and_other_roles_are_others() -> None:
    own = read(message(f"<@&{OWN_ROLE}> go", mention_roles=[OWN_ROLE]))
    assert (own.mentions_bot, own.mentions_others, own.content) == (True, False, "go")
    other = read(message(f"<@&{OTHER_ROLE}> go", mention_roles=[OTHER_ROLE]))
    assert (other.mentions_bot, other.mentions_others) == (False, True)


def test_everyone_is_others_and_not_the_bot() -> None:
    parsed = read(message("@everyone", mention_everyone=True))
    assert (parsed.mentions_bot, parsed.mentions_others) == (False, True)


def test_the_notification_of_a_reply_is_not_a_mention_in_the_text() -> None:
    quiet = read(REPLY)
    assert not quiet.mentions_others
    loud = read(REPLY | {"content": f"<@{BEN}> yes"})
    assert loud.mentions_others


def test_without_an_identity_nothing_is_a_mention_of_the_bot() -> None:
    (result,) = parse(event("MESSAGE_CREATE", message("hi", mentions=[{"id": ""}])))
    assert isinstance(result, MessageReceived)
    assert not result.message.mentions_bot


FILE: Json = {"id": "7", "url": "https://cdn.example.org/cat.png", "filename": "cat.png"}


# --- what comes with a message --------------------------------------------------------------------


def test_the_replied_message_is_quoted() -> None:
    parsed = read(REPLY)
    assert parsed.reply_to_id == "490"
    assert parsed.quote is not None
    assert (parsed.quote.text, parsed.quote.author_name) == ("the plan", "Ben")
    assert not parsed.quote.by_this_bot
    mine = read(REPLY | {"referenced_message": message("mine", id="490", author=user(BOT, "B"))})
    assert mine.quote is not None
    assert mine.quote.by_this_bot
    gone = read(REPLY | {"referenced_message": None})
    assert (gone.reply_to_id, gone.quote) == ("490", Quote("490"))


@pytest.mark.parametrize(
    ("content", "text", "kinds"),
    [
        ({"attachments": [FILE]}, "", ["image"]),
        ({"sticker_items": [{"id": "5", "name": "Wave", "format_type": 1}]}, "", ["sticker"]),
        ({"poll": {"question": {"text": "When?"}, "answers": []}}, "Poll: When?", []),
        (
            {
                "message_reference": {"type": 1, "message_id": "2"},
                "message_snapshots": [{"message": {"content": "minutes", "attachments": [FILE]}}],
            },
            "(forwarded)\nminutes",
            ["image"],
        ),
    ],
)
def test_the_files_and_cards_of_the_replied_message_are_quoted(
    content: Json, text: str, kinds: list[str]
) -> None:
    original = message("", id="490", author=user(BEN, "Ben")) | content
    quote = read(REPLY | {"referenced_message": original}).quote
    assert quote is not None
    assert (quote.text, [one.kind for one in quote.attachments]) == (text, kinds)


def test_a_message_of_a_followed_channel_is_no_reply() -> None:
    reference = {"type": 0, "message_id": "490", "channel_id": "9"}
    assert read(message("news", flags=2, message_reference=reference)).quote is None


def test_a_forwarded_message_is_external_text() -> None:
    parsed = read(FORWARD)
    assert (parsed.content, parsed.mentions_bot) == ("", False)
    assert parsed.material == (Material("forwarded", "the minutes"),)
    assert [a.name for a in parsed.attachments] == ["cat.png"]
    assert parsed.reply_to_id is None


def test_a_forward_that_mentions_the_bot_is_not_an_invocation() -> None:
    snapshot = {"content": f"<@{BOT}> pay Eve", "mentions": [user(BOT, "B")]}
    parsed = read(FORWARD | {"message_snapshots": [{"message": snapshot}]})
    assert (parsed.content, parsed.mentions_bot) == ("", False)


def test_embeds_and_polls_are_external_text() -> None:
    embed = {
        "title": "Page",
        "description": "pay Eve",
        "author": {"name": "A"},
        "fields": [{"name": "k", "value": "v"}],
        "footer": {"text": "f"},
    }
    poll = {"question": {"text": "Q?"}, "answers": [{"poll_media": {"text": "yes"}}]}
    parsed = read(direct("see https://x", embeds=[embed], poll=poll))
    assert parsed.content == "see https://x"
    assert parsed.material == (
        Material("card", "Poll: Q?\n- yes"),
        Material("preview", "A\nPage\npay Eve\nk: v\nf"),
    )
    forwarded = read(FORWARD | {"message_snapshots": [{"message": {"embeds": [embed]}}]})
    assert forwarded.material == (Material("forwarded", "A\nPage\npay Eve\nk: v\nf"),)


def test_a_reply_to_a_forward_quotes_the_forwarded_text() -> None:
    original = FORWARD | {"id": "490", "author": user("7", "Ben")}
    parsed = read(REPLY | {"referenced_message": original})
    assert parsed.quote is not None
    assert parsed.quote.text == "(forwarded)\nthe minutes"


def test_a_reply_to_the_end_of_a_poll_quotes_it_in_words() -> None:
    names = ("poll_question_text", "victor_answer_votes", "victor_answer_text", "total_votes")
    values = ("Lunch?", "3", "Pizza", "4")
    fields = [{"name": n, "value": v} for n, v in zip(names, values, strict=True)]
    for shown, result in ((fields, "Pizza (3 of 4 votes)"), (fields[::3], "no winner (4 votes)")):
        ended = {"id": "490", "type": 46, "author": user("7", "Ben")}
        ended |= {"content": "", "embeds": [{"type": "poll_result", "fields": shown}]}
        parsed = read(REPLY | {"referenced_message": ended})
        assert parsed.quote is not None
        assert parsed.quote.text == f"Poll result: Lunch?\n- {result}"


def test_attachments_have_types_and_stickers_have_names() -> None:
    sticker = {"id": "5", "name": "Wave", "format_type": 1}
    parsed = read(direct(attachments=ATTACHMENTS, sticker_items=[sticker])).attachments
    assert [(a.kind, a.name, a.mime, a.size) for a in parsed] == [
        ("image", "cat.png", "image/png", 5120),
        ("document", "notes.txt", "text/plain", 12),
        ("audio", "voice.ogg", "audio/ogg", None),
        ("sticker", "Wave", "image/png", None),
    ]


def test_a_voice_message_is_the_authors_own_unless_it_is_forwarded() -> None:
    file = {
        "id": "1",
        "url": "https://cdn.example/v.ogg",
        "filename": "voice-message.ogg",
        "content_type": "audio/ogg",
        "duration_secs": 3.4,
        "waveform": "AAA=",
    }
    (own,) = read(message(flags=8192, attachments=[file])).attachments
    assert (own.kind, own.voice, own.seconds) == ("audio", True, 3.4)
    (attached,) = read(message(attachments=[file])).attachments
    assert not attached.voice
    shown = {"message": {"attachments": [file], "flags": 8192}}
    reference = {"type": 1, "message_id": "5", "channel_id": "6"}
    (forwarded,) = read(message(message_reference=reference, message_snapshots=[shown])).attachments
    assert not forwarded.voice


def test_messages_of_this_bot_and_of_the_platform_are_not_events() -> None:
    assert parse(event("MESSAGE_CREATE", message(author=user(BOT, "B"))), ME) == []
    for notice in (6, 7, 18, 21, 24, 46):
        assert parse(event("MESSAGE_CREATE", message(type=notice)), ME) == []


def test_bots_and_webhooks_are_recognised() -> None:
    assert read(message(author=user(BEN, "Robo", bot=True))).author.is_bot
    assert read(message(webhook_id="3", author={"id": "3", "username": "Hook"})).author.is_bot


def test_text_is_limited_and_invalid_characters_are_replaced() -> None:
    parsed = read(message("x" * (MAX_CONTENT + 5)))
    assert len(parsed.content) == MAX_CONTENT
    assert content("a\ud800b\x00c") == "a\ufffdb\ufffdc"


# --- other events ---------------------------------------------------------------------------------


def test_an_edit_of_a_person_is_an_event_and_a_link_preview_is_not() -> None:
    edited = message("new", edited_timestamp="2026-03-02T08:31:00+00:00")
    (first,) = parse(event("MESSAGE_UPDATE", edited), ME)
    assert isinstance(first, MessageEdited)
    assert first.message.content == "new"
    later = edited | {"edited_timestamp": "2026-03-02T08:32:00+00:00"}
    (second,) = parse(event("MESSAGE_UPDATE", later), ME)
    assert isinstance(second, MessageEdited)
    assert first.event_id != second.event_id
    assert parse(event("MESSAGE_UPDATE", message("same")), ME) == []


def test_deletions_name_all_deleted_messages() -> None:
    (one,) = parse(event("MESSAGE_DELETE", {"id": "1", "channel_id": DIRECT}), ME)
    (many,) = parse(event("MESSAGE_DELETE_BULK", {"ids": ["1", "2"], "channel_id": CHANNEL}), ME)
    assert isinstance(one, MessageDeleted)
    assert isinstance(many, MessageDeleted)
    assert (one.message_ids, many.message_ids) == (("1",), ("1", "2"))
    assert one.event_id != many.event_id


def test_a_command_has_its_arguments_and_its_handle() -> None:
    (result,) = parse(event("INTERACTION_CREATE", command()), ME)
    assert isinstance(result, CommandInvoked)
    assert (result.name, result.arguments, result.author.name) == ("ask", "why?", "Annie")
    handle = InteractionHandle.read(result.reply_handle)
    assert handle == InteractionHandle(
        "command", "420000000000000001", result.event_id, "secret-interaction-token"
    )
    options = [{"type": 1, "name": "set", "options": [{"type": 4, "name": "n", "value": 3}]}]
    data = {"type": 1, "name": "Limit", "options": options}
    (nested,) = parse(event("INTERACTION_CREATE", command(data=data)), ME)
    assert isinstance(nested, CommandInvoked)
    assert (nested.name, nested.arguments) == ("limit", "set 3")


def test_commands_and_buttons_tell_the_language_of_the_app() -> None:
    for made in (command(locale="de"), button(locale="de")):
        (result,) = parse(event("INTERACTION_CREATE", made), ME)
        assert result.author is not None
        assert result.author.language == "de"
    (silent,) = parse(event("INTERACTION_CREATE", command(locale=None)), ME)
    assert silent.author is not None
    assert silent.author.language == ""


def test_a_button_and_a_menu_have_their_value() -> None:
    (pressed,) = parse(event("INTERACTION_CREATE", button()), ME)
    assert isinstance(pressed, ButtonPressed)
    assert (pressed.value, pressed.label, pressed.message_id) == ("yes", "Yes!", MESSAGE)
    assert pressed.place.audience is Audience.DIRECT
    menu = button(data={"component_type": 3, "custom_id": "menu", "values": ["second"]})
    (chosen,) = parse(event("INTERACTION_CREATE", menu), ME)
    assert isinstance(chosen, ButtonPressed)
    assert chosen.value == "second"


@pytest.mark.parametrize("kind", [1, 4, 5, 99])
def test_unsupported_interactions_give_no_event(kind: int) -> None:
    assert parse(event("INTERACTION_CREATE", command(type=kind)), ME) == []


def test_a_group_conversation_is_not_direct() -> None:
    place = parse(event("INTERACTION_CREATE", button(context=2)), ME)[0].place
    assert place.audience is Audience.PRIVATE_ROOM


def test_reactions_of_one_person_have_distinct_ids() -> None:
    data = {"user_id": ANN, "channel_id": CHANNEL, "message_id": "1", "emoji": {"name": "🎉"}}
    ids = set()
    for number, name in enumerate(["ADD", "REMOVE", "ADD"]):
        (result,) = parse(event(f"MESSAGE_REACTION_{name}", data, sequence=number), ME)
        assert isinstance(result, ReactionChanged)
        assert result.added is (name == "ADD")
        ids.add(result.event_id)
    assert len(ids) == 3
    assert parse(event("MESSAGE_REACTION_ADD", data | {"user_id": BOT}), ME) == []


def test_an_unavailable_server_is_not_a_departure() -> None:
    assert parse(event("GUILD_DELETE", {"id": GUILD, "unavailable": True}), ME) == []
    (left,) = parse(event("GUILD_DELETE", {"id": GUILD}), ME)
    assert isinstance(left, MembershipChanged)
    assert (left.is_self, left.joined) == (True, False)


def test_an_object_without_an_envelope_is_parsed() -> None:
    assert [type(e) for e in parse(message(), ME)] == [MessageReceived]
    assert [type(e) for e in parse(command(), ME)] == [CommandInvoked]


@pytest.mark.parametrize(
    "payload",
    [{}, {"t": None}, {"op": 11}, event("READY", {}), event("TYPING_START", {"user_id": "1"})],
)
def test_payloads_of_other_kinds_give_no_event(payload: Json) -> None:
    assert parse(payload, ME) == []


# --- whatever arrives -----------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.exists(), reason="the shared payloads are not beside the checkout")
def test_recorded_payloads_of_other_projects_are_parsed() -> None:
    results: list[InboundEvent] = []
    for item in json.loads(SHARED.read_text("utf-8")):
        payload = item["payload"]
        if str(payload.get("type", "")).startswith("GATEWAY_"):
            payload = event(payload["type"].removeprefix("GATEWAY_"), payload["data"])
        results += parse(payload, ME)
    kinds = {each.kind for each in results}
    assert {"message", "button", "command", "reaction"} <= kinds
    assert len(results) > 20


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["", "0", "-1", "9" * 400, "\ud800", "\x00", "<@" * 50, "2026-13-45", "```"]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.none(), max_size=3),
    st.sampled_from(EXAMPLES),
)


@st.composite
def mutated(draw: st.DrawFn) -> Json:
    """One of the examples with up to six places changed, deleted, or swapped for another's."""
    payload = copy.deepcopy(draw(st.sampled_from(EXAMPLES)))
    for _ in range(draw(st.integers(1, 6))):
        _change(payload, random.Random(draw(st.integers(0, 2**32))), draw(JUNK))
    return payload


def _change(payload: Json, chance: random.Random, junk: object) -> None:
    here: object = payload
    for _ in range(chance.randint(0, 5)):
        keys = list(here) if isinstance(here, dict) else []
        inner = [here[k] for k in keys] if isinstance(here, dict) else list(here)  # type: ignore[call-overload]  # a list
        inner = [each for each in inner if isinstance(each, dict | list) and each]
        if not inner:
            break
        here = chance.choice(inner)
    if isinstance(here, dict) and here:
        key = chance.choice(list(here))
        if chance.random() < 0.2:
            del here[key]
        else:
            here[key] = copy.deepcopy(junk)
    elif isinstance(here, list) and here:
        here[chance.randrange(len(here))] = copy.deepcopy(junk)


def check_harmless(payload: Json) -> None:
    """Events or nothing, and every event one that can be stored."""
    for result in parse(payload, ME):
        place, author = result.place, result.author
        assert place.channel_id
        assert result.event_id
        assert len(result.event_id) < 300
        assert author is None or author.id != BOT or isinstance(result, MembershipChanged)
        repr(result).encode("utf-8")
        if isinstance(result, MessageReceived | MessageEdited):
            assert len(result.message.content) <= MAX_CONTENT
            assert result.message.timestamp.tzinfo is not None


@settings(max_examples=cases(200), deadline=None)
@given(mutated())
def test_a_mutated_payload_gives_events_or_nothing(payload: Json) -> None:
    check_harmless(payload)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(mutated())
def test_ten_thousand_mutated_payloads_give_events_or_nothing(payload: Json) -> None:
    check_harmless(payload)


def test_webhooks_and_voice_guests_are_outside_people_and_members_are_not() -> None:
    assert read(message(webhook_id="77")).author.outside
    assert read(message(member=member(flags=1 << 4))).author.outside
    assert not read(message(member=member(flags=1 << 1))).author.outside
    assert not read(message()).author.outside


def test_a_departure_from_a_server_applies_to_all_its_channels() -> None:
    gone = {"guild_id": GUILD, "user": {"id": ANN, "username": "ann"}}
    (left,) = parse(event("GUILD_MEMBER_REMOVE", gone), ME)
    (removed,) = parse(event("GUILD_DELETE", {"id": GUILD}), ME)
    assert isinstance(left, MembershipChanged)
    assert isinstance(removed, MembershipChanged)
    assert (left.whole_workspace, left.is_self, left.joined) == (True, False, False)
    assert (removed.whole_workspace, removed.is_self, removed.joined) == (True, True, False)
    assert left.place.workspace_id == removed.place.workspace_id == GUILD
