"""The rule of who sees what, one condition at a time."""

import pytest

from gateway.immutable import replace
from memory.model.record import Record
from memory.model.scope import AccessScope, Share, may_change, sees, shows_shared
from tests.memory.model.scope_cases import BEN, MAY, SEEN, SHOWN, of


@pytest.mark.parametrize(("access", "of_whom", "seen"), SEEN)
def test_a_memory_is_seen(access: AccessScope, of_whom: Record, seen: bool) -> None:
    assert sees(access, of_whom) is seen


@pytest.mark.parametrize(("access", "share", "shown"), SHOWN)
def test_a_share_is_shown(access: AccessScope, share: Share, shown: bool) -> None:
    assert shows_shared(access, of(BEN), share) is shown
    assert sees(access, of(BEN), [share]) is shown
    private = replace(of(BEN, "own"), agent_private=True)
    assert not shows_shared(access, private, share), "an agent keeps it for itself"
    restricted = of(BEN, from_repository=True)
    assert not sees(access, restricted, [share]), "it may be text of a restricted repository"


@pytest.mark.parametrize(("access", "of_whom", "may"), MAY)
def test_a_memory_may_be_changed(access: AccessScope, of_whom: Record, may: bool) -> None:
    assert may_change(access, of_whom) is may
