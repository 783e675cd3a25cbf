"""A case of the contract suite: its facts, and the tests that are not for it."""

from pathlib import Path
from typing import Any

import pytest

from parley.testing import AdapterCase, DirectPeople
from parley.testing.marks import lacks, proves, unfit, where
from simulators.base import NotSupported, SimRoom
from tests.contract.cases import CASES

DISCORD, WHATSAPP = CASES["discord"], CASES["whatsapp"]


@pytest.mark.parametrize(
    ("case", "mark", "reason"),
    [
        (DISCORD, proves("rooms"), ""),
        (WHATSAPP, proves("rooms"), "whatsapp: its case does not name the feature 'rooms'"),
        (WHATSAPP, lacks("rooms"), ""),
        (DISCORD, lacks("rooms"), "discord has rooms"),
        (DISCORD, proves("deletes"), ""),
        (WHATSAPP, proves("deletes"), "whatsapp: its adapter has no method of CanDelete"),
        (
            WHATSAPP,
            proves("commands_wait"),
            "whatsapp: its manifest does not declare the capability 'commands_wait'",
        ),
        (WHATSAPP, where(lambda case: case.captions, "no captions"), ""),
        (DISCORD, where(lambda case: case.captions, "no captions"), "discord: no captions"),
        (DISCORD, pytest.mark.asyncio, ""),
    ],
)
def test_a_test_that_is_not_for_an_adapter_has_a_reason(
    case: AdapterCase, mark: pytest.MarkDecorator, reason: str
) -> None:
    assert unfit(case, mark.mark) == reason


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"features": frozenset({"room"})}, "features of x: 'room' is none of rooms, threads"),
        ({"methods": {"post": "POST /"}}, "methods of x: 'post' is none of send, typing"),
    ],
)
def test_an_unknown_feature_or_action_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        AdapterCase("x", DISCORD.manifest, DISCORD.platform, **fields)


def test_a_connection_can_become_unresponsive_if_the_adapter_holds_it() -> None:
    unresponsive = {name for name, case in CASES.items() if case.can_become_unresponsive}
    assert unresponsive == {"discord", "slack-socket", "slack-agent", "telegram-polling"}


async def test_people_without_a_platform_can_do_nothing(tmp_path: Path) -> None:
    people = DirectPeople()
    ada = people.person("Ada")
    room = people.direct(ada)
    assert (ada.id, room.id, people.shown(room)) == ("ada", "ada", [])
    for action in (
        people.say(ada, room, "hello"),
        people.command(ada, room, "help"),
        people.edit(ada, room, "1", "hello"),
        people.delete(ada, room, "1"),
        people.press(ada, room, "1", "Yes"),
        people.react(ada, room, "1", "👍"),
        people.open_thread(ada, SimRoom("r", "public"), "one"),
        people.drop_connections(),
    ):
        with pytest.raises(NotSupported):
            await action
    for call in (lambda: people.room("general"), people.duplicate_next):
        with pytest.raises(NotSupported):
            call()
