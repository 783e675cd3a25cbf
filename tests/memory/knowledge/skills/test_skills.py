"""The skills are valid, and are installed where nothing else is overwritten."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from gateway.errors import BadInput
from gateway.immutable import replace
from memory.knowledge.skills.agent_skills import (
    NAMES,
    PACKAGE,
    install,
    read_skills,
    remove,
    skill_files,
)
from memory.mcp.names import KNOWLEDGE, SESSION
from memory.mcp.server import ALL_TOOLS

SKILLS: Final = read_skills()
ALLOWED: Final = {
    "name", "description", "license", "allowed-tools", "metadata", "compatibility"
}  # fmt: skip
TOOL: Final = re.compile(r"`((?:get|set|search|memory)_[a-z_]+)`")


def front_of(text: str) -> dict[str, Any]:
    """Return the front matter of a skill."""
    loaded: dict[str, Any] = yaml.safe_load(text.split("---\n", 2)[1])
    return loaded


@pytest.mark.parametrize("skill", SKILLS, ids=NAMES)
class TestASkill:
    """The rules of the reference implementation, skills-ref 0.1.1, which finds no problem."""

    def test_has_valid_front_matter(self, skill: Any) -> None:
        front = front_of(skill.text)
        assert set(front) <= ALLOWED
        assert front["name"] == skill.name
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", skill.name)
        assert 0 < len(front["description"]) <= 1_024
        assert isinstance(front["compatibility"], str)
        assert len(front["compatibility"]) <= 500
        assert front["metadata"] == {"version": "1.0"}
        assert files(PACKAGE).joinpath(skill.name, "SKILL.md").is_file(), "the folder has its name"

    def test_names_both_servers(self, skill: Any) -> None:
        compatibility = front_of(skill.text)["compatibility"]
        assert SESSION in compatibility
        assert KNOWLEDGE in compatibility

    def test_is_short(self, skill: Any) -> None:
        assert len(skill.text.splitlines()) < 500

    def test_calls_tools_that_exist(self, skill: Any) -> None:
        called = set(TOOL.findall(skill.body))
        assert called
        assert called <= {tool.name for tool in ALL_TOOLS}


def test_session_init_shows_the_lines_of_the_source() -> None:
    body = SKILLS[0].body
    lines = ("Status", "Active Task", "Current Branch", "Recent Activity", "Relevant ADRs")
    assert [body.count(f"> **{line}:**") for line in lines] == [1] * len(lines)


class TestAnInstallation:
    def test_writes_all_skills_once(self, tmp_path: Path) -> None:
        first = skill_files(tmp_path, "", SKILLS)
        assert [install(file) for file in first] == [True, True]
        again = skill_files(tmp_path, "", SKILLS)
        assert [file.state for file in again] == ["installed", "installed"]
        assert [install(file) for file in again] == [False, False]
        written = tmp_path / ".claude/skills/session-init/SKILL.md"
        assert written.read_text() == SKILLS[0].text

    def test_takes_another_folder(self, tmp_path: Path) -> None:
        for file in skill_files(tmp_path, ".github/skills", SKILLS):
            install(file)
        assert (tmp_path / ".github/skills/session-save/SKILL.md").is_file()

    def test_leaves_a_changed_file_alone(self, tmp_path: Path) -> None:
        (file, _) = skill_files(tmp_path, "", SKILLS)
        install(file)
        file.path.write_text("mine")
        (changed, _) = skill_files(tmp_path, "", SKILLS)
        assert changed.state == "changed"
        assert not install(changed)
        assert not remove(changed)
        assert file.path.read_text() == "mine"
        assert install(changed, force=True)
        assert file.path.read_text() == SKILLS[0].text

    def test_is_removed_without_its_folders_only(self, tmp_path: Path) -> None:
        (tmp_path / ".claude/skills/session-init").mkdir(parents=True)
        (tmp_path / ".claude/skills/session-init/mine.md").touch()
        for file in skill_files(tmp_path, "", SKILLS):
            install(file)
        removed = [remove(file) for file in skill_files(tmp_path, "", SKILLS)]
        assert removed == [True, True]
        assert [path.name for path in (tmp_path / ".claude/skills").iterdir()] == ["session-init"]
        assert [path.name for path in (tmp_path / ".claude/skills").rglob("*.md")] == ["mine.md"]
        assert not remove(skill_files(tmp_path, "", SKILLS)[0])

    def test_is_used_on_request_where_agents_discover_none(self, tmp_path: Path) -> None:
        for file in skill_files(tmp_path, "", SKILLS, discovered=False):
            assert install(file)
            front = front_of(file.path.read_text())
            assert front["description"].endswith(
                "Use it only when the user asks for it by its name."
            )
            assert set(front) == {"name", "description", "compatibility", "metadata"}
            assert file.path.read_text().partition("\n---\n")[2].strip()

    def test_follows_a_change_of_the_configuration(self, tmp_path: Path) -> None:
        for file in skill_files(tmp_path, "", SKILLS, discovered=False):
            install(file)
        files = skill_files(tmp_path, "", SKILLS)
        assert [file.state for file in files] == ["outdated", "outdated"]
        assert [install(file) for file in files] == [True, True]
        assert files[0].path.read_text() == SKILLS[0].text
        files = skill_files(tmp_path, "", SKILLS, discovered=False)
        assert [remove(file) for file in files] == [True, True]

    def test_needs_the_folder_of_the_repository(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match="is no folder"):
            skill_files(tmp_path / "shpo", "", SKILLS)

    @pytest.mark.parametrize("directory", [".git", ".git/hooks", "a/.Git/b", "./.git"])
    def test_is_never_in_the_folder_of_git(self, tmp_path: Path, directory: str) -> None:
        with pytest.raises(BadInput, match="in the folder of git"):
            skill_files(tmp_path, directory, SKILLS)

    @pytest.mark.parametrize("directory", ["/tmp", "..", "a/../../b", ".claude/../.."])
    def test_stays_in_the_repository(self, tmp_path: Path, directory: str) -> None:
        with pytest.raises(BadInput, match="leads out of"):
            skill_files(tmp_path, directory, SKILLS)

    @pytest.mark.parametrize("link", [".claude", ".claude/skills", ".claude/skills/session-init"])
    def test_follows_no_link(self, tmp_path: Path, link: str) -> None:
        top, outside = tmp_path / "repo", tmp_path / "outside"
        outside.mkdir()
        (top / link).parent.mkdir(parents=True)
        (top / link).symlink_to(outside)
        with pytest.raises(BadInput, match="is a link"):
            skill_files(top, "", SKILLS)
        assert not list(outside.iterdir())

    def test_follows_no_link_at_the_end(self, tmp_path: Path) -> None:
        top, outside = tmp_path / "repo", tmp_path / "outside"
        top.mkdir()
        (file, _) = skill_files(top, "", SKILLS)
        file.path.parent.mkdir(parents=True)
        file.path.symlink_to(outside)
        with pytest.raises(OSError, match="symbolic"):
            install(replace(file, state="missing"))
        assert not outside.exists()
