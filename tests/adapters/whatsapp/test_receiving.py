"""Actions of people on WhatsApp arrive as events, through the real listener."""

import json

import pytest

from adapters.whatsapp.connection import WhatsAppAdapter
from adapters.whatsapp.messages import WhatsAppExtras
from gateway.errors import BadInput, ConfigurationError, StartError
from gateway.message import (
    Attachment,
    CommandInvoked,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    ReactionChanged,
)
from gateway.people import Audience
from gateway.ports.adapter import unpacked
from gateway.ports.identities import noted_conflicts
from gateway.ports.work_guard import WorkItem
from simulators.base import Fault, SimFile
from simulators.whatsapp import UNSIGNED, WhatsAppSimulator
from simulators.whatsapp.errors import GraphError
from tests.adapters.whatsapp.rig import (
    MemoryState,
    MovableClock,
    context_of,
    running,
    settings_of,
    text_to,
)
from tests.support.adapter_context import EventRecorder, unavailable
from tests.support.waiting import eventually
from tests.support.work import KnownCrashes


async def test_a_message_has_its_author_place_and_time() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        wamid = await rig.sim.say(ada, rig.sim.direct(ada), "Grüße aus Köln / 👋")
        message = await rig.message()
    assert message.id == wamid
    assert message.content == "Grüße aus Köln / 👋"
    assert message.author.id == ada.id
    assert message.author.name == "Ada"
    assert message.author.aliases == (rig.sim.world.human("Ada").phone,)
    assert message.place.audience is Audience.DIRECT
    assert message.channel_id == ada.id
    assert message.is_direct_message
    assert message.timestamp.tzinfo is not None
    extras = unpacked(WhatsAppExtras, message.extras)
    assert extras.window_open


async def test_several_messages_of_one_request_arrive_in_order() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        ids = await rig.sim.say_together(ada, rig.sim.direct(ada), "one", "two", "three")
        events = await rig.sink.wait(3)
    assert [event.event_id for event in events] == ids
    assert [e.message.content for e in events if isinstance(e, MessageReceived)] == [
        "one",
        "two",
        "three",
    ]


async def test_a_person_without_a_phone_number_has_the_user_id() -> None:
    async with running() as rig:
        zoe = rig.sim.person_without_phone("Zoe")
        room = rig.sim.direct(zoe)
        await rig.sim.say(zoe, room, "hello")
        message = await rig.message()
        await rig.adapter.send(text_to(message.place, "hello Zoe"))
        await rig.sim.wait_for(room, lambda lines: lines[-1].text == "hello Zoe")
        sent = rig.sim.calls[-1].body
    assert message.author.id == zoe.id
    assert message.author.aliases == ()
    assert sent["recipient"] == zoe.id
    assert "to" not in sent


async def test_a_person_known_by_number_stays_the_same_when_the_user_id_appears() -> None:
    async with running() as rig:
        old = rig.sim.person_without_bsuid("Otto")
        await rig.sim.say(old, rig.sim.direct(old), "before")
        await rig.sink.wait(1)
        rig.sim.gain_bsuid(old, "DE.777")
        await rig.sim.say(old, rig.sim.direct(old), "after")
        await rig.sink.wait(2)
        before, after = await rig.message(0), await rig.message(1)
        await rig.adapter.send(text_to(after.place, "same person"))
        assert rig.sim.calls[-1].body["recipient"] == "DE.777"
    assert before.author.id == after.author.id == old.id
    assert before.channel_id == after.channel_id
    assert after.author.aliases == ("DE.777",)


async def test_a_changed_number_keeps_the_person_and_changes_the_address() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "before")
        await rig.sink.wait(1)
        rig.sim.change_number(ada, "4915559999999", "DE.99999")
        await rig.sim.say(ada, rig.sim.direct(ada), "after")
        await rig.sink.wait(2)
        after = await rig.message(1)
        await rig.adapter.send(text_to(after.place, "found you"))
        sent = rig.sim.calls[-1].body
    assert after.author.id == ada.id
    assert sent["recipient"] == "DE.99999"


