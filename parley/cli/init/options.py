"""The options of `parley init`."""

from pathlib import Path
from typing import Annotated

import typer

from parley.cli.chosen_configuration import DEFAULT_CONFIG

Config = Annotated[
    Path | None,
    typer.Option("--config", "-c", help=f"The file to write. Default: {DEFAULT_CONFIG}."),
]
Platforms = Annotated[
    list[str] | None,
    typer.Option("--platform", help="A platform to connect, such as web; can be repeated."),
]
Provider = Annotated[
    str,
    typer.Option(help="One of anthropic, openai, openrouter, ollama, vllm, other, offline."),
]
ModelName = Annotated[str, typer.Option("--model", help="The model's name.")]
BaseUrl = Annotated[str, typer.Option(help="The address of the model's server.")]
Who = Annotated[str, typer.Option(help="Who may write: me, approved, or everybody.")]
Budget = Annotated[str, typer.Option(help="Budget in dollars a month, or none.")]
MemoryOn = Annotated[
    bool | None, typer.Option("--memory/--no-memory", help="Switch memory on or off.")
]
AssistantName = Annotated[str, typer.Option(help="The assistant's name.")]
Persona = Annotated[str | None, typer.Option(help="The assistant's purpose and tone.")]
Assigned = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set any other key; can be repeated."),
]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask; credentials come from the environment."),
]
SecretsStdin = Annotated[
    bool,
    typer.Option("--secrets-stdin", help="With --yes: read lines NAME=value from standard input."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Begin without the values of the existing file.")
]
Check = Annotated[
    bool, typer.Option("--check/--no-check", help="Check credentials at their services.")
]
RunNow = Annotated[
    bool | None,
    typer.Option("--start/--no-start", help="Start the assistant at the end, or do not."),
]
