"""`parley knowledge hooks | bind`, and `parley skills`."""

import os
import subprocess
import time
from pathlib import Path

from tests.parley.cli.kit import parley

BOUND = ("telegram:main::-1", "slack:main:T1")


def git(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ["git", *named, *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Shop\n\nWe sell tea.\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    return folder


async def test_a_commit_updates_the_index(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    refused = await parley("knowledge", "hooks", "install", str(repo), cwd=tmp_path)
    assert refused.status == 1
    assert "is not registered" in refused.err
    assert (await parley("knowledge", "init", str(repo), cwd=tmp_path)).status == 0
    missing = await parley("knowledge", "hooks", "status", str(repo), cwd=tmp_path)
    assert (missing.status, missing.out.count("missing")) == (1, 6)
    installed = await parley("knowledge", "hooks", "install", str(repo), cwd=tmp_path)
    assert installed.status == 0, installed.err
    (repo / "typer.py").write_text("raise SystemExit('a file of the repository was imported')")
    git(repo, "add", ".")
    git(repo, "commit", "-m", "two")
    until, note = time.monotonic() + 60, repo / ".agent/state/last_ingest_sha"
    while note.read_text().strip() != git(repo, "rev-parse", "HEAD"):
        assert time.monotonic() < until, (repo / ".git/parley/hooks.log").read_text()
        time.sleep(0.05)
    status = await parley("knowledge", "hooks", "status", str(repo), cwd=tmp_path)
    assert (status.status, status.out.count("installed")) == (0, 6)
    assert (await parley("knowledge", "hooks", "remove", str(repo), cwd=tmp_path)).status == 0
    assert git(repo, "status", "--short") == ""
    assert not (repo / ".git/hooks/post-commit").exists()


async def test_a_channel_is_bound_and_unbound(tmp_path: Path) -> None:
    for arguments, reply in (
        (("bind", *BOUND), "is bound to"),
        (("bindings",), "telegram:main::-1"),
        (("unbind", BOUND[0]), "no longer bound"),
        (("bindings",), "No channel is bound."),
    ):
        ended = await parley("knowledge", *arguments, cwd=tmp_path)
        assert (ended.status, reply in ended.out) == (0, True), ended.err
    again = await parley("knowledge", "unbind", BOUND[0], cwd=tmp_path)
    assert (again.status, "is not bound" in again.err) == (1, True)
    wrong = await parley("knowledge", "bind", "telegram:-1", BOUND[1], cwd=tmp_path)
    assert (wrong.status, "A channel is written as" in wrong.err) == (1, True)


async def test_skills_are_installed_in_the_configured_folder(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    (repo / ".agent").mkdir()
    (repo / ".agent/config.yaml").write_text("skills:\n  directory: .github/skills\n")
    assert (await parley("skills", "install", str(repo), cwd=tmp_path)).status == 0
    written = repo / ".github/skills/session-init/SKILL.md"
    written.write_text("mine")
    kept = await parley("skills", "install", str(repo), cwd=tmp_path)
    assert (kept.status, "was changed" in kept.err) == (1, True)
    assert written.read_text() == "mine"
    assert (await parley("skills", "remove", str(repo), "--force", cwd=tmp_path)).status == 0
    assert not written.exists()
    outside = await parley("skills", "install", str(repo), "--directory", "..", cwd=tmp_path)
    assert (outside.status, "leads out of" in outside.err) == (1, True)


async def test_skills_follow_the_settings_of_the_repository(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    (repo / ".agent").mkdir()
    settings = repo / ".agent/config.yaml"
    settings.write_text("skills:\n  auto_discover: false\n")
    assert (await parley("skills", "install", str(repo), cwd=tmp_path)).status == 0
    skill = repo / ".claude/skills/session-init/SKILL.md"
    assert "only when the" in skill.read_text()
    settings.unlink()
    assert "outdated" in (await parley("skills", "status", str(repo), cwd=tmp_path)).out
    assert (await parley("skills", "install", str(repo), cwd=tmp_path)).status == 0
    assert "only when the" not in skill.read_text()


async def test_the_settings_of_skills_are_not_read_through_a_link(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.yaml").write_text("skills:\n  directory: elsewhere\n")
    (repo / ".agent").symlink_to(outside)
    refused = await parley("skills", "install", str(repo), cwd=tmp_path)
    assert (refused.status, "is a link" in refused.err) == (1, True)
    assert not (repo / "elsewhere").exists()
