"""Refusals: their recipients, their number, and their record."""

from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.extensions import AllowAll, ExtensionRegistry
from gateway.message import MessageAuthor, Place
from gateway.people import Audience, PersonId
from gateway.policy.access import AccessPolicy
from gateway.policy.decision import Decision
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.rate_limits import RateLimits
from gateway.policy.refusals import NO_PRICE, refusal_for, sharing_of
from gateway.ports import Capabilities, ModelMessage, ModelRequest, ToolCall, ToolOutcome, ToolSpec
from gateway.turn.services import Policies
from tests.support.gateway import gateway
from tests.support.immutable import force
from tests.support.messages import direct, place, received

ONE = Policies(
    limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100)
)
THREADS = Capabilities(answers_open_threads=True, joins_threads=True, ephemeral=True)


def test_a_limit_states_whole_seconds_and_is_announced_once_in_that_time() -> None:
    refusal = refusal_for(Decision("limits", False, "user_limit", retry_after=41.2))
    assert refusal is not None
    assert str(refusal.text) == "That was too much in a short time. Please ask again in 42 seconds."
    assert refusal.quiet_for == timedelta(seconds=42)


def test_a_limit_that_ends_immediately_is_still_announced_once_for_a_while() -> None:
    refusal = refusal_for(Decision("limits", False, "user_limit", retry_after=0.1))
    assert refusal is not None
    assert str(refusal.text).endswith("in 1 second.")
    assert refusal.quiet_for == timedelta(seconds=10)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("user_per_day", "Your budget for my answers is used up. It resets tomorrow (UTC)."),
        (
            "no_price",
            str(NO_PRICE),
        ),
        ("user_per_month", "Your budget for my answers is used up. It resets next month."),
        (
            "workspace_per_day",
            "This workspace's budget for my answers is used up. It resets tomorrow (UTC).",
        ),
    ],
)
def test_a_budget_refusal_names_the_account_and_the_end(reason: str, words: str) -> None:
    refusal = refusal_for(Decision("budget", False, reason))
    assert refusal is not None
    assert str(refusal.text) == words


@pytest.mark.parametrize(
    ("reason", "at", "linked", "words"),
    [
        (
            "user_limit",
            place(),
            True,
            "again in 9 seconds. It is shared with your linked accounts.",
        ),
        ("user_limit", place(), False, "again in 9 seconds."),
        ("channel_limit", place(), True, "It is this channel's limit, shared by everybody in it."),
        (
            "channel_limit",
            direct("ada"),
            False,
            "again in 9 seconds. It is the limit of this conversation.",
        ),
        ("workspace_limit", place(), False, "Everybody in the workspace shares it."),
        ("workspace_limit", direct("ada"), False, "Everybody who writes to me here shares it."),
    ],
)
def test_a_shared_limit_names_the_accounts(
    reason: str, at: Place, linked: bool, words: str
) -> None:
    decision = Decision("limits", False, reason, retry_after=9)
    refusal = refusal_for(decision, sharing_of(decision, at, linked=linked))
    assert refusal is not None
    assert str(refusal.text).endswith(words)


@pytest.mark.parametrize(
    ("reason", "at", "linked", "words"),
    [
        ("user_per_day", place(), True, "It is shared with your linked accounts."),
        ("workspace_per_day", place(), True, "This workspace's budget for my answers is used up."),
        ("workspace_per_day", direct("ada"), True, "The budget for my answers is used up."),
        ("workspace_per_day", direct("ada"), True, "Everybody who writes to me here shares it."),
    ],
)
def test_a_shared_budget_names_the_accounts(
    reason: str, at: Place, linked: bool, words: str
) -> None:
    decision = Decision("budget", False, reason)
    refusal = refusal_for(decision, sharing_of(decision, at, linked=linked))
    assert refusal is not None
    assert words in str(refusal.text)


@pytest.mark.parametrize("stage", ["access", "loop_guard", "identity"])
def test_other_refusals_are_silent(stage: str) -> None:
    assert refusal_for(Decision(stage, False, "whatever")) is None


async def test_threads_opened_by_a_person_do_not_repeat_the_refusal() -> None:
    async with gateway(policies=ONE, capabilities=THREADS) as g:
        for number in range(4):
            await g.take(received("hi", message_id=f"m{number}", at=place(), mentions_bot=True))
        assert [text for text in g.texts if "too much" in text] == [
            "That was too much in a short time. Please ask again in 60 seconds."
        ]


async def test_a_refusal_in_a_room_is_shown_to_its_person() -> None:
    async with gateway(policies=ONE, capabilities=THREADS) as g:
        for number in range(2):
            await g.take(received("hi", message_id=f"m{number}", at=place(), mentions_bot=True))
        assert [send.private_to for send in g.adapter.sent] == ["", "ada"]


async def test_bots_that_open_a_thread_per_message_are_a_loop() -> None:
    policies = Policies(
        invocation=InvocationPolicy(ignore_bots=False),
        limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
    )
    async with gateway(policies=policies, capabilities=THREADS) as g:
        for number in range(15):
            message = received(
                "ping", message_id=f"m{number}", at=place(), is_bot=True, mentions_bot=True
            )
            await g.take(message)
        assert len(g.texts) == 10


