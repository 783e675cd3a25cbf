"""Build the documentation site: `python -m docs_site`, or `make docs`.

`DOCS_SOURCE_URL` is the address under which a browser shows the files of the repository, for
example https://forge.example.org/group/parley/blob/main; without it the site contains the text of
the files that its pages link to. `DOCS_SITE_URL` is the address at which the site is published;
without it the pages name no canonical address.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from docs_site.check import problems
from docs_site.diagrams import Drawer, merman
from docs_site.staging import DeadLink, Stage
from docs_site.structure import differences

ROOT: Final = Path(__file__).parents[1]
OWN: Final = Path(__file__).parent
BUILD: Final = ROOT / "build" / "docs"
LIMIT: Final = 120
"""Seconds after which the generator is stopped."""
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def build(site: Path) -> list[str]:
    """Build the site into a folder below `BUILD`; return what is wrong with it."""
    draw = merman()
    if draw is None:
        sys.stderr.write("merman has no wheel for this system: diagrams stay text.\n")
    sources = os.environ.get("DOCS_SOURCE_URL", "").rstrip("/")
    Stage(ROOT, BUILD / "pages", Drawer(draw), sources).write()
    style = BUILD / "pages" / "stylesheets" / "site.css"
    style.parent.mkdir()
    style.write_bytes((OWN / "site.css").read_bytes())
    (BUILD / "mkdocs.yml").write_text(settings(os.environ.get("DOCS_SITE_URL", "")), "utf-8")
    shutil.rmtree(site, ignore_errors=True)
    problem = generate()
    if problem:
        return [problem]
    return [*problems(site), *differences(BUILD / "pages", site)]


def settings(site_url: str) -> str:
    """The settings of the generator, with the address of the site if there is one."""
    text = (OWN / "mkdocs.yml").read_text("utf-8")
    return f"{text}\nsite_url: {json.dumps(site_url)}\n" if site_url else text


def generate() -> str:
    """Run the generator; return its warnings, empty if there are none."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    ended = subprocess.run(  # noqa: S603 - a fixed command, without text from outside
        [*command, "-f", "mkdocs.yml"],
        cwd=BUILD,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    output = _COLOUR.sub("", ended.stdout + ended.stderr).strip()
    return output.partition("Traceback")[0] if ended.returncode or "Warning" in output else ""


def main() -> int:
    """Build and check the site; 1 if something is wrong with it."""
    site = BUILD / "site"
    try:
        wrong = build(site)
    except DeadLink as dead:
        wrong = [str(dead)]
    if wrong:
        sys.stderr.write("\n".join([*wrong, f"{len(wrong)} problem(s) in the documentation.\n"]))
        return 1
    folder = site.relative_to(ROOT)
    sys.stdout.write(
        f"The site is in {folder}. To read it, for example: "
        f"python3 -m http.server --bind 127.0.0.1 --directory {folder}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
