"""The reply to strangers, and the person who sends the owner code."""

import re
from pathlib import Path

import pytest

from gateway.authorship import Material
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    MessageEdited,
    MessageReceived,
    Quote,
    ReactionChanged,
)
from gateway.pairing.admissions import TRIES_PER_MINUTE, OwnerCodes
from gateway.pairing.requests import (
    HINTS_PER_MINUTE,
    MAKE_CODE,
    NO_OWNER,
    ROOM_HINT,
    SEND_CODE,
    STILL_WAITING,
)
from gateway.people import Role
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.pairing_codes import NEW_CODE_AFTER, OWNER_CODE_VALID, new_owner_code
from gateway.ports import Capabilities
from gateway.ports.admissions import OwnerCode
from gateway.stores.admissions import SqlAdmissions
from gateway.turn.services import Policies
from tests.support.databases import sqlite_database
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, message, place, received

OWNED = RolePolicy(owners=frozenset({"boss"}))
APPROVED = Policies(access=AccessPolicy(admission="approved"), roles=OWNED)
UNOWNED = Policies(access=AccessPolicy(admission="approved"))
OWNERS = Policies(access=AccessPolicy(admission="owners"))
PLAIN_MAKE_CODE = MAKE_CODE.english.replace("`", "")
EPHEMERAL = Capabilities(ephemeral=True, max_buttons=5)
CODE = re.compile(r"[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}")
HOLDS_WORDS = ("inbox", "turns", "usage", "waiting_turns", "conversation_notes")


async def nothing_is_kept(g: Gateway) -> bool:
    """No message is stored, and no model was asked."""
    return not any([await g.rows(table) for table in HOLDS_WORDS]) and not g.model.requests


async def owner_code(g: Gateway) -> OwnerCode:
    return await OwnerCodes(SqlAdmissions(g.database), g.clock, g.changes).create()


async def test_a_stranger_gets_a_code_and_nothing_else() -> None:
    async with gateway(policies=APPROVED) as g:
        await g.take(received("my secret plan", author="eve"))
        (text,) = g.texts
        assert CODE.search(text)
        assert await nothing_is_kept(g)
        (trace,) = g.traces
        assert trace.outcome == "refused:access"
        assert trace.decisions[0][2:4] == ("not_approved", "pairing: code_made")
        assert g.changes.made == [("requested", "test:main:eve", "test:main:eve")]


async def test_many_messages_of_a_stranger_bring_one_code() -> None:
    async with gateway(policies=APPROVED) as g:
        for number in range(100):
            await g.take(received("hello?", message_id=f"m{number}", author="eve"))
            await g.clock.advance(1.0)
        assert len(g.texts) == 2
        assert g.texts[1] == STILL_WAITING.english
        await g.clock.advance(NEW_CODE_AFTER.total_seconds())
        await g.take(received("hello?", message_id="later", author="eve"))
        await g.take(received("hello?", message_id="after", author="eve"))
        assert len(set(g.texts)) == len(g.texts) == 3
        assert await nothing_is_kept(g)


async def test_many_strangers_bring_a_bounded_number_of_codes() -> None:
    async with gateway(policies=APPROVED) as g:
        for number in range(200):
            await g.take(received("hi", message_id=f"m{number}", author=f"eve{number}"))
            await g.clock.advance(1.0)
        assert len(g.texts) == 50
        assert await g.rows("pairing_requests") == 50


@pytest.mark.parametrize("name", ["help", "start", "privacy", "approve", "clear"])
async def test_no_command_works_for_a_stranger(name: str) -> None:
    async with gateway(policies=APPROVED) as g:
        event = received(f"/{name} ABC", author="eve")
        await g.take(CommandInvoked("e1", direct("eve"), event.message.author, name))
        await g.take(event)
        assert CODE.search(g.texts[0])
        assert g.texts[1:] in ([], [STILL_WAITING.english])
        assert await nothing_is_kept(g)


