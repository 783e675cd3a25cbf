"""Payloads become events, also changed and malformed ones."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adapters.whatsapp
from adapters.whatsapp.messages import WhatsAppExtras
from adapters.whatsapp.parse import IdentityChange, parse, read
from gateway.authorship import Material
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from tests.support.property_cases import cases

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "payloads" / "whatsapp.json"
NUMBER = {"display_phone_number": "+49 155 1234567", "phone_number_id": "700100200"}
BSUID = "DE.480015"
PHONE = "4915550000042"


def webhook(*messages: dict[str, Any], contact: dict[str, Any] | None = None, **value: Any) -> Any:
    """A webhook body around these messages."""
    person = {"profile": {"name": "Mina"}, "wa_id": PHONE, "user_id": BSUID}
    inside = {
        "messaging_product": "whatsapp",
        "metadata": NUMBER,
        "contacts": [contact or person],
        "messages": list(messages),
        **value,
    }
    change = {"field": "messages", "value": inside}
    return {"object": "whatsapp_business_account", "entry": [{"id": "55", "changes": [change]}]}


def written(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """One message as Meta writes it."""
    head = {"from": PHONE, "from_user_id": BSUID, "id": "wamid.A1", "timestamp": "1790000000"}
    return {**head, "type": kind, kind: content, **more}


def senders(payload: Any) -> list[tuple[str, str, str]]:
    """The ids and the name of each event's author."""
    return [(e.who.user_id, e.who.phone, e.who.name) for e in read(payload).events]


OTHER = {"profile": {"name": "Noa"}, "wa_id": "4915550000099", "user_id": "DE.99"}
SAME = {"profile": {"name": "Mina"}, "wa_id": PHONE, "user_id": BSUID}


@pytest.mark.parametrize(
    ("own", "contacts", "expected"),
    [
        ({"from": PHONE}, [SAME], (BSUID, PHONE, "Mina")),
        ({"from_user_id": BSUID}, [SAME], (BSUID, PHONE, "Mina")),
        ({"from": PHONE, "from_user_id": BSUID}, [], (BSUID, PHONE, "")),
        ({"from": PHONE}, [OTHER], ("", PHONE, "")),
        ({"from_user_id": BSUID}, [OTHER], (BSUID, "", "")),
        ({"from": PHONE}, [OTHER, SAME], (BSUID, PHONE, "Mina")),
        ({"from": PHONE}, [{**SAME, "user_id": ""}, OTHER], ("", PHONE, "Mina")),
        ({"from": PHONE, "from_user_id": BSUID}, [{**OTHER, "wa_id": PHONE}], (BSUID, PHONE, "")),
        ({"from": PHONE, "from_user_id": BSUID}, [{**OTHER, "user_id": BSUID}], (BSUID, PHONE, "")),
        ({"from": PHONE}, [{**OTHER, "wa_id": PHONE}, SAME], ("", PHONE, "")),
        ({"from_user_id": BSUID}, [{**OTHER, "user_id": BSUID}, SAME], (BSUID, "", "")),
        ({"from": BSUID}, [OTHER], (BSUID, "", "")),
        ({"from": PHONE, "from_user_id": "4915550000099"}, [], ("", PHONE, "")),
        ({}, [SAME], (BSUID, PHONE, "Mina")),
    ],
)
def test_a_contact_completes_only_the_ids_of_the_person_it_names(
    own: dict[str, str], contacts: list[Any], expected: tuple[str, str, str]
) -> None:
    item = {"id": "wamid.A", "timestamp": "1790000000", "type": "text", "text": {"body": "hi"}}
    assert senders(webhook({**item, **own}, contacts=contacts)) == [expected]


def test_messages_without_ids_are_of_nobody_if_there_are_several() -> None:
    item = {"timestamp": "1790000000", "type": "text", "text": {"body": "hi"}}
    items = [{**item, "id": "wamid.A"}, {**item, "id": "wamid.B"}]
    assert senders(webhook(*items, contacts=[SAME])) == []


@pytest.mark.parametrize(
    ("status", "contact", "expected"),
    [
        ({"recipient_id": PHONE}, SAME, (BSUID, PHONE)),
        ({"recipient_id": PHONE}, OTHER, ("", PHONE)),
        ({"recipient_user_id": BSUID}, OTHER, (BSUID, "")),
    ],
)
def test_the_recipient_of_a_status_is_not_taken_from_the_contact_of_another(
    status: dict[str, str], contact: dict[str, Any], expected: tuple[str, str]
) -> None:
    whole = {"id": "wamid.A", "status": "failed", "timestamp": "1790000000", **status}
    (found,) = read(webhook(contact=contact, statuses=[whole])).statuses
    assert (found.recipient.user_id, found.recipient.phone) == expected


