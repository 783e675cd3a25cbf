"""The decision about who may read a text."""

import pytest

from gateway.people import Audience, PersonId, Principal, Role
from parley.console.viewer import TextSource, Viewer, may_read_text

ADA, EVE = "p:a:ada", "p:a:eve"


def viewer(role: Role, person: str = ADA, *, breaks: bool = False, session: str = "s1") -> Viewer:
    who = Principal("t", PersonId(*person.split(":")), role)
    return Viewer(who, frozenset({person}), session, breaks_glass=breaks)


def direct(person: str, tenant: str = "t") -> TextSource:
    return TextSource(tenant, Audience.DIRECT, frozenset({person}))


@pytest.mark.parametrize("role", Role)
def test_everybody_reads_their_own_text(role: Role) -> None:
    assert may_read_text(viewer(role), direct(ADA)).reason == "own"


def test_a_linked_identity_is_the_same_person() -> None:
    who = Viewer(viewer(Role.MEMBER).principal, frozenset({ADA, EVE}))
    assert may_read_text(who, direct(EVE)).allowed


@pytest.mark.parametrize("role", Role)
def test_nobody_reads_the_private_text_of_others(role: Role) -> None:
    assert not may_read_text(viewer(role), direct(EVE)).allowed


@pytest.mark.parametrize("role", Role)
def test_the_operator_who_took_a_conversation_over_reads_what_it_shows(role: Role) -> None:
    source = TextSource("t", Audience.DIRECT, frozenset({EVE}), shown_to=ADA)
    decision = may_read_text(viewer(role), source)
    assert decision.allowed == role.at_least(Role.OPERATOR)
    assert not decision.allowed or decision.reason == "taken_over"
    assert not may_read_text(viewer(role, "p:a:olga"), source).allowed
    other = TextSource("other", Audience.DIRECT, frozenset({EVE}), shown_to=ADA)
    assert not may_read_text(viewer(role), other).allowed


@pytest.mark.parametrize("role", Role)
def test_a_token_reads_no_text_of_a_takeover_or_an_emergency(role: Role) -> None:
    by_token = viewer(role, breaks=True, session="")
    taken = TextSource("t", Audience.DIRECT, frozenset({EVE}), shown_to=ADA)
    assert not may_read_text(by_token, taken).allowed
    assert not may_read_text(by_token, direct(EVE), emergency=True).allowed
    assert may_read_text(by_token, direct(ADA)).allowed


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("audience", [Audience.PRIVATE_ROOM, Audience.PUBLIC_ROOM])
def test_operators_read_shared_rooms(role: Role, audience: Audience) -> None:
    decision = may_read_text(viewer(role), TextSource("t", audience, frozenset({EVE})))
    assert decision.allowed == role.at_least(Role.OPERATOR)


@pytest.mark.parametrize("role", Role)
def test_an_emergency_needs_the_configuration_and_an_operator(role: Role) -> None:
    for breaks in (False, True):
        who = viewer(role, breaks=breaks)
        decision = may_read_text(who, direct(EVE), emergency=True)
        assert decision.allowed == (breaks and role.at_least(Role.OPERATOR))
        assert not decision.allowed or decision.reason == "break_glass"
        assert not may_read_text(who, direct(EVE)).allowed


@pytest.mark.parametrize("role", Role)
def test_another_tenant_is_never_read(role: Role) -> None:
    who = viewer(role, breaks=True)
    for source in (direct(ADA, "other"), TextSource("other", Audience.PUBLIC_ROOM, frozenset())):
        assert may_read_text(who, source, emergency=True).reason == "other_tenant"