async def test_a_command_that_waits_for_an_answer_gets_the_code() -> None:
    async with gateway(policies=APPROVED, capabilities=EPHEMERAL) as g:
        author = message(author="eve").author
        await g.take(CommandInvoked("e1", direct("eve"), author, "help", reply_handle="h"))
        await g.take(
            CommandInvoked("e2", place("C1"), author, "help", reply_handle="h"),
        )
        assert CODE.search(g.texts[0])
        assert g.adapter.sent[0].reply_handle == "h"
        assert g.texts[1] == ROOM_HINT.english
        assert g.adapter.sent[1].private_to == "eve"
        assert not g.model.requests


async def test_edits_presses_and_reactions_of_a_stranger_have_no_effect() -> None:
    async with gateway(policies=APPROVED) as g:
        hers = message(author="eve")
        await g.take(
            MessageEdited("e1", hers),
            ButtonPressed("e2", direct("eve"), hers.author, "pairing:approve:1"),
            ReactionChanged("e3", direct("eve"), hers.author, "m1", "👍", added=True),
        )
        assert g.texts == []
        assert await nothing_is_kept(g)


async def test_a_bot_gets_no_code() -> None:
    listens = replace(APPROVED, invocation=InvocationPolicy(ignore_bots=False))
    async with gateway(policies=listens) as g:
        await g.take(received("hello", author="botty", is_bot=True))
        assert g.texts == []
        assert g.outcomes() == ["refused:access"]


async def test_in_a_room_a_stranger_gets_one_private_hint() -> None:
    async with gateway(policies=APPROVED, capabilities=EPHEMERAL) as g:
        for number in range(10):
            event = received("hi", message_id=f"m{number}", author="eve", at=place("C1"))
            event = replace(event, message=replace(event.message, mentions_bot=True))
            await g.take(event)
        assert g.texts == [ROOM_HINT.english]
        assert g.adapter.sent[0].private_to == "eve"
        assert await nothing_is_kept(g)


async def test_in_a_room_without_private_messages_a_stranger_gets_no_answer() -> None:
    async with gateway(policies=APPROVED) as g:
        await g.take(received("hi", author="eve", at=place("C1"), mentions_bot=True))
        assert g.texts == []
        assert g.outcomes() == ["refused:access"]
        assert await g.rows("pairing_requests") == 0


async def test_a_room_cannot_make_the_bot_send_many_hints() -> None:
    async with gateway(policies=APPROVED, capabilities=EPHEMERAL) as g:
        for number in range(50):
            name = f"eve{number}"
            at = place("C1")
            await g.take(received("hi", message_id=name, author=name, at=at, mentions_bot=True))
        assert len(g.texts) == 10


async def test_the_second_message_is_answered_once_also_after_a_restart(tmp_path: Path) -> None:
    database = sqlite_database(str(tmp_path / "parley.db"))
    await database.start()
    try:
        for start in range(3):
            async with gateway(policies=APPROVED, database=database) as g:
                if not start:
                    await g.take(received("hi", message_id="m", author="eve"))
                await g.take(received("hi?", message_id=f"m{start}", author="eve"))
                assert g.texts.count(STILL_WAITING.english) == (start == 0)
    finally:
        await database.stop()


async def test_a_crowd_of_strangers_gets_few_second_answers() -> None:
    async with gateway(policies=APPROVED) as g:
        for number in range(2 * HINTS_PER_MINUTE):
            for again in range(5):
                id_ = f"m{number}-{again}"
                await g.take(received("hi", message_id=id_, author=f"eve{number}"))
        assert g.texts.count(STILL_WAITING.english) <= HINTS_PER_MINUTE


