"""The program `parley`: what can be typed, and what its exit status says. Each command imports what
it needs only when it is called: `--help` stays quick.

0  everything is as it should be
1  something failed, or a check found something broken
2  the command line was wrong
3  the configuration is refused
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from parley.cli import audit, memory, models, outbox, quarantine
from parley.cli.options import DEFAULT_CONFIG, AsJson, Config, chosen
from parley.runtime.roles import Role

REFUSED: Final = 3
MAX_DAYS: Final = 365

app = typer.Typer(
    name="parley",
    help="One assistant on Discord, Slack, Telegram and WhatsApp.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415

        sys.stdout.write(f"parley {version('parley')}\n")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_version, help="Print which one it is."),
    ] = False,
) -> None:
    """What stands before a command."""


@app.command()
def run(
    config: Config = None,
    role: Annotated[
        Role, typer.Option(help="What this process does, where several share a storage.url.")
    ] = "all",
    platform: Annotated[
        str, typer.Option(help="With --role adapter: connect to this platform only.")
    ] = "",
) -> None:
    """Connect every platform and answer, until SIGTERM."""
    if platform and role != "adapter":
        raise typer.BadParameter("belongs to --role adapter", param_hint="--platform")
    from parley.cli import start  # noqa: PLC0415

    raise typer.Exit(start.start(chosen(config), os.environ, role, platform))


@app.command()
def init(
    config: Annotated[
        Path, typer.Option("--config", "-c", help="The file to write.")
    ] = DEFAULT_CONFIG,
    platform: Annotated[
        list[str] | None, typer.Option("--platform", help="Set up this one; can be repeated.")
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A further value; can be repeated."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Ask nothing; credentials from the environment.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Try each credential on its platform.")
    ] = True,
) -> None:
    """Write a configuration, platform by platform."""
    from parley.cli import wizard  # noqa: PLC0415

    wishes = wizard.InitOptions(
        config, tuple(platform or ()), tuple(assign or ()), yes, force, check
    )
    raise typer.Exit(wizard.run(wishes, os.environ))


@app.command()
def doctor(config: Config = None) -> None:
    """Check everything Parley needs, with advice."""
    from parley.cli import doctor as doctor_module  # noqa: PLC0415

    raise typer.Exit(doctor_module.run(chosen(config), os.environ))


@app.command("check-config")
def check_config(config: Config = None) -> None:
    """Load the configuration; contact nobody."""
    from parley.cli import check  # noqa: PLC0415

    raise typer.Exit(check.run(chosen(config), os.environ))


@app.command()
def why(
    message_id: Annotated[str, typer.Argument(help="The platform's id of the message.")],
    config: Config = None,
) -> None:
    """Show what was decided about a message, and why."""
    from parley.cli import why as why_module  # noqa: PLC0415

    raise typer.Exit(why_module.run(message_id, chosen(config), os.environ))


@app.command()
def context(
    message_id: Annotated[str, typer.Argument(help="The platform's id of the message.")],
    config: Config = None,
) -> None:
    """Show how full the blocks of a prompt were."""
    from parley.cli import context as context_module  # noqa: PLC0415

    raise typer.Exit(context_module.run(message_id, chosen(config), os.environ))


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="A question, or words.")],
    person: memory.Person = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 20,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what a question brings up, arm by arm."""
    from parley.cli import recall as recall_module  # noqa: PLC0415

    raise typer.Exit(recall_module.run(memory.whose(person, config, as_json), query, limit))


@app.command()
def sync(
    project: Annotated[str, typer.Argument(help="As under heartbeat.sources: slack:main:T0123.")],
    config: Config = None,
) -> None:
    """Fetch a project's figures now and print its HEARTBEAT."""
    from parley.cli import sync as sync_module  # noqa: PLC0415

    raise typer.Exit(sync_module.run(project, chosen(config), os.environ))


app.add_typer(outbox.commands, name="outbox")
app.add_typer(quarantine.commands, name="quarantine")
app.add_typer(memory.commands, name="memory")
app.add_typer(audit.commands, name="audit")
app.add_typer(models.commands, name="models")


