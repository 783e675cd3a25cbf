"""The model learns the assistant's name, however the assistant is configured."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from simulators.base import PlatformSimulator
from tests.e2e.conftest import only, open_lab_with_model
from tests.support.patience import PATIENCE

PIRATE = "Answer like a pirate."


@only("telegram-polling")
@pytest.mark.parametrize("persona", ["none", "general", "channel"])
@pytest.mark.parametrize("name", ["", "Ada"])
async def test_the_first_request_names_the_assistant(
    variant: str, tmp_path: Path, persona: str, name: str
) -> None:
    def assistant(platform: PlatformSimulator) -> Mapping[str, object]:
        section: dict[str, object] = {"name": name} if name else {}
        if persona == "general":
            section["persona"] = PIRATE
        if persona == "channel":
            section["channels"] = {
                f"telegram:{platform.direct(platform.person('Bo')).id}": {"persona": PIRATE}
            }
        return {"assistant": section}

    async with open_lab_with_model(variant, tmp_path, assistant) as (lab, model):
        bo = lab.platform.person("Bo")
        room = lab.platform.direct(bo)
        await lab.platform.say(bo, room, "Who are you?")
        await lab.answer(room, timeout=PATIENCE)

    system = str(model.bodies[0]["system"])
    assert f"You are {name or 'Parley'}, a chat assistant." in system
    assert (PIRATE in system) is (persona != "none")