@pytest.mark.parametrize("owner", [True, False], ids=["an owner", "no owner"])
async def test_a_crowd_of_strangers_stores_no_more_keys_than_it_gets_answers(owner: bool) -> None:
    async with gateway(policies=APPROVED if owner else UNOWNED, capabilities=EPHEMERAL) as g:
        for minute in range(2):
            for number in range(100):
                name = f"eve{minute}-{number}"
                await g.take(received("hi", message_id=name, author=name, mentions_bot=True))
                await g.take(received("hi?", message_id=f"{name}-2", author=name))
                at = place("C1")
                room = received("hi", message_id=f"{name}-3", author=name, at=at, mentions_bot=True)
                await g.take(room)
                code = received(new_owner_code(), message_id=f"{name}-4", author=name)
                await g.take(code)
            await g.clock.advance(60)
        # Each answer has a key of its own, and one of its event.
        assert 0 < await g.rows("claimed_keys") <= 2 * len(g.texts)
        assert len(g.texts) <= 2 * 2 * HINTS_PER_MINUTE + 2 * 50


async def test_people_who_were_answered_use_up_no_hint_of_others() -> None:
    async with gateway(policies=APPROVED, capabilities=EPHEMERAL) as g:
        for number in range(5 * HINTS_PER_MINUTE):
            at, id_ = place("C1"), f"m{number}"
            await g.take(received("hi", message_id=id_, author="eve", at=at, mentions_bot=True))
        await g.take(received("hi", message_id="o", author="oz", at=place("C1"), mentions_bot=True))
        assert g.texts == [ROOM_HINT.english] * 2


async def test_a_rejected_person_hears_nothing() -> None:
    async with gateway(policies=APPROVED) as g:
        await g.take(received("hi", author="eve"))
        assert g.services.pairing is not None
        (request,) = await g.services.pairing.waiting("default")
        await g.services.pairing.reject(request, "test")
        await g.clock.advance(120)
        await g.take(received("hi", message_id="m2", author="eve"))
        await g.take(received("hi", message_id="m3", author="eve"))
        assert len(g.texts) == 1


async def test_without_an_owner_people_are_told_what_to_send() -> None:
    """Each of them twice an hour, and again once the program shows a code."""
    async with gateway(policies=UNOWNED) as g:
        author = message(author="ada").author
        await g.take(CommandInvoked("e1", direct("ada"), author, "start"))
        assert g.texts == [f"{NO_OWNER.english} {PLAIN_MAKE_CODE}"]
        code = await owner_code(g)
        for number in range(5):
            await g.take(received("hello", message_id=f"m{number}", author="ada"))
        assert g.texts[1:] == [f"{NO_OWNER.english} {SEND_CODE.english}"] * 2
        assert await g.rows("pairing_requests") == 0
        await g.take(received(f"my code is {code.code}.", message_id="m6", author="ada"))
        assert "You are now the owner" in g.texts[-1]
        await g.take(received("hi", message_id="m7", author="eve"))
        assert CODE.search(g.texts[-1])
        assert not g.model.requests


async def test_an_expired_or_exhausted_owner_code_is_not_announced() -> None:
    async with gateway(policies=OWNERS) as g:
        await owner_code(g)
        await g.clock.advance(OWNER_CODE_VALID.total_seconds())
        await g.take(received("hello", author="ada"))
        assert g.texts == [f"{NO_OWNER.english} {PLAIN_MAKE_CODE}"]


async def test_a_crowd_without_an_owner_gets_few_answers() -> None:
    async with gateway(policies=UNOWNED) as g:
        for number in range(5 * HINTS_PER_MINUTE):
            await g.take(received("hi", message_id=f"m{number}", author=f"eve{number}"))
        assert len(g.texts) <= HINTS_PER_MINUTE


async def test_a_sentence_with_an_owner_code_in_a_room_voids_it() -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        said = f"is {code.code} the code?"
        await g.take(received(said, author="ada", at=place("C1")))
        await g.take(received(code.code, message_id="m2", author="ada"))
        assert await SqlAdmissions(g.database).owners() == frozenset()


async def test_two_codes_in_a_sentence_are_no_attempt() -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        said = f"{new_owner_code()} or {code.code}"
        await g.take(received(said, author="ada"))
        assert await SqlAdmissions(g.database).owners() == frozenset()


async def test_with_admission_owners_a_stranger_gets_no_answer() -> None:
    async with gateway(policies=replace(OWNERS, roles=OWNED)) as g:
        await g.take(received("hello", author="eve"))
        assert g.texts == []
        assert g.traces[0].decisions[0].reason == "owners_only"


