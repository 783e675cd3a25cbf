"""`make check-package`: builds the sdist and the wheel, compares them, installs the wheel in fresh
environments and uses it from an empty folder.

Exit status 0 when every step succeeds, 1 with the reason when one does not.
"""

import sys
import tempfile
import time
from pathlib import Path

from release.authors import ADAPTER, MEMORY_BACKEND, Author
from release.build import (
    Built,
    build,
    build_wheel,
    check_sdist,
    check_wheel,
    copy_tree,
    digest,
)
from release.environments import (
    check_version,
    install_locked,
    version_by_pipx,
    version_by_uvx,
)
from release.installed import Installed
from release.steps import ROOT, Failed, require, step
from release.version import problems_of_tree


def main() -> int:
    """Run all steps in a temporary folder; returns the exit status."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="parley-package-") as name:
        folder = Path(name)
        try:
            built = _build(folder)
            _install(built.wheel, folder)
        except Failed as problem:
            sys.stdout.write(f"{problem}\n")
            return 1
    sys.stdout.write(f"The package is sound ({time.monotonic() - started:.0f} s).\n")
    return 0


def _build(folder: Path) -> Built:
    with step("the version, the tag and the changelog agree"):
        problems = problems_of_tree()
        require(not problems, " ".join(problems))
    with step("build sdist and wheel from this tree"):
        built = build(ROOT, folder / "dist")
    for file in (built.sdist, built.wheel):
        sys.stdout.write(f"  {digest(file)}  {file.name}  {file.stat().st_size:,} bytes\n")
    with step("both hold what the program needs, and nothing else"):
        check_wheel(built.wheel)
        check_sdist(built.sdist)
    with step("a wheel built from the sdist is the same file"):
        again = build_wheel(built.sdist, folder / "from-sdist")
        require(digest(again) == digest(built.wheel), "the wheel from the sdist differs")
    with step("a second build from a copy of the tree, without git, gives the same files"):
        copy_tree(folder / "copy")
        second = build(folder / "copy", folder / "second")
        same = (digest(second.sdist), digest(second.wheel))
        require(same == (digest(built.sdist), digest(built.wheel)), "the second build differs")
    return built


def _install(wheel: Path, folder: Path) -> None:
    empty = folder / "empty"
    empty.mkdir()
    with step("install the locked versions by their hashes, and the wheel"):
        install_locked(wheel, folder / "locked")
    installed = Installed(folder / "locked", empty)
    with step("parley --version"):
        check_version(installed.parley("--version"), wheel)
    with step("parley init --help"):
        installed.parley("init", "--help")
    with step("parley check-config accepts parley example-config"):
        installed.check_example()
    with step("parley demo --once"):
        installed.parley("demo", "--once")
    with step("the pages of parley demo, with all their files"):
        installed.check_pages()
    with step("the empty folder is still empty, the installation unchanged"):
        installed.check_files()
    with step("uvx --from WHEEL parley --version"):
        check_version(version_by_uvx(wheel, empty), wheel)
    with step("pipx install WHEEL; parley --version"):
        (folder / "pipx").mkdir()
        check_version(version_by_pipx(wheel, folder / "pipx"), wheel)
    with step("install the wheel with the extra testing, as an author of an adapter does"):
        author = Author(wheel, folder / "author")
    with step("the tests of the example adapter, outside this tree"):
        passed = author.test_example(*ADAPTER)
    sys.stdout.write(f"  {passed} passed\n")
    with step("the tests of the example memory backend, outside this tree; check-config with it"):
        passed = author.test_example(*MEMORY_BACKEND)
        author.check_memory_backend()
    sys.stdout.write(f"  {passed} passed\n")
    with step("parley new-adapter; the tests that it writes"):
        passed = author.test_new_adapter()
    sys.stdout.write(f"  {passed} passed\n")


if __name__ == "__main__":
    sys.exit(main())
