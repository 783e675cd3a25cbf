"""The numbers of an access token, as Meta lists them."""

from collections.abc import AsyncIterator

import pytest

from adapters.whatsapp.doctor import MAX_NUMBERS, phone_numbers
from adapters.whatsapp.manifest import WhatsAppSettings
from simulators.base import Fault, FaultKind
from simulators.whatsapp import WhatsAppSimulator
from simulators.whatsapp.errors import bad_token


@pytest.fixture
async def simulator() -> AsyncIterator[WhatsAppSimulator]:
    made = WhatsAppSimulator()
    await made.start()
    yield made
    await made.stop()


def settings_of(simulator: WhatsAppSimulator) -> WhatsAppSettings:
    """Everything but the number."""
    return WhatsAppSettings.model_validate({**simulator.settings(), "phone_number_id": ""})


async def test_the_numbers_of_the_tokens_account_are_listed(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.other_numbers = {"1065": "15550001111"}
    listed = await phone_numbers(settings_of(simulator))
    assert listed.values == (
        ("106540352242922", "15550783881 Simulated Business"),
        ("1065", "15550001111 Simulated Business"),
    )
    assert listed.failed == ()


async def test_a_refused_token_is_a_failed_check(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.failing["debug_token"] = [bad_token()]
    listed = await phone_numbers(settings_of(simulator))
    assert listed.values == ()
    assert [(check.name, check.cause) for check in listed.failed] == [
        ("access token", "credential")
    ]


@pytest.mark.parametrize("method", ["debug_token", "phone_numbers"])
@pytest.mark.parametrize("kind", ["server_error", "drop_after"])
async def test_a_list_that_cannot_be_had_is_empty(
    simulator: WhatsAppSimulator, method: str, kind: FaultKind
) -> None:
    simulator.faults.add(Fault(method, kind, times=2))  # aiohttp repeats a lost GET once
    listed = await phone_numbers(settings_of(simulator))
    assert (listed.values, listed.failed) == ((), ())


async def test_a_token_for_a_whole_business_lists_nothing(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.accounts = []
    assert (await phone_numbers(settings_of(simulator))).values == ()


async def test_a_long_list_is_cut(simulator: WhatsAppSimulator) -> None:
    simulator.graph.state.other_numbers = {str(10_000 + n): "1" for n in range(100)}
    assert len((await phone_numbers(settings_of(simulator))).values) == MAX_NUMBERS
