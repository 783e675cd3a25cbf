"""A manifest is valid and names the abilities of its adapter; a repeated send is what it declares;
secrets are never printed."""

import logging
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points

import pytest
from pydantic import SecretStr

from gateway.platforms import GROUP, adapter_class, renderer_of
from gateway.ports import REMOTE_ABILITIES, AccountSettings, CanShowLive, PlatformAdapter
from gateway.render import render_with
from parley.testing.case import PATIENCE, AdapterCase
from parley.testing.marks import lacks, proves, where
from parley.testing.stage import Stage
from simulators.base import Fault

IMPORT = "import importlib, sys; importlib.import_module({!r}); sys.exit({!r} in sys.modules)"


def installed(case: AdapterCase) -> list[EntryPoint]:
    """The entry points of this platform's name."""
    return list(entry_points(group=GROUP, name=case.manifest.platform))


def has_secrets(case: AdapterCase) -> bool:
    """True if a setting is a secret."""
    fields = case.manifest.settings.model_fields.values()
    return any("SecretStr" in str(field.annotation) for field in fields)


@where(installed, "its package is not installed, so that it has no entry point")
def test_the_entry_point_names_a_manifest_that_does_not_import_the_adapter(
    case: AdapterCase,
) -> None:
    (entry,) = installed(case)
    assert entry.load() is case.manifest
    adapter = case.manifest.load.partition(":")[0]
    program = IMPORT.format(entry.module, adapter)
    done = subprocess.run([sys.executable, "-c", program], timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"importing {entry.module} imports {adapter}"


def test_an_empty_section_is_valid_and_off(case: AdapterCase) -> None:
    settings = case.manifest.settings()
    assert not settings.configured()
    assert settings.missing() == ()


def test_a_manifest_names_its_adapter_and_its_renderer(case: AdapterCase) -> None:
    manifest = case.manifest
    assert adapter_class(manifest).__name__ in manifest.load
    assert manifest.title
    assert manifest.dedupe_for.total_seconds() >= 600
    assert render_with(renderer_of(manifest), "**hi**")[0].text


async def test_an_adapter_matches_its_manifest(stage: Stage) -> None:
    manifest = stage.case.manifest
    assert isinstance(stage.adapter, PlatformAdapter)
    assert stage.adapter.platform == manifest.platform
    assert stage.adapter.account == "main"
    assert stage.adapter.capabilities == manifest.capabilities


@where(has_secrets, "no setting is a secret")
async def test_secrets_are_neither_printed_nor_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A whole life with failures in it, at the program's own level of detail."""
    settings = stage.case.settings_for(stage.platform, "main")
    known = list(secrets(settings))
    with caplog.at_level(logging.INFO):
        place = (await stage.hear()).place
        for kind in ("rate_limit", "server_error", "drop_before"):
            if "send" in stage.case.methods:
                stage.platform.faults.add(Fault(stage.case.methods["send"], kind))
                with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is tested elsewhere
                    await stage.send("hello", place)
                logging.getLogger("test").error("send failed", exc_info=raised.value)
        await stage.adapter.disconnect()
    out, err = capfd.readouterr()
    printed = [repr(settings), str(settings), repr(stage.adapter), repr(stage.sink.events)]
    everything = "\n".join([caplog.text, out, err, *printed])
    assert [secret for secret in known if secret in everything] == []
    assert known, "the simulator's settings name no secret"


def secrets(settings: AccountSettings) -> Iterator[str]:
    """The values that a section keeps secret."""
    values: Mapping[str, object] = dict(settings)
    for value in values.values():
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()


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
    seen = await stage.shown(stage.room, lambda messages: "last" in [one.text for one in messages])
    assert [one.text for one in seen] == ["once", "last"]
    assert first.message_id == again.message_id != other.message_id


@lacks("idempotent_sends")
async def test_without_recognised_keys_the_core_handles_repetitions(stage: Stage) -> None:
    place = (await stage.hear()).place
    await stage.send("twice", place, key="same:0")
    await stage.send("twice", place, key="same:0")
    seen = await stage.shown(stage.room, lambda messages: len(messages) == 2)
    assert [one.text for one in seen] == ["twice", "twice"]
