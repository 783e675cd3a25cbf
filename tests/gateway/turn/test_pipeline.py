"""The list of stages: everything in it runs in order, and a stage that fails ends the turn once."""

import gc
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import pytest

from db.errors import StoreUnavailable
from gateway.extensions import AllowAll, ExtensionRegistry
from gateway.immutable import replace
from gateway.message import MessageEdited, Place
from gateway.outbound.live.answer import LiveAnswer
from gateway.people import PersonId
from gateway.policy.budgets import Budgets
from gateway.policy.decision import Decision
from gateway.policy.invocation import InvocationPolicy
from gateway.policy.persona import Assistant
from gateway.ports.unit_of_work import CompletedTurn
from gateway.turn.pipeline import ADMISSION, TURN, Pipeline
from gateway.turn.services import CurrentPolicies, Policies
from gateway.turn.turn_context import TurnContext
from gateway.turn.voice import hear
from gateway.turn.voice_answer import speak
from tests.support.gateway import Gateway, gateway
from tests.support.immutable import force
from tests.support.messages import message, place, received


@dataclass
class FailingUnitOfWork:
    """Fails as often as it is told to, then does what the real one does."""

    inner: object
    failures: int
    tries: int = 0

    async def may_repeat(self, turn_id: str, received_at: datetime) -> bool:
        return False

    async def complete(self, done: CompletedTurn) -> bool:
        self.tries += 1
        if self.tries <= self.failures:
            raise RuntimeError("a bug")
        return bool(await self.inner.complete(done))  # type: ignore[attr-defined]


def with_failures(g: Gateway, number: int) -> FailingUnitOfWork:
    unit = FailingUnitOfWork(g.services.stores.unit_of_work, number)
    force(g.services.stores, "unit_of_work", unit)
    return unit


async def test_the_duration_of_every_stage_is_recorded_in_order() -> None:
    async with gateway() as g:
        seen: list[list[str]] = []
        force(
            g.services.observer,
            "answered",
            lambda done: seen.append([t.name for t in done.timings if t.kind == "stage"]),
        )
        await g.take(received("hello"))
        # Without a recording, and without a wish for a spoken answer, two have nothing to do.
        stages = [stage for stage in (*ADMISSION, *TURN) if stage not in (hear, speak)]
        assert seen == [[stage.__name__ for stage in stages]]


async def test_a_turn_leaves_no_reference_cycle() -> None:
    gc.freeze()  # what other tests left is not looked through
    async with gateway() as g:
        await g.take(received("hello"))
        gc.collect()
        gc.disable()
        try:
            await g.take(received("hello again", message_id="m2"))
            new = gc.get_objects(generation=0)
            left = [one for one in new if type(one) is TurnContext]
        finally:
            gc.enable()
        assert left == []


async def test_a_turn_that_cannot_be_saved_sends_one_apology() -> None:
    async with gateway() as g:
        unit = with_failures(g, 1)
        await g.take(received("hello"))
        (text,) = g.texts
        assert text.startswith("Something went wrong on my side.")
        assert (unit.tries, g.outcomes()) == (2, ["refused:save"])


@pytest.mark.parametrize("shows", [True, False])
async def test_a_repeated_turn_knows_that_its_answer_may_be_shown(
    shows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    again: list[bool] = []

    async def interrupted(turn: TurnContext, _: object) -> Decision:
        again.append(turn.attempt.again)
        turn.generation.live = cast("LiveAnswer", object()) if shows else None
        if len(again) == 1:
            raise StoreUnavailable("away")
        return Decision("interrupted", True, "repeated")

    monkeypatch.setattr("gateway.turn.pipeline.TURN", (interrupted,))
    async with gateway() as g:
        await g.take(received("hello"))
        await g.clock.advance(1)
        assert again == [False, shows]


async def test_a_save_that_always_fails_is_retried_a_limited_number_of_times() -> None:
    async with gateway() as g:
        unit = with_failures(g, 1_000)
        await g.take(received("hello"))
        assert (g.texts, unit.tries) == ([], 2)
        assert len(await g.services.stores.inbox.unfinished(10)) == 1


PREFIXED = Policies(invocation=InvocationPolicy(prefix="!"))


@pytest.mark.parametrize("later", [PREFIXED, Policies()])
async def test_decisions_of_the_intake_are_not_repeated(later: Policies) -> None:
    async with gateway(policies=PREFIXED) as g:
        g.model.open.clear()
        await g.take(received("!hello", at=place(thread="T1")))
        (entry,) = await g.services.stores.inbox.unfinished(10)
        turn = Pipeline(g.services.under(later)).open(entry)
        assert (turn.asked.contents, turn.place.thread_id) == (("hello",), "T1")
        assert [(d.stage, d.reason) for d in turn.decisions] == [("invocation", "prefix")]
        assert turn.key == turn.key.of(entry.conversation)


class ChangesPolicies(AllowAll):
    """An access controller during whose call the operator sets a budget."""

    def __init__(self) -> None:
        self.current = CurrentPolicies()

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        self.current.value = replace(self.current.value, budgets=Budgets(user_per_day=0))
        return Decision("access", True, "open")


async def test_a_turn_keeps_the_policies_with_which_it_began() -> None:
    controller, unpriced = ChangesPolicies(), Assistant(default_model="unpriced")
    extensions = ExtensionRegistry(access_controller=controller)
    async with gateway(assistant=unpriced, extensions=extensions) as g:
        controller.current = g.services.current
        await g.take(received("hello"))
        assert g.outcomes() == ["answered"]
        await g.take(received("again", message_id="m2"))
        assert g.outcomes() == ["answered", "refused:budget"]


async def test_an_edit_is_stored_without_the_prefix() -> None:
    async with gateway(policies=PREFIXED) as g:
        await g.take(received("!hello", message_id="m1"))
        await g.take(MessageEdited("e2", message("!good day", message_id="m1")))
        assert await g.stored_words() == ["good day"]
