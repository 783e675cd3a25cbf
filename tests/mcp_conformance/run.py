"""Runs the official conformance suite against the program and prints a table of the results.

    python -m tests.mcp_conformance.run [FOLDER]

FOLDER receives the suite's own files. The exit status is 1 if a result is not the expected one.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mcp_conformance.suite import REVISIONS, Scenario, Suite, installed_suite, run_suite
from tests.mcp_conformance.target import target
from tests.parley.http.api.kit import running, settings_in

NO_SESSION: Final = "the servers keep no sessions"
NO_QUESTIONS: Final = "without a session a server cannot ask a client of this revision"
WITHOUT_FIXTURES: Final = frozenset(
    (
        "caching",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "ping",
        "prompts-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "server-initialize",
        "server-sse-multiple-streams",
        "tools-list",
    )
)
"""The scenarios that need no tool, resource or prompt of the suite."""
ASKS: Final = (
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "tools-call-elicitation",
    "tools-call-sampling",
)


@dataclass(frozen=True, slots=True)
class Target:
    """The servers under test: the fixtures, with or without sessions, or the program's own."""

    title: str
    fixtures: bool
    sessions: bool

    def causes(self, revision: str) -> Mapping[str, str]:
        """The scenarios that cannot pass, with the cause."""
        if self.sessions or revision != "2025-11-25":
            return {}
        streams = {"server-sse-multiple-streams": NO_SESSION}
        return streams if not self.fixtures else {**streams, **dict.fromkeys(ASKS, NO_QUESTIONS)}


TARGETS: Final = (
    Target("The suite's fixtures, with sessions", fixtures=True, sessions=True),
    Target("The suite's fixtures, as the program serves", fixtures=True, sessions=False),
    Target("The program's own servers", fixtures=False, sessions=False),
)


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one target at one revision; `required` are the scenarios of the revision."""

    target: Target
    revision: str
    required: frozenset[str]
    scenarios: tuple[Scenario, ...]

    def unexpected(self) -> list[Scenario]:
        """The required scenarios that neither passed nor have a known cause, and those that passed
        in spite of one."""
        causes = self.target.causes(self.revision)
        return [one for one in self.measured() if (one.outcome == "passed") == (one.name in causes)]

    def measured(self) -> list[Scenario]:
        """The required scenarios; for the program's own servers those that need no fixtures."""
        names = self.required if self.target.fixtures else WITHOUT_FIXTURES
        return [one for one in self.scenarios if one.name in names]

    def lines(self) -> list[str]:
        """The table of this run."""
        causes = self.target.causes(self.revision)
        measured = self.measured()
        passed = sum(one.outcome == "passed" for one in measured)
        lines = [f"\n{self.target.title}, {self.revision}: {passed} of {len(measured)} passed"]
        for one in measured:
            cause = f"  ({causes[one.name]})" if one.name in causes else ""
            lines.append(f"  {one.outcome:8} {one.passed:3} checks  {one.name}{cause}")
            if one.outcome != "passed" and not cause:
                lines += [f"             {reason}" for reason in one.reasons]
        others = [one for one in self.scenarios if one.name not in self.required]
        if self.target.fixtures and others:
            lines.append("  not required by the revision:")
            lines += [f"    {one.outcome:8} {one.name}" for one in others]
        return lines


async def all_runs(suite: Suite, folder: Path) -> list[Run]:
    """Run the suite against every target at every revision."""
    runs: list[Run] = []
    home = folder / "program"
    home.mkdir(parents=True, exist_ok=True)
    async with running(settings_in(home)) as program:
        for number, each in enumerate(TARGETS):
            async with target(program, fixtures=each.fixtures, sessions=each.sessions) as url:
                for revision in REVISIONS:
                    results = await run_suite(suite, url, revision, folder / f"{number}-{revision}")
                    runs.append(Run(each, revision, suite.required(revision), tuple(results)))
    return runs


def main() -> int:
    """Run everything and print the table."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        runs = asyncio.run(all_runs(installed_suite(), folder))
    for one in runs:
        sys.stdout.write("\n".join((*one.lines(), "")))
    unexpected = [scenario for one in runs for scenario in one.unexpected()]
    sys.stdout.write(f"\n{len(unexpected)} results are not as expected.\n")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
