"""Findings of `parley doctor` about the sources that claims may cite."""

import subprocess
from pathlib import Path

import pytest

from parley.config import from_mapping
from parley.doctor.machine import Finding
from parley.doctor.services import addresses_of, grounding

ADDRESSES = {
    "docs.example.org": ["93.184.216.34"],
    "wiki.example.org": ["10.1.2.3"],
    "other.example.org": ["10.9.2.3"],
    "api.github.com": ["140.82.112.5", "2606:50c0:8000::64"],
}


async def resolve(host: str) -> list[str]:
    if host not in ADDRESSES:
        raise OSError("no such host")
    return ADDRESSES[host]


async def findings_of(**grounding_section: object) -> dict[str, Finding]:
    settings = from_mapping({"grounding": grounding_section})
    return {each.name: each for each in await grounding(settings, resolve)}


async def test_nothing_is_reported_without_entries() -> None:
    assert await findings_of() == {}


async def test_a_repository_is_recognised_and_a_plain_folder_is_not(tmp_path: Path) -> None:
    repository, folder = tmp_path / "app", tmp_path / "plain"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    missing = tmp_path / "gone"
    result = await findings_of(repositories=[str(repository), str(folder), str(missing)])
    assert [result[f"grounding: {each}"].status for each in (repository, folder, missing)] == [
        "ok",
        "note",
        "broken",
    ]


async def test_without_git_commits_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = await findings_of(repositories=[str(tmp_path)])
    assert "git is not installed" in result[f"grounding: {tmp_path}"].detail


async def test_a_host_must_have_an_allowed_address() -> None:
    result = await findings_of(
        hosts=["docs.example.org", "wiki.example.org:8443", "other.example.org", "*.example.net",
               "gone.example.org", "[fd00::1]:8080"],
        networks=["10.1.0.0/16"],
        trackers={"app": "https://api.github.com/repos/acme/app/issues/{number}"},
    )  # fmt: skip
    assert {name.removeprefix("grounding: "): each.status for name, each in result.items()} == {
        "docs.example.org": "ok",
        "wiki.example.org:8443": "ok",
        "other.example.org": "note",
        "*.example.net": "ok",
        "gone.example.org": "note",
        "[fd00::1]:8080": "note",
        "tracker app": "ok",
    }
    assert "grounding.networks" in result["grounding: other.example.org"].advice


async def test_this_machine_resolves_its_own_name() -> None:
    assert set(await addresses_of("localhost")) & {"127.0.0.1", "::1"}
