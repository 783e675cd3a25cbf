"""`--help`: the commands by section, and an example of each that the command accepts."""

import shlex
from pathlib import Path

from parley.cli.main import COMMANDS, CommandEntry, LazyCommand, app
from tests.parley.cli.kit import parley
from tests.support.for_each import for_each

SECTIONS = list(dict.fromkeys(one.section for one in COMMANDS))


def test_every_command_has_a_name_of_its_own_a_section_and_an_example() -> None:
    assert len({one.name for one in COMMANDS}) == len(COMMANDS)
    assert [one for one in COMMANDS if not (one.section and one.help and one.example)] == []


def test_every_line_is_one_sentence() -> None:
    lines = [one.help for one in COMMANDS]
    assert [line for line in lines if not (line[0].isupper() and line.endswith("."))] == []


@for_each("named", COMMANDS)
def test_an_example_is_a_valid_command_line(named: CommandEntry) -> None:
    program, *words = shlex.split(named.example)
    assert program == "parley"
    if named.function:
        assert " ".join(words).startswith(named.name)
    command = app.get_command(None, words.pop(0))  # type: ignore[arg-type]  # it reads no context
    if words and not isinstance(command, LazyCommand):
        assert command is not None
        command = command.get_command(None, words.pop(0))  # type: ignore[attr-defined]
    assert isinstance(command, LazyCommand)
    context = command.make_context(named.name, words)
    assert context.command.epilog is not None, "the help shows the example"


async def test_the_help_has_sections_and_no_line_is_shortened(tmp_path: Path) -> None:
    ended = await parley("--help", cwd=tmp_path, env={"COLUMNS": "60"})
    titles = [line[:-1] for line in ended.out.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == ["Options", *SECTIONS]
    text = " ".join(ended.out.split())
    assert [one for one in COMMANDS if " " not in one.name and one.help not in text] == []


async def test_the_help_of_a_command_shows_an_example(tmp_path: Path) -> None:
    ended = await parley("outbox", "resend", "--help", cwd=tmp_path)
    assert ended.out.endswith("  Example:\n    parley outbox resend --all\n")
    group = await parley("outbox", "--help", cwd=tmp_path)
    assert group.out.endswith("  Example:\n    parley outbox list\n")