def test_a_change_whose_ids_contradict_each_other_is_left_out() -> None:
    system = {"type": "user_changed_user_id", "previous_user_id": "DE.7", "user_id": "DE.8"}
    parsed = read(webhook(written("system", system)))
    assert parsed.identity_changes == ()
    assert parsed.ignored == ("contradicting_ids",)
    (change,) = read(
        webhook(written("system", {**system, "previous_user_id": BSUID}))
    ).identity_changes
    assert (change.before.user_id, change.after.user_id) == (BSUID, "DE.8")


EXAMPLES: list[dict[str, Any]] = [
    webhook(written("text", {"body": "hello"})),
    webhook(
        written("text", {"body": "/ask why\nreally"}, context={"id": "wamid.B", "from": PHONE})
    ),
    webhook(written("image", {"id": "111", "mime_type": "image/jpeg", "caption": "see"})),
    webhook(written("audio", {"id": "112", "mime_type": "audio/ogg; codecs=opus", "voice": True})),
    webhook(written("document", {"id": "113", "mime_type": "text/csv", "filename": "a.csv"})),
    webhook(written("sticker", {"id": "114", "mime_type": "image/webp"})),
    webhook(written("location", {"latitude": 1.5, "longitude": -2, "name": "here"})),
    webhook(
        written(
            "contacts",
            [{"name": {"formatted_name": "Bo"}, "phones": [{"phone": "+1 2"}], "emails": []}],
        )
    ),
    webhook(written("button", {"payload": "yes", "text": "Yes"})),
    webhook(
        written(
            "interactive",
            {"type": "list_reply", "list_reply": {"id": "r1", "title": "R", "description": "D"}},
            context={"id": "wamid.C"},
        )
    ),
    webhook(
        written(
            "interactive",
            {"type": "nfm_reply", "nfm_reply": {"name": "flow", "response_json": '{"a":1}'}},
        )
    ),
    webhook(written("reaction", {"message_id": "wamid.D", "emoji": "🙂"})),
    webhook(written("order", {"product_items": [{"quantity": 2, "product_retailer_id": "SKU"}]})),
    webhook(written("system", {"type": "user_changed_number", "wa_id": "49", "user_id": "DE.2"})),
    webhook(written("revoke", {"original_message_id": "wamid.A0"})),
    webhook(
        written(
            "edit",
            {"original_message_id": "wamid.A0", "message": {"type": "text", "text": {"body": "n"}}},
        )
    ),
    webhook(
        statuses=[
            {
                "id": "wamid.S",
                "status": "failed",
                "timestamp": "1790000000",
                "recipient_id": PHONE,
                "errors": [{"code": 131047}],
            }
        ]
    ),
]


def only(payload: Any) -> InboundEvent:
    """The one event in a payload."""
    (event,) = parse(payload)
    return event


def message_in(payload: Any) -> ChatMessage:
    """The one message in a payload."""
    event = only(payload)
    assert isinstance(event, MessageReceived)
    return event.message


def test_the_function_has_the_documented_name() -> None:
    assert adapters.whatsapp.parse is parse
    assert callable(adapters.whatsapp.parse)


def test_parsing_imports_no_http_library() -> None:
    code = (
        "import sys; import adapters.whatsapp, adapters.whatsapp.manifest;"
        "print([m for m in ('httpx', 'aiohttp', 'pydantic.v1') if m in sys.modules])"
    )
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert completed.stdout.strip() == "[]"


def test_a_text_message_is_parsed() -> None:
    message = message_in(EXAMPLES[0])
    assert (message.id, message.content) == ("wamid.A1", "hello")
    assert (message.author.id, message.author.name) == (BSUID, "Mina")
    assert message.author.aliases == (PHONE,)
    assert message.place.audience is Audience.DIRECT
    assert message.place.channel_id == BSUID
    assert message.timestamp.isoformat() == "2026-09-21T14:13:20+00:00"
    assert message.extras is None


def test_media_have_an_id_a_type_and_a_caption() -> None:
    image, audio, document, sticker = (message_in(EXAMPLES[i]) for i in range(2, 6))
    assert image.content == "see"
    assert (image.attachments[0].kind, image.attachments[0].ref) == ("image", "111")
    assert audio.attachments[0].mime == "audio/ogg"
    assert document.attachments[0].name == "a.csv"
    assert sticker.attachments[0].kind == "sticker"


