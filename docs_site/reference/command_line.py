"""The reference of the command line, made from the program's own commands."""

from collections.abc import Iterator
from typing import Final

from typer.core import TyperCommand, TyperGroup

from docs_site.reference.tables import code, table
from docs_site.slugs import slug
from parley.cli.main import LazyCommand, app

_HEAD: Final = """\
# Command line

`parley --help` lists the commands; `--help` after a command lists its options. Exit status:
0 success, 1 a failure or a problem that was found, 2 a wrong command line, 3 a refused
configuration.
"""


def command_line() -> str:
    """The page as Markdown."""
    commands = list(_commands(("parley",), app))
    rows = [(f"[`{name}`](#{slug(name)})", _help(command)) for name, command in commands]
    lines = [_HEAD, *table(("Command", "Purpose"), rows)]
    for name, command in commands:
        lines += ["", f"## `{name}`", "", *_section(name, command)]
    return "\n".join(lines) + "\n"


def _commands(path: tuple[str, ...], group: TyperGroup) -> Iterator[tuple[str, TyperCommand]]:
    for name, below in group.commands.items():
        if isinstance(below, TyperGroup):
            yield from _commands((*path, name), below)
        elif isinstance(below, LazyCommand):
            yield " ".join((*path, name)), below.load()


def _help(command: TyperCommand) -> str:
    return " ".join((command.help or "").split())


def _section(name: str, command: TyperCommand) -> Iterator[str]:
    context = command.context_class(command, info_name=name)
    yield _help(command)
    yield ""
    yield "```text"
    yield " ".join([name, *command.collect_usage_pieces(context)])
    yield "```"
    for title, kind in (("Argument", "argument"), ("Option", "option")):
        records = [
            each.get_help_record(context) for each in command.params if each.param_type_name == kind
        ]
        rows = [(code(name), meaning) for name, meaning in filter(None, records)]
        if rows:
            yield ""
            yield from table((title, "Meaning"), rows)
