"""The commands of `parley`, from their table `commands.txt`, and the pages of `--help`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from typer.core import TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter


class CommandEntry(NamedTuple):
    """A command, or a group of commands, whose `function` is empty. `name` includes the group's;
    `function` is "module:function" in this package, and `example` a complete command line."""

    section: str
    name: str
    function: str
    help: str
    example: str

    @property
    def epilog(self) -> str:
        """The last lines of its help."""
        return f"\b\nExample:\n  {self.example}"


def _table() -> Iterator[CommandEntry]:
    section = ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            yield CommandEntry(section, *(cell.strip() for cell in line.split("|")))


COMMANDS: Final = tuple(_table())


class SectionedGroup(TyperGroup):
    """A group whose help lists its commands by section. A line is never shortened."""

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the sections."""
        listed = [one for one in COMMANDS if one.name in self.commands]
        width = max(map(len, self.commands), default=0)
        for title in dict.fromkeys(one.section for one in listed):
            with formatter.section(title):
                formatter.write_dl(
                    [(one.name.ljust(width), one.help) for one in listed if one.section == title]
                )
