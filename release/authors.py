"""Does what an author of an adapter or a memory backend does: outside this tree, with the wheel and
its extra `testing` only."""

import os
import re
import shutil
from pathlib import Path
from typing import Final

from release.steps import ROOT, UV, require, run

ADAPTER: Final = ("parley-adapter-lines", "parley_lines")
MEMORY_BACKEND: Final = ("parley-memory-markdown", "parley_memory_markdown")
"""The folder of an example, and its package."""
CONFIGURED: Final = """\
memory:
  backend: markdown
  backend_options: {markdown: {folder: notes}}
database: {url: "sqlite:///parley.db"}
"""
LOADED: Final = "memory     markdown (own search)"
NEW: Final = "matrix"
PASSED: Final = re.compile(r"(?:^|[ =])(\d+) passed", re.MULTILINE)


class Author:
    """A fresh environment in a folder, which no variable points to this tree."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        """Install the wheel. Raises `Failed`."""
        folder.mkdir()
        self._folder = folder
        self._python = folder / "env" / "bin" / "python"
        run([UV, "venv", "--quiet", folder / "env"])
        self._install(f"{wheel}[testing]")

    def test_example(self, name: str, package: str) -> int:
        """Install an example from a copy of its folder, and run its tests against the
        installation; returns how many pass. Raises `Failed` if one fails."""
        copy = self._folder / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "examples" / name, copy, ignore=ignored)
        self._install(f"{copy}[test]")
        shutil.rmtree(copy / package)  # so that the installed package is tested
        return self._passed(copy)

    def check_memory_backend(self) -> None:
        """Choose the installed memory backend by its entry point. Raises `Failed`."""
        config = self._folder / "parley.yaml"
        config.write_text(CONFIGURED, "utf-8")
        parley = self._python.with_name("parley")
        command: list[str | Path] = [parley, "check-config", "-c", config]
        out = run(command, cwd=self._folder, env=self._environment)
        require(LOADED in out, f"check-config does not show {LOADED!r}:\n{out}")

    def test_new_adapter(self) -> int:
        """Run the commands that `parley new-adapter` prints about the repository that it writes;
        returns how many tests pass. Raises `Failed`."""
        parley = self._python.with_name("parley")
        said = run([parley, "new-adapter", NEW], cwd=self._folder, env=self._environment)
        commands = [line.strip() for line in said.splitlines() if line.startswith("  ")]
        script = " && ".join(commands)
        out = run(["sh", "-ec", script], cwd=self._folder, env=self._environment)
        return _passed_in(out, NEW)

    @property
    def _environment(self) -> dict[str, str]:
        hidden = ("PYTHON", "PYTEST", "VIRTUAL_ENV")
        return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}

    def _install(self, *packages: str) -> None:
        install = (UV, "pip", "install", "--quiet", "--python", self._python)
        run([*install, *packages], cwd=self._folder, env=self._environment)

    def _passed(self, folder: Path) -> int:
        out = run([self._python, "-m", "pytest", "-q"], cwd=folder, env=self._environment)
        return _passed_in(out, folder.name)


def _passed_in(out: str, name: str) -> int:
    match = PASSED.search(out)
    require(match is not None, f"no test passed in {name}:\n{out[-1_000:]}")
    return int(match[1]) if match else 0
