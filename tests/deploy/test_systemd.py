"""The unit of systemd is hardened, starts Parley, and fits the program."""

import configparser
import shutil
from pathlib import Path

import pytest

from deploy.check.linters import UNIT, lint_unit
from gateway.ports.error_codes import UNUSABLE_CONFIGURATION
from parley.config.sections import WatchdogSection
from tests.deploy.known_arguments import is_known

FAILED = 1
"""The exit status of a start without its stores."""
SYSUSERS = UNIT.with_name("parley.sysusers")


def unit() -> configparser.RawConfigParser:
    read = configparser.RawConfigParser(strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    read.read_string(Path(UNIT).read_text("utf-8"))
    return read


def test_it_starts_parley_and_has_no_rights() -> None:
    service = unit()["Service"]
    program, *arguments = service["ExecStart"].split()
    assert program.endswith("/parley")
    assert is_known(arguments)
    for name in (
        *("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "PrivateMounts"),
        *("RestrictNamespaces", "ProtectKernelModules", "LockPersonality", "RestrictSUIDSGID"),
    ):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert service["StateDirectory"] == "parley"


def test_systemd_waits_for_the_program_and_longer_than_its_own_watchdog() -> None:
    service = unit()["Service"]
    assert service["Type"] == "notify"
    assert float(service["WatchdogSec"]) > 2 * WatchdogSection().seconds
    assert str(UNUSABLE_CONFIGURATION) in service["RestartPreventExitStatus"].split()


def test_it_is_restarted_without_a_limit() -> None:
    read = unit()
    assert read["Unit"]["StartLimitIntervalSec"] == "0"
    assert "StartLimitBurst" not in read["Unit"]
    assert read["Service"]["Restart"] == "on-failure"
    refused = read["Service"]["RestartPreventExitStatus"].split()
    assert str(FAILED) not in refused, "so a start on a full disk is repeated"


def test_its_user_is_made_by_sysusers() -> None:
    service = unit()["Service"]
    (line,) = [one for one in SYSUSERS.read_text("utf-8").splitlines() if one.startswith("u ")]
    assert line.split()[1] == service["User"] == service["Group"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_understands_every_line_and_finds_little_exposed() -> None:
    lint_unit()
