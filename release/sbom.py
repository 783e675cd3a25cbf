"""`make sbom`: writes the software bill of materials (CycloneDX 1.6, JSON) to `dist/`.

It describes an environment with the wheel and the versions of `requirements/runtime.lock`, as
`make check-package` makes it: names, versions, licences, and which package needs which.
"""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from release.build import build, commit_time, digest
from release.environments import install_locked
from release.steps import ROOT, UVX, Failed, run, step

CYCLONEDX: Final = "cyclonedx-bom==7.5.0"


def main() -> int:
    """Write the file; returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="parley-sbom-") as name:
        folder = Path(name)
        try:
            with step("build and install the locked versions"):
                wheel = build(ROOT, folder / "dist").wheel
                install_locked(wheel, folder / "locked")
            with step("describe them"):
                bom = describe(folder / "locked")
        except Failed as problem:
            sys.stdout.write(f"{problem}\n")
            return 1
    target = ROOT / "dist" / wheel.name.replace("-py3-none-any.whl", ".cdx.json")
    target.parent.mkdir(exist_ok=True)
    target.write_text(bom, encoding="utf-8")
    count = len(json.loads(bom)["components"])
    sys.stdout.write(f"{target.relative_to(ROOT)}: {count} components, SHA-256 {digest(target)}\n")
    return 0


def describe(environment: Path) -> str:
    """The validated document of an environment. It is the same for the same commit. Raises
    `Failed`."""
    options = ("--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON")
    project = ("--pyproject", ROOT / "pyproject.toml", "--mc-type", "application")
    tool = (UVX, "--quiet", "--from", CYCLONEDX, "cyclonedx-py", "environment")
    env = {**os.environ, "SOURCE_DATE_EPOCH": commit_time()}
    return run([*tool, *options, *project, environment / "bin" / "python"], env=env)


if __name__ == "__main__":
    sys.exit(main())
