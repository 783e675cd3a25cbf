"""`parley memory …`: what is remembered of a person; whoever sits at the machine acts for them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from parley.cli.options import AsJson, Config, chosen

if TYPE_CHECKING:
    from parley.cli.memory_access import PersonOptions

commands = typer.Typer(help="What is remembered of a person.", no_args_is_help=True)

Person = Annotated[
    str,
    typer.Option("--person", metavar="PLATFORM:ACCOUNT:ID", help="As `memory people` shows them."),
]
Limit = Annotated[int, typer.Option(min=1, max=1_000, help="At most so many.")]
Superseded = Annotated[
    bool, typer.Option("--superseded", help="Also what was replaced by something newer.")
]
Yes = Annotated[
    int, typer.Option("--yes", "-y", count=True, help="Ask nothing; twice where it asks twice.")
]
KeyFile = Annotated[
    Path | None, typer.Option("--key-file", help="The file that holds the key of a sealed file.")
]


@commands.command()
def people(
    tenant: Annotated[
        str, typer.Option(help="Of this tenant only, where one program serves several.")
    ] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List of whom something is remembered, and how much; never what."""
    from parley.cli import memory_actions as memory_deeds  # noqa: PLC0415 - start-up stays short

    raise typer.Exit(memory_deeds.known(chosen(config), os.environ, tenant, as_json=as_json))


@commands.command("list")
def list_(
    person: Person = "",
    limit: Limit = 50,
    superseded: Superseded = False,
    tier: Annotated[
        Literal["working", "episodic", "semantic"] | None,
        typer.Option("--tier", help="Of this tier only; working: conversations going on."),
    ] = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest memories."""
    from parley.cli import memory_actions as memory_deeds  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_deeds.newest(wanted, limit, tier, superseded=superseded))


@commands.command()
def search(
    query: Annotated[str, typer.Argument(help="A question, or words.")],
    person: Person = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 20,
    superseded: Superseded = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what fits, best first: by words, and by meaning where there is a model."""
    from parley.cli import memory_actions as memory_deeds  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_deeds.found(wanted, query, limit, superseded=superseded))


@commands.command()
def clear(
    what: Annotated[Literal["episodic", "semantic", "all"], typer.Argument(help="Which ones.")],
    person: Person = "",
    yes: Yes = 0,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Delete what was said (episodic), what is known (semantic), or both."""
    from parley.cli import memory_actions as memory_deeds  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_deeds.clear(wanted, what, yes))


@commands.command()
def forget(
    topic: Annotated[str, typer.Argument(help="A topic, or the id of a memory.")],
    person: Person = "",
    yes: Yes = 0,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Delete what is about a topic."""
    from parley.cli import memory_actions as memory_deeds  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_deeds.forget(wanted, topic, yes))


@commands.command()
def export(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    person: Person = "",
    form: Annotated[
        Literal["jsonl", "parquet"], typer.Option("--format", help="The file's format.")
    ] = "jsonl",
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="Seal it with a key of your own.")
    ] = False,
    key_file: KeyFile = None,
    embeddings: Annotated[
        bool, typer.Option("--with-embeddings", help="With the vectors, where there are any.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an older file.")] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Write all memories of a person into a file."""
    from parley.cli import memory_files  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(
        memory_files.export_memories(
            wanted,
            file,
            form,
            sealed=encrypt,
            key_file=key_file,
            embeddings=embeddings,
            force=force,
        )
    )


@commands.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A file that `memory export` wrote.")],
    person: Person = "",
    key_file: KeyFile = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Bring memories in, each as if the person had asked for it."""
    from parley.cli import memory_files  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_files.import_memories(wanted, file, key_file))


@commands.command()
def review(
    person: Person = "",
    approve: Annotated[
        list[str] | None, typer.Option("--approve", metavar="ID", help="Keep this one.")
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Do not keep this one.")
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Show what was decided, without its text.")
    ] = False,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Decide what waits for the person's word."""
    from parley.cli import memory_review  # noqa: PLC0415

    wanted = whose(person, config, as_json)
    if history:
        raise typer.Exit(memory_review.history(wanted))
    raise typer.Exit(memory_review.review(wanted, approve or (), reject or ()))


@commands.command()
def validate(
    text: Annotated[str, typer.Argument(help="What would be remembered.")],
    person: Person = "",
    memory_type: Annotated[
        str, typer.Option("--type", help="preference, fact, instruction, correction, decision …")
    ] = "fact",
    source: Annotated[
        str,
        typer.Option(
            help="Where it comes from: user, manual, ai_synthesis, documentation, file, others, "
            "tool_output, web."
        ),
    ] = "ai_synthesis",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what would become of a text, and why; nothing is stored. Exit status 1
    unless it would be stored at once."""
    from parley.cli import memory_validate  # noqa: PLC0415 - start-up stays short

    wanted = whose(person, config, as_json)
    raise typer.Exit(memory_validate.run(wanted, text, memory_type, source))


def whose(person: str, config: Path | None, as_json: bool) -> "PersonOptions":
    """What every command is told. Raises `typer.BadParameter` where nobody is named."""
    from parley.cli.memory_access import PersonOptions  # noqa: PLC0415

    if person.count(":") < 2:
        told = "PLATFORM:ACCOUNT:ID has to be said, as `parley memory people` shows them"
        raise typer.BadParameter(told, param_hint="--person")
    return PersonOptions(person, chosen(config), os.environ, as_json)
