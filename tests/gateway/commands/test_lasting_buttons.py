"""The buttons of `/help` and `/language` have no end and belong to nobody: pressed by other people,
twice, a day later, in another place, and after their message was deleted."""

import pytest

from gateway.commands.help_command import VALUE
from gateway.message import ButtonPressed, CommandInvoked, MessageAuthor, Place
from gateway.people import Role
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.ports import Capabilities
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, place

ADA, OLGA, EVE = MessageAuthor("ada", "Ada"), MessageAuthor("olga", "Olga"), MessageAuthor("eve")
BUTTONS = Capabilities(max_buttons=25, ephemeral=True)
POLICIES = Policies(
    access=AccessPolicy(
        admission="approved",
        allowed_users=frozenset({"ada"}),
        blocked_users=frozenset({"eve"}),
    ),
    roles=RolePolicy(owners=frozenset({"olga"}), default=Role.GUEST),
)
FOR_APPROVERS = "/approve"
A_DAY = 86_400
each = pytest.mark.parametrize(
    ("value", "expected"), [(VALUE, "More commands"), ("language:de", "Deutsch")]
)


async def press(
    g: Gateway, value: str, by: MessageAuthor = ADA, *, at: Place | None = None, under: str = "s1"
) -> list[str]:
    """Press a button; the answers to it."""
    before, number = len(g.texts), len(g.traces)
    pressed = ButtonPressed(f"p{number}", at or place(), by, value, "Words of nobody", under)
    await g.take(pressed)
    return g.texts[before:]


async def test_everybody_sees_the_commands_of_their_own_role() -> None:
    async with gateway(policies=POLICIES, capabilities=BUTTONS) as g:
        await g.take(CommandInvoked("c1", place(), OLGA, "help"))
        assert FOR_APPROVERS in g.texts[-1]
        (of_olga,), (of_ada,) = await press(g, VALUE, OLGA), await press(g, VALUE, ADA)
        assert FOR_APPROVERS in of_olga
        assert FOR_APPROVERS not in of_ada


@each
async def test_a_blocked_person_gets_nothing(value: str, expected: str) -> None:
    async with gateway(policies=POLICIES, capabilities=BUTTONS) as g:
        assert await press(g, value, EVE) == []
        assert expected in (await press(g, value, ADA))[0]


@each
async def test_they_answer_again_a_day_later_and_without_their_message(
    value: str, expected: str
) -> None:
    async with gateway(capabilities=BUTTONS) as g:
        first = await press(g, value)
        assert expected in first[0]
        assert await press(g, value) == first
        await g.clock.advance(A_DAY)
        assert await press(g, value, under="") == first
        assert await press(g, value, under="never-sent") == first
        assert not g.model.requests


@each
async def test_in_another_place_they_answer_there(value: str, expected: str) -> None:
    async with gateway(capabilities=BUTTONS) as g:
        for where in (place("C2"), direct("bob"), place(thread="T1")):
            assert expected in (await press(g, value, MessageAuthor("bob"), at=where))[0]
            assert g.adapter.sent[-1].place == where


@pytest.mark.parametrize(
    "value", ["help:", "help:more:more", "help:approve", "language:", "language:xx", "language:../"]
)
async def test_a_value_that_no_button_has_shows_and_changes_nothing(value: str) -> None:
    async with gateway(capabilities=BUTTONS) as g:
        for text in await press(g, value):
            assert "Deutsch" not in text
        assert (await g.services.readers.known("default", "test:main:ada")).chosen == ""
