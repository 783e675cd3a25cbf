"""`parley knowledge hooks ACTION REPO`."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from gateway.errors import UsageError
from memory.knowledge.hooks.install import (
    HookFolder,
    Installed,
    find_hooks,
    install,
    remove,
    states,
)
from memory.knowledge.hooks.script import UNCOVERED, HookCommand, run_once
from memory.knowledge.ingest.work_tree import clear_state
from parley.cli.chosen_configuration import chosen
from parley.cli.knowledge.ingest import ingest_all
from parley.cli.knowledge.registered import UNKNOWN
from parley.cli.knowledge.repositories import with_index
from parley.cli.options import Config
from parley.cli.stores import read_settings
from parley.cli.terminal import print_text
from parley.config import Settings
from parley.wiring.knowledge import KnowledgeIndex

IN_WORK_TREE: Final = (
    "{folder} is part of the work tree (core.hooksPath): git shows the change there, unless it "
    "ignores the folder. Do not commit it, because it names programs of this machine.\n"
)


NO_HOOK: Final = (
    f"git runs no hook after {UNCOVERED}: then run `parley knowledge ingest {{folder}}`, or wait "
    "for the next commit. Until then the answers say that the index is older.\n"
)


class HookAction(StrEnum):
    """The actions of the command; the hooks themselves call `run`."""

    INSTALL = "install"
    REMOVE = "remove"
    STATUS = "status"
    RUN = "run"


def hooks(
    action: Annotated[
        HookAction, typer.Argument(help="install, remove or status.", metavar="ACTION")
    ],
    repo: Annotated[
        Path, typer.Argument(metavar="[REPO]", help="A folder with a git repository.")
    ] = Path(),
    config: Config = None,
) -> int:
    """Install, remove or show git hooks that update the index after a commit."""
    if action is HookAction.RUN:
        return _run(repo, config)
    where = find_hooks(repo.expanduser().absolute())
    if action is HookAction.REMOVE:
        count = remove(where, HookCommand((), Path(), where.git_dir))
        print_text(f"{count} hooks removed.\n" if count else "No hooks were installed.\n")
        return 0
    command = command_of(where, config)
    if action is HookAction.INSTALL:
        _registered(where, read_settings(config))
        for one in install(where, command):
            print_text(_installed(one))
        print_text(NO_HOOK.format(folder=where.folder))
        if where.in_work_tree:
            print_text(IN_WORK_TREE.format(folder=where.hooks), sys.stderr)
        return 0
    found = states(where, command)
    for event, state in found.items():
        print_text(f"{event}: {state}\n")
    if os.environ.get("PARLEY_HOOKS") == "0":
        print_text("PARLEY_HOOKS=0 turns them off here.\n")
    return int(not {"missing", "program missing"}.isdisjoint(found.values()))


def command_of(where: HookFolder, config: Path | None) -> HookCommand:
    """The command that the hooks run: this program with this configuration, in the folder at which
    its relative paths begin. It imports nothing from the folder that it runs in."""
    program = [
        sys.executable,
        "-P",
        "-m",
        "parley",
        "knowledge",
        "hooks",
        "run",
        str(where.git_dir),
    ]
    found = chosen(config)
    if found.file is not None:
        program += ["--config", str(found.file.absolute())]
    return HookCommand(program, found.folder, where.git_dir)


def _registered(where: HookFolder, settings: Settings) -> None:
    """Raise `BadInput` unless the repository is registered: its hooks would do nothing."""

    async def job(index: KnowledgeIndex) -> None:
        if not await index.stores.repositories.in_folder(str(where.git_dir)):
            raise UsageError(UNKNOWN.format(name=where.folder))

    with_index(settings, job)


def _installed(one: Installed) -> str:
    kept = "; the earlier hook still runs" if one.kept else ""
    return f"{one.event}: {one.path}{kept}\n"


def _run(git_dir: Path, config: Path | None) -> int:
    """Ingest the repositories with this shared folder of git, as the background process of the
    hooks."""
    settings = read_settings(config)
    state = HookCommand((), Path(), git_dir).state

    def ingest(rewritten: bool) -> int:
        async def job(index: KnowledgeIndex) -> int:
            found = await index.stores.repositories.in_folder(str(git_dir))
            if rewritten:
                for repository in found:
                    clear_state(Path(repository.folder))
            return await ingest_all(settings, index, found)

        return with_index(settings, job)

    return run_once(state, ingest)
