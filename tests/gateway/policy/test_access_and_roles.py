"""Access lists and roles: places in which a person is served, and the abilities there."""

import pytest

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, PersonId, Role
from gateway.policy.access import (
    AccessPolicy,
    RolePolicy,
    ToolPolicy,
    ToolRule,
    allowed_tools,
    decide_access,
    role_of,
)
from gateway.ports import ToolSpec
from tests.support.messages import direct, place

ADA = PersonId("test", "main", "ada")
BEN = PersonId("test", "main", "ben")


def access(
    person: PersonId,
    at: Place,
    policy: AccessPolicy,
    *,
    aliases: tuple[str, ...] = (),
    trusted: bool = False,
    approved: bool = False,
) -> tuple[bool, str]:
    decision = decide_access(
        person, at, policy, aliases=aliases, trusted=trusted, approved=approved
    )
    return decision.allowed, decision.reason


def test_without_lists_everybody_is_admitted() -> None:
    assert access(ADA, place(), AccessPolicy()) == (True, "open")


def test_a_list_of_channels_denies_all_others() -> None:
    policy = AccessPolicy(allowed_channels=frozenset({"C1"}))
    assert access(ADA, place("C1"), policy)[0]
    assert access(ADA, place("C2"), policy) == (False, "channel_not_allowed")
    assert access(ADA, direct(), policy) == (False, "channel_not_allowed")


def test_a_channel_with_two_ids_is_named_by_either() -> None:
    upgraded = replace(place("C1"), present_channel_id="C2")
    assert upgraded == place("C1"), "the second id makes it no other place"
    for id_ in ("C1", "C2", "test:C2"):
        listed = frozenset({id_})
        assert access(ADA, upgraded, AccessPolicy(allowed_channels=listed))[0]
        refused = access(ADA, upgraded, AccessPolicy(blocked_channels=listed), trusted=True)
        assert refused == (False, "channel_blocked")


def test_a_listed_person_needs_no_listed_channel_in_a_direct_message() -> None:
    policy = AccessPolicy(allowed_channels=frozenset({"C1"}), allowed_users=frozenset({"test:ada"}))
    assert access(ADA, direct(), policy) == (True, "listed")
    assert access(ADA, place("C2"), policy) == (False, "channel_not_allowed")
    assert access(BEN, place("C1"), policy) == (False, "user_not_allowed")


def test_a_block_overrides_everything() -> None:
    policy = AccessPolicy(
        allowed_channels=frozenset({"C1"}),
        blocked_channels=frozenset({"C1"}),
        blocked_users=frozenset({"ben"}),
    )
    assert access(ADA, place("C1"), policy, trusted=True) == (False, "channel_blocked")
    assert access(BEN, place("C2"), policy, trusted=True) == (False, "user_blocked")


def test_a_list_of_workspaces_denies_others_and_places_without_one() -> None:
    policy = AccessPolicy(allowed_workspaces=frozenset({"test:W1"}))
    assert access(ADA, place(workspace="W1"), policy)[0]
    assert access(ADA, place(workspace="W2"), policy) == (False, "workspace_not_allowed")
    assert access(ADA, place(workspace=""), policy) == (False, "workspace_not_allowed")
    assert access(ADA, direct(), policy) == (False, "workspace_not_allowed")
    assert access(ADA, place(workspace="W2"), policy, trusted=True)[0]


def test_a_direct_message_is_in_no_workspace_and_open_to_listed_people() -> None:
    policy = AccessPolicy(
        allowed_workspaces=frozenset({"test:W1"}), allowed_users=frozenset({"test:ada"})
    )
    assert access(ADA, direct(), policy) == (True, "listed")
    assert access(ADA, place(workspace="W2"), policy) == (False, "workspace_not_allowed")
    assert access(BEN, direct(), policy) == (False, "user_not_allowed")


def test_a_whole_platform_can_be_listed_beside_workspaces() -> None:
    policy = AccessPolicy(allowed_workspaces=frozenset({"other:W1", "test:*"}))
    assert access(ADA, direct(), policy)[0]
    assert access(ADA, place(workspace="W2"), policy)[0]
    other = Place("other", "main", "C", Audience.PUBLIC_ROOM)
    assert access(ADA, other, policy) == (False, "workspace_not_allowed")


def test_a_blocked_workspace_is_blocked_for_everybody() -> None:
    policy = AccessPolicy(
        blocked_workspaces=frozenset({"test:W1"}), allowed_channels=frozenset({"C1"})
    )
    here = place("C1", workspace="W1")
    assert access(ADA, here, policy, trusted=True) == (False, "workspace_blocked")
    assert access(ADA, place("C1", workspace="W2"), policy)[0]


def test_the_platform_prefix_of_an_id_is_respected() -> None:
    policy = AccessPolicy(allowed_users=frozenset({"slack:ada"}))
    assert access(ADA, place(), policy) == (False, "user_not_allowed")


def test_an_alias_matches_like_the_id() -> None:
    policy = AccessPolicy(allowed_users=frozenset({"+4912345"}))
    assert access(ADA, direct(), policy, aliases=("+4912345",))[0]


APPROVED = AccessPolicy(admission="approved")
OWNERS = AccessPolicy(admission="owners")


def test_with_approval_a_stranger_waits_and_an_approved_person_is_served() -> None:
    for here in (direct(), place("C1")):
        assert access(ADA, here, APPROVED) == (False, "not_approved")
        assert access(ADA, here, APPROVED, approved=True) == (True, "approved")
        assert access(ADA, here, APPROVED, trusted=True) == (True, "trusted")


