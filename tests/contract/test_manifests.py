"""The facts about a platform before its library is loaded, and the secrets that are never shown."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Final

import pytest
from pydantic import SecretStr

from gateway.platforms import GROUP, adapter_class, renderer_of
from gateway.ports import AccountSettings, PlatformAdapter
from gateway.render import render_with
from parley.config.sections import OWN_PLATFORMS
from simulators.base import Fault
from tests.contract.stage import Stage
from tests.contract.variants import VARIANTS, Variant
from tests.support.patience import PATIENCE

HEAVY: Final = (
    "discord",
    "slack_bolt",
    "slack_sdk",
    "telegram",
    "httpx",
    "anthropic",
    "openai",
    "mcp",
)
LIGHT: Final = (
    *(f"adapters.{platform}.manifest" for platform in OWN_PLATFORMS),
    *(f"adapters.{platform}.parse" for platform in OWN_PLATFORMS),
    "adapters.shared.signatures",
)
ONE_OF_EACH: Final = list({v.manifest.platform: v for v in VARIANTS.values()}.values())
each = pytest.mark.parametrize("known", ONE_OF_EACH, ids=lambda v: str(v.manifest.platform))


def test_manifests_and_parsers_import_no_platform_library() -> None:
    program = (
        "import importlib, json, sys\n"
        f"for name in {LIGHT!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert json.loads(done.stdout) == []


def test_every_installed_platform_is_in_the_suite() -> None:
    installed = {entry.name for entry in entry_points(group=GROUP)}
    assert installed <= {variant.manifest.platform for variant in VARIANTS.values()}


@each
def test_an_empty_section_is_valid_and_off(known: Variant) -> None:
    settings = known.manifest.settings()
    assert not settings.configured()
    assert settings.missing() == ()


@each
def test_a_manifest_names_its_adapter_and_its_renderer(known: Variant) -> None:
    manifest = known.manifest
    assert adapter_class(manifest).__name__ in manifest.load
    assert manifest.title
    assert manifest.dedupe_for.total_seconds() >= 600
    assert render_with(renderer_of(manifest), "**hi**")[0].text


async def test_an_adapter_matches_its_manifest(stage: Stage) -> None:
    manifest = stage.variant.manifest
    assert isinstance(stage.adapter, PlatformAdapter)
    assert stage.adapter.platform == manifest.platform
    assert stage.adapter.account == "main"
    assert stage.adapter.capabilities == manifest.capabilities


async def test_secrets_are_neither_printed_nor_logged(
    stage: Stage, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A whole life with failures in it, at the program's own level of detail."""
    settings = stage.variant.settings_for(stage.platform, "main")
    known = list(secrets(settings))
    with caplog.at_level(logging.INFO):
        place = (await stage.hear()).place
        for kind in ("rate_limit", "server_error", "drop_before"):
            if "send" in stage.variant.methods:
                stage.platform.faults.add(Fault(stage.variant.methods["send"], kind))
                with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is tested elsewhere
                    await stage.send("hello", place)
                logging.getLogger("test").error("send failed", exc_info=raised.value)
        await stage.adapter.disconnect()
    out, err = capfd.readouterr()
    printed = [repr(settings), str(settings), repr(stage.adapter), repr(stage.sink.events)]
    everything = "\n".join([caplog.text, out, err, *printed])
    assert [secret for secret in known if secret in everything] == []
    assert known or stage.adapter.platform == "web"


def secrets(settings: AccountSettings) -> Iterator[str]:
    """The values that a section keeps secret."""
    values: Mapping[str, object] = dict(settings)
    for value in values.values():
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()
