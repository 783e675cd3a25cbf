"""The suite proves and refutes every declared fact, and each test is for an adapter."""

import json
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from typing import Final

from msgspec.structs import fields

from gateway.platforms import GROUP
from gateway.ports import Capabilities
from parley.config.sections import OWN_PLATFORMS
from parley.testing.case import FEATURES, PATIENCE
from parley.testing.contract import MODULES, TESTS
from parley.testing.marks import PROTOCOLS, suite_of, unfit
from tests.contract.cases import CASES

HEAVY: Final = (
    *("discord", "slack_bolt", "slack_sdk", "telegram", "httpx", "anthropic", "openai", "mcp"),
)
LIGHT: Final = (
    *(f"adapters.{platform}.manifest" for platform in OWN_PLATFORMS),
    *(f"adapters.{platform}.parse" for platform in OWN_PLATFORMS),
    "adapters.shared.signatures",
)


def test_every_capability_is_proven_where_declared_and_refuted_elsewhere() -> None:
    facts = {field.name for field in fields(Capabilities)} | set(FEATURES)
    assert marked("proves") == facts | set(PROTOCOLS)
    assert marked("lacks") == facts


def marked(name: str) -> set[str]:
    """The names that a mark of the suite has."""
    marks = [mark for test in TESTS.values() for mark in getattr(test, "pytestmark", [])]
    return {mark.args[0] for mark in marks if mark.name == name}


def test_no_test_hides_another_of_the_same_name() -> None:
    assert len(TESTS) == sum(len(suite_of(module)) for module in MODULES)


def test_every_test_runs_for_an_adapter() -> None:
    example = import_module("lines_people").CASE  # which has neither buttons nor files
    cases = [*CASES.values(), example]
    never = [
        name
        for name, test in TESTS.items()
        if all(any(unfit(case, mark) for mark in getattr(test, "pytestmark", [])) for case in cases)
    ]
    assert never == []


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
    assert installed <= {case.manifest.platform for case in CASES.values()}