@app.command()
def token(
    person: Annotated[
        str,
        typer.Argument(help="PLATFORM:ACCOUNT:ID, such as telegram:main:123; or list, or revoke."),
    ] = "",
    which: Annotated[str, typer.Argument(metavar="NAME", help="Which one to revoke.")] = "",
    name: Annotated[str, typer.Option(help="What to call it: it is revoked by its name.")] = "",
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="How long it is good for.")] = 30,
    revoke_all: Annotated[
        bool, typer.Option("--revoke-all", help="Make every token worthless instead.")
    ] = False,
    config: Config = None,
) -> None:
    """Print, list or revoke people's tokens for HTTP."""
    if bool(person) == revoke_all:
        raise typer.BadParameter("name a person, or --revoke-all", param_hint="PERSON")
    if bool(which) != (person == "revoke"):
        raise typer.BadParameter("`parley token revoke NAME`", param_hint="NAME")
    from parley.cli import token as token_module  # noqa: PLC0415

    at = chosen(config)
    if revoke_all:
        raise typer.Exit(token_module.revoke_all(at, os.environ))
    if person == "list":
        raise typer.Exit(token_module.show(at, os.environ))
    if person == "revoke":
        raise typer.Exit(token_module.revoke(which, at, os.environ))
    asked = token_module.TokenRequest(person, name, days)
    raise typer.Exit(token_module.run(asked, at, os.environ))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The copy to write.")],
    config: Config = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an older copy.")] = False,
) -> None:
    """Copy the database, also while Parley runs."""
    from parley.cli import backup as backup_module  # noqa: PLC0415

    raise typer.Exit(backup_module.run(file, chosen(config), os.environ, force=force))


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A copy that `parley backup` made.")],
    config: Config = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the present database.")] = False,
) -> None:
    """Put a copy of the database back, while Parley does not run."""
    from parley.cli import backup as backup_module  # noqa: PLC0415

    raise typer.Exit(backup_module.run_restore(file, chosen(config), os.environ, force=force))


@app.command()
def render(
    file: Annotated[str, typer.Argument(help="A Markdown file; - reads standard input.")],
    platform: Annotated[str, typer.Option("--platform", "-p", help="For which platform.")],
) -> None:
    """Print exactly what is sent for a Markdown text."""
    from parley.cli import preview  # noqa: PLC0415

    raise typer.Exit(preview.run(file, platform))


@app.command()
def manifest(
    platform: Annotated[str, typer.Argument(help="Only slack has such a thing.")],
    name: Annotated[str, typer.Option(help="The app's name.")] = "Parley",
    url: Annotated[
        str, typer.Option(help="HTTP mode: the public https address of /webhook/slack.")
    ] = "",
) -> None:
    """Print the app manifest to paste at Slack."""
    if platform != "slack":
        raise typer.BadParameter("only slack has an app manifest", param_hint="PLATFORM")
    from parley.cli import slack_app  # noqa: PLC0415

    raise typer.Exit(slack_app.run(name, url))


@app.command()
def usage(
    person: Annotated[
        str, typer.Option("--person", metavar="PLATFORM:ACCOUNT:ID", help="One person only.")
    ] = "",
    days: Annotated[int, typer.Option(min=1, max=400, help="Of the last days.")] = 30,
    tenant: Annotated[
        str, typer.Option(help="Of this tenant, where one program serves several.")
    ] = "",
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show what answers cost, and what is left of budgets."""
    from parley.cli import usage as usage_shown  # noqa: PLC0415 - start-up stays short

    told = usage_shown.run(chosen(config), os.environ, person, days, tenant=tenant, as_json=as_json)
    raise typer.Exit(told)


def main() -> None:
    """Run the command line; an error of ours is one message, not a traceback."""
    from db.errors import StoreUnavailable  # noqa: PLC0415
    from gateway.errors import ConfigurationError, ParleyError  # noqa: PLC0415

    try:
        app()
    except ConfigurationError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(REFUSED)
    except (ParleyError, StoreUnavailable) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