def test_with_admission_owners_an_approval_is_not_enough() -> None:
    assert access(ADA, direct(), OWNERS) == (False, "owners_only")
    assert access(ADA, direct(), OWNERS, approved=True) == (False, "owners_only")
    assert access(ADA, direct(), OWNERS, trusted=True) == (True, "trusted")


@pytest.mark.parametrize("policy", [APPROVED, OWNERS])
def test_a_listed_person_needs_no_approval_and_others_can_still_ask(
    policy: AccessPolicy,
) -> None:
    policy = replace(policy, allowed_users=frozenset({"ada"}))
    assert access(ADA, direct(), policy) == (True, "listed")
    assert access(BEN, direct("ben"), policy)[1] in ("not_approved", "owners_only")


def test_a_block_is_stronger_than_an_approval() -> None:
    policy = replace(APPROVED, blocked_users=frozenset({"ada"}), blocked_channels=frozenset({"C1"}))
    assert access(ADA, direct(), policy, approved=True) == (False, "user_blocked")
    assert access(ADA, direct(), policy) == (False, "user_blocked")
    assert access(BEN, place("C1"), policy, approved=True) == (False, "channel_blocked")


def test_an_approval_applies_to_direct_messages_and_to_no_other_closed_place() -> None:
    policy = replace(
        APPROVED, allowed_channels=frozenset({"C1"}), allowed_workspaces=frozenset({"W1"})
    )
    assert access(ADA, direct(), policy, approved=True) == (True, "approved")
    assert access(ADA, place("C1"), policy, approved=True) == (True, "approved")
    assert access(ADA, place("C2"), policy, approved=True) == (False, "channel_not_allowed")
    other = place("C1", workspace="W2")
    assert access(ADA, other, policy, approved=True) == (False, "workspace_not_allowed")


def test_a_stranger_can_ask_in_a_direct_message_and_not_in_a_closed_place() -> None:
    policy = replace(
        APPROVED, allowed_channels=frozenset({"C1"}), allowed_workspaces=frozenset({"W1"})
    )
    assert access(ADA, direct(), policy) == (False, "not_approved")
    assert access(ADA, place("C1"), policy) == (False, "not_approved")
    assert access(ADA, place("C2"), policy) == (False, "channel_not_allowed")
    elsewhere = replace(direct(), workspace_id="W2")
    assert access(ADA, elsewhere, policy) == (False, "workspace_not_allowed")


def test_an_approval_has_no_effect_if_everybody_is_admitted() -> None:
    policy = AccessPolicy(allowed_users=frozenset({"ben"}))
    assert access(ADA, direct(), policy, approved=True) == (False, "user_not_allowed")
    assert not APPROVED.serves_everybody
    assert not OWNERS.serves_everybody


def test_a_stored_owner_has_the_role_unless_they_are_an_outside_person() -> None:
    assert role_of(ADA, RolePolicy(), granted=Role.OWNER) is Role.OWNER
    assert role_of(ADA, RolePolicy(), granted=Role.OWNER, outside=True) is Role.GUEST
    assert role_of(ADA, RolePolicy(), granted=None) is Role.MEMBER


def test_roles_come_from_ids() -> None:
    policy = RolePolicy(owners=frozenset({"ada"}), operators=frozenset({"test:ben"}))
    assert role_of(ADA, policy) is Role.OWNER
    assert role_of(BEN, policy) is Role.OPERATOR
    assert role_of(PersonId("test", "main", "eve"), policy) is Role.MEMBER
    assert role_of(PersonId("slack", "main", "ben"), policy) is Role.MEMBER


READS = ToolSpec("kb__search", "", {}, side_effects=False)
WRITES = ToolSpec("tracker__close", "", {})
SECRET = ToolSpec("vault__read", "", {}, side_effects=False, secrets=True)
ALL = (READS, WRITES, SECRET)


def test_public_rooms_offer_reading_tools_only() -> None:
    assert allowed_tools(ALL, Role.OWNER, Audience.PUBLIC_ROOM, ToolPolicy()) == {"kb__search"}


def test_tools_with_side_effects_require_a_private_audience() -> None:
    names = allowed_tools(ALL, Role.MEMBER, Audience.PRIVATE_ROOM, ToolPolicy())
    assert names == {"kb__search", "tracker__close"}


def test_tools_with_secrets_are_for_operators_in_a_direct_message() -> None:
    assert "vault__read" in allowed_tools(ALL, Role.OPERATOR, Audience.DIRECT, ToolPolicy())
    assert "vault__read" not in allowed_tools(ALL, Role.MEMBER, Audience.DIRECT, ToolPolicy())


def test_guests_get_no_tools_without_a_rule() -> None:
    assert allowed_tools(ALL, Role.GUEST, Audience.DIRECT, ToolPolicy()) == frozenset()
    policy = ToolPolicy({"kb": ToolRule(role=Role.GUEST)})
    assert allowed_tools(ALL, Role.GUEST, Audience.PUBLIC_ROOM, policy) == {"kb__search"}


def test_a_rule_for_a_tool_overrides_one_for_its_server() -> None:
    policy = ToolPolicy(
        {"tracker": ToolRule(role=Role.GUEST), "tracker__close": ToolRule(role=Role.OWNER)}
    )
    assert allowed_tools((WRITES,), Role.MEMBER, Audience.DIRECT, policy) == frozenset()


def test_an_outside_person_is_at_most_a_guest_even_if_listed() -> None:
    policy = RolePolicy(frozenset({"ada"}), frozenset({"ada"}), frozenset({"ada"}))
    assert role_of(ADA, policy) is Role.OWNER
    assert role_of(ADA, policy, outside=True) is Role.GUEST
    assert role_of(BEN, policy, outside=True) is Role.GUEST
