"""Admission recognises a person by any of their immutable ids."""

import pytest

from gateway.immutable import replace
from gateway.message import MessageAuthor, MessageReceived
from gateway.people import Role
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.invocation import InvocationPolicy
from gateway.turn.services import Policies
from tests.support.gateway import gateway
from tests.support.messages import message

PHONE = "4915112345678"


def by_phone_owner() -> MessageReceived:
    author = MessageAuthor("US.1234", "Ada", aliases=(PHONE,))
    return MessageReceived("e1", replace(message(), author=author))


async def test_every_id_of_a_person_gives_their_role() -> None:
    policies = Policies(roles=RolePolicy(operators=frozenset({PHONE}), default=Role.GUEST))
    async with gateway(policies=policies) as g:
        await g.take(by_phone_owner())
        assert [d.reason for d in g.traces[0].decisions if d.stage == "identity"] == ["operator"]


@pytest.mark.parametrize(
    ("policy", "outcome"),
    [
        (AccessPolicy(allowed_users=frozenset({PHONE})), "answered"),
        (AccessPolicy(allowed_users=frozenset({"somebody"})), "refused:access"),
        (AccessPolicy(blocked_users=frozenset({PHONE})), "refused:access"),
    ],
)
async def test_access_lists_match_every_id_of_a_person(policy: AccessPolicy, outcome: str) -> None:
    async with gateway(policies=Policies(access=policy)) as g:
        await g.take(by_phone_owner())
        assert g.outcomes() == [outcome]


@pytest.mark.parametrize(
    ("roles", "outcome"),
    [
        (RolePolicy(operators=frozenset({PHONE})), "answered"),
        (RolePolicy(members=frozenset({PHONE})), "refused:access"),
    ],
)
async def test_operators_need_no_entry_on_a_list_of_users(roles: RolePolicy, outcome: str) -> None:
    access = AccessPolicy(allowed_users=frozenset({"somebody"}))
    async with gateway(policies=Policies(access=access, roles=roles)) as g:
        await g.take(by_phone_owner())
        assert g.outcomes() == [outcome]


@pytest.mark.parametrize("author", [{"outside": True}, {"is_bot": True}])
async def test_outside_people_and_bots_are_guests(author: dict[str, bool]) -> None:
    policies = Policies(
        roles=RolePolicy(operators=frozenset({"ada"})),
        invocation=InvocationPolicy(ignore_bots=False),
    )
    async with gateway(policies=policies) as g:
        reply = MessageAuthor("ada", "Ada", **author)  # type: ignore[arg-type]  # two flags
        await g.take(MessageReceived("e1", replace(message(), author=reply)))
        results = [(d.reason, d.detail) for d in g.traces[0].decisions if d.stage == "identity"]
        assert results == [("guest", "outside")]
