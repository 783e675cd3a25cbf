"""Asking a platform whether a person still belongs to a project."""

import asyncio
from dataclasses import dataclass, field

import pytest

from db.errors import StoreUnavailable
from gateway.errors import Permanent, Transient
from gateway.outbound.membership import BELIEVED_FOR, DOUBTED_FOR, MAX_ANSWERS, PlatformMembership
from gateway.platforms import ConnectedAccount
from gateway.ports import MembershipStatus
from tests.support.adapter import MANIFEST, RecordingAdapter
from tests.support.clock import FakeClock

ADA, PROJECT = "test:main:ada", "test:main:W1"


@dataclass
class Tells:
    """Says who is a member, or fails."""

    members: set[tuple[str, str]] = field(default_factory=lambda: {("W1", "ada")})
    failure: Exception | None = None
    asked: int = 0

    async def is_member(self, space: str, person: str) -> bool:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return (space, person) in self.members


def asking(tells: Tells | None, clock: FakeClock) -> PlatformMembership:
    connected = ConnectedAccount(MANIFEST, RecordingAdapter(), members=tells)
    return PlatformMembership({("test", "main"): connected}, clock)


async def test_a_confirmed_membership_is_cached_for_a_minute_and_a_departure_is_not_cached() -> (
    None
):
    answer, clock = Tells(), FakeClock()
    check = asking(answer, clock)
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.MEMBER
    answer.members.clear()
    await clock.advance(BELIEVED_FOR.total_seconds() - 1)
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.MEMBER
    assert answer.asked == 1
    await clock.advance(1)
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.GONE
    answer.members.add(("W1", "ada"))
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.MEMBER


@pytest.mark.parametrize(
    "failure",
    [Transient("busy"), Permanent("no"), StoreUnavailable("away"), TimeoutError(), ValueError()],
)
async def test_a_failing_platform_gives_unknown_and_is_asked_again_soon(
    failure: Exception,
) -> None:
    answer, clock = Tells(failure=failure), FakeClock()
    check = asking(answer, clock)
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.UNKNOWN
    answer.failure = None
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.UNKNOWN
    await clock.advance(DOUBTED_FOR.total_seconds())
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.MEMBER


async def test_a_platform_without_an_answer_gives_unknown_after_the_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.outbound.membership.ASK_SECONDS", 0.01)

    class Silent:
        async def is_member(self, space: str, person: str) -> bool:
            await asyncio.Event().wait()
            return True

    connected = ConnectedAccount(MANIFEST, RecordingAdapter(), members=Silent())
    check = PlatformMembership({("test", "main"): connected}, FakeClock())
    assert await check.belongs(ADA, PROJECT) is MembershipStatus.UNKNOWN


@pytest.mark.parametrize(
    ("person", "project"),
    [
        (ADA, "other:main:W1"),
        (ADA, "test:second:W1"),
        ("other:main:ada", PROJECT),
        ("test:second:ada", PROJECT),
        (ADA, ""),
        (ADA, "test:main"),
        ("ada", PROJECT),
    ],
)
async def test_a_person_of_another_account_is_not_asked_about(person: str, project: str) -> None:
    answer = Tells()
    assert await asking(answer, FakeClock()).belongs(person, project) is MembershipStatus.UNKNOWN
    assert answer.asked == 0


async def test_an_adapter_without_membership_gives_unknown() -> None:
    assert await asking(None, FakeClock()).belongs(ADA, PROJECT) is MembershipStatus.UNKNOWN


async def test_the_number_of_cached_answers_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.outbound.membership.MAX_ANSWERS", 3)
    answer = Tells({("W1", str(n)) for n in range(5)})
    check = asking(answer, FakeClock())
    for number in (0, 1, 2, 3, 3, 0):
        assert await check.belongs(f"test:main:{number}", PROJECT) is MembershipStatus.MEMBER
    assert answer.asked == 5
    assert MAX_ANSWERS >= 1_000
