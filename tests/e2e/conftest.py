"""All platforms in one fixture: `lab` runs a test once per platform."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, TypeAlias

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import PlatformSimulator
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from simulators.whatsapp import WhatsAppSimulator
from tests.e2e.harness import Lab, running
from tests.support.patience import PATIENCE


def patient_discord() -> DiscordSimulator:
    """The adapter decides how quickly a command is deferred; its tests show that."""
    simulator = DiscordSimulator()
    simulator.set_interaction_deadline(PATIENCE)
    return simulator


def patient_slack(mode: Literal["socket", "http"]) -> SlackSimulator:
    """The adapter decides how quickly a delivery is acknowledged as well. A command that is late
    does not come again, and an event that is late twice comes after a minute."""
    return SlackSimulator(mode=mode, ack_within=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def loaded_library() -> None:
    """It takes seconds to load on a busy machine, which are no part of any answer."""
    import_module("anthropic")


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A send that failed is repeated soon, and later each time: the real pauses are the deliverer's
    and shown there."""
    monkeypatch.setattr("gateway.outbound.retry_decision.FIRST_PAUSE", 0.02)


@pytest.fixture(autouse=True)
def patient_slack_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other half of `patient_slack`: the adapter leaves nothing to be delivered again."""
    monkeypatch.setattr("adapters.slack.receive.ACK_SECONDS", PATIENCE)


VARIANTS: Final[Mapping[str, Callable[[], PlatformSimulator]]] = {
    "discord": patient_discord,
    "slack-socket": lambda: patient_slack("socket"),
    "slack-http": lambda: patient_slack("http"),
    "telegram-polling": lambda: TelegramSimulator(mode="polling"),
    "telegram-webhook": lambda: TelegramSimulator(mode="webhook"),
    "whatsapp": WhatsAppSimulator,
}

Overrides: TypeAlias = Callable[[PlatformSimulator], Mapping[str, object]]
"""Settings that depend on ids of the platform."""


@asynccontextmanager
async def open_lab(
    variant: str, folder: Path, overrides: Mapping[str, object] | Overrides | None = None
) -> AsyncIterator[Lab]:
    simulator = VARIANTS[variant]()
    if callable(overrides):
        overrides = overrides(simulator)
    async with running({simulator.platform: simulator}, folder, overrides) as app:
        yield Lab(app, simulator)


@asynccontextmanager
async def open_lab_with_model(
    variant: str,
    folder: Path,
    overrides: Mapping[str, object] | Overrides | None = None,
    *,
    web: bool = False,
) -> AsyncIterator[tuple[Lab, AnthropicSimulator]]:
    """As `open_lab`, with a model behind the real Anthropic library that tests can look into; `web`
    is `model.web`."""
    model = AnthropicSimulator()
    await model.start()
    section = {
        "provider": "anthropic",
        "api_key": model.api_key,
        "base_url": model.base_url,
        "web": web,
    }

    def with_model(platform: PlatformSimulator) -> Mapping[str, object]:
        more = overrides(platform) if callable(overrides) else overrides
        return {"model": section, **(more or {})}

    try:
        async with open_lab(variant, folder, with_model) as lab:
            yield lab, model
    finally:
        await model.stop()


@pytest.fixture(params=["discord", "slack-socket", "telegram-polling", "whatsapp"])
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def lab(variant: str, tmp_path: Path) -> AsyncIterator[Lab]:
    async with open_lab(variant, tmp_path) as opened:
        yield opened


def only(*variants: str) -> pytest.MarkDecorator:
    """Run a test for these ways of connecting: the others know no such thing."""
    return pytest.mark.parametrize("variant", variants)


EVERY_CONNECTION = only(*VARIANTS)
"""Both ways in which Slack and Telegram deliver events. They give the same events, which the
contract suite shows, so that they are run where the delivery itself belongs to the test."""
ROOMS = only("discord", "slack-socket", "telegram-polling")
"""WhatsApp has direct conversations only."""
ROOMS_OF_EVERY_CONNECTION = only(*(name for name in VARIANTS if name != "whatsapp"))
EDITS = ROOMS_OF_EVERY_CONNECTION
"""WhatsApp tells nobody about edits."""
DELETIONS = only("discord", "slack-socket", "slack-http")
"""Telegram's Bot API tells no bot that a message was deleted; WhatsApp neither."""
