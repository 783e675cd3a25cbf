"""The command line of the MCP Inspector, an MCP client that nobody here wrote.

It is the npm package `@modelcontextprotocol/inspector`, and it needs Node.js 22 or newer.
`MCP_INSPECTOR` names a folder in which both were installed before, as `suite.py` describes.
"""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.mcp_conformance.suite import INSPECTOR, installed

SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Inspected:
    """The end of one call: its exit status, its output as JSON (None for another text), and its
    messages."""

    status: int
    found: Any
    told: str


@dataclass(frozen=True, slots=True)
class Inspector:
    """The installed program, for one server with a person's token."""

    node: Path
    script: Path
    home: Path
    url: str
    token: str

    async def __call__(self, method: str, *options: str) -> Inspected:
        """Invoke a method."""
        process = await asyncio.create_subprocess_exec(
            str(self.node),
            str(self.script),
            *("--cli", self.url, "--transport", "http", "--method", method),
            *("--header", f"Authorization: Bearer {self.token}"),
            *options,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_COLOR": "1"},
        )
        async with asyncio.timeout(SECONDS):
            out, told = await process.communicate()
        assert process.returncode is not None
        try:
            found = json.loads(out)
        except ValueError:
            found = None
        return Inspected(process.returncode, found, told.decode() or out.decode())


def installed_inspector(home: Path, url: str, token: str) -> Inspector:
    """Return the inspector, and install it first where it is missing. Raises `SuiteMissing`."""
    node, inside = installed(INSPECTOR)
    script = inside / "clients" / "launcher" / "build" / "index.js"
    return Inspector(node, script, home, url, token)
