"""Extensions are found by entry point and by setting, and one that cannot work stops the program
before it begins, in the same words everywhere."""

import asyncio
import json
import os
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gateway.errors import TenantUnknown
from gateway.extensions import (
    AllowAll,
    Extension,
    ExtensionRegistry,
    InvalidResult,
    LocalAudit,
    NoTracking,
    SingleTenant,
    controlled_access,
)
from gateway.message import Place
from gateway.people import Audience, PersonId
from gateway.policy.decision import Decision
from gateway.ports.usage import UsageRow
from parley.config import SettingsError, from_mapping
from parley.wiring.extensions import GROUP, Gates, load_extensions
from tests.examples.installing import install
from tests.parley.cli.kit import ROOT, parley
from tests.support.for_each import for_each

EXAMPLE = ROOT / "examples" / "parley-extension-tenants"
HERE = Place("telegram", "main", "1", Audience.DIRECT)
ADA = PersonId("telegram", "main", "1")


class Tenants(SingleTenant):
    """A provider with one tenant of any name."""

    def __init__(self, name: object = "acme", column: str = "tenant_id") -> None:
        self.name = name
        self.column = column

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        return {self.column: self.name}  # type: ignore[dict-item]  # what an extension may do wrong


class Old:
    """A tenant provider of an earlier interface."""

    def get_tenant_id(self, place: Place) -> str:
        return "acme"

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        return {"tenant_id": tenant_id}


class Blocking:
    """An access controller that is not awaited."""

    def check_access(self, person: PersonId, place: Place) -> Decision:
        return Decision("access", True, "yes")


class RecordingExtension:
    """Tracks, audits and admits; remembers, and may fail or refuse."""

    def __init__(self, *, broken: bool = False, admits: bool = True) -> None:
        self.broken = broken
        self.admits = admits
        self.events: list[str] = []

    async def track(self, row: UsageRow) -> None:
        self._note("track")

    async def audit(self, event: str, person: PersonId, place: Place, decision: Decision) -> None:
        self._note(event)

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        self._note("access")
        return Decision("access", self.admits, "asked")

    def _note(self, event: str) -> None:
        self.events.append(event)
        if self.broken:
            raise RuntimeError("its disk is full")


def tenants(options: Mapping[str, str]) -> Extension:
    return Extension(tenant_provider=Tenants(options.get("name", "acme")))


def rival(options: Mapping[str, str]) -> Extension:
    return Extension(tenant_provider=Tenants("umbrella"))


def old(options: Mapping[str, str]) -> Extension:
    return Extension(tenant_provider=Old())  # type: ignore[arg-type]  # that is the mistake


def blocking(options: Mapping[str, str]) -> Extension:
    return Extension(access_controller=Blocking())  # type: ignore[arg-type]  # that is the mistake


class ByBool:
    """An access controller that says that it returns a bool."""

    async def check_access(self, person: PersonId, place: Place) -> bool:
        return False


def by_bool(options: Mapping[str, str]) -> Extension:
    return Extension(access_controller=ByBool())  # type: ignore[arg-type]  # that is the mistake


def nothing(options: Mapping[str, str]) -> Extension:
    return Extension()


def number(options: Mapping[str, str]) -> int:
    return 7


def breaks(options: Mapping[str, str]) -> Extension:
    raise ValueError(f"cannot log in with {options['key']}")


CONSTANT = 7


