"""The platforms that are found, and the packages that are refused."""

import sys
from importlib.metadata import Distribution, EntryPoint
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.errors import ConfigurationError
from gateway.markdown.text_renderer import plain_parts
from gateway.platforms import GROUP, adapter_class, discover, renderer_of
from gateway.ports import AccountSettings, AdapterManifest, Capabilities


class Plain(AccountSettings, frozen=True):
    """Settings without keys."""


class Greedy(AccountSettings, frozen=True):
    """Settings that use a key of ours."""

    accounts: str = ""


class Demanding(AccountSettings, frozen=True):
    """Settings that cannot be empty."""

    token: str


class NotOurs(BaseModel):
    """Some other model."""


def a_manifest(platform: str = "owl", **changes: Any) -> AdapterManifest:
    fields: dict[str, Any] = {
        "platform": platform,
        "title": "Owl",
        "settings": Plain,
        "capabilities": Capabilities(),
        "load": "owl_plugin.adapter:OwlAdapter",
    }
    return AdapterManifest(**{**fields, **changes})


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module `owl_plugin` that tests fill with manifests."""
    module = ModuleType("owl_plugin")
    monkeypatch.setitem(sys.modules, "owl_plugin", module)
    return module


def entry(name: str, value: str, package: str = "") -> EntryPoint:
    """An entry point as an installed package declares it."""
    point = EntryPoint(name, value, GROUP)
    if package:
        vars(point)["dist"] = SimpleNamespace(name=package)
    return point


def test_the_built_in_platforms_are_found_without_importing_a_library() -> None:
    installed = discover()
    assert {"discord", "slack", "telegram", "whatsapp", "web"} <= set(installed.manifests)
    assert installed.problems == ()


def test_a_broken_package_is_reported_and_does_not_affect_others(plugin: ModuleType) -> None:
    plugin.__dict__["GOOD"] = a_manifest()
    installed = discover(
        [
            entry("bat", "no_such_module:MANIFEST", "parley-bat"),
            entry("fox", "owl_plugin:NOTHING"),
            entry("owl", "owl_plugin:GOOD"),
        ]
    )
    assert set(installed.manifests) == {"owl"}
    bat, fox = sorted(installed.problems)
    assert '"bat" of the package parley-bat could not be loaded: ModuleNotFound' in bat
    assert fox.endswith("The others still work.")


def test_any_exception_of_a_package_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "angry_plugin.py").write_text("raise RuntimeError('no\\nway')")
    monkeypatch.syspath_prepend(str(tmp_path))
    (problem,) = discover([entry("angry", "angry_plugin:MANIFEST")]).problems
    assert problem.endswith("RuntimeError: no. The others still work.")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("not a manifest", "is not an AdapterManifest"),
        (a_manifest("Owl"), "lower-case letters and digits"),
        (a_manifest("eagle_owl"), "lower-case letters and digits"),
        (a_manifest("eagle"), 'should be called "eagle"'),
        (a_manifest(load="owl_plugin"), "package.module:Class"),
        (a_manifest(settings=NotOurs), "subclass of AccountSettings"),
        (a_manifest(settings=Greedy), 'key "accounts", which belongs to Parley'),
        (a_manifest(settings=Demanding), 'default for "token"'),
    ],
)
def test_an_invalid_manifest_is_refused(plugin: ModuleType, value: object, reason: str) -> None:
    plugin.__dict__["MANIFEST"] = value
    installed = discover([entry("owl", "owl_plugin:MANIFEST")])
    assert installed.manifests == {}
    assert reason in installed.problems[0]


def test_a_platform_claimed_by_two_packages_is_unavailable(plugin: ModuleType) -> None:
    plugin.__dict__.update(A=a_manifest(), B=a_manifest())
    installed = discover([entry("owl", "owl_plugin:A", "a"), entry("owl", "owl_plugin:B", "b")])
    assert installed.manifests == {}
    assert "Several packages" in installed.problems[0]
    assert "(a, b)" in installed.problems[0]


def test_a_package_cannot_replace_a_built_in_platform(plugin: ModuleType) -> None:
    ours, theirs = a_manifest("slack"), a_manifest("slack", title="Not Slack")
    plugin.__dict__.update(OURS=ours, THEIRS=theirs)
    installed = discover(
        [
            entry("slack", "owl_plugin:THEIRS", "aaa"),
            entry("slack", "owl_plugin:OURS", "parley-gateway"),
        ]
    )
    assert installed.manifests["slack"] is ours
    assert "Parley's own adapter is used." in installed.problems[0]


def test_the_adapter_is_imported_on_request_only(plugin: ModuleType) -> None:
    with pytest.raises(ConfigurationError, match=r"adapter for Owl .* could not be loaded"):
        adapter_class(a_manifest())
    plugin.__dict__["OwlAdapter"] = Distribution
    assert adapter_class(a_manifest(load="owl_plugin:OwlAdapter")) is Distribution  # type: ignore[comparison-overlap]


def test_a_renderer_is_loaded_by_name_and_plain_text_is_the_default(plugin: ModuleType) -> None:
    vars(plugin)["render"] = plain_parts
    assert renderer_of(a_manifest(renderer="owl_plugin:render")) is plain_parts
    assert renderer_of(a_manifest()) is plain_parts
    with pytest.raises(ConfigurationError, match="renderer for Owl"):
        renderer_of(a_manifest(renderer="owl_plugin:missing"))
