"""Raw updates become events; no update raises an error."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.telegram import parse
from adapters.telegram.messages import TelegramExtras
from adapters.telegram.parse import parse as parse_in_module
from gateway.authorship import Authorship, Material
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InlineQueried,
    MembershipChanged,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from tests.adapters.telegram.updates import (
    ANN,
    BOT,
    DATE,
    GROUP,
    ME,
    entity,
    message,
    samples,
    units,
    update,
)
from tests.support.for_each import for_each

PAYLOADS = Path(__file__).parents[4] / "shared" / "data" / "payloads" / "telegram.json"


def read(**more: Any) -> ChatMessage:
    (event,) = parse(update(**more), ME)
    assert isinstance(event, MessageReceived)
    return event.message


def extras(found: ChatMessage) -> TelegramExtras:
    return unpacked(TelegramExtras, found.extras)


def test_both_names_are_one_function_and_import_no_library() -> None:
    assert parse is parse_in_module
    code = (
        "import sys, adapters.telegram.manifest; from adapters.telegram import parse; "
        "parse({'update_id': 1}); "
        "sys.exit(bool({'telegram', 'aiohttp', 'httpx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_voice_message_is_the_authors_own_unless_they_only_show_it() -> None:
    voice = {"voice": {"file_id": "v", "mime_type": "audio/ogg", "duration": 7, "file_size": 9}}
    (own,) = read(**voice).attachments
    assert (own.kind, own.mime, own.voice, own.seconds, own.size) == (
        "audio",
        "audio/ogg",
        True,
        7,
        9,
    )
    origin = {"type": "hidden_user", "sender_user_name": "Ben", "date": 1}
    for shown in ({"forward_origin": origin}, {"via_bot": {"id": 9, "is_bot": True}}):
        assert [file.voice for file in read(**voice, **shown).attachments] == [False]
    (song,) = read(audio={"file_id": "a", "duration": -1}).attachments
    assert (song.kind, song.voice, song.seconds) == ("audio", False, None)


def test_a_direct_message_is_parsed() -> None:
    (event,) = parse(update(text="hello"), replace(ME, account="support"))
    assert isinstance(event, MessageReceived)
    assert event.event_id == "5000"
    result = event.message
    assert (result.id, result.content, result.author.id, result.author.name) == (
        "7",
        "hello",
        "11",
        "Ann Lee",
    )
    assert (result.place.platform, result.place.account, result.channel_id) == (
        "telegram",
        "support",
        "11",
    )
    assert result.is_direct_message
    assert result.timestamp.timestamp() == DATE
    assert result.timestamp.tzinfo is not None


@pytest.mark.parametrize(
    ("chat", "audience"),
    [
        ({"id": 1, "type": "private"}, Audience.DIRECT),
        ({"id": -1, "type": "group"}, Audience.PRIVATE_ROOM),
        ({"id": -1, "type": "supergroup"}, Audience.PRIVATE_ROOM),
        ({"id": -1, "type": "supergroup", "username": "team"}, Audience.PUBLIC_ROOM),
        ({"id": -1, "type": "channel"}, Audience.PRIVATE_ROOM),
        ({"id": -1, "type": "channel", "username": "news"}, Audience.PUBLIC_ROOM),
        ({"id": -1, "type": "something new"}, Audience.PUBLIC_ROOM),
    ],
)
def test_the_audience_follows_from_the_chat(chat: dict[str, Any], audience: Audience) -> None:
    assert read(text="hi", chat=chat).place.audience is audience


@pytest.mark.parametrize(
    ("text", "mention", "content", "ours"),
    [
        ("@OurBot hello", "@OurBot", "hello", True),
        ("@ourbot, hello", "@ourbot", "hello", True),
        ("hello @OURBOT!", "@OURBOT", "hello !", True),
        ("😀😀 @OurBot 😀 x", "@OurBot", "😀😀 😀 x", True),
        ("hello @OurBotDev", "@OurBotDev", "hello @OurBotDev", False),
        ("hello @OurBot-dev", "@OurBot-dev", "hello @OurBot-dev", False),
        ("@OurBot", "@OurBot", "", True),
    ],
)
def test_mentions_are_recognised_by_entities(
    text: str, mention: str, content: str, ours: bool
) -> None:
    event = read(text=text, entities=[entity(text, mention, "mention")], chat=GROUP)
    assert (event.content, event.mentions_bot, event.mentions_others) == (content, ours, not ours)


@for_each(
    ("told", "language"),
    [("de", "de"), ("zh-hans", "zh-hans"), (None, ""), (7, ""), ("x" * 500, "x" * 35)],
)
def test_the_language_of_the_app_is_told(told: object, language: str) -> None:
    sender = {**ANN, "language_code": told}
    assert read(text="hi", **{"from": sender}).author.language == language


def test_the_bots_name_without_an_entity_is_not_a_mention() -> None:
    assert not read(text="tell @OurBot", chat=GROUP).mentions_bot


def test_a_mention_by_id_needs_no_username() -> None:
    text = "😀 Our, and Bo"
    marks = [
        entity(text, "Our", "text_mention", user=BOT),
        entity(text, "Bo", "text_mention", user={"id": 12}),
    ]
    event = read(text=text, entities=marks, chat=GROUP)
    assert event.mentions_bot
    assert event.mentions_others
    assert event.content == "😀 , and Bo"
    assert extras(event).mentions == ("900", "12")


@pytest.mark.parametrize(
    ("text", "command", "name", "arguments"),
    [
        ("/ask", "/ask", "ask", ""),
        ("/Ask why 😀 not", "/Ask", "ask", "why 😀 not"),
        ("/ask@OurBot why", "/ask@OurBot", "ask", "why"),
        ("/ask@ourbot\nwhy", "/ask@ourbot", "ask", "why"),
    ],
)
def test_commands_are_parsed(text: str, command: str, name: str, arguments: str) -> None:
    raw = update(text=text, entities=[entity(text, command, "bot_command")], chat=GROUP)
    (event,) = parse(raw, ME)
    assert isinstance(event, CommandInvoked)
    assert (event.name, event.arguments) == (name, arguments)
    assert event.message is not None
    assert extras(event.message).is_command
    assert extras(event.message).command_args == arguments
    assert "@" not in event.message.content


def test_a_command_for_another_bot_is_ignored() -> None:
    text = "/ask@OtherBot why"
    assert (
        parse(update(text=text, entities=[entity(text, "/ask@OtherBot", "bot_command")]), ME) == []
    )


def test_a_command_later_in_the_text_is_text() -> None:
    text = "try /ask"
    assert read(text=text, entities=[entity(text, "/ask", "bot_command")]).content == text


def test_hashtags_links_and_hidden_addresses_are_parsed() -> None:
    text = "😀 #one https://a.example docs"
    marks = [
        entity(text, "#one", "hashtag"),
        entity(text, "https://a.example", "url"),
        entity(text, "docs", "text_link", url="https://docs.example/"),
    ]
    event = read(text=text, entities=marks)
    assert extras(event).hashtags == ("one",)
    assert event.content == "😀 #one https://a.example docs (https://docs.example/)"


def test_a_caption_is_parsed_like_text() -> None:
    caption = "@OurBot what is it?"
    event = read(
        caption=caption,
        caption_entities=[entity(caption, "@OurBot", "mention")],
        photo=[
            {"file_id": "small", "width": 9, "height": 9, "file_size": 1},
            {"file_id": "large", "width": 90, "height": 90, "file_size": 100},
        ],
    )
    assert (event.content, event.mentions_bot) == ("what is it?", True)
    assert [(one.kind, one.ref, one.size) for one in event.attachments] == [("image", "large", 100)]


@for_each(
    ("body", "shown", "kinds"),
    [
        ({"sticker": {"file_id": "s", "emoji": "😀"}}, ("card", "Sticker 😀"), ["sticker"]),
        ({"voice": {"file_id": "v", "mime_type": "audio/ogg"}}, None, ["audio"]),
        ({"video_note": {"file_id": "v"}}, None, ["video"]),
        ({"document": {"file_id": "d", "mime_type": "image/png"}}, None, ["image"]),
        ({"animation": {"file_id": "a"}, "document": {"file_id": "a"}}, None, ["video"]),
        (
            {"location": {"latitude": 52.5, "longitude": 13.4}},
            ("location", "Location: 52.500000, 13.400000"),
            [],
        ),
        (
            {"venue": {"location": {"latitude": 1, "longitude": 2}, "title": "T", "address": "A"}},
            ("location", "Location: 1.000000, 2.000000 (T, A)"),
            [],
        ),
        (
            {"contact": {"first_name": "Bo", "phone_number": "+49"}},
            ("contact", "Contact: Bo, +49"),
            [],
        ),
        (
            {"poll": {"question": "Q?", "options": [{"text": "a"}]}},
            ("card", "Poll: Q?\n- a"),
            [],
        ),
        ({"dice": {"emoji": "🎲", "value": 4}}, ("card", "🎲: 4"), []),
        ({"story": {"id": 1, "chat": {"id": 5, "title": "News"}}}, ("card", "Story of News"), []),
        (
            {"checklist": {"title": "T", "tasks": [{"text": "a", "completion_date": 1}]}},
            ("card", "Checklist: T\n- [x] a"),
            [],
        ),
    ],
)
def test_content_that_is_not_text_is_external_text(
    body: dict[str, Any], shown: tuple[Authorship, str] | None, kinds: list[str]
) -> None:
    event = read(**body)
    assert event.content == ""
    assert event.material == (() if shown is None else (Material(*shown),))
    assert [one.kind for one in event.attachments] == kinds


def test_a_reply_contains_the_replied_message() -> None:
    reply = message("the answer is 42", message_id=6, **{"from": BOT})
    event = read(text="why?", reply_to_message=reply, chat=GROUP)
    assert event.reply_to_id == "6"
    assert event.quote is not None
    assert (event.quote.text, event.quote.by_this_bot) == ("the answer is 42", True)
    chosen = read(text="why?", reply_to_message=reply, quote={"text": "42"}).quote
    assert chosen is not None
    assert chosen.text == "42"


@pytest.mark.parametrize(
    ("content", "text", "labels"),
    [
        ({"photo": [{"file_id": "p", "width": 1, "height": 1}]}, "", ["picture: photo.jpg"]),
        (
            {"document": {"file_id": "d", "file_name": "r.txt"}, "caption": "see"},
            "see",
            ["file: r.txt"],
        ),
        ({"voice": {"file_id": "v"}}, "", ["audio: voice message"]),
        ({"sticker": {"file_id": "s", "emoji": "👍"}}, "Sticker 👍", ["sticker"]),
        (
            {"location": {"latitude": 1, "longitude": 2}},
            "Location: 1.000000, 2.000000",
            [],
        ),
        ({"poll": {"question": "When?", "options": [{"text": "now"}]}}, "Poll: When?\n- now", []),
        ({"new_chat_title": "Team"}, "", []),
    ],
)
def test_a_reply_contains_the_files_and_cards_of_the_replied_message(
    content: dict[str, Any], text: str, labels: list[str]
) -> None:
    reply = message(**content)
    elsewhere = {"origin": {"type": "hidden_user", "sender_user_name": "Ben", "date": 1}}
    for shown in ({"reply_to_message": reply}, {"external_reply": elsewhere | content}):
        quote = read(text="why?", chat=GROUP, **shown).quote
        assert quote is not None
        without_caption = "" if "external_reply" in shown and "caption" in content else text
        assert quote.text == without_caption
        assert [one.label for one in quote.attachments] == labels


@pytest.mark.parametrize(
    ("origin", "note"),
    [
        ({"type": "hidden_user", "sender_user_name": "Mo"}, "(forwarded, written by Mo)\n"),
        ({"type": "hidden_user"}, "(forwarded)\n"),
        ({"type": "user", "sender_user": ANN}, ""),
    ],
)
def test_a_reply_to_a_forward_names_who_wrote_it(origin: dict[str, Any], note: str) -> None:
    forward = message("the plan is off", message_id=6, forward_origin={**origin, "date": DATE})
    quote = read(text="why?", reply_to_message=forward).quote
    assert quote is not None
    assert (quote.author_name, quote.text) == ("Ann Lee", f"{note}the plan is off")


def test_a_reply_to_a_poll_has_its_votes() -> None:
    options = [{"text": "Pizza", "voter_count": 3}, {"text": "Sushi", "voter_count": 1}]
    poll = {"question": "Lunch?", "options": options, "total_voter_count": 4}
    quote = read(text="who wins?", reply_to_message=message(message_id=6, poll=poll)).quote
    assert quote is not None
    assert quote.text == "Poll: Lunch?\n- Pizza (3 votes)\n- Sushi (1 vote)"
    new = {"question": "Lunch?", "options": [{"text": "Pizza", "voter_count": 0}]}
    (card,) = read(poll={**new, "total_voter_count": 0}).material
    assert card.text == "Poll: Lunch?\n- Pizza"


def test_a_reply_to_a_task_names_it() -> None:
    tasks = [{"id": 1, "text": "Milk"}, {"id": 2, "text": "Bread"}]
    reply = message(message_id=6, checklist={"title": "Shop", "tasks": tasks})
    quote = read(text="done?", reply_to_message=reply, reply_to_checklist_task_id=2).quote
    assert quote is not None
    assert quote.text == "Checklist: Shop\n- [ ] Milk\n- [ ] Bread\n(the task Bread)"


@pytest.mark.parametrize(
    ("vcard", "details"),
    [
        (
            "ORG:Acme\\, Inc.;Sales\nTITLE:CTO\nEMAIL;TYPE=WORK:b@a.example",
            "CTO, Acme, Inc., Sales, b@a.example",
        ),
        (
            "TEL;TYPE=CELL:+1\nTEL;VALUE=uri:tel:+2-3\nitem1.URL:https://b.example",
            "+2-3, https://b.example",
        ),
        (
            "ADR;TYPE=HOME:;;1 Main\r\n  St;Rome;;00100;IT\nBDAY:2000-01-01",
            "1 Main St, Rome, 00100, IT, born 2000-01-01",
        ),
        ("NOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:gr=C3=BCn", "grün"),
        ("PHOTO:AAAA\nX-OTHER:1\nnonsense", ""),
    ],
)
def test_a_contact_has_what_its_card_says(vcard: str, details: str) -> None:
    contact = {
        "first_name": "Bo",
        "phone_number": "+1",
        "vcard": f"BEGIN:VCARD\n{vcard}\nEND:VCARD",
    }
    (card,) = read(contact=contact).material
    assert card.text == f"Contact: Bo, +1{f', {details}' if details else ''}"


def test_a_reply_to_a_story_is_quoted() -> None:
    quote = read(text="nice", reply_to_story={"chat": {"id": 5, "title": "Ben"}, "id": 1}).quote
    assert quote is not None
    assert quote.text == "Story of Ben"


def test_the_first_message_of_a_topic_is_not_a_reply() -> None:
    start = message(message_id=3, forum_topic_created={"name": "Plans"})
    event = read(
        text="hi", chat=GROUP, message_thread_id=3, is_topic_message=True, reply_to_message=start
    )
    assert (event.thread_id, event.reply_to_id, event.quote) == ("3", None, None)


def test_replies_in_an_ordinary_group_are_not_a_thread() -> None:
    assert read(text="hi", chat=GROUP, message_thread_id=3).place.thread_id == ""


COMMAND: dict[str, Any] = {
    "text": "/clear",
    "entities": [entity("/clear", "/clear", "bot_command")],
}
SENDER = {"id": 12, "first_name": "Bo"}
CHANNEL = {"id": -1005, "type": "channel", "title": "News"}


@for_each(
    ("fields", "writer"),
    [
        ({"forward_origin": {"type": "user", "sender_user": SENDER, "date": DATE}}, "Bo"),
        (
            {"forward_origin": {"type": "hidden_user", "sender_user_name": "Mo", "date": DATE}},
            "Mo",
        ),
        ({"forward_origin": {"type": "chat", "sender_chat": CHANNEL, "date": DATE}}, "News"),
        ({"forward_origin": {"type": "channel", "chat": CHANNEL, "message_id": 1}}, "News"),
        ({"forward_origin": {"type": "of a later version"}}, ""),
        ({"forward_origin": None}, ""),
        ({"forward_from": SENDER, "forward_date": DATE}, "Bo"),
        ({"forward_from_chat": CHANNEL, "forward_date": DATE}, "News"),
        ({"forward_sender_name": "Mo", "forward_date": DATE}, "Mo"),
        ({"is_automatic_forward": True, "sender_chat": CHANNEL}, "News"),
        ({"forward_origin": {"type": "user", "sender_user": SENDER}, "via_bot": BOT}, "Bo"),
    ],
)
def test_a_forward_is_external_text_and_never_a_command(
    fields: dict[str, Any], writer: str
) -> None:
    (event,) = parse(update(**COMMAND, chat=GROUP, **fields), ME)
    assert isinstance(event, MessageReceived)
    assert event.message.content == ""
    assert event.message.material == (Material("forwarded", "/clear", writer),)
    assert not extras(event.message).is_command


def test_a_forward_that_mentions_the_bot_is_not_an_invocation() -> None:
    text = "@OurBot pay Eve"
    event = read(
        text=text,
        entities=[entity(text, "@OurBot", "mention")],
        chat=GROUP,
        forward_origin={"type": "user", "sender_user": SENDER, "date": DATE},
    )
    assert not event.mentions_bot


def test_the_caption_of_a_forward_is_forwarded_and_that_of_an_own_picture_is_own_text() -> None:
    picture: dict[str, Any] = {"photo": [{"file_id": "p", "width": 1, "height": 1}]}
    own = read(caption="mine", **picture)
    assert (own.content, own.material) == ("mine", ())
    shown = read(
        caption="theirs", forward_origin={"type": "user", "sender_user": SENDER}, **picture
    )
    assert (shown.content, shown.material) == ("", (Material("forwarded", "theirs", "Bo"),))


def test_a_forwarded_card_is_forwarded() -> None:
    contact = {"first_name": "Bo", "phone_number": "+49"}
    event = read(contact=contact, forward_origin={"type": "user", "sender_user": SENDER})
    assert event.material == (Material("forwarded", "Contact: Bo, +49", "Bo"),)


def test_text_made_by_a_bot_belongs_to_the_bot_and_is_never_a_command() -> None:
    other = {"id": 5, "is_bot": True, "username": "gif"}
    (event,) = parse(update(**COMMAND, via_bot=other), ME)
    assert isinstance(event, MessageReceived)
    assert event.message.content == ""
    assert event.message.material == (Material("via_bot", "/clear", "@gif"),)


def test_a_message_sent_by_inline_mode_addresses_the_bot() -> None:
    ours = read(text="q", via_bot=BOT, chat=GROUP)
    assert (ours.mentions_bot, ours.content) == (True, "")
    assert ours.material == (Material("chosen", "q"),)
    other = read(text="q", via_bot={"id": 5, "is_bot": True, "first_name": "X"}, chat=GROUP)
    assert (other.mentions_bot, other.material) == (False, (Material("via_bot", "q", "X"),))


def test_a_quotation_in_own_text_is_marked_and_is_no_command() -> None:
    text = "/clear @OurBot\nis that right?"
    entities = [
        {"type": "blockquote", "offset": 0, "length": 14},
        entity(text, "/clear", "bot_command"),
        entity(text, "@OurBot", "mention"),
    ]
    (event,) = parse(update(text=text, entities=entities, chat=GROUP), ME)
    assert isinstance(event, MessageReceived)
    assert event.message.content == "> /clear @OurBot\nis that right?"
    assert not event.message.mentions_bot


def test_every_line_of_a_quotation_is_marked() -> None:
    text = "so: 😀 a\nb\n\nc end"
    entities = [{"type": "expandable_blockquote", "offset": 4, "length": 9}]
    assert read(text=text, entities=entities).content == "so: > 😀 a\n> b\n> \n> c end"


def test_a_reply_to_another_chat_names_its_author() -> None:
    other = {"origin": {"type": "chat", "sender_chat": CHANNEL}, "poll": {"question": "Q?"}}
    quote = read(text="yes", external_reply=other).quote
    assert quote is not None
    assert (quote.text, quote.author_name) == ("Poll: Q?", "News")


def test_posts_of_a_channel_and_anonymous_messages_have_the_chat_as_author() -> None:
    (event,) = parse(update("channel_post", text="news", sender_chat=GROUP), ME)
    assert isinstance(event, MessageReceived)
    assert (event.message.author.id, event.message.author.name) == ("-100200", "Team")
    assert event.message.author.is_chat
    (plain,) = parse(update("message", message("mine")), ME)
    assert isinstance(plain, MessageReceived)
    assert not plain.message.author.is_chat


def test_own_messages_are_ignored() -> None:
    assert parse(update("message", message("mine", **{"from": BOT})), ME) == []


def test_an_edit_keeps_the_id() -> None:
    (event,) = parse(update("edited_message", text="better"), ME)
    assert isinstance(event, MessageEdited)
    assert (event.message.id, event.message.content) == ("7", "better")


def test_a_button_press_is_parsed() -> None:
    markup = {"inline_keyboard": [[{"text": "Yes", "callback_data": "y"}]]}
    body = {"id": "77", "from": ANN, "message": message("x", reply_markup=markup), "data": "y"}
    (event,) = parse(update("callback_query", body), ME)
    assert isinstance(event, ButtonPressed)
    assert (event.value, event.label, event.message_id, event.reply_handle) == (
        "y",
        "Yes",
        "7",
        "77",
    )


def test_an_inline_query_has_the_audience_of_its_chat() -> None:
    for chat_type, audience in (("sender", Audience.DIRECT), ("supergroup", Audience.PUBLIC_ROOM)):
        body = {"id": "78", "from": ANN, "query": "q", "chat_type": chat_type}
        (event,) = parse(update("inline_query", body), ME)
        assert isinstance(event, InlineQueried)
        assert (event.event_id, event.query, event.place.audience) == ("78", "q", audience)


def test_a_changed_reaction_is_a_removal_and_an_addition() -> None:
    (gone, come) = parse(samples()[14], ME)
    assert isinstance(gone, ReactionChanged)
    assert isinstance(come, ReactionChanged)
    assert (gone.emoji, gone.added, gone.event_id) == ("👎", False, "5000")
    assert (come.emoji, come.added, come.event_id) == ("👍", True, "5000:1")


def test_arrivals_and_departures_are_parsed() -> None:
    (ours,) = parse(samples()[15], ME)
    assert isinstance(ours, MembershipChanged)
    assert (ours.is_self, ours.joined) == (True, True)
    (theirs,) = parse(samples()[16], ME)
    assert isinstance(theirs, MembershipChanged)
    assert (theirs.is_self, theirs.joined, theirs.member.id) == (False, False, "11")
    (notice,) = parse(update(new_chat_members=[ANN, BOT], chat=GROUP), ME)
    assert isinstance(notice, MembershipChanged)
    assert notice.joined


@for_each(
    "payload",
    [
        {},
        {"update_id": 1},
        {"update_id": 1, "poll_answer": {"poll_id": "1"}},
        {"update_id": 1, "message": None},
        {"update_id": 1, "message": {"message_id": 1}},
        {"update_id": 10**30, "message": message("x")},
        {"update_id": True, "message": message("x")},
        {"message": message("x")},
        update(text="x", date=10**15),
        update(pinned_message=message("x")),
    ],
)
def test_other_updates_are_ignored(payload: dict[str, Any]) -> None:
    assert parse(payload, ME) == []


def test_characters_that_databases_refuse_are_replaced() -> None:
    event = read(text="a\ud83d b\x00", entities=[{"type": "hashtag", "offset": 0, "length": 2}])
    assert event.content == "a\ufffd b\ufffd"
    event.content.encode()


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the shared payloads are not beside the checkout")
def test_recorded_payloads_are_parsed() -> None:
    counts = {"events": 0, "ignored": 0}
    for record in json.loads(PAYLOADS.read_text()):
        payload = record["payload"]
        for candidate in (payload, {"update_id": 1, "message": payload}):
            events = parse(candidate, ME)
            counts["events" if events else "ignored"] += 1
            if record["kind"] in ("update:message:text", "update:channel_post:text"):
                assert events or "update_id" not in candidate or candidate is not payload
    assert counts["events"] > 20


def test_offsets_count_utf16_units() -> None:
    assert units("a😀") == 3


CHANNEL_MESSAGES = {
    "id": -100300,
    "type": "supergroup",
    "title": "News",
    "is_direct_messages": True,
}


def topic(number: int) -> dict[str, Any]:
    return {"topic_id": number, "user": ANN}


def test_each_topic_of_a_channels_direct_messages_is_one_place() -> None:
    places = [
        read(text="hi", chat=CHANNEL_MESSAGES, direct_messages_topic=topic(number)).place
        for number in (11, 2**52 - 1)
    ]
    assert [place.thread_id for place in places] == ["11", str(2**52 - 1)]
    for place in places:
        assert place.audience is Audience.PRIVATE_ROOM
        assert place.closed_thread
        assert place.outsiders
    flagless = {key: value for key, value in CHANNEL_MESSAGES.items() if key[:2] != "is"}
    assert read(text="hi", chat=flagless, direct_messages_topic=topic(11)).place == places[0]


@pytest.mark.parametrize("named", [None, {}, {"topic_id": "11"}, {"topic_id": 1.5}])
def test_a_message_or_press_without_a_topic_there_has_no_place(named: object) -> None:
    more: dict[str, Any] = {} if named is None else {"direct_messages_topic": named}
    assert parse(update(text="hi", chat=CHANNEL_MESSAGES, **more), ME) == []
    under = message("ours", chat=CHANNEL_MESSAGES, **more)
    pressed = {"id": "9", "from": ANN, "message": under, "data": "yes"}
    assert parse(update("callback_query", pressed), ME) == []


def test_a_topic_of_a_private_chat_is_a_direct_conversation() -> None:
    place = read(text="hi", is_topic_message=True, message_thread_id=5).place
    assert (place.thread_id, place.audience, place.closed_thread) == ("5", Audience.DIRECT, False)
    assert not place.outsiders


def test_people_who_write_in_the_name_of_another_chat_are_outside_people() -> None:
    channel = {"id": -100999, "type": "channel", "title": "Elsewhere"}
    assert read(text="hi", chat=GROUP, sender_chat=channel).author.outside
    assert read(
        text="hi", chat=GROUP, sender_chat=channel, is_automatic_forward=True
    ).author.outside
    assert not read(text="hi", chat=GROUP, sender_chat=GROUP).author.outside
    assert not read(text="hi", chat=GROUP).author.outside


def test_messages_to_a_business_account_are_ignored() -> None:
    assert parse(update(text="hi", business_connection_id="b1"), ME) == []
    assert parse(update("business_message", message("hi")), ME) == []