async def test_the_owner_code_makes_an_owner_who_gets_a_greeting() -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        await g.take(received(code.code.lower(), author="ada"))
        assert "You are now the owner" in g.texts[0]
        assert g.services.admissions.granted("default", "test:main:ada") is Role.OWNER
        assert await nothing_is_kept(g)
        await g.take(received("hello", message_id="m2", author="ada"))
        assert g.texts[1] == "answer"
        identity = next(one for one in g.traces[-1].decisions if one.stage == "identity")
        assert identity.reason == "owner"
        assert ("owner_claimed", "test:main:ada", "test:main:ada") in g.changes.made


async def test_the_owner_code_can_follow_start() -> None:
    """A link to a bot on Telegram sends it like this."""
    async with gateway() as g:
        code = await owner_code(g)
        author = message(author="ada").author
        await g.take(CommandInvoked("e1", direct("ada"), author, "start", code.code))
        assert "You are now the owner" in g.texts[0]


async def test_the_same_delivery_twice_sends_one_greeting() -> None:
    async with gateway() as g:
        code = await owner_code(g)
        await g.take(received(code.code), received(code.code))
        assert len(g.texts) == 1


async def test_an_owner_code_is_used_once_and_not_after_its_time() -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        await g.take(received(code.code, author="ada"))
        await g.take(received(code.code, message_id="m2", author="eve"))
        assert "not valid" in g.texts[1]
        late = await owner_code(g)
        await g.clock.advance(OWNER_CODE_VALID.total_seconds())
        await g.take(received(late.code, message_id="m3", author="eve"))
        assert "not valid" in g.texts[2]
        assert await SqlAdmissions(g.database).owners() == {("default", "test:main:ada")}


async def test_guesses_are_few() -> None:
    async with gateway(policies=OWNERS) as g:
        await owner_code(g)
        for number in range(20):
            await g.take(received(new_owner_code(), message_id=f"m{number}", author="eve"))
        assert len(g.texts) == TRIES_PER_MINUTE
        assert set(g.texts) == {g.texts[0]}
        assert g.counts["owner_code", "too_many_codes"] == 20 - TRIES_PER_MINUTE


async def test_an_owner_code_in_a_room_is_void() -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        await g.take(received(code.code, author="ada", at=place("C1"), mentions_bot=True))
        assert g.texts == []
        assert await nothing_is_kept(g)
        await g.take(received(code.code, message_id="m2", author="eve"))
        assert await SqlAdmissions(g.database).owners() == frozenset()
        assert ("owner_code_exposed", "test:main:ada", "test:main:ada") in g.changes.made


@pytest.mark.parametrize("shown", ["forward", "quote"])
async def test_an_owner_code_in_external_text_has_no_effect(shown: str) -> None:
    async with gateway(policies=OWNERS) as g:
        code = await owner_code(g)
        sent_message = message("" if shown == "forward" else code.code, author="ada")
        if shown == "forward":
            sent_message = replace(sent_message, material=(Material("forwarded", code.code),))
        else:
            sent_message = replace(sent_message, quote=Quote("m0", code.code))
        await g.take(MessageReceived("e1", sent_message))
        assert await SqlAdmissions(g.database).owners() == frozenset()


async def test_blocked_people_bots_and_outside_people_cannot_claim_ownership() -> None:
    blocked = Policies(access=AccessPolicy(blocked_users=frozenset({"eve"})))
    async with gateway(policies=blocked) as g:
        code = await owner_code(g)
        await g.take(received(code.code, author="eve"))
        await g.take(received(code.code, message_id="m2", author="botty", is_bot=True))
        assert await SqlAdmissions(g.database).owners() == frozenset()
        sent_message = message(code.code, author="kim", message_id="m3")
        sent_message = replace(sent_message, author=replace(sent_message.author, outside=True))
        await g.take(MessageReceived("e3", sent_message))
        assert await SqlAdmissions(g.database).owners() == frozenset()