def test_shared_contacts_orders_and_forms_are_readable() -> None:
    contact, order = message_in(EXAMPLES[7]), message_in(EXAMPLES[12])
    assert contact.material == (Material("contact", "Contact: Bo, +1 2"),)
    assert order.material == (Material("card", "Order: 2 x SKU"),)
    form = message_in(EXAMPLES[10])
    assert form.material == (Material("form", 'Form: {"a":1}'),)
    assert {contact.content, order.content, form.content} == {""}
    extras = unpacked(WhatsAppExtras, form.extras)
    assert extras.interactive_reply is not None


def test_choices_have_their_value() -> None:
    button, row = only(EXAMPLES[8]), only(EXAMPLES[9])
    assert isinstance(button, ButtonPressed)
    assert (button.value, button.label) == ("yes", "Yes")
    assert isinstance(row, ButtonPressed)
    assert (row.value, row.label, row.message_id) == ("r1", "R\nD", "wamid.C")


def test_a_command_keeps_its_message() -> None:
    command = only(EXAMPLES[1])
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("ask", "why\nreally")
    assert command.message is not None
    assert command.message.reply_to_id == "wamid.B"


@pytest.mark.parametrize("emoji", [None, ""])
def test_a_reaction_without_emoji_is_a_removal(emoji: str | None) -> None:
    body = {"message_id": "wamid.D"} | ({} if emoji is None else {"emoji": emoji})
    event = only(webhook(written("reaction", body)))
    assert isinstance(event, ReactionChanged)
    assert not event.added


def test_an_order_has_its_prices() -> None:
    products = [
        {"product_retailer_id": "TEA", "quantity": 2, "item_price": 7.99, "currency": "EUR"},
        {"product_retailer_id": "CUP", "quantity": "1", "item_price": "30", "currency": "JPY"},
    ]
    order = message_in(webhook(written("order", {"product_items": products, "text": "please"})))
    assert order.content == "please"
    assert order.material == (Material("card", "Order: 2 x TEA at 7.99 EUR, 1 x CUP at 30 JPY"),)


def test_a_contact_has_its_organisation_and_addresses() -> None:
    card = {
        "name": {"formatted_name": "Bo"},
        "org": {"company": "Acme", "department": "Sales", "title": "Head"},
        "addresses": [{"street": "Main 1", "city": "Bonn", "zip": "53111", "country": "DE"}],
        "urls": [{"url": "https://example.org"}],
        "birthday": "1990-02-03",
    }
    contact = message_in(webhook(written("contacts", [card])))
    assert contact.material == (
        Material(
            "contact",
            "Contact: Bo, Head, Sales, Acme, Main 1 Bonn 53111 DE, https://example.org, "
            "born 1990-02-03",
        ),
    )


def test_a_question_about_a_product_names_it() -> None:
    product = {"catalog_id": "C9", "product_retailer_id": "SKU-1"}
    context = {"id": "wamid.P", "from": PHONE, "referred_product": product}
    asked = message_in(webhook(written("text", {"body": "in red?"}, context=context)))
    assert asked.content == "in red?"
    assert asked.material == (Material("card", "About the product SKU-1 of the catalogue C9"),)


def test_a_voice_message_is_the_authors_own_unless_it_is_forwarded() -> None:
    voice = written("audio", {"id": "1", "mime_type": "audio/ogg; codecs=opus", "voice": True})
    assert message_in(webhook(voice)).attachments[0].voice
    forwarded = {**voice, "context": {"forwarded": True}}
    assert not message_in(webhook(forwarded)).attachments[0].voice
    song = written("audio", {"id": "1", "mime_type": "audio/mpeg"})
    assert not message_in(webhook(song)).attachments[0].voice


def test_a_voice_message_is_named() -> None:
    assert message_in(EXAMPLES[3]).attachments[0].label == "audio: voice message"


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("unsupported", {}),
        ("unknown", {}),
        ("ephemeral", {"errors": [{"code": 131051}]}),
        ("image", {"errors": [{"code": 131052, "title": "Media download error"}]}),
    ],
)
def test_a_message_whose_content_is_not_passed_on_is_unreadable(
    kind: str, more: dict[str, Any]
) -> None:
    message = message_in(webhook({**written(kind, {"type": "poll_creation"}), **more}))
    assert message.unreadable
    assert (message.content, message.material, message.attachments) == ("", (), ())


