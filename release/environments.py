"""Installs the wheel as people do: by the lock, by uvx, by pipx; each in a fresh environment."""

import os
import re
from pathlib import Path
from typing import Final

from release.steps import ROOT, UV, UVX, require, run

PIPX: Final = "pipx==1.18.4"


def install_locked(wheel: Path, folder: Path) -> None:
    """Install the locked versions by their hashes, then the wheel."""
    run([UV, "venv", "--quiet", folder])
    python = folder / "bin" / "python"
    install = (UV, "pip", "install", "--quiet", "--python", python)
    run([*install, "--require-hashes", "-r", ROOT / "requirements/runtime.lock"])
    run([*install, "--no-deps", wheel])
    run([UV, "pip", "check", "--quiet", "--python", python])


def version_by_uvx(wheel: Path, cwd: Path) -> str:
    """Return the output of `parley --version` by `uvx`, with the newest versions."""
    return run([UVX, "--quiet", "--from", wheel, "parley", "--version"], cwd=cwd)


def version_by_pipx(wheel: Path, folder: Path) -> str:
    """The same for `pipx install`, with folders of its own. Its backend uv has a cache of the
    packages, with which pip would take longer than all other steps."""
    env = {
        **os.environ,
        "PIPX_HOME": str(folder / "home"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_MAN_DIR": str(folder / "man"),
        "PATH": f"{UV.parent}:{os.environ['PATH']}",
    }
    run([UVX, "--quiet", PIPX, "install", "--quiet", "--backend", "uv", wheel], cwd=folder, env=env)
    return run([folder / "bin" / "parley", "--version"], cwd=folder)


def check_version(printed: str, wheel: Path) -> None:
    """Raises `Failed` unless a command printed the version in the wheel's name."""
    named = re.match(r"parley_gateway-([^-]+)-", wheel.name)
    require(
        named is not None and printed == f"parley {named[1]}\n",
        f"parley --version printed {printed!r}, the wheel is {wheel.name}",
    )
