"""The program `parley`: its commands, from their table `commands.txt`, the pages of `--help`, and
the meaning of its exit status. A command's module is imported when the command runs, so that
`--help` is quick.

0  success
1  a failure, or a check that found something broken
2  a mistake in the command line
3  a configuration that cannot be used
"""

import functools
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from parley.cli.terminal import escaped
from parley.python_environment import (
    DISTRIBUTION,
    conflicting_distributions,
    misplaced_package,
    warn_of_conflicts,
)

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter
CHECK_STORES: Final = "`parley doctor` checks the stores, and names the next step."


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
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
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


class LazyCommand(TyperCommand):
    """A command that imports its function when it is called."""

    def __init__(self, command: CommandEntry) -> None:
        name = command.name.rpartition(" ")[2]
        super().__init__(name=name, help=command.help, epilog=command.epilog, rich_markup_mode=None)
        self._function = command.function

    def load(self) -> TyperCommand:
        """The command with its options."""
        module, _, name = self._function.partition(":")
        function = getattr(import_module(f"parley.cli.{module}"), name)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(self.name, help=self.help, epilog=self.epilog)(_with_exit_status(function))
        command = typer.main.get_command(single)
        assert isinstance(command, TyperCommand)  # noqa: S101 - one command makes no group
        return command

    def make_context(self, *args: Any, **options: Any) -> Any:
        """The context of the loaded command, which then runs instead of this one."""
        try:
            return self.load().make_context(*args, **options)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")  # of pydantic, in typer
            raise


def _with_exit_status(function: Callable[..., int]) -> Callable[..., None]:
    @functools.wraps(function)
    def command(*args: Any, **options: Any) -> None:
        raise typer.Exit(function(*args, **options))

    return command


def _print_version(given: bool) -> None:
    if given:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and for one option only

        sys.stdout.write(f"parley {version(DISTRIBUTION)}\n")
        raise typer.Exit


def _program() -> TyperGroup:
    top = typer.Typer(
        name="parley",
        help="One assistant on Discord, Slack, Telegram and WhatsApp.",
        epilog="`parley COMMAND --help` explains a command, with an example.",
        cls=SectionedGroup,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
    )

    @top.callback()
    def options(
        _version: Annotated[
            bool,
            typer.Option(
                "--version", is_eager=True, callback=_print_version, help="Show the version."
            ),
        ] = False,
    ) -> None: ...

    program = typer.main.get_group(top)
    for command in COMMANDS:
        group, _, _ = command.name.rpartition(" ")
        parent = program.commands[group] if group else program
        assert isinstance(parent, TyperGroup)  # noqa: S101 - the table names a group before its own
        parent.add_command(LazyCommand(command) if command.function else _group(command))
    return program


def _group(command: CommandEntry) -> TyperGroup:
    return TyperGroup(
        name=command.name,
        help=command.help,
        epilog=command.epilog,
        no_args_is_help=True,
        rich_markup_mode=None,
    )


app: Final = _program()


def main() -> None:
    """Run the command line. An error of Parley is one message without a traceback."""
    if problem := misplaced_package():
        sys.stderr.write(f"{problem}\n")
        sys.exit(1)
    try:
        _run()
    except ImportError as error:
        if not conflicting_distributions():
            raise
        sys.stderr.write(f"{error}.\n")
        warn_of_conflicts()
        sys.exit(1)


def _run() -> None:
    from db.errors import StoreUnavailable  # noqa: PLC0415 - loaded only where it is needed
    from gateway.errors import LibraryMissing, ParleyError  # noqa: PLC0415 - loaded only where it is needed
    from gateway.ports.error_codes import exit_status_of  # noqa: PLC0415 - loaded only where it is needed

    try:
        app(prog_name="parley")
    except LibraryMissing as error:
        from parley.python_environment import explained  # noqa: PLC0415 - loaded only where it is needed

        sys.stderr.write(f"{explained(error)}\n")
        sys.exit(exit_status_of(error))
    except (ParleyError, StoreUnavailable) as error:
        sys.stderr.write(escaped(f"{error}\n"))
        if isinstance(error, StoreUnavailable) and error.store:
            sys.stderr.write(f"{CHECK_STORES}\n")
        sys.exit(exit_status_of(error))
    except KeyboardInterrupt:
        sys.exit(130)