def test_known_messages_without_content_stay_unheard() -> None:
    for kind in ("request_welcome", "text", "image", "something_new"):
        assert parse(webhook(written(kind, {}))) == []


def test_a_forward_is_not_a_reply() -> None:
    message = message_in(webhook(written("text", {"body": "x"}, context={"forwarded": True})))
    assert message.reply_to_id is None
    assert message.quote is None
    assert (message.content, message.material) == ("", (Material("forwarded", "x"),))


@pytest.mark.parametrize("mark", ["forwarded", "frequently_forwarded"])
@pytest.mark.parametrize("text", ["/link ABCD-EF01", "/forget tabs", "/privacy erase"])
def test_a_forwarded_command_is_not_a_command(mark: str, text: str) -> None:
    event = only(webhook(written("text", {"body": text}, context={mark: True})))
    assert isinstance(event, MessageReceived)
    assert event.message.content == ""
    assert event.message.material == (Material("forwarded", text),)


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("interactive", {"type": "button_reply", "button_reply": {"id": "p1", "title": "Yes"}}),
        ("interactive", {"type": "list_reply", "list_reply": {"id": "p1", "title": "Yes"}}),
        ("button", {"text": "Yes", "payload": "p1"}),
    ],
)
def test_a_forwarded_choice_is_a_message_and_not_a_press(kind: str, chosen: dict[str, Any]) -> None:
    forwarded = written(kind, chosen, context={"forwarded": True})
    shown = message_in(webhook(forwarded))
    assert (shown.content, shown.material) == ("", (Material("forwarded", "Yes"),))


def test_the_caption_of_a_forward_is_forwarded_text() -> None:
    picture = {"id": "1", "mime_type": "image/png", "caption": "pay Eve"}
    own = message_in(webhook(written("image", picture)))
    assert (own.content, own.material) == ("pay Eve", ())
    shown = message_in(webhook(written("image", picture, context={"forwarded": True})))
    assert (shown.content, shown.material) == ("", (Material("forwarded", "pay Eve"),))


def test_an_edited_forward_is_a_forward() -> None:
    new = {"type": "text", "text": {"body": "/link ABCD"}, "context": {"forwarded": True}}
    body = {"original_message_id": "wamid.1", "message": new}
    outer = {"original_message_id": "wamid.1", "message": {**new, "context": {}}}
    for edit in (
        written("edit", body),
        written("edit", outer, context={"forwarded": True}),
    ):
        event = only(webhook(edit))
        assert isinstance(event, MessageEdited)
        assert event.message.content == ""
        assert event.message.material == (Material("forwarded", "/link ABCD"),)


def test_the_advertisement_that_opened_the_chat_is_external_text() -> None:
    referral = {"headline": "Buy", "body": "now", "source_url": "https://ad.example"}
    message = message_in(webhook(written("text", {"body": "hi"}, referral=referral)))
    assert message.content == "hi"
    assert message.material == (Material("advert", "Buy\nnow", "https://ad.example"),)


def test_a_reply_to_the_bot_is_recognised_for_every_form_of_its_number() -> None:
    context = {"from": "491551234567", "id": "wamid.ours"}
    quote = message_in(webhook(written("text", {"body": "x"}, context=context))).quote
    assert quote is not None
    assert quote.by_this_bot


def test_a_person_with_a_username_has_no_phone_number() -> None:
    message = written("text", {"body": "x"})
    del message["from"], message["from_user_id"]
    person = {"profile": {"name": "Zoe", "username": "@zoe"}, "user_id": "US.9"}
    result = message_in(webhook(message, contact=person))
    assert (result.author.id, result.author.aliases) == ("US.9", ())


def test_no_person_gets_the_identity_of_another() -> None:
    stranger = written("text", {"body": "x"}, id="wamid.2")
    stranger["from"] = "4900000"
    del stranger["from_user_id"]
    events = parse(webhook(written("text", {"body": "mine"}), stranger))
    authors = [event.author for event in events]
    assert [author.id for author in authors if author] == [BSUID, "4900000"]


def test_several_messages_entries_and_changes_are_parsed() -> None:
    one = webhook(
        written("text", {"body": "1"}, id="wamid.1"), written("text", {"body": "2"}, id="wamid.2")
    )
    two = webhook(written("text", {"body": "3"}, id="wamid.3"))
    one["entry"][0]["changes"] += two["entry"][0]["changes"]
    one["entry"] += webhook(written("text", {"body": "4"}, id="wamid.4"))["entry"]
    assert [event.event_id for event in parse(one)] == [f"wamid.{n}" for n in (1, 2, 3, 4)]


