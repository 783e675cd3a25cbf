"""Does what an author of an adapter does: outside this tree, with the wheel and its extra
`testing` only."""

import os
import re
import shutil
from pathlib import Path
from typing import Final

from release.steps import ROOT, UV, require, run

EXAMPLE: Final = "examples/parley-adapter-lines"
NEW: Final = "matrix"
PASSED: Final = re.compile(r"^(\d+) passed", re.MULTILINE)


class Author:
    """A fresh environment in a folder, which no variable points to this tree."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        """Install the wheel. Raises `Failed`."""
        folder.mkdir()
        self._folder = folder
        self._python = folder / "env" / "bin" / "python"
        run([UV, "venv", "--quiet", folder / "env"])
        self._install(f"{wheel}[testing]")

    def test_example(self) -> int:
        """Install the example from a copy of its folder, and run its tests against the
        installation; returns how many pass. Raises `Failed` if one fails."""
        copy = self._folder / "example"
        shutil.copytree(ROOT / EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        self._install(f"{copy}[test]")
        shutil.rmtree(copy / "parley_lines")  # so that the installed package is tested
        return self._passed(copy)

    def test_new_adapter(self) -> int:
        """The same for a repository that `parley new-adapter` wrote."""
        parley = self._python.with_name("parley")
        run([parley, "new-adapter", NEW], cwd=self._folder, env=self._environment)
        written = self._folder / f"parley-adapter-{NEW}"
        self._install("--editable", f"{written}[test]")
        return self._passed(written)

    @property
    def _environment(self) -> dict[str, str]:
        hidden = ("PYTHON", "PYTEST", "VIRTUAL_ENV")
        return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}

    def _install(self, *packages: str) -> None:
        install = (UV, "pip", "install", "--quiet", "--python", self._python)
        run([*install, *packages], cwd=self._folder, env=self._environment)

    def _passed(self, folder: Path) -> int:
        out = run([self._python, "-m", "pytest", "-q"], cwd=folder, env=self._environment)
        found = PASSED.search(out)
        require(found is not None, f"no test passed in {folder.name}:\n{out[-1_000:]}")
        return int(found[1]) if found else 0
