"""Hooks in real repositories, run by git."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from gateway.errors import BadInput
from memory.knowledge.hooks.folder import find_hooks
from memory.knowledge.hooks.install import install, states
from memory.knowledge.hooks.script import BEFORE, EVENTS
from tests.memory.knowledge.hooks.kit import (
    Repository,
    environment,
    listing,
    repository,
    write_hook,
)

INSTALLED: Final = dict.fromkeys(EVENTS, "installed")
SHELL_HOOK: Final = '#!/bin/sh\necho "theirs $(basename "$0") $*" >> ../theirs\nexit 7\n'
UNTIL_GO: Final = "while ! [ -e go ]; do sleep 0.05; done; "
"""Lets the program wait for the file `go`."""
PYTHON_HOOK: Final = (
    "#!/usr/bin/env python3\nimport sys\n"
    "open('../theirs', 'a').write('theirs ' + ' '.join(sys.argv[1:]) + sys.stdin.read())\n"
    "sys.exit(7)\n"
)


@pytest.fixture(params=["plain", "a 'folder' \"with\" $(touch x) \n lines"])
def repo(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    return repository(tmp_path / request.param)


class TestACommit:
    def test_starts_one_background_process_outside_the_repository(self, repo: Repository) -> None:
        repo.install()
        repo.commit()
        assert repo.wait_for(1) == 1
        given = repo.runs.with_name("runs.last").read_text().split("\0")
        assert given[:-1] == [
            str(repo.command.home), "none", "none", "ingest", str(repo.folder)
        ]  # fmt: skip

    def test_starts_nothing_before_the_installation(self, repo: Repository) -> None:
        repo.commit()
        assert (repo.settle(), repo.command.state.exists()) == (0, False)

    def test_starts_nothing_with_the_switch_off(self, repo: Repository) -> None:
        repo.install()
        repo.commit(PARLEY_HOOKS="0")
        assert not (repo.command.state / "waiting").exists()
        assert repo.settle() == 0

    def test_returns_while_the_background_process_runs(self, repo: Repository) -> None:
        program = Path(repo.command.program[0])
        program.write_text(program.read_text().replace("echo run", f"{UNTIL_GO}echo run"))
        repo.install()
        out = repo.commit()
        process = int((repo.command.state / "waiting").read_text())
        subprocess.run(["kill", "-9", str(process)], check=True)
        assert (repo.started(), "parley" in out) == (0, False)

    def test_succeeds_without_the_program(self, repo: Repository) -> None:
        repo.install()
        Path(repo.command.program[0]).unlink()
        assert "parley" not in repo.commit()

    def test_succeeds_without_the_folder_of_the_state(self, repo: Repository) -> None:
        repo.install()
        shutil.rmtree(repo.command.state)
        assert "parley" not in repo.commit()

    def test_writes_what_the_program_prints_to_the_log(self, repo: Repository) -> None:
        program = Path(repo.command.program[0])
        program.write_text(program.read_text() + "echo out; echo err >&2\n")
        repo.install()
        out = repo.commit()
        assert repo.wait_for(1) == 1
        while (log := (repo.command.state / "hooks.log").read_text()) != "out\nerr\n":
            assert "out\nerr\n".startswith(log)
        assert "err" not in out

    def test_of_a_linked_work_tree_starts_it_too(self, repo: Repository, tmp_path: Path) -> None:
        repo.commit()
        repo.install()
        repo.git("worktree", "add", "-b", "side", str(tmp_path / "side"))
        repo.settle()
        before = repo.started()
        repo.commit("side", at=tmp_path / "side")
        assert repo.wait_for(before + 1) == before + 1


class TestManyCommits:
    def test_while_a_process_waits_start_no_other_one(self, repo: Repository) -> None:
        program = Path(repo.command.program[0])
        program.write_text(program.read_text().replace("echo run", f"{UNTIL_GO}echo run"))
        repo.install()
        for number in range(10):
            repo.commit(f"change {number}")
        (repo.command.home / "go").touch()
        assert repo.settle() == 1

    def test_of_a_rebase_start_one_process_at_its_end(self, repo: Repository) -> None:
        repo.commit("base")
        repo.git("branch", "other")
        for number in range(20):
            (repo.folder / f"file{number}").write_text("x")
            repo.git("add", ".")
            repo.git("commit", "-m", f"change {number}")
        repo.git("checkout", "-q", "other")
        repo.git("commit", "--allow-empty", "-m", "other")
        repo.git("checkout", "-q", "main")
        repo.install()
        repo.git("rebase", "-i", "--exec", "true", "other")
        assert repo.settle() == 1
        assert (repo.command.state / "rewritten").exists()

    def test_start_another_process_after_the_waiting_one_died(self, repo: Repository) -> None:
        repo.install()
        done = subprocess.Popen(["true"])
        done.wait()
        for written in (str(done.pid), "", "no number", "0", "-1", "1 1"):
            (repo.command.state / "waiting").write_text(written)
            before = repo.started()
            repo.commit(f"after {written!r}")
            assert repo.wait_for(before + 1) == before + 1


class TestOtherEvents:
    def test_a_merge_starts_a_process(self, repo: Repository) -> None:
        repo.commit("base")
        repo.git("checkout", "-q", "-b", "side")
        repo.commit("side")
        repo.git("checkout", "-q", "main")
        repo.install()
        repo.git("merge", "--no-ff", "side")
        assert repo.wait_for(1) == 1

    def test_an_amended_commit_is_noted_as_rewritten(self, repo: Repository) -> None:
        repo.commit("base")
        repo.install()
        repo.git("commit", "--amend", "-m", "better")
        assert (repo.command.state / "rewritten").exists()
        assert repo.wait_for(1) >= 1


@pytest.mark.parametrize("text", [SHELL_HOOK, PYTHON_HOOK], ids=["shell", "python"])
class TestAnEarlierHook:
    def test_runs_as_before_with_its_arguments_input_and_status(
        self, repo: Repository, text: str
    ) -> None:
        write_hook(repo.hook("post-rewrite"), text)
        repo.install()
        done = subprocess.run(
            [repo.hook("post-rewrite"), "amend"], cwd=repo.folder, env=environment(),
            input=b"old new\n", check=False, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 7
        assert "amend" in (repo.folder.parent / "theirs").read_text()
        if text is PYTHON_HOOK:
            assert "old new" in (repo.folder.parent / "theirs").read_text()
        assert repo.wait_for(1) == 1

    def test_is_run_by_git(self, repo: Repository, text: str) -> None:
        write_hook(repo.hook(), text)
        repo.install()
        repo.commit()
        assert repo.wait_for(1) == 1
        assert (repo.folder.parent / "theirs").exists()

    def test_is_restored_exactly(self, repo: Repository, text: str) -> None:
        write_hook(repo.hook(), text)
        write_hook(repo.hook("pre-push"), text, runs=False)
        (repo.hook().with_name("post-merge")).symlink_to("pre-push")
        before = listing(repo.where.hooks)
        repo.install()
        repo.install()
        assert states(repo.where, repo.command) == INSTALLED
        assert repo.remove() == 3
        assert listing(repo.where.hooks) == before
        assert not repo.command.state.exists()

    def test_that_git_did_not_run_is_still_not_run(self, repo: Repository, text: str) -> None:
        write_hook(repo.hook(), text, runs=False)
        before = listing(repo.where.hooks)
        repo.install()
        repo.commit()
        assert repo.wait_for(1) == 1
        assert not (repo.folder.parent / "theirs").exists()
        repo.remove()
        assert listing(repo.where.hooks) == before


class TestInstallation:
    def test_leaves_nothing_behind(self, repo: Repository) -> None:
        assert not (repo.folder / ".git/hooks").exists()
        repo.install()
        assert repo.remove() == 3
        assert not (repo.folder / ".git/hooks").exists()
        assert repo.remove() == 0

    def test_goes_on_after_the_repository_was_moved(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "here")
        write_hook(repo.hook(), PYTHON_HOOK)
        repo.install()
        moved = repo.folder.rename(tmp_path / "there")
        repo.commit(at=moved)
        assert (tmp_path / "theirs").exists()
        assert repo.settle() == 0

    def test_keeps_lines_that_somebody_added_to_our_hook(self, repo: Repository) -> None:
        repo.install()
        repo.hook().write_text(repo.hook().read_text() + "echo mine\n")
        repo.remove()
        assert repo.hook().read_text() == "#!/bin/sh\necho mine\n"

    def test_replaces_the_command_of_an_earlier_one(self, repo: Repository) -> None:
        write_hook(repo.hook("post-merge"), SHELL_HOOK)
        before = listing(repo.where.hooks)
        repo.install()
        text = repo.hook("post-merge").read_text()
        repo.hook("post-merge").write_text(text.replace("ingest", "elsewhere"))
        assert states(repo.where, repo.command)["post-merge"] == "other command"
        repo.install()
        assert states(repo.where, repo.command) == INSTALLED
        repo.remove()
        assert listing(repo.where.hooks) == before

    def test_refuses_a_kept_hook_whose_place_is_empty(self, repo: Repository) -> None:
        write_hook(repo.hook(), PYTHON_HOOK)
        repo.install()
        repo.hook().unlink()
        with pytest.raises(BadInput, match="Rename it to post-commit"):
            repo.install()
        assert repo.hook().with_name(f"post-commit{BEFORE}").read_text() == PYTHON_HOOK

    def test_says_which_hook_is_missing(self, repo: Repository) -> None:
        repo.install()
        repo.hook().unlink()
        repo.hook("post-merge").chmod(0o644)
        assert states(repo.where, repo.command) == {
            "post-commit": "missing", "post-merge": "missing", "post-rewrite": "installed"
        }  # fmt: skip

    def test_needs_a_repository(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="not in a git repository"):
            find_hooks(tmp_path)
        with pytest.raises(BadInput, match="is no folder"):
            find_hooks(tmp_path / "nothing")

    def test_takes_a_bare_repository(self, tmp_path: Path) -> None:
        repo = repository(tmp_path / "bare.git", "--bare")
        repo.install()
        assert states(repo.where, repo.command) == INSTALLED


class TestHooksElsewhere:
    """`core.hooksPath`."""

    def test_are_installed_in_the_folder_of_the_repository_that_git_uses(
        self, repo: Repository
    ) -> None:
        repo.git("config", "core.hooksPath", ".githooks")
        write_hook(repo.folder / ".githooks/post-commit", SHELL_HOOK)
        repo.install()
        assert repo.where.in_work_tree
        repo.commit()
        assert repo.wait_for(1) == 1
        assert (repo.folder.parent / "theirs").exists()

    @pytest.mark.parametrize("linked", [False, True])
    def test_are_refused_outside_the_repository(self, tmp_path: Path, linked: bool) -> None:
        repo = repository(tmp_path / "repo")
        (tmp_path / "shared").mkdir()
        (repo.folder / "hooks").symlink_to(tmp_path / "shared")
        outside = "hooks" if linked else str(tmp_path / "shared")
        repo.git("config", "core.hooksPath", outside)
        with pytest.raises(BadInput, match=r"core\.hooksPath, local configuration"):
            install(repo.where, repo.command)
        assert listing(tmp_path / "shared") == {}
