"""Everything that an adapter can do works, and what its manifest declares is true.

One suite, run against every adapter over its real client library. `proves(name)` runs a test for
the adapters that have the ability, capability or feature, `lacks(name)` for those that do not.
"""

import sys
from collections.abc import Callable
from dataclasses import fields

from gateway.ports import REMOTE_ABILITIES, CanShowLive, Capabilities
from tests.contract import test_asking, test_features, test_privacy, test_rooms
from tests.contract.marks import FEATURES, PROTOCOLS, lacks, proves
from tests.contract.stage import Stage


def test_every_capability_is_proven_where_declared_and_refuted_elsewhere() -> None:
    modules = (sys.modules[__name__], test_asking, test_features, test_privacy, test_rooms)
    tests = [
        value
        for module in modules
        for name, value in vars(module).items()
        if name[:5] == "test_" and callable(value)
    ]
    facts = {field.name for field in fields(Capabilities)} | set(FEATURES)
    assert _marked(tests, "proves") == facts | set(PROTOCOLS)
    assert _marked(tests, "lacks") == facts


def _marked(tests: list[Callable[..., object]], name: str) -> set[str]:
    marks = [mark for test in tests for mark in getattr(test, "pytestmark", [])]
    return {mark.args[0] for mark in marks if mark.name == name}


async def test_a_manifest_names_exactly_the_abilities_of_its_adapter(stage: Stage) -> None:
    manifest = stage.variant.manifest
    has = {protocol for protocol in REMOTE_ABILITIES if isinstance(stage.adapter, protocol)}
    assert set(manifest.abilities) == has
    assert (manifest.live is not None) == isinstance(stage.adapter, CanShowLive)


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
async def test_without_recognised_keys_the_core_handles_repetitions(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("twice", place, key="same:0")
    await stage.send("twice", place, key="same:0")
    seen = await stage.shown(stage.room, lambda said: len(said) == 2)
    assert [one.text for one in seen] == ["twice", "twice"]
