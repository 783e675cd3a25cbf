"""The pages of `--help`: the sections of the commands, and an example of each command."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Start": (
        "demo",
        "init",
        "example-config",
        "check-config",
        "doctor",
        "run",
        "page",
        "keys",
        "manifest",
    ),
    "Watch": ("status", "why", "logs", "context", "outbox", "quarantine"),
    "Access, people and money": ("access", "console", "config", "token", "usage", "audit"),
    "Memory": ("memory", "agents", "pools", "handoffs", "recall", "sync", "models", "mcp"),
    "Repositories": ("knowledge", "skills"),
    "Data": ("backup", "restore"),
    "Tools": ("render", "new-adapter"),
}
"""The top-level commands by section, in the order of `parley --help`."""
OTHER: Final = "Other"
"""The section of a command that `SECTIONS` does not name."""
EXAMPLES: Final[Mapping[str, str]] = {
    "run": "parley run --config config/parley.yaml",
    "demo": "parley demo --once",
    "init": "parley init",
    "page": "parley page",
    "keys": "parley keys --postgres",
    "example-config": "parley example-config",
    "doctor": "parley doctor",
    "check-config": "parley check-config --config config/parley.yaml",
    "why": "parley why --last --person telegram:main:42",
    "status": "parley status --json",
    "logs": "parley logs --last --chat slack:main:C0123",
    "context": "parley context 4711",
    "recall": 'parley recall --person telegram:main:42 "When is the release?"',
    "sync": "parley sync slack:main:T0123",
    "token": "parley token telegram:main:42 --days 30",
    "mcp": "parley mcp config --client claude-code",
    "backup": "parley backup parley-backup.db",
    "restore": "parley restore parley-backup.db",
    "render": "parley render --platform slack answer.md",
    "new-adapter": "parley new-adapter matrix",
    "manifest": "parley manifest slack --name Ada",
    "usage": "parley usage --days 7",
    "access": "parley access list",
    "access list": "parley access list",
    "access approve": "parley access approve ACD-FGH-JKM",
    "access reject": "parley access reject ACD-FGH-JKM",
    "access revoke": "parley access revoke telegram:main:42",
    "access owner-code": "parley access owner-code",
    "config": "parley config list",
    "config list": "parley config list",
    "config undo": "parley config undo",
    "config reset": "parley config reset",
    "config export": "parley config export --config config/parley.yaml",
    "console": "parley console link --operator",
    "console link": "parley console link telegram:main:42",
    "outbox": "parley outbox list",
    "outbox list": "parley outbox list --limit 20",
    "outbox resend": "parley outbox resend --all",
    "outbox drop": "parley outbox drop 5f0c6a1d2b9e7a34:0",
    "quarantine": "parley quarantine list",
    "quarantine list": "parley quarantine list --limit 20",
    "quarantine show": "parley quarantine show waiting_turn:5f0c6a1d2b9e7a34",
    "quarantine retry": "parley quarantine retry waiting_turn:5f0c6a1d2b9e7a34",
    "quarantine discard": "parley quarantine discard waiting_turn:5f0c6a1d2b9e7a34",
    "memory": "parley memory people",
    "memory people": "parley memory people --json",
    "memory list": "parley memory list --person telegram:main:42",
    "memory search": "parley memory search --person telegram:main:42 release",
    "memory clear": "parley memory clear episodic --person telegram:main:42",
    "memory forget": "parley memory forget --person telegram:main:42 release",
    "memory export": "parley memory export --person telegram:main:42 memories.jsonl",
    "memory import": "parley memory import --person telegram:main:42 memories.jsonl",
    "memory review": "parley memory review --person telegram:main:42",
    "memory validate": 'parley memory validate --person telegram:main:42 "I prefer tea."',
    "agents": "parley agents list",
    "agents list": "parley agents list --person telegram:main:42",
    "agents show": "parley agents show 5f0c6a1d",
    "agents register": "parley agents register telegram:main:42 --name laptop",
    "agents unregister": "parley agents unregister 5f0c6a1d",
    "agents take-back": "parley agents take-back 5f0c6a1d --since 2026-11-23",
    "pools": "parley pools list",
    "pools list": "parley pools list --json",
    "pools show": "parley pools show 9a7e3b21",
    "pools delete": "parley pools delete 9a7e3b21",
    "handoffs": "parley handoffs cleanup",
    "handoffs cleanup": "parley handoffs cleanup --older-than 2",
    "knowledge": "parley knowledge status",
    "knowledge init": "parley knowledge init ~/code/shop --project slack:main:T0123",
    "knowledge ingest": "parley knowledge ingest shop",
    "knowledge status": "parley knowledge status --json",
    "knowledge search": 'parley knowledge search "why do we use a broker" --kind decision',
    "knowledge forget": "parley knowledge forget shop",
    "knowledge hooks": "parley knowledge hooks install ~/code/shop",
    "knowledge bind": "parley knowledge bind telegram:main::-1001 slack:main:T0123",
    "knowledge unbind": "parley knowledge unbind telegram:main::-1001",
    "knowledge bindings": "parley knowledge bindings",
    "skills": "parley skills install ~/code/shop",
    "skills install": "parley skills install ~/code/shop",
    "skills status": "parley skills status ~/code/shop",
    "skills remove": "parley skills remove ~/code/shop",
    "audit": "parley audit verify",
    "audit verify": "parley audit verify --from 1000",
    "audit show": "parley audit show --limit 20",
    "models": "parley models list",
    "models list": "parley models list",
    "models pull": "parley models pull",
}
"""A complete command line for each command and group."""


def example_of(name: str) -> str | None:
    """The last lines of a command's help, None without an example; `name` includes the group's."""
    example = EXAMPLES.get(name)
    return None if example is None else f"\b\nExample:\n  {example}"


class SectionedGroup(TyperGroup):
    """A group whose help lists its commands by section. A line is never shortened."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the sections; a command without one is in `OTHER`."""
        listed = {name for names in SECTIONS.values() for name in names}
        rest = tuple(name for name in self.commands if name not in listed)
        width = max(map(len, self.commands), default=0)
        for title, names in {**SECTIONS, OTHER: rest}.items():
            commands = [(name, self.commands[name]) for name in names if name in self.commands]
            if commands:
                with formatter.section(title):
                    formatter.write_dl(
                        [(name.ljust(width), command.help or "") for name, command in commands]
                    )
