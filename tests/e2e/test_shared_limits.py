"""Limits and budgets count linked accounts of two platforms as one person."""

import re
from pathlib import Path

import pytest

from gateway.llm.anthropic.provider import DEFAULT_MODEL
from gateway.ports.clock import SystemClock
from parley.app import App
from parley.cli.why import describe
from simulators.anthropic import Answer, AnthropicSimulator
from tests.e2e.test_linking import code_of, latest, two
from tests.e2e.test_memory import Talk

PAIRS = [("telegram", "slack"), ("whatsapp", "discord")]
SHARED = "It is shared with your linked accounts."


async def link(ada: Talk, bob: Talk) -> None:
    """Both accounts confirm that they are one human's."""
    reply = await bob.command("link", await code_of(ada))
    await bob.press(reply, "Yes, link both")
    await ada.press(await latest(ada), "Yes, link both")


async def why(app: App, stage: str) -> str:
    """Return the output of `parley why` for the latest message that this stage refused."""
    recent = await app.storage.stores.traces.recent()
    return describe(next(one for one in recent if one.outcome == f"refused:{stage}"))


def no_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit gives something back every few seconds, however long the questions take."""
    now = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda _: now)


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_linked_accounts_share_one_limit(
    first: str, second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"user_per_minute": 12, "reserve_per_minute": 0}
    async with two(first, second, tmp_path, {"limits": limits}) as (app, ada, bob):
        await link(ada, bob)
        no_time_passes(monkeypatch)
        for number in range(13):  # the commands of linking took none of them
            text = (await ada.say(f"question {number}")).text
            assert ("That was too much in a short time" in text) == (number == 12)
        assert text.endswith(SHARED)
        assert "shared with 1 linked account" in await why(app, "limits")
        refused = (await bob.say("and from over here?")).text
        assert re.fullmatch(
            rf"That was too much in a short time\. Please ask again in [0-9]+ seconds?\. {SHARED}",
            refused,
        )


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_linked_accounts_share_one_budget(first: str, second: str, tmp_path: Path) -> None:
    model = AnthropicSimulator(reply=lambda body: Answer("Understood."))
    await model.start()
    # The most that a call may cost is 0.016; what one has cost leaves less than that.
    overrides = {
        "model": {
            "provider": "anthropic",
            "api_key": model.api_key,
            "base_url": model.base_url,
            "max_tokens": 16,
        },
        "budgets": {
            "user_per_day": 0.01605,
            "prices": {DEFAULT_MODEL: {"input": 0, "output": 1000}},
        },
    }
    try:
        async with two(first, second, tmp_path, overrides) as (app, ada, bob):
            await link(ada, bob)
            assert (await ada.say("hello")).text == "Understood."
            refused = (await bob.say("and from over here?")).text
            assert refused.startswith("Your budget for my answers is used up. It begins again in ")
            assert refused.endswith(f" UTC). Until then I do not answer questions. {SHARED}")
            assert "shared with 1 linked account" in await why(app, "budget")
    finally:
        await model.stop()


async def test_an_unlinked_account_has_its_own_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"user_per_minute": 2, "reserve_per_minute": 0}
    async with two("telegram", "slack", tmp_path, {"limits": limits}) as (_, ada, bob):
        no_time_passes(monkeypatch)
        for number in range(3):
            text = (await ada.say(f"question {number}")).text
        assert re.fullmatch(
            r"That was too much in a short time\. Please ask again in [0-9]+ seconds?\.", text
        )
        assert "Rate limit" not in (await bob.say("and from over here?")).text
