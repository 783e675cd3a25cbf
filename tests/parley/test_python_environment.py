"""The program refuses to start with another distribution's package in place of its own."""

import asyncio
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

from parley.python_environment import (
    OWN_ENVIRONMENT,
    PACKAGES,
    conflicting_distributions,
    install_command,
    misplaced_package,
)
from tests.parley.cli.kit import ROOT, parley_alone
from tests.support.patience import LAUNCH

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


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
    moved = WHEEL["sources"].keys()
    packages = {one for one in WHEEL["only-include"] if one.partition("/")[0] not in moved}
    assert {*PACKAGES, "parley"} == packages


def test_no_locked_dependency_has_a_package_of_the_same_name() -> None:
    lock = (ROOT / "requirements/runtime.lock").read_text("utf-8")
    locked = re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==(?!.*;)", lock, re.MULTILINE)
    assert len(locked) > 30
    for name in locked:
        distribution(name)  # raises for one that is not installed: the check would not see it
    assert conflicting_distributions() == []


def a_distribution(folder: Path, name: str, *files: str) -> None:
    """Installs files under a distribution's name, as pip does."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_another_distribution_with_one_of_the_packages_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_distribution(tmp_path, "cheap_memory", "memory/__init__.py", "cheap/__init__.py")
    a_distribution(tmp_path, "parley_gateway", "memory/__init__.py")
    monkeypatch.syspath_prepend(tmp_path)
    (conflict,) = conflicting_distributions()
    assert conflict.startswith("The distribution cheap_memory has a package `memory`, as Parley")


@pytest.mark.parametrize(
    ("list_of_files", "content", "packages"),
    [
        ("RECORD", "cheap.py,,\nmemory.py,,\n", ["memory"]),
        ("RECORD", "cheap/memory/__init__.py,,\nmemory_of_mine/__init__.py,,\n", []),
        ("SOURCES.txt", "memory/__init__.py\n", ["memory"]),
        ("top_level.txt", "cheap\ndb\nmemory\n", ["db", "memory"]),
        ("top_level.txt", "cheap\n", []),
    ],
)
def test_a_conflict_is_found_in_each_kind_of_file_list(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    list_of_files: str,
    content: str,
    packages: list[str],
) -> None:
    info = tmp_path / "cheap-1.0.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: cheap\nVersion: 1.0\n")
    (info / list_of_files).write_text(content)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert [sentence.split("`")[1] for sentence in conflicting_distributions()] == packages


@pytest.mark.parametrize("command", ["check-config", "doctor", "run"])
async def test_a_conflict_is_reported_with_advice(tmp_path: Path, command: str) -> None:
    a_distribution(tmp_path, "cheap_memory", "memory/__init__.py")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("limit: {}")
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    ended = await parley_alone(
        command, "--config", str(wrong), cwd=tmp_path, env={"PYTHONPATH": path}
    )
    assert "The distribution cheap_memory has a package `memory`" in ended.out + ended.err
    assert OWN_ENVIRONMENT in ended.out + ended.err


async def test_an_overwritten_file_is_explained_by_the_conflict(tmp_path: Path) -> None:
    a_distribution(tmp_path, "cheap_memory", "memory/__init__.py")
    code = "import sys; sys.modules['db.errors'] = None\nfrom parley.cli.main import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, "run"),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert b"cheap_memory" in errors
    assert b"Traceback" not in errors


class TestInstallCommand:
    """The one command that adds an extra's libraries to this environment."""

    def test_names_each_library_with_its_range_and_not_parley(self) -> None:
        python, *words = shlex.split(install_command("openai"))
        assert Path(python) == Path(sys.executable)
        assert words[:3] == ["-m", "pip", "install"]
        assert {re.split("[<>]", word)[0] for word in words[3:]} == {"numpy", "openai"}

    def test_the_command_uses_uv_if_the_environment_has_no_pip(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert install_command("otel").startswith(f"uv pip install --python {sys.executable} ")

    def test_names_a_library_that_every_installation_needs(self) -> None:
        assert re.search(r" -m pip install '?mcp[<>=]", install_command("mcp"))

    def test_uses_pipx_in_an_environment_of_pipx(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "pipx_metadata.json").write_text("{}")
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        assert install_command("parquet").startswith("pipx inject parley-gateway 'pyarrow")

    def test_every_extra_has_libraries(self) -> None:
        for extra in PROJECT["project"]["optional-dependencies"]:
            assert shlex.split(install_command(extra))[-1] != "install", extra
