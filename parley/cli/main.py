"""The program `parley`: its commands, and the meaning of its exit status. A command's module is
imported when the command runs, so that `--help` is quick.

0  success
1  a failure, or a check that found something broken
2  a mistake in the command line
3  a configuration that cannot be used
"""

import functools
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from parley.cli.help_pages import SectionedGroup, example_of
from parley.cli.terminal import escaped
from parley.installation import (
    DISTRIBUTION,
    conflicting_distributions,
    misplaced_package,
    warn_of_conflicts,
)

REFUSED: Final = 3
CHECK_STORES: Final = "`parley doctor` checks the stores, and names the next step."

COMMANDS: Final = {
    "run": ("run:run", "Connect every platform and answer, until SIGTERM or Ctrl-C."),
    "init": ("init.command:init", "Set Parley up with six questions, and start it."),
    "demo": ("run:demo", "Try Parley on simulated platforms, without keys and accounts."),
    "doctor": ("doctor.command:doctor", "Check everything that Parley needs, and show advice."),
    "check-config": (
        "config:check_config",
        "Check the configuration without a network connection.",
    ),
    "example-config": (
        "config:example_config",
        "Print a configuration with every key and its default.",
    ),
    "status": ("status.command:status", "Show the state of the program, and what needs attention."),
    "why": ("why:why", "Show the decisions about a message, with their reasons."),
    "logs": ("why:logs", "Show what happened to a message, in time order, without its text."),
    "context": ("why:context", "Show the usage of each block of a prompt."),
    "recall": ("recall:recall", "Show the memories that a question finds, and why."),
    "sync": ("sync:sync", "Fetch a project's figures now and print its status."),
    "page": ("page:page", "Print a link to the web page of a running program."),
    "keys": ("keys:keys", "Create the keys of a deployment before its first start."),
    "token": ("token:token", "Print, list or revoke people's tokens for HTTP."),
    "mcp": ("mcp:mcp", "Connect an MCP client, such as a coding agent, to the running program."),
    "backup": ("backup:backup", "Copy the database, also while Parley runs."),
    "restore": ("backup:restore_backup", "Restore a copy of the database; Parley must not run."),
    "render": ("render:render_file", "Show how a platform receives a Markdown text."),
    "manifest": ("slack_app:manifest", "Print the app manifest for Slack."),
    "new-adapter": (
        "new_adapter:new_adapter",
        "Write a repository for an adapter of your own, with its tests.",
    ),
    "usage": ("usage:usage", "Show the cost of answers and the used part of budgets."),
}
"""By name: the function, in a module of this package, and one line of help."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]]] = {
    "access": (
        "Show who may write, approve people, and take approvals back.",
        {
            "list": ("access:show", "List people who wait, approved people, and owners by code."),
            "approve": ("access:approve", "Let the person with this code write."),
            "reject": ("access:reject", "Reject the person with this code."),
            "revoke": ("access:revoke", "Take back the approval or ownership of a person."),
            "owner-code": (
                "access:owner_code",
                "Print a one-time code that makes its first sender an owner.",
            ),
        },
    ),
    "config": (
        "Show, undo and remove changes to the configuration that were made in the console.",
        {
            "list": ("overrides:show", "List the overrides, and those that are ignored."),
            "undo": ("overrides:undo", "Undo the last change."),
            "reset": ("overrides:reset", "Remove all overrides, also while Parley runs."),
            "export": (
                "overrides:export",
                "Print the configuration in force as YAML, without secrets.",
            ),
        },
    ),
    "console": (
        "Sign in to the web console.",
        {"link": ("console:link", "Print a link that signs one browser in, once.")},
    ),
    "outbox": (
        "Show answers that could not be delivered, and send them again.",
        {
            "list": (
                "outbox:show",
                "List answers that could not be delivered, without their text.",
            ),
            "resend": ("outbox:resend", "Send answers again, also while Parley runs."),
            "drop": ("outbox:drop", "Delete answers that could not be delivered."),
        },
    ),
    "quarantine": (
        "Show work that stopped the program repeatedly, and release it.",
        {
            "list": ("quarantine:show", "List the entries without their content."),
            "show": ("quarantine:explain", "Show one entry, its meaning and the next commands."),
            "retry": (
                "quarantine:retry",
                "Retry entries within five minutes, for example after an update.",
            ),
            "discard": (
                "quarantine:discard",
                "Delete entries, and turns that memory could not store.",
            ),
        },
    ),
    "memory": (
        "Show, search, export and delete the memories of a person.",
        {
            "people": ("memory:people", "List the people with memories; counts only."),
            "list": ("memory:list_newest", "Show the newest memories."),
            "search": ("memory:search", "Show matching memories, best first."),
            "clear": (
                "memory:clear",
                "Delete the episodic memories, the semantic memories, or all memories.",
            ),
            "forget": ("memory:forget", "Delete memories about a topic."),
            "export": ("memory_files:export_memories", "Write a person's memories to a file."),
            "import": ("memory_files:import_memories", "Add the memories of a file."),
            "review": (
                "memory:review",
                "Approve or reject the memories that wait for review.",
            ),
            "validate": (
                "memory_files:validate",
                "Show the decision about a text without storing it.",
            ),
        },
    ),
    "agents": (
        "Show the agents of people, unregister them, and take back what they gave.",
        {
            "list": (
                "agents:show_all",
                "List agents with numbers of what each gave, without texts.",
            ),
            "show": ("agents:show_one", "Show one agent; with its person, also what it wrote."),
            "register": ("agents:register", "Register an agent of a person."),
            "unregister": (
                "agents:unregister",
                "Unregister an agent; what it wrote stays with its person.",
            ),
            "take-back": (
                "agents:take_back",
                "Delete everything that an agent wrote, shared and handed over.",
            ),
        },
    ),
    "pools": (
        "Show the pools in which agents share memories, and delete them.",
        {
            "list": ("pools:show_all", "List pools with numbers of members and shared memories."),
            "show": ("pools:show_one", "Show one pool and its members."),
            "delete": ("pools:delete", "Delete a pool; the memories stay with their people."),
        },
    ),
    "handoffs": (
        "Delete the handoffs of tasks that ended.",
        {
            "cleanup": (
                "agents:cleanup",
                "Delete completed, rejected and expired handoffs of everybody.",
            ),
        },
    ),
    "knowledge": (
        "Register repositories, read them, and search what is known of them.",
        {
            "init": ("knowledge.init:init", "Register a repository, and read it."),
            "ingest": (
                "knowledge.ingest:ingest",
                "Bring the index to the latest commits, also while Parley runs.",
            ),
            "status": (
                "knowledge.status:status",
                "Show the repositories, and if the index is at their latest commits.",
            ),
            "search": (
                "knowledge.search:search",
                "Search code, documents, decisions and incidents, with citations.",
            ),
            "forget": ("knowledge.init:forget", "Delete a repository from the index."),
            "hooks": (
                "knowledge.hooks:hooks",
                "Install, remove or show git hooks that update the index after a commit.",
            ),
            "bind": (
                "knowledge.bindings:bind",
                "Let people search the repositories of a project in a channel.",
            ),
            "unbind": ("knowledge.bindings:unbind", "End the binding of a channel."),
            "bindings": ("knowledge.bindings:show", "List the bound channels."),
        },
    ),
    "skills": (
        "Install skills for coding agents in a repository.",
        {
            "install": (
                "skills:install_skills",
                "Write session-init and session-save into a repository.",
            ),
            "status": ("skills:show_skills", "Show which skills are installed in a repository."),
            "remove": ("skills:remove_skills", "Delete the skills from a repository."),
        },
    ),
    "audit": (
        "Show and verify the audit: changes to memory and access, and refusals.",
        {
            "verify": ("audit:verify", "Check that no entry was changed, removed or added."),
            "show": ("audit:show_entries", "Show the latest entries, oldest first."),
        },
    ),
    "models": (
        "Show and download the models of recall.",
        {
            "list": ("models:show_models", "List the models and how many memories have vectors."),
            "pull": ("models:pull_models", "Download the missing files of a model."),
        },
    ),
}


class LazyCommand(TyperCommand):
    """A command that imports its function when it is called."""

    def __init__(self, name: str, function: str, help_text: str, example: str | None) -> None:
        super().__init__(name=name, help=help_text, epilog=example, rich_markup_mode=None)
        self._function = function

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


def _lazy(commands: Mapping[str, tuple[str, str]], group: str = "") -> dict[str, LazyCommand]:
    return {
        name: LazyCommand(name, *command, example_of(f"{group} {name}".strip()))
        for name, command in commands.items()
    }


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
    for name, command in _lazy(COMMANDS).items():
        program.add_command(command, name)
    for name, (text, commands) in GROUPS.items():
        group = TyperGroup(
            name=name,
            help=text,
            epilog=example_of(name),
            commands=dict(_lazy(commands, name)),
            no_args_is_help=True,
            rich_markup_mode=None,
        )
        program.add_command(group, name)
    return program


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
    from gateway.errors import ConfigurationError, LibraryMissing, ParleyError  # noqa: PLC0415 - loaded only where it is needed

    try:
        app(prog_name="parley")
    except LibraryMissing as error:
        from parley.extras import explained  # noqa: PLC0415 - loaded only where it is needed

        sys.stderr.write(f"{explained(error)}\n")
        sys.exit(REFUSED)
    except ConfigurationError as error:
        sys.stderr.write(escaped(f"{error}\n"))
        sys.exit(REFUSED)
    except (ParleyError, StoreUnavailable) as error:
        sys.stderr.write(escaped(f"{error}\n"))
        if isinstance(error, StoreUnavailable) and error.store:
            sys.stderr.write(f"{CHECK_STORES}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