def test_only_messages_to_the_configured_number_are_parsed() -> None:
    assert len(parse(EXAMPLES[0], "700100200")) == 1
    assert parse(EXAMPLES[0], "1") == []
    assert read(EXAMPLES[0], "1").ignored == ("other_number",)


def test_groups_are_ignored() -> None:
    assert read(webhook(written("text", {"body": "x"}, group_id="g"))).ignored == ("group",)


def test_statuses_are_not_events() -> None:
    reading = read(EXAMPLES[-1])
    assert reading.events == ()
    assert reading.statuses[0].codes == (131047,)


def test_a_changed_number_names_both_identities() -> None:
    (move,) = read(EXAMPLES[13]).identity_changes
    assert isinstance(move, IdentityChange)
    assert (move.before.phone, move.after.user_id) == (PHONE, "DE.2")


def test_half_a_surrogate_pair_is_replaced() -> None:
    payload = json.loads(
        json.dumps(webhook(written("text", {"body": "X"}))).replace('"X"', '"a\\ud800b"')
    )
    assert message_in(payload).content.encode()


def test_ids_are_never_shortened() -> None:
    huge = written("text", {"body": "x"}, id="w" * 5000)
    assert parse(webhook(huge)) == []


@pytest.mark.skipif(not SHARED.exists(), reason="the shared payload collection is not here")
def test_recorded_payloads_of_other_projects_are_parsed() -> None:
    kinds: dict[str, int] = {}
    for item in json.loads(SHARED.read_text()):
        for event in parse(item["payload"]):
            kinds[event.kind] = kinds.get(event.kind, 0) + 1
            assert event.place.channel_id
        if item["kind"].startswith(("wa:message:text", "wa:message:button")):
            assert parse(item["payload"]), item["id"]
    assert {"message", "button", "reaction"} <= set(kinds)


# --- anything goes in, events or nothing come out -------------------------------------------------

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(["wamid.A1", "text", "interactive", "", "9" * 400, "1e999", "\ud800", "-1"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "id", "body", "text", "from", "messages", "emoji", "code"])
            | st.text(max_size=8),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)

NASTY_TEXTS = ["", " ", "abc", "\n", "\ud800", "9" * 400, "1e999", "nan", "-1", "0", "text"]
NASTY_OTHERS: list[Any] = [None, True, 0, -1, 1.5, 10**400, float("nan"), float("inf"), [], {}]
NASTY: st.SearchStrategy[Any] = st.sampled_from([*NASTY_TEXTS, *NASTY_OTHERS, [[]], [{}]])


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a payload that can be changed."""
    results = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            results += spots(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            results += spots(value[index], (*path, index))
    return results


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A payload with one to four changes anywhere in it."""
    payload = copy.deepcopy(draw(st.sampled_from(EXAMPLES)))
    for _ in range(draw(st.integers(1, 6))):
        places = spots(payload)
        if not places:
            break
        # The deep half is where the values are; the envelope alone would swallow most changes.
        *way, last = draw(st.sampled_from(sorted(places, key=len)[len(places) // 3 :]))
        holder = payload
        for step in way:
            holder = holder[step]
        match draw(st.sampled_from(["replace", "replace", "replace", "remove", "double", "swap"])):
            case "replace":
                holder[last] = copy.deepcopy(draw(NASTY | JUNK))
            case "remove":
                del holder[last]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
            case "swap":
                holder[last] = copy.deepcopy(draw(st.sampled_from(EXAMPLES)))
            case _:
                holder[last] = [holder[last]]
    return payload


def holds(payload: Any) -> None:
    """Check the conditions that hold for every result."""
    for event in parse(payload):
        assert 0 < len(event.event_id) <= 512
        place = event.place
        assert place.platform == "whatsapp"
        assert 0 < len(place.channel_id) <= 150
        author = event.author
        assert author is None or author.id == place.channel_id
        if isinstance(event, MessageReceived):
            reply = event.message
            known = reply.content or reply.attachments or reply.material
            assert bool(known) is not reply.unreadable
            assert event.message.timestamp.tzinfo is not None
        repr(event).encode()


@given(JUNK)
def test_invalid_payloads_give_no_event(payload: Any) -> None:
    assert parse(payload) == []


@given(mutated())
@settings(max_examples=cases(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_payload_gives_events_or_nothing(payload: Any) -> None:
    holds(payload)


@pytest.mark.nightly
@given(mutated())
@settings(max_examples=12_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_many_mutated_payloads_give_events_or_nothing(payload: Any) -> None:
    holds(payload)
