"""The program refuses to start with another distribution's package in place of its own."""

import os
import subprocess
import sys
from pathlib import Path

from parley.installation import PACKAGES, misplaced_package
from tests.support.patience import LAUNCH


def test_all_packages_of_this_installation_belong_to_parley() -> None:
    assert misplaced_package() == ""


def test_a_foreign_package_of_the_same_name_is_reported_with_advice(tmp_path: Path) -> None:
    foreign = tmp_path / "db" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("")
    ended = subprocess.run(
        [sys.executable, "-c", "from parley.cli.main import main; main()", "--version"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=LAUNCH,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"{foreign} hides Parley's own package `db`. Install Parley in")


def test_every_package_that_the_wheel_installs_is_checked() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    (line,) = [
        line for line in project.splitlines() if line.startswith("packages = [") and "db" in line
    ][:1]
    assert all(f'"{name}"' in line for name in PACKAGES)
