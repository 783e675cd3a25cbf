"""Installs an example package beside Parley as pip would: found by its metadata, imported from its
folder."""

import tomllib
from pathlib import Path


def install(example: Path, folder: Path) -> tuple[Path, Path]:
    """Install a package as pip does, with modules on the path and entry points in a dist-info;
    return both folders."""
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return example, folder
