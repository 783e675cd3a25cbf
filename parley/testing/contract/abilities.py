"""A manifest names the abilities of its adapter, and a repeated send is what it declares."""

from gateway.ports import REMOTE_ABILITIES, CanShowLive
from parley.testing.marks import lacks, proves
from parley.testing.stage import Stage


async def test_a_manifest_names_exactly_the_abilities_of_its_adapter(stage: Stage) -> None:
    manifest = stage.case.manifest
    has = {protocol for protocol in REMOTE_ABILITIES if isinstance(stage.adapter, protocol)}
    names = sorted(protocol.__name__ for protocol in has)
    assert set(manifest.abilities) == has, (
        f"name exactly these in abilities of the manifest: {names}"
    )
    live = isinstance(stage.adapter, CanShowLive)
    assert (manifest.live is not None) == live, "the manifest names live if the adapter has it"


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