def entry(name: str, function: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{function}", GROUP)


def loaded(*functions: str, **section: object) -> ExtensionRegistry:
    installed = [entry(function, function) for function in functions]
    return load_extensions(from_mapping({"extensions": section}), installed)


def test_without_extensions_nothing_is_restricted() -> None:
    registry = loaded()
    assert isinstance(registry.tenant_provider, SingleTenant)
    assert isinstance(registry.usage_tracker, NoTracking)
    assert isinstance(registry.audit_logger, LocalAudit)
    assert isinstance(registry.access_controller, AllowAll)
    assert registry.tenant_of(HERE, ADA) == "default"


def test_an_entry_point_and_a_setting_load_the_same_extension() -> None:
    by_entry = loaded("tenants", options={"tenants": {"name": "zeta"}})
    load = {"own": f"{__name__}:tenants"}
    by_setting = loaded(load=load, options={"own": {"name": "zeta"}})
    assert by_entry.tenant_of(HERE, ADA) == by_setting.tenant_of(HERE, ADA) == "zeta"
    assert (by_entry.names, by_setting.names) == (("tenants",), ("own",))


def test_a_skipped_extension_is_not_loaded() -> None:
    assert loaded("breaks", skip=["breaks"]).names == ()


@for_each(
    ("functions", "section", "recorder"),
    [
        (("missing",), {}, "could not be loaded: AttributeError"),
        (("CONSTANT",), {}, "is not a function that returns an Extension"),
        (("number",), {}, "returns int, not a gateway.extensions.Extension"),
        (("nothing",), {}, "returns an empty Extension"),
        (("old",), {}, "whose get_tenant_id() does not take 2 arguments"),
        (("blocking",), {}, "whose check_access() has to be async"),
        (("by_bool",), {}, "whose check_access() returns bool, not gateway.policy.decision.Dec"),
        (("tenants", "rival"), {}, "several provide tenants"),
        (("tenants",), {"skip": ["tenant"]}, 'Did you mean "tenants"?'),
        (("tenants",), {"options": {"tenats": {}}}, 'Did you mean "tenants"?'),
        ((), {"load": {"own": "no_such_module:extension"}}, "extensions.load.own: "),
        (("tenants",), {"load": {"tenants": "x:y"}}, "several have the name tenants"),
    ],
)
def test_an_invalid_extension_is_refused_with_the_reason(
    functions: tuple[str, ...], section: dict[str, object], recorder: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        loaded(*functions, **section)
    assert recorder in str(refused.value)
    assert refused.value.problems[0].advice or "extensions" in refused.value.problems[0].path


def test_an_error_does_not_repeat_an_option() -> None:
    with pytest.raises(SettingsError) as refused:
        loaded("breaks", options={"breaks": {"key": "s3cret-key"}})
    assert "ValueError: cannot log in with (not shown)" in str(refused.value)


@pytest.mark.parametrize("name", ["", "a/b", "a b", "-a", "x" * 65, 7, None, "é", "a\n"])
def test_an_invalid_tenant_id_means_no_tenant(name: object) -> None:
    registry = ExtensionRegistry(tenant_provider=Tenants(name))
    with pytest.raises(TenantUnknown):
        registry.tenant_of(HERE, ADA)


def test_a_filter_on_another_column_is_refused() -> None:
    """Rows are bound to `tenant_id` and nothing else: a filter that is not used would be none."""
    with pytest.raises(TenantUnknown):
        ExtensionRegistry(tenant_provider=Tenants("a", "workspace")).tenant_of(HERE, ADA)


class Returning(SingleTenant):
    """Returns what it was given, of any type."""

    def __init__(self, result: Any, name: Any = "acme") -> None:
        self.result = result
        self.name = name

    def get_tenant_id(self, place: Place, person: PersonId | None) -> str:
        return self.name  # type: ignore[no-any-return]  # what an extension may do wrong

    def get_tenant_filter(self, tenant_id: str) -> Mapping[str, str]:
        return self.result  # type: ignore[no-any-return]  # what an extension may do wrong

    async def check_access(self, person: PersonId, place: Place) -> Decision:
        return self.result  # type: ignore[no-any-return]  # what an extension may do wrong


WRONG: Final[tuple[tuple[object, str], ...]] = (
    (False, "returned bool"),
    (True, "returned bool"),
    (None, "returned NoneType"),
    ("no", "returned str"),
    (("access", True, "paid"), "returned tuple"),
    ({"allowed": True}, "returned dict"),
    (Decision, "returned type"),
    (Decision("access", 1, "paid"), "allowed is int"),  # type: ignore[arg-type]
    (Decision("access", "no", "paid"), "allowed is str"),  # type: ignore[arg-type]
    (Decision("access", True, ""), "reason is no code"),
    (Decision("access", False, "Ada Lovelace has not paid"), "reason is no code"),
    (Decision("access", False, None), "reason is no code"),  # type: ignore[arg-type]
    (Decision("", True, "paid"), "stage is no code"),
    (Decision("access", False, "not_paid", 7), "detail is int"),  # type: ignore[arg-type]
)
"""Results of `check_access` that decide nothing, and what is said of them."""


@pytest.mark.parametrize(("result", "said"), WRONG, ids=[str(one) for one, _ in WRONG])
async def test_a_result_that_is_no_decision_refuses_and_names_the_method_and_the_type(
    result: object, said: str
) -> None:
    wrong, right = Returning(result), RecordingExtension()
    for controller in (wrong, Gates((wrong, right)), Gates((right, wrong))):
        with pytest.raises(InvalidResult) as refused:
            await controlled_access(controller, ADA, HERE)
        assert f"{__name__}.Returning.check_access() returned" in str(refused.value)
        assert said in str(refused.value)
        assert "Lovelace" not in str(refused.value)


@pytest.mark.parametrize("result", [False, None, "acme", ("tenant_id", "acme"), {"tenant_id": 7}])
def test_a_filter_of_another_type_means_no_tenant(result: object) -> None:
    with pytest.raises(TenantUnknown, match="get_tenant_filter should return"):
        ExtensionRegistry(tenant_provider=Returning(result)).tenant_of(HERE, ADA)


@pytest.mark.parametrize("name", [False, True, None, 7, b"acme", ("acme",)])
def test_a_tenant_that_is_no_text_means_no_tenant(name: object) -> None:
    registry = ExtensionRegistry(tenant_provider=Returning({"tenant_id": "acme"}, name))
    with pytest.raises(TenantUnknown, match="get_tenant_id should return a text"):
        registry.tenant_of(HERE, ADA)


async def test_several_extensions_all_receive_events_and_all_must_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = RecordingExtension(broken=True), RecordingExtension(admits=False)
    parts = {"first": first, "second": second}
    for name, part in parts.items():
        made = Extension(usage_tracker=part, audit_logger=part, access_controller=part)
        function = f"make_{name}"
        monkeypatch.setitem(globals(), function, lambda options, made=made: made)
    registry = loaded("make_first", "make_second")
    await registry.audit_logger.audit("x_denied", ADA, HERE, Decision("x", False, "y"))
    assert first.events == second.events == ["x_denied"]
    first.broken = False
    decision = await registry.access_controller.check_access(ADA, HERE)
    assert not decision.allowed
    first.broken = True
    with pytest.raises(RuntimeError):
        await registry.access_controller.check_access(ADA, HERE)


@pytest.fixture
def with_example(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which the example package is installed."""
    site = tmp_path / "site"
    site.mkdir()
    return {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *install(EXAMPLE, site))))}


def configure(folder: Path, **sections: object) -> None:
    (folder / "config").mkdir(exist_ok=True)
    whole = {"server": {"port": 0}, "platforms": {"web": {"enabled": True}}, **sections}
    (folder / "config" / "parley.yaml").write_text(yaml.safe_dump(whole))


async def test_every_command_reports_a_failing_extension_in_the_same_way(
    tmp_path: Path, with_example: dict[str, str]
) -> None:
    """`run` does not begin, nor do commands that would work on one tenant's rows."""
    configure(tmp_path)
    reason = "ValueError: set extensions.options.tenants.file."
    commands = (
        ("run",),
        ("check-config",),
        ("doctor",),
        ("token", "web:main:ada"),
    )
    ended = await asyncio.gather(
        *(parley(*words, cwd=tmp_path, env=with_example) for words in commands)
    )
    for words, end in zip(commands, ended, strict=True):
        output = end.out + end.err
        assert reason in output, words
        assert "parley_tenants:extension of the package parley-extension-tenants" in output, words
        assert end.status == (1 if words == ("doctor",) else 3), words
    assert not (tmp_path / "data").exists()


async def test_the_command_line_uses_the_tenant_of_the_person(
    tmp_path: Path, with_example: dict[str, str]
) -> None:
    file = tmp_path / "tenants.json"
    file.write_text(json.dumps({"web:main:ada": "acme", "web:main:ben": "umbrella"}))
    configure(tmp_path, extensions={"options": {"tenants": {"file": str(file)}}})
    fine = await parley("check-config", cwd=tmp_path, env=with_example)
    assert "extensions tenants" in fine.out
    for person in ("ada", "ben"):
        made = await parley(
            "token", f"web:main:{person}", "--name", person, cwd=tmp_path, env=with_example
        )
        assert made.status == 0, made.err
    listed = await parley("token", "list", cwd=tmp_path, env=with_example)
    tenant_of = {line.split()[0]: line.split()[-1] for line in listed.out.splitlines()}
    assert tenant_of == {"ada": "acme", "ben": "umbrella"}
    nobodys = await parley("token", "web:main:eve", cwd=tmp_path, env=with_example)
    assert nobodys.status == 1
    assert nobodys.err == (
        "The tenant of web:main:eve cannot be determined: the tenant provider failed:"
        " LookupError. Report this to the authors of tenants.\n"
    )