async def test_a_change_to_the_id_of_another_person_joins_nobody_and_is_noted() -> None:
    async with running() as rig:
        ada, bob = rig.sim.person("Ada"), rig.sim.person("Bob")
        for number, person in enumerate((ada, bob)):
            await rig.sim.say(person, rig.sim.direct(person), "before")
            await rig.sink.wait(number + 1)
        own = rig.sim.world.of(ada).bsuid
        rig.sim.change_number(ada, "4915559999999", rig.sim.world.of(bob).bsuid)
        rig.sim.world.of(ada).bsuid = own
        for number, person in enumerate((ada, bob)):
            await rig.sim.say(person, rig.sim.direct(person), "after")
            await rig.sink.wait(number + 3)
        assert [(await rig.message(n)).author.id for n in (2, 3)] == [ada.id, bob.id]
        noted = await noted_conflicts(rig.state)
        assert noted is not None
        assert noted.number == 1
        assert rig.counts["identity_conflict"] == 1


async def test_a_reassigned_number_is_a_new_person() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        phone = rig.sim.world.human("Ada").phone
        await rig.sim.say(ada, rig.sim.direct(ada), "mine")
        await rig.sink.wait(1)
        bob = rig.sim.person("Bob")
        rig.sim.world.human("Bob").phone = phone
        await rig.sim.say(bob, rig.sim.direct(bob), "mine now")
        await rig.sink.wait(2)
        assert (await rig.message(1)).author.id == bob.id != ada.id


async def test_an_answer_follows_the_person_and_not_the_number() -> None:
    async with running() as rig:
        old = rig.sim.person_without_bsuid("Otto")
        await rig.sim.say(old, rig.sim.direct(old), "before")
        rig.sim.gain_bsuid(old, "DE.777")
        await rig.sim.say(old, rig.sim.direct(old), "after")
        await rig.sink.wait(2)
        new = rig.sim.person("Nora")
        nora, otto = rig.sim.world.human("Nora"), rig.sim.world.human("Otto")
        nora.phone, otto.phone = otto.phone, "4915558888888"
        await rig.sim.say(new, rig.sim.direct(new), "I have this number now")
        await rig.sim.say(old, rig.sim.direct(old), "private question")
        await rig.sink.wait(4)
        await rig.adapter.send(text_to((await rig.message(3)).place, "private answer"))
        assert [line.text for line in rig.sim.shown(rig.sim.direct(new)) if line.by_bot] == []
        assert rig.sim.shown(rig.sim.direct(old))[-1].text == "private answer"


async def test_a_reply_names_the_message_and_its_author() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        room = rig.sim.direct(ada)
        await rig.sim.say(ada, room, "question")
        place = (await rig.message()).place
        receipt = await rig.adapter.send(text_to(place, "answer"))
        await rig.sim.say(ada, room, "and then?", reply_to=receipt.message_id)
        await rig.sink.wait(2)
        message = await rig.message()
    assert message.reply_to_id == receipt.message_id
    assert message.quote is not None
    assert message.quote.by_this_bot


async def test_a_slash_begins_a_command_and_a_path_does_not() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        room = rig.sim.direct(ada)
        await rig.sim.command(ada, room, "Ask", "what is\nnew?")
        await rig.sim.say(ada, room, "/etc/passwd is a file")
        command, text = (await rig.sink.wait(2))[:2]
    assert isinstance(command, CommandInvoked)
    assert (command.name, command.arguments) == ("ask", "what is\nnew?")
    assert command.message is not None
    assert isinstance(text, MessageReceived)


async def test_reactions_edits_and_deletions_are_received() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        room = rig.sim.direct(ada)
        wamid = await rig.sim.say(ada, room, "teh")
        await rig.sim.edit(ada, room, wamid, "the")
        await rig.sim.react(ada, room, wamid, "👍")
        await rig.sim.react(ada, room, wamid, "")
        await rig.sim.delete(ada, room, wamid)
        _, edited, added, taken, deleted = await rig.sink.wait(5)
    assert isinstance(edited, MessageEdited)
    assert (edited.message.id, edited.message.content) == (wamid, "the")
    assert isinstance(added, ReactionChanged)
    assert (added.message_id, added.emoji, added.added) == (wamid, "👍", True)
    assert isinstance(taken, ReactionChanged)
    assert not taken.added
    assert isinstance(deleted, MessageDeleted)
    assert deleted.message_ids == (wamid,)
    assert deleted.place.channel_id == ada.id


