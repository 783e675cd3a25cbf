"""What an adapter declares is true: every capability works, and none is there that is not declared.

One suite, run against every adapter over its real client library. `proves(field)` runs a test for
the adapters that declare the capability, `lacks(field)` for those that do not.
"""

import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Final

from gateway.ports import (
    CanAnswerInline,
    CanCheckMembership,
    CanClearButtons,
    CanDelete,
    CanEdit,
    CanFetchFiles,
    CanMarkRead,
    CanReact,
    CanShowLive,
    CanType,
    Capabilities,
)
from tests.contract import test_asking, test_features, test_privacy, test_rooms
from tests.contract.marks import lacks, proves
from tests.contract.stage import Stage

PROTOCOLS: Final = {
    "edits": CanEdit,
    "deletes": CanDelete,
    "typing": CanType,
    "read_marks": CanMarkRead,
    "reactions": CanReact,
    "inline_queries": CanAnswerInline,
    "files_in": CanFetchFiles,
    "live": CanShowLive,
    "tells_members": CanCheckMembership,
    "clears_buttons": CanClearButtons,
}


def test_every_capability_is_proven_where_it_is_declared_and_denied_where_it_is_not() -> None:
    modules = (sys.modules[__name__], test_asking, test_features, test_privacy, test_rooms)
    tests = [
        value
        for module in modules
        for name, value in vars(module).items()
        if name[:5] == "test_" and callable(value)
    ]
    known = {field.name for field in fields(Capabilities)}
    assert _marked(tests, "proves") == known
    assert _marked(tests, "lacks") | set(PROTOCOLS) == known


def _marked(tests: list[Callable[..., object]], name: str) -> set[str]:
    marks = [mark for test in tests for mark in getattr(test, "pytestmark", [])]
    return {mark.args[0] for mark in marks if mark.name == name}


async def test_an_adapter_can_do_exactly_what_it_declares(stage: Stage) -> None:
    declared = stage.adapter.capabilities
    for field, protocol in PROTOCOLS.items():
        offered = isinstance(stage.adapter, protocol)
        assert offered == getattr(declared, field), f"{field}: {protocol.__name__}"
    assert declared.threads >= declared.joins_threads
    assert declared.threads >= declared.answers_open_threads


@proves("idempotent_sends")
async def test_the_same_key_twice_is_one_message(stage: Stage) -> None:
    place = (await stage.hear()).place
    first = await stage.send("once", place, key="same:0")
    again = await stage.send("once", place, key="same:0")
    other = await stage.send("last", place)
    seen = await stage.shown(stage.room, lambda said: "last" in [one.text for one in said])
    assert [one.text for one in seen] == ["once", "last"]
    assert first.message_id == again.message_id != other.message_id


@lacks("idempotent_sends")
async def test_elsewhere_the_core_has_to_take_care_of_repetitions(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("twice", place, key="same:0")
    await stage.send("twice", place, key="same:0")
    seen = await stage.shown(stage.room, lambda said: len(said) == 2)
    assert [one.text for one in seen] == ["twice", "twice"]
