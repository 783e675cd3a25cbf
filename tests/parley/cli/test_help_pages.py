"""`--help`: the commands by section, and an example of each that the command accepts."""

import shlex
from pathlib import Path

from parley.cli.help_pages import EXAMPLES, SECTIONS
from parley.cli.main import COMMANDS, GROUPS, LazyCommand, app
from tests.parley.cli.kit import parley
from tests.support.for_each import for_each

NAMES = {
    *COMMANDS,
    *GROUPS,
    *(f"{group} {name}" for group, (_, commands) in GROUPS.items() for name in commands),
}


def test_every_command_is_in_one_section_and_has_an_example() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted({*COMMANDS, *GROUPS})
    assert set(EXAMPLES) == NAMES


def test_every_line_is_one_sentence() -> None:
    lines = [text for _, text in COMMANDS.values()]
    for text, commands in GROUPS.values():
        lines += [text, *(line for _, line in commands.values())]
    assert [line for line in lines if not (line[0].isupper() and line.endswith("."))] == []


@for_each("name", sorted(EXAMPLES))
def test_an_example_is_a_valid_command_line(name: str) -> None:
    program, *words = shlex.split(EXAMPLES[name])
    assert program == "parley"
    if name not in GROUPS:
        assert " ".join(words).startswith(name)
    command = app.get_command(None, words.pop(0))  # type: ignore[arg-type]  # it reads no context
    if words and not isinstance(command, LazyCommand):
        assert command is not None
        command = command.get_command(None, words.pop(0))  # type: ignore[attr-defined]
    assert isinstance(command, LazyCommand)
    context = command.make_context(name, words)
    assert context.command.epilog is not None, "the help shows the example"


async def test_the_help_has_sections_and_no_line_is_shortened(tmp_path: Path) -> None:
    ended = await parley("--help", cwd=tmp_path, env={"COLUMNS": "60"})
    titles = [line[:-1] for line in ended.out.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == ["Options", *SECTIONS]
    text = " ".join(ended.out.split())
    assert [line for _, line in COMMANDS.values() if line not in text] == []


async def test_the_help_of_a_command_shows_an_example(tmp_path: Path) -> None:
    ended = await parley("outbox", "resend", "--help", cwd=tmp_path)
    assert ended.out.endswith("  Example:\n    parley outbox resend --all\n")
    group = await parley("outbox", "--help", cwd=tmp_path)
    assert group.out.endswith("  Example:\n    parley outbox list\n")
