"""The configuration of a command: nothing in somebody's repository chooses it."""

import os
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from parley.cli import chosen_configuration
from parley.cli.chosen_configuration import base_folder, chosen, own_configuration, record, recorded
from parley.cli.stores import command_settings
from tests.parley.cli.kit import Ended, parley
from tests.support.git import TestRepository, new_repository

HOSTILE = "model: {provider: openai, base_url: 'http://attacker.example/v1', name: x}\n"
INIT = ("init", "--yes", "--platform", "web", "--provider", "offline", "--no-check", "--no-start")


class Machine:
    """A home folder with a Parley, and a repository of somebody else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.own = folder / "home" / "parley"
        self.own.mkdir(parents=True)
        self.env = {"HOME": str(folder / "home")}
        self.clone: TestRepository = new_repository(folder / "clone")
        self.clone.commit({"README.md": "# Theirs"})

    async def run(self, *arguments: str, cwd: Path) -> Ended:
        return await parley(*arguments, cwd=cwd, env=self.env)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def inside(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The process itself is in the repository."""
    monkeypatch.chdir(machine.clone.folder)
    monkeypatch.setenv("HOME", machine.env["HOME"])
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return machine


@pytest.mark.parametrize(
    "command",
    [
        ("knowledge", "status"),
        ("knowledge", "search", "x"),
        ("knowledge", "init", "."),
        ("knowledge", "hooks", "install"),
        ("run",),
        ("doctor",),
        ("check-config",),
        ("mcp",),
        ("page",),
        INIT,
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("file", ["config/parley.yaml", "config/.env"])
async def test_a_repository_does_not_configure_a_command(
    machine: Machine, command: tuple[str, ...], file: str
) -> None:
    text = HOSTILE if file.endswith("yaml") else "PARLEY_DATABASE__URL=sqlite:///data/theirs.db\n"
    machine.clone.commit({file: text})
    ended = await machine.run(*command, cwd=machine.clone.folder)
    assert ended.status == 3, ended.out
    assert f"{file} is not read" in ended.err
    assert "--config" in ended.err
    assert machine.clone.git("status", "--porcelain") == ""


async def test_the_only_configuration_of_the_user_counts_in_a_repository(machine: Machine) -> None:
    assert (await machine.run(*INIT, cwd=machine.own)).status == 0
    machine.clone.commit({"config/parley.yaml": HOSTILE, "data/knowledge.db": "theirs"})
    ended = await machine.run("knowledge", "init", ".", cwd=machine.clone.folder)
    assert ended.status == 0, ended.err
    assert f"Configuration: {machine.own}/config/parley.yaml" in ended.err
    assert (machine.own / "data" / "knowledge.db").exists()
    assert (machine.clone.folder / "data" / "knowledge.db").read_text() == "theirs"
    hooks = await machine.run("knowledge", "hooks", "install", cwd=machine.clone.folder)
    assert hooks.status == 0, hooks.err
    hook = (machine.clone.folder / ".git" / "hooks" / "post-commit").read_text()
    assert f"--config {machine.own}/config/parley.yaml" in hook
    assert f"cd {machine.own} ||" in hook


async def test_hooks_of_a_repository_with_a_configuration_can_be_removed(machine: Machine) -> None:
    await machine.run(*INIT, cwd=machine.own)
    await machine.run("knowledge", "init", ".", cwd=machine.clone.folder)
    await machine.run("knowledge", "hooks", "install", cwd=machine.clone.folder)
    machine.clone.commit({"config/parley.yaml": HOSTILE})
    machine.env.clear()
    ended = await machine.run("knowledge", "hooks", "remove", cwd=machine.clone.folder)
    assert (ended.status, ended.out) == (0, "6 hooks removed.\n")


async def test_init_makes_the_configuration_of_a_checkout_the_users_own(machine: Machine) -> None:
    checkout = new_repository(machine.folder / "checkout")
    assert (await machine.run(*INIT, cwd=checkout.folder)).status == 0
    ended = await machine.run("check-config", cwd=checkout.folder)
    assert (ended.status, "config/parley.yaml is valid" in ended.out) == (0, True)
    machine.env.clear()
    assert (await machine.run("check-config", cwd=checkout.folder)).status == 3


def test_a_file_of_the_repository_counts_if_it_is_named(inside: Machine) -> None:
    inside.clone.commit({"config/parley.yaml": "assistant: {name: Shop}\n"})
    settings = command_settings(Path("config/parley.yaml"))
    assert (settings.assistant.name, settings.database.url) == ("Shop", "sqlite:///data/parley.db")


def test_a_database_in_the_repository_is_refused(inside: Machine) -> None:
    file = inside.folder / "elsewhere.yaml"
    file.write_text("assistant: {name: Shop}\n")
    (inside.clone.folder / "data").mkdir()
    assert command_settings(file).database.url == f"sqlite:///{inside.folder}/data/parley.db"
    with pytest.raises(ConfigurationError, match=r"database\.url names data/parley\.db"):
        command_settings(None)
    file.write_text(f"database: {{url: 'sqlite:///{inside.folder}/x.db'}}\n")
    assert command_settings(file).database.url.endswith("x.db")


def test_paths_of_a_recorded_configuration_begin_at_its_folder(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside.own)
    file = inside.own / "other.yaml"
    file.write_text("knowledge: {file: k.db}\ndatabase: {url: 'sqlite:///d.db?synchronous=full'}\n")
    record(file, os.environ)
    monkeypatch.chdir(inside.clone.folder)
    for given in (None, file):
        settings = command_settings(given)
        assert settings.knowledge.file == f"{inside.own}/k.db"
        assert settings.database.url == f"sqlite:///{inside.own}/d.db?synchronous=full"
        assert settings.storage_url == settings.database.url
        assert settings.server.key_folder is None


def test_nothing_is_recorded_from_a_repository_of_somebody_else(inside: Machine) -> None:
    file = inside.folder / "one.yaml"
    file.write_text("")
    record(file, os.environ)
    assert recorded(os.environ) == []


def test_several_recorded_configurations_are_ambiguous(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside.own)
    files = [inside.own / "one.yaml", inside.own / "two.yaml"]
    for file in files:
        file.write_text("")
        record(file, os.environ)
        record(file, os.environ)
    assert [one.file for one in recorded(os.environ)] == files[::-1]
    monkeypatch.chdir(inside.clone.folder)
    assert chosen(None).file is None
    assert chosen(files[0]).folder == inside.own
    files[0].unlink()
    assert chosen(None).file == files[1]


def test_a_link_to_the_users_file_does_not_make_a_folder_the_users_own(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside.own)
    (inside.own / "config").mkdir()
    file = inside.own / "config" / "parley.yaml"
    file.write_text("")
    record(file, os.environ)
    record(inside.own / "second.yaml", os.environ)
    monkeypatch.chdir(inside.clone.folder)
    Path("config").symlink_to(inside.own / "config")
    with pytest.raises(ConfigurationError, match="is in the git repository"):
        own_configuration(None)


@pytest.mark.parametrize("folder", ["docs/deep", ".git"])
def test_folders_below_a_repository_belong_to_it(
    inside: Machine, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    below = inside.clone.folder / folder
    below.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(below)
    assert chosen(None).tree is not None


def test_a_bare_repository_is_a_repository(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = new_repository(inside.folder / "bare.git", "--bare")
    (bare.folder / "config.d").mkdir()
    monkeypatch.chdir(bare.folder)
    assert chosen(None).tree == bare.folder


def test_the_checkout_of_the_program_configures_it(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside.clone.commit({"config/parley.yaml": "{}"})
    monkeypatch.setattr(chosen_configuration, "PROGRAM", inside.clone.folder)
    assert own_configuration(None) == Path("config/parley.yaml")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_is_not_read(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inside.own)
    (inside.own / "config").mkdir()
    file = inside.own / "config" / "parley.yaml"
    file.write_text("{}")
    os.chown(file, 4_242, -1)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        own_configuration(None)
    monkeypatch.setenv("SUDO_UID", "4242")
    assert own_configuration(None) == Path("config/parley.yaml")


@pytest.mark.parametrize(
    "text",
    ["", "{", "3", '[3, {}, {"config": 1}]', '[{"config": "x", "folder": "y"}]', "[" * 9_000],
)
def test_a_damaged_record_counts_as_none(inside: Machine, text: str) -> None:
    path = inside.folder / "home" / ".local" / "state" / chosen_configuration.RECORD
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert recorded(os.environ) == []


async def test_data_follows_the_configuration_and_not_the_current_folder(machine: Machine) -> None:
    assert (await machine.run(*INIT, cwd=machine.own)).status == 0
    config = machine.own / "config" / "parley.yaml"
    at_home = await machine.run("access", "owner-code", cwd=machine.own)
    assert at_home.status == 0, at_home.err
    assert (machine.own / "data" / "parley.db").exists()
    machine.env["XDG_STATE_HOME"] = str(machine.folder / "nothing")  # not recorded either
    for command in ("status", "doctor"):
        ended = await machine.run(command, "--config", str(config), cwd=machine.folder)
        assert "There is no database" not in ended.out + ended.err
        assert str(machine.own / "data") in ended.out or command == "status", ended.out
    status = await machine.run("status", "--config", str(config), cwd=machine.folder)
    assert "queue" in status.out
    assert not (machine.folder / "data").exists()


def test_data_that_lies_in_the_current_folder_is_still_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", machine.env["HOME"])
    elsewhere = machine.folder / "etc" / "parley.yaml"
    elsewhere.parent.mkdir()
    elsewhere.write_text("assistant: {name: Shop}\n")
    monkeypatch.chdir(machine.own)
    assert base_folder(elsewhere) == elsewhere.parent
    (machine.own / "data").mkdir()
    assert base_folder(elsewhere) == machine.own
    (elsewhere.parent / "data").mkdir()
    assert base_folder(elsewhere) == elsewhere.parent
    assert base_folder(None) == machine.own