async def test_a_location_is_readable_and_has_a_type() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        point = {"latitude": 50.94, "longitude": 6.95, "name": "Dom", "address": "Köln"}
        await rig.sim.send_raw(ada, "location", point)
        message = await rig.message()
    assert [(piece.authorship, piece.text) for piece in message.material] == [
        ("location", "Location: Dom, Köln (50.940000, 6.950000)")
    ]
    extras = unpacked(WhatsAppExtras, message.extras)
    assert extras.location is not None
    assert extras.location.latitude == 50.94


@pytest.mark.parametrize("kind", ["unsupported", "unknown"])
async def test_a_message_of_unknown_content_is_marked_as_unreadable(kind: str) -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.send_raw(ada, kind, {"type": "poll_creation"})
        heard = await rig.message()
    assert (heard.content, heard.unreadable) == ("", True)


async def test_the_notice_of_an_opened_chat_is_counted_and_the_next_message_arrives() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.send_raw(ada, "request_welcome", {})
        await rig.sim.say(ada, rig.sim.direct(ada), "still here?")
        assert (await rig.message()).content == "still here?"
    assert rig.counts["ignored:kind:request_welcome"] == 1


async def test_a_file_is_announced_by_the_message_and_fetched_on_demand() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        picture = SimFile("photo.png", "image/png", b"\x89PNG" + bytes(2_000))
        await rig.sim.say(ada, rig.sim.direct(ada), "what is this?", files=(picture,))
        message = await rig.message()
        (attachment,) = message.attachments
        data = await rig.adapter.fetch(attachment, 10_000)
        with pytest.raises(BadInput, match="more than 100"):
            await rig.adapter.fetch(attachment, 100)
    assert message.content == "what is this?"
    assert (attachment.kind, attachment.mime) == ("image", "image/png")
    assert data == picture.data


async def test_a_media_id_that_is_a_path_is_refused_before_a_request() -> None:
    async with running() as rig:
        before = len(rig.sim.calls)
        with pytest.raises(BadInput):
            await rig.adapter.fetch(Attachment("image", "../me"), 100)
        assert len(rig.sim.calls) == before


class Exhausted(KnownCrashes):
    """A guard for which processes died of every payload."""

    def exhausted(self, item: WorkItem) -> bool:
        return item.kind == "payload"


async def test_a_quarantined_request_is_acknowledged_and_not_parsed() -> None:
    async with running(guard=Exhausted()) as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "fatal")
        await eventually(lambda: rig.counts["quarantined:whatsapp"] == 1)
        assert rig.sink.events == []


async def test_requests_are_parsed_under_the_crash_loop_guard() -> None:
    guard = KnownCrashes()
    async with running(guard=guard) as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "one")
        await rig.sink.wait()
    ((item,),) = guard.marked
    assert item.kind == "payload"
    assert item.id.startswith("whatsapp:main:")


async def test_a_full_store_is_answered_with_503_and_meta_repeats_the_request() -> None:
    async with running() as rig:
        rig.sink.failures = unavailable(2)
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "do not lose me")
        assert (await rig.message()).content == "do not lose me"
        await rig.sim.settled()
        statuses = [delivery.status for delivery in rig.sim.webhooks.deliveries]
    assert statuses == [503, 503, 200]
    assert rig.counts["unstored"] == 2


async def test_no_event_is_delivered_while_the_state_of_the_adapter_is_unavailable() -> None:
    async with running() as rig:
        rig.state.down = True
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "wait for me")
        await eventually(lambda: len(rig.sim.webhooks.deliveries) > 0)
        assert rig.sink.events == []
        rig.state.down = False
        assert (await rig.message()).content == "wait for me"


@pytest.mark.parametrize("signature", [UNSIGNED, "", "sha256=", "sha256=" + "0" * 64, "sha1=ab"])
async def test_a_wrong_signature_is_refused(signature: object) -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        payload: dict[str, object] = {"object": "whatsapp_business_account", "entry": []}
        assert await rig.sim.deliver(payload, signature) == 401  # type: ignore[arg-type] # parametrised
        assert await rig.sim.deliver(payload) == 200
        # A request without the header is refused before its body is read.
        assert rig.counts["refused:signature"] == (0 if signature in (UNSIGNED, "") else 1)
        assert ada.id not in json.dumps(list(rig.state.kept))


async def test_a_signature_of_other_bytes_is_refused() -> None:
    async with running() as rig:
        stolen = "sha256=" + rig.sim.webhooks.sign(b'{"object":"whatsapp_business_account"}')
        assert await rig.sim.deliver({"object": "page"}, stolen) == 401


