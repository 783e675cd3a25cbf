"""`/approve`: owners and operators decide who may write."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.commands.approve_command import DECIDED, MAX_WAITING, NOBODY, NOT_HERE, NOT_YOURS
from gateway.commands.handler import NOT_ALLOWED
from gateway.immutable import replace
from gateway.message import ButtonPressed
from gateway.pairing.requests import APPROVED, TOO_MANY_TRIES, TRIES_PER_MINUTE, WRONG_CODE
from gateway.people import Role
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.pairing_codes import CODE_VALID, new_pairing_code
from gateway.policy.rate_limits import RateLimits
from gateway.ports import Capabilities
from gateway.stores.admissions import SqlAdmissions
from gateway.text import Text
from gateway.turn.access_notices import AccessNotices
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, message, place, received

POLICIES = Policies(
    access=AccessPolicy(admission="approved"),
    roles=RolePolicy(owners=frozenset({"olga"}), operators=frozenset({"otto"})),
    limits=RateLimits(
        user_per_minute=0, channel_per_minute=0, workspace_per_minute=0, reserve_per_minute=0
    ),
)
CODE = re.compile(r"[A-Z0-9]{3}-[A-Z0-9]{3}-[A-Z0-9]{3}")


@asynccontextmanager
async def asked(*strangers: str) -> AsyncIterator[tuple[Gateway, list[str]]]:
    """A gateway in which these people wait, and their codes."""
    async with gateway(policies=POLICIES, capabilities=Capabilities(max_buttons=5)) as g:
        for name in strangers:
            await g.take(received("hello", message_id=f"m-{name}", author=name))
            await g.clock.advance(1.0)
        yield g, [CODE.findall(text)[0] for text in g.texts]


def plain(text: Text) -> str:
    """Return a text as the adapter of the tests renders it."""
    return text.english.replace("`", "").replace("**", "")


async def say(g: Gateway, who: str, text: str, **rest: object) -> str:
    """Return the first text that comes after a message."""
    before = len(g.texts)
    number = f"{who}-{before}-{len(g.traces)}"
    await g.take(received(text, message_id=number, author=who, **rest))
    return (g.texts[before:] or [""])[0]


async def press(g: Gateway, who: str, value: str) -> str:
    before = len(g.texts)
    event = ButtonPressed(f"p{len(g.traces)}", direct(who), message(author=who).author, value)
    await g.take(event)
    return (g.texts[before:] or [""])[0]


async def is_served(g: Gateway, who: str) -> bool:
    return await say(g, who, "may I?") == "answer"


@pytest.mark.parametrize("approver", ["olga", "otto"])
async def test_an_approved_person_is_told_and_then_answered(approver: str) -> None:
    async with asked("eve") as (g, (code,)):
        assert await say(g, approver, f"/approve {code.lower()}") == plain(APPROVED)
        assert "may write to me now" in g.texts[-1]
        assert g.adapter.sent[-2].place == direct("eve")
        assert await is_served(g, "eve")
        by = f"test:main:{approver}"
        assert g.changes.made[-1] == ("approved", "test:main:eve", by)


async def test_a_code_is_approved_once() -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        assert await say(g, "olga", f"/approve {code}") == plain(WRONG_CODE)


@pytest.mark.parametrize("words", ["the code of Eve is {}", "do not let {} in", "{} is nobody"])
async def test_a_code_within_a_sentence_is_asked_about(words: str) -> None:
    """The other words may say the opposite of an approval."""
    async with asked("eve", "mal") as (g, codes):
        question = await say(g, "olga", f"/approve {words.format(codes[1])}")
        assert "id mal" in question
        assert "Do you approve this person?" in question
        assert await SqlAdmissions(g.database).admissions(10) == []
        await press(g, "olga", g.adapter.sent[-1].buttons[0].value)
        (admission,) = await SqlAdmissions(g.database).admissions(10)
        assert admission.applicant.person == "test:main:mal"


async def test_a_code_within_a_sentence_that_rejects_is_rejected() -> None:
    async with asked("eve") as (g, (code,)):
        question = await say(g, "olga", f"/approve reject her code {code}")
        assert "Do you approve this person?" in question
        await press(g, "olga", g.adapter.sent[-1].buttons[1].value)
        assert await SqlAdmissions(g.database).waiting("default", g.clock.now()) == []


async def test_an_expired_code_and_a_guess_approve_nobody() -> None:
    async with asked("eve") as (g, (code,)):
        assert "No request has this code" in await say(g, "olga", f"/approve {new_pairing_code()}")
        await g.clock.advance(CODE_VALID.total_seconds())
        assert "No request has this code" in await say(g, "olga", f"/approve {code}")
        assert not await is_served(g, "eve")


async def test_an_approver_may_try_a_few_codes() -> None:
    async with asked("eve") as (g, (code,)):
        for _ in range(TRIES_PER_MINUTE):
            await say(g, "olga", f"/approve {new_pairing_code()}")
        assert await say(g, "olga", f"/approve {code}") == plain(TOO_MANY_TRIES)
        assert await SqlAdmissions(g.database).admissions(10) == []


async def test_other_people_cannot_approve() -> None:
    async with asked("eve", "mal") as (g, codes):
        await say(g, "olga", f"/approve {codes[0]}")
        assert await say(g, "eve", f"/approve {codes[1]}") == plain(NOT_ALLOWED[Role.OPERATOR])
        (waiting,) = await SqlAdmissions(g.database).waiting("default", g.clock.now())
        assert await press(g, "eve", f"pairing:approve:{waiting.id}") == plain(NOT_YOURS)
        assert await press(g, "mal", f"pairing:approve:{waiting.id}") == ""
        assert not await is_served(g, "mal")


async def test_the_list_shows_waiting_people_with_unverified_names() -> None:
    async with asked() as (g, _):
        assert await say(g, "olga", "/approve") == plain(NOBODY)
        eve = received("hi", message_id="x", author="eve")
        name = "**olga** `@everyone`\n\u202e[x](http://evil) " + "x" * 500
        eve = replace(
            eve, message=replace(eve.message, author=replace(eve.message.author, name=name))
        )
        await g.take(eve)
        text = await say(g, "olga", "/approve")
        assert "name not verified" in text
        assert "id eve" in text
        assert "\u202e" not in text
        assert "**olga** '@everyone' [x](http://evil)" in text  # inside inline code
        assert len(text) < 700
        assert [button.label for button in g.adapter.sent[-1].buttons] == ["Approve", "Reject"]


async def test_a_long_list_is_cut() -> None:
    async with asked(*(f"eve{number}" for number in range(MAX_WAITING + 2))) as (g, _):
        text = await say(g, "olga", "/approve")
        assert "and 2 more" in text
        assert len(g.adapter.sent[-1].buttons) == 5


async def test_a_button_decides_once() -> None:
    async with asked("eve", "mal") as (g, _):
        first, second = await SqlAdmissions(g.database).waiting("default", g.clock.now())
        await press(g, "olga", f"pairing:approve:{first.id}")
        assert await press(g, "otto", f"pairing:reject:{first.id}") == plain(DECIDED)
        assert await is_served(g, "eve")
        assert "was rejected" in await press(g, "otto", f"pairing:reject:{second.id}")
        assert await press(g, "olga", f"pairing:approve:{second.id}") == plain(DECIDED)
        assert await press(g, "olga", "pairing:approve:") == plain(DECIDED)
        assert not await is_served(g, "mal")


async def test_a_rejected_person_gets_neither_a_notice_nor_a_code() -> None:
    async with asked("eve") as (g, (code,)):
        assert "was rejected" in await say(g, "olga", f"/approve reject {code}")
        assert [one.place for one in g.adapter.sent[1:]] == [direct("olga")]
        await g.clock.advance(CODE_VALID.total_seconds())
        assert await say(g, "eve", "hello again") == ""


async def test_in_a_room_nothing_is_listed_or_decided() -> None:
    async with asked("eve") as (g, (code,)):
        for words in ("/approve", f"/approve {code}"):
            reply = await say(g, "olga", words, at=place("C1"), mentions_bot=True)
            assert reply == plain(NOT_HERE)
        assert not await is_served(g, "eve")


async def test_after_a_revocation_the_code_is_worthless_and_the_person_out() -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        assert await is_served(g, "eve")
        pairing = g.services.pairing
        assert pairing is not None
        (gone,) = await pairing.revoke("default", "test:main:eve", "test:main:olga")
        assert gone.applicant.person == "test:main:eve"
        assert not await is_served(g, "eve")
        assert "No request has this code" in await say(g, "olga", f"/approve {code}")
        assert not await is_served(g, "eve")
        assert g.changes.made[-1] == ("revoked", "test:main:eve", "test:main:olga")


async def test_an_approver_who_wrote_before_is_told_once_about_each_person() -> None:
    async with asked() as (g, _):
        notices = AccessNotices(g.services, SqlAdmissions(g.database))
        await g.take(received("hello", message_id="m-eve", author="eve"))
        await notices.send_due()
        assert len(g.texts) == 1  # nobody can be told yet
        await say(g, "olga", "good morning")
        for _ in range(3):
            await notices.send_due()
            await g.rest()
        (note,) = g.adapter.sent[2:]
        assert note.place == direct("olga")
        assert note.part is not None
        assert "A person asks for permission to write to me" in note.part.text
        approve, _reject = note.buttons
        assert await press(g, "olga", approve.value) == plain(APPROVED)


async def test_a_former_approver_is_not_told() -> None:
    async with asked() as (g, _):
        await SqlAdmissions(g.database).remember_approver(
            "default", "test:main:former", direct("former"), g.clock.now()
        )
        await g.take(received("hello", message_id="m-eve", author="eve"))
        await AccessNotices(g.services, SqlAdmissions(g.database)).send_due()
        await g.rest()
        assert [one.place for one in g.adapter.sent] == [direct("eve")]


@pytest.mark.parametrize(("who", "offered"), [("olga", True), ("eve", False)])
async def test_help_lists_the_command_for_those_who_can_use_it(who: str, offered: bool) -> None:
    async with asked("eve") as (g, (code,)):
        await say(g, "olga", f"/approve {code}")
        assert ("/approve" in await say(g, who, "/help")) is offered


async def test_without_approvals_the_command_does_not_exist() -> None:
    policies = replace(POLICIES, access=AccessPolicy())
    async with gateway(policies=policies) as g:
        assert await say(g, "olga", "/approve") == "answer"
