"""Decisions about a message in the whole gateway: access, limits, contents."""

import json
from collections.abc import Sequence

import pytest

from gateway.message import (
    Place,
)
from gateway.people import Audience, Role
from gateway.policy.access import AccessPolicy, RolePolicy
from gateway.policy.budgets import Budgets
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.persona import Assistant
from gateway.policy.rate_limits import RateLimits
from gateway.policy.response_filter import REPLACEMENT
from gateway.ports import ToolSpec
from gateway.ports.memory import AnswerFooter, NoMemory
from gateway.text import Text
from gateway.turn.services import Policies
from tests.support.gateway import gateway
from tests.support.messages import direct, place, received

LIFTED = RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0)


async def test_a_denied_person_gets_no_answer_and_the_trace_gives_the_reason() -> None:
    policies = Policies(access=AccessPolicy(blocked_users=frozenset({"ada"})))
    async with gateway(policies=policies) as g:
        await g.take(received("let me in"))
        assert (g.texts, g.model.requests) == ([], [])
        assert g.traces[0].outcome == "refused:access"
        assert g.traces[0].decisions[-1].reason == "user_blocked"
        assert await g.rows("turns") == 0


async def test_a_limit_is_announced_once_in_its_window_and_takes_no_token() -> None:
    async with gateway(
        policies=Policies(
            limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100)
        ),
        overlap="queue",
    ) as g:
        await g.take(*(received(f"q{n}", message_id=f"m{n}") for n in range(4)))
        assert g.texts == [
            "answer",
            "That was too much in a short time. Please ask again in 60 seconds.",
        ]
        await g.clock.advance(61)
        await g.take(received("again", message_id="m9"))
        assert g.texts[-1] == "answer"


async def test_limits_apply_to_operators() -> None:
    policies = Policies(
        limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100),
        roles=RolePolicy(operators=frozenset({"ada"})),
    )
    async with gateway(policies=policies, overlap="queue") as g:
        await g.take(received("q1", message_id="m1"), received("q2", message_id="m2"))
        assert "That was too much in a short time" in g.texts[-1]


@pytest.mark.parametrize(
    ("audience", "said"),
    [
        (Audience.PUBLIC_ROOM, REPLACEMENT.english),
        (Audience.PRIVATE_ROOM, 'password: "hunter22"'),
    ],
)
async def test_an_answer_in_a_public_room_contains_no_secret(audience: Audience, said: str) -> None:
    async with gateway() as g:
        g.model.reply = lambda request: 'password: "hunter22"'
        await g.take(received("tell me", at=place(audience=audience), mentions_bot=True))
        assert g.texts == [said]


class Noting(NoMemory):
    """Keeps in mind what it is told was answered."""

    def __init__(self) -> None:
        self.answers: list[str] = []

    async def finish(
        self, answer: str, tools_used: Sequence[str], without: Sequence[Text] = ()
    ) -> AnswerFooter:
        self.answers.append(answer)
        return AnswerFooter()


async def test_memory_receives_the_replacement_of_a_withheld_answer() -> None:
    noting = Noting()
    async with gateway(memory=noting) as g:
        g.model.reply = lambda request: 'password: "hunter22"'
        await g.take(received("tell me", at=place(), mentions_bot=True))
        assert noting.answers == g.texts == [REPLACEMENT.english]


async def test_an_exhausted_budget_refuses_before_the_call() -> None:
    policies = Policies(budgets=Budgets(user_per_day=0.0), limits=LIFTED)
    assistant = Assistant(default_model="claude-sonnet-5-5")
    async with gateway(policies=policies, assistant=assistant) as g:
        await g.take(received("hi", message_id="m1"))
        await g.take(received("hi", message_id="m2"))
        assert g.model.requests == []
        assert len(g.texts) == 1
        assert "budget" in g.texts[0]


async def test_the_cost_of_the_answer_is_charged() -> None:
    policies = Policies(budgets=Budgets(user_per_day=1.0))
    assistant = Assistant(default_model="claude-sonnet-5-5")
    async with gateway(policies=policies, assistant=assistant) as g:
        g.model.name = "claude-sonnet-5-5"
        await g.take(received("hi"))
        spent = await g.database.run_job(
            lambda db: db.execute("SELECT micros FROM spent").fetchall()
        )
        assert spent == [(100 * 2 + 20 * 10,)]
        assert await g.rows("reserved") == 0


async def test_a_budget_refuses_a_model_without_a_price() -> None:
    policies = Policies(budgets=Budgets(user_per_day=1.0))
    async with gateway(policies=policies, assistant=Assistant(default_model="unknown")) as g:
        await g.take(received("hi"))
        assert g.model.requests == []
        assert g.traces[0].decisions[-1].reason == "no_price"


async def test_two_bots_are_stopped() -> None:
    policies = Policies(invocation=InvocationPolicy(ignore_bots=False), limits=LIFTED)
    async with gateway(policies=policies, overlap="queue") as g:
        for n in range(30):
            await g.take(received(f"ping {n}", message_id=f"m{n}", is_bot=True))
        assert len(g.texts) == 10
        assert g.traces[-1].decisions[-1].reason == "bot_loop_paused"


async def test_a_bot_gets_no_error_message() -> None:
    policies = Policies(
        invocation=InvocationPolicy(ignore_bots=False),
        limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100),
    )
    async with gateway(policies=policies, overlap="queue") as g:
        for n in range(3):
            await g.take(received(f"ping {n}", message_id=f"m{n}", is_bot=True))
        assert g.texts == ["answer"]


async def test_an_exception_is_answered_with_a_reference_and_no_details(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:

        async def broken(*_: object) -> None:
            raise RuntimeError("secret detail")

        monkeypatch.setattr(g.services.stores.conversations, "opened", broken)
        await g.take(received("hi"))
        assert "Something went wrong on my side" in g.texts[0]
        assert "secret detail" not in g.texts[0]
        assert g.traces[0].id in g.texts[0]
        assert await g.services.stores.inbox.unfinished(10) == []


class Tracker:
    """A tool server with one tool that changes something."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("tracker__close", "Close an issue", {"type": "object"}),)

    async def call(self, name: str, arguments: object) -> str:
        self.calls.append(json.dumps(arguments))
        return "closed"

    async def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("at", "role", "offered"),
    [
        (direct(), Role.MEMBER, True),
        (place(audience=Audience.PRIVATE_ROOM), Role.MEMBER, True),
        (place(), Role.MEMBER, False),
        (direct(), Role.GUEST, False),
    ],
)
async def test_tools_depend_on_role_and_audience(at: Place, role: Role, offered: bool) -> None:
    policies = Policies(roles=RolePolicy(default=role))
    async with gateway(policies=policies, tools=(Tracker(),)) as g:
        await g.take(received("close it", at=at, mentions_bot=True))
        assert bool(g.model.requests[-1].tools) is offered