class Audit:
    """Remembers what it is told, or fails to."""

    def __init__(self, *, broken: bool = False) -> None:
        self.events: list[tuple[str, str]] = []
        self.broken = broken

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        self.events.append((event, decision.reason))
        if self.broken:
            raise RuntimeError("the audit's disk is full")


@pytest.mark.parametrize("broken", [False, True])
async def test_every_refusal_is_audited_and_a_failing_audit_changes_nothing(broken: bool) -> None:
    audit = Audit(broken=broken)
    policies = Policies(
        access=AccessPolicy(blocked_users=frozenset({"eve"})),
        limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100),
    )
    async with gateway(
        policies=policies, extensions=ExtensionRegistry(audit_logger=audit), overlap="queue"
    ) as g:
        await g.take(received("let me in", message_id="m1", author="eve"))
        await g.take(received("one", message_id="m2"), received("two", message_id="m3"))
        assert audit.events == [("access_denied", "user_blocked"), ("limits_denied", "user_limit")]
        assert g.texts == [
            "answer",
            "That was too much in a short time. Please ask again in 60 seconds.",
        ]


async def test_a_withheld_answer_is_audited() -> None:
    audit = Audit(broken=True)
    async with gateway(extensions=ExtensionRegistry(audit_logger=audit)) as g:
        g.model.reply = lambda request: 'password: "hunter22"'
        await g.take(received("tell me", at=place(), mentions_bot=True))
        assert [event for event, _ in audit.events] == ["answer_withheld"]
        assert "hunter22" not in g.texts[0]


class Tools:
    """One tool that reads and one that changes something."""

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (
            ToolSpec("look", "Look", {"type": "object"}, side_effects=False),
            ToolSpec("close", "Close", {"type": "object"}),
        )

    async def call(self, name: str, arguments: object) -> str:
        return "done"

    async def close(self) -> None:
        """Do nothing."""


def both_tools(request: ModelRequest) -> str | ModelMessage:
    if any(isinstance(b, ToolOutcome) for m in request.messages for b in m.content):
        return "all done"
    calls = (ToolCall("c1", "look", "{}"), ToolCall("c2", "close", "{}"))
    return ModelMessage("assistant", calls)


async def test_a_tool_with_side_effects_is_audited_and_a_reading_one_is_not() -> None:
    audit = Audit()
    async with gateway(extensions=ExtensionRegistry(audit_logger=audit), tools=(Tools(),)) as g:
        g.model.reply = both_tools
        await g.take(received("close it"))
        assert g.texts == ["all done"]
        assert audit.events == [("tool_used", "close")]


class FakeAccessController(AllowAll):
    """A plugged-in access controller."""

    def __init__(self, *answers: Decision | Exception) -> None:
        self.answers = list(answers)

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_an_access_extension_must_allow_too_and_denies_when_it_fails() -> None:
    controller = FakeAccessController(
        Decision("access", False, "not_paid"),
        RuntimeError("the controller's database is down"),
        Decision("access", True, "paid"),
    )
    async with gateway(extensions=ExtensionRegistry(access_controller=controller)) as g:
        for number in range(3):
            await g.take(received("hi", message_id=f"m{number}"))
        assert g.outcomes() == ["refused:access", "refused:access", "answered"]
        reasons = [trace.decisions[-1].reason for trace in g.traces[:2]]
        assert reasons == ["not_paid", "controller_failed"]
        assert g.texts == ["answer"]


@pytest.mark.parametrize("result", [False, True, None, "no", ("access", True, "paid")])
async def test_an_access_extension_that_returns_no_decision_denies(
    result: Any,
) -> None:
    controller = FakeAccessController(result)
    async with gateway(extensions=ExtensionRegistry(access_controller=controller)) as g:
        with capture_logs() as logs:
            await g.take(received("hi"))
        assert g.outcomes() == ["refused:access"]
        assert g.traces[0].decisions[-1].reason == "controller_invalid"
        assert g.texts == []
    (entry,) = [one for one in logs if one["event"] == "access_controller_invalid"]
    assert f"check_access() returned {type(result).__name__}" in entry["problem"]


async def test_an_access_extension_is_not_asked_about_blocked_people() -> None:
    controller = FakeAccessController(Decision("access", True, "paid"))
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    async with gateway(
        policies=policies, extensions=ExtensionRegistry(access_controller=controller)
    ) as g:
        await g.take(received("hi"))
        assert len(controller.answers) == 1


async def test_names_give_no_access() -> None:
    policies = Policies(access=AccessPolicy(allowed_users=frozenset({"ada"})))
    async with gateway(policies=policies) as g:
        impostor = received("hi", author="mallory", at=place(audience=Audience.DIRECT))
        force(impostor.message, "author", MessageAuthor("mallory", "ada"))
        await g.take(impostor)
        assert g.outcomes() == ["refused:access"]
