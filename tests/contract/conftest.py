"""`stage` runs a test once per adapter; the marks below pick those that a test is about."""

from collections.abc import AsyncIterator

import pytest

from gateway.platforms import adapter_class
from simulators.slack import SlackSimulator
from tests.contract.marks import FEATURES, PROTOCOLS
from tests.contract.stage import Stage, on_stage
from tests.contract.variants import VARIANTS, Variant
from tests.support.patience import PATIENCE


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "variant" not in metafunc.fixturenames:
        return
    chosen = list(VARIANTS.values())
    for mark in metafunc.definition.iter_markers():
        chosen = [variant for variant in chosen if _fits(variant, mark)]
    metafunc.parametrize("variant", chosen, ids=lambda variant: variant.name)


def _fits(variant: Variant, mark: pytest.Mark) -> bool:
    match mark.name:
        case "proves":
            return _has(variant, mark.args[0])
        case "lacks":
            return not _has(variant, mark.args[0])
        case "where":
            return bool(mark.args[0](variant))
        case _:
            return True


def _has(variant: Variant, name: str) -> bool:
    if protocol := PROTOCOLS.get(name):
        adapter = adapter_class(variant.manifest)
        return isinstance(adapter, type) and issubclass(adapter, protocol)
    if name in FEATURES:
        return name in variant.features
    return bool(getattr(variant.manifest.capabilities, name))


@pytest.fixture
async def stage(variant: Variant) -> AsyncIterator[Stage]:
    async with on_stage(variant) as made:
        yield made


@pytest.fixture
def unhurried(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent redeliveries on a slow machine: Slack repeats an event after 3 s."""
    monkeypatch.setattr("adapters.slack.receive.ACK_SECONDS", PATIENCE)
    if isinstance(stage.platform, SlackSimulator):
        for courier in (stage.platform.sockets, stage.platform.http):
            courier.ack_within = PATIENCE
