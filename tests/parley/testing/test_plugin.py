"""The pytest plugin is active on request only, and skips missing abilities of an adapter with a
reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parley.cli.kit import ROOT
from tests.support.patience import LAUNCH

CASE = """
from parley.testing import AdapterCase
from tests.contract.cases import CASES
ADAPTER_CASES = (CASES["discord"], CASES["whatsapp"])
"""
SUITE = f"""
from parley.testing.contract import *
{CASE}
"""
OWN = """
import sys
import pytest

def test_own(case_of_another_plugin=None):
    assert "gateway" not in sys.modules

@pytest.fixture
def case():
    return "mine"

def test_a_fixture_of_the_same_name(case):
    assert case == "mine"
"""


def pytest_in(folder: Path, source: str, *options: str, status: int = 0) -> str:
    """The output of pytest for this test module, without the options of this repository."""
    (folder / "test_it.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\n")
    plugins = ("--disable-plugin-autoload", "-p", "pytest_asyncio.plugin")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "parley.pytest_plugin", *plugins, *options],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LAUNCH,
        check=False,
    )
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout


def test_tests_without_cases_are_left_alone(tmp_path: Path) -> None:
    assert "2 passed" in pytest_in(tmp_path, OWN, "-q", "--strict-markers")


def test_a_test_runs_for_the_cases_that_it_is_for(tmp_path: Path) -> None:
    names = "test_a_mention_in_a_room or test_without_rooms"
    out = pytest_in(tmp_path, SUITE, "-rsp", "--strict-markers", "-k", names)
    assert "2 passed, 2 skipped" in out
    assert "PASSED test_it.py::test_a_mention_in_a_room_is_received_and_answered[discord]" in out
    assert "whatsapp: its case does not name the feature 'rooms'" in out
    assert "discord has rooms" in out


@pytest.mark.parametrize("cases", ["", "ADAPTER_CASES = CASES['discord']"])
def test_a_suite_without_cases_names_what_is_missing(tmp_path: Path, cases: str) -> None:
    source = (
        f"from parley.testing.contract import *\nfrom tests.contract.cases import CASES\n{cases}"
    )
    out = pytest_in(tmp_path, source, "-q", status=2)
    assert "ADAPTER_CASES is missing: name your adapters" in out
