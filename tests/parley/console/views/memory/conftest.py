"""A platform that confirms every membership."""

import pytest

from gateway.outbound.membership import PlatformMembership
from gateway.ports import MembershipStatus


@pytest.fixture(autouse=True)
def everybody_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confirm every membership: the web page has no list of members to ask."""

    async def belongs(_: PlatformMembership, _person: str, _project: str) -> MembershipStatus:
        return MembershipStatus.MEMBER

    monkeypatch.setattr(PlatformMembership, "belongs", belongs)