async def test_signed_invalid_payloads_are_ignored() -> None:
    async with running() as rig:
        assert await rig.sim.deliver({"object": "whatsapp_business_account", "entry": 7}) == 200
        assert await rig.sim.deliver({"object": "page"}) == 200
        assert rig.counts["ignored:object"] == 1


async def test_the_handshake_requires_the_verify_token() -> None:
    async with running() as rig:
        assert await rig.sim.webhooks.handshake()
        assert not await rig.sim.webhooks.handshake("guess")
        assert not await rig.sim.webhooks.handshake("")
        assert rig.counts["refused:handshake"] == 2


async def test_messages_of_another_number_of_the_app_are_counted_only() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        other = WhatsAppSimulator(phone_number_id="999")
        other.attach(rig.listener.base_url)
        await other.say(other.person("Eve"), other.direct(other.person("Eve")), "wrong house")
        await other.settled()
        await other.stop()
        await rig.sim.say(ada, rig.sim.direct(ada), "right house")
        assert (await rig.message()).content == "right house"
        assert rig.counts["ignored:other_number"] == 1


async def test_a_path_used_twice_is_a_configuration_error() -> None:
    async with running() as rig:
        clock = MovableClock()
        context = context_of(rig.listener, clock, MemoryState(clock), rig.counts)
        twin = WhatsAppAdapter(settings_of(rig.sim), context)
        with pytest.raises(ConfigurationError, match="two accounts"):
            await twin.connect(EventRecorder())
        await twin.disconnect()
        assert await rig.sim.webhooks.handshake(), "the first one still listens"


async def test_disconnect_removes_the_webhook_and_connect_adds_it() -> None:
    async with running() as rig:
        await rig.adapter.disconnect()
        await rig.adapter.disconnect()
        await rig.adapter.wait_closed()
        assert not await rig.sim.webhooks.handshake()
        await rig.adapter.connect(rig.sink)
        assert await rig.sim.webhooks.handshake()


@pytest.mark.parametrize("name", ["access_token", "phone_number_id", "app_secret", "verify_token"])
async def test_it_does_not_start_without_all_credentials(name: str) -> None:
    async with running() as rig:
        clock = MovableClock()
        context = context_of(rig.listener, clock, MemoryState(clock), rig.counts, "second")
        adapter = WhatsAppAdapter(settings_of(rig.sim, **{name: ""}), context)
        with pytest.raises(StartError, match=f"platforms.whatsapp.{name}") as error:
            await adapter.connect(EventRecorder())
        assert error.value.permanent
        assert "/webhook/whatsapp/second" not in rig.listener.paths


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ({"access_token": "expired"}, "system user"),
        ({"phone_number_id": "15550783881"}, "Phone number ID"),
    ],
)
async def test_a_wrong_credential_is_a_start_error_with_advice(
    wrong: dict[str, str], advice: str
) -> None:
    async with running() as rig:
        clock = MovableClock()
        context = context_of(rig.listener, clock, MemoryState(clock), rig.counts, "second")
        adapter = WhatsAppAdapter(settings_of(rig.sim, **wrong), context)
        with pytest.raises(StartError) as error:
            await adapter.connect(EventRecorder())
        assert error.value.permanent
        assert advice in error.value.advice


async def test_an_outage_at_the_start_is_temporary() -> None:
    async with running() as rig:
        clock = MovableClock()
        context = context_of(rig.listener, clock, MemoryState(clock), rig.counts, "second")
        adapter = WhatsAppAdapter(settings_of(rig.sim), context)
        rig.sim.faults.add(Fault("phone_number", "server_error"))
        # aiohttp repeats a lost GET once
        rig.sim.faults.add(Fault("phone_number", "drop_before", times=2))
        for _ in range(2):
            with pytest.raises(StartError) as error:
                await adapter.connect(EventRecorder())
            assert not error.value.permanent
        await adapter.connect(EventRecorder())
        await adapter.disconnect()


async def test_a_token_revoked_later_ends_the_connection() -> None:
    async with running() as rig:
        ada = rig.sim.person("Ada")
        await rig.sim.say(ada, rig.sim.direct(ada), "hi")
        place = (await rig.message()).place
        rig.sim.fail_next("messages", GraphError(190))
        with pytest.raises(Exception, match="190"):
            await rig.adapter.send(text_to(place, "hello"))
        with pytest.raises(StartError) as error:
            await rig.adapter.wait_closed()
        assert error.value.permanent
