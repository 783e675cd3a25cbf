"""Repositories that were made to do harm: nothing is executed, nothing outside is read or written,
and the other files are ingested all the same."""

import asyncio
import hashlib
import os
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from gateway.errors import ConfigurationError
from memory.git import location, refs
from memory.git.errors import GitError, LimitExceeded, NotARepository
from memory.git.process import Git
from memory.git.repository import opened_repository
from memory.knowledge.ingest.work_tree import note_ingest
from memory.knowledge.model import Mode
from tests.memory.knowledge.ingest.conftest import Knowledge
from tests.memory.knowledge.values import AT
from tests.support.git import new_repository

SECRET = "the text outside of the repository"


async def test_nothing_that_a_repository_configures_is_executed(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    marker = tmp_path / "executed"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\necho $0 >> {marker}\ncat\n")
    script.chmod(0o755)
    git = knowledge.git
    git.commit({"README.md": "# Shop", ".gitattributes": "* filter=evil diff=evil text\n"})
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.editor", "core.pager"),
        *("core.alternateRefsCommand", "filter.evil.smudge", "filter.evil.clean", "gpg.program"),
        *("filter.evil.process", "diff.evil.textconv", "diff.evil.command", "diff.external"),
        *("credential.helper", "uploadpack.packObjectsHook", "remote.origin.uploadpack"),
        *("alias.cat-file", "alias.ls-tree", "sequence.editor", "pager.ls-tree"),
    ):
        git.git("config", key, str(script))
    git.git("config", "filter.evil.required", "true")
    git.git("config", "core.hooksPath", str(tmp_path))
    git.git("config", "include.path", str(tmp_path / "more"))
    (tmp_path / "more").write_text(f"[core]\n\tfsmonitor = {script}\n")
    for name in (
        "post-checkout",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-index-change",
    ):
        (tmp_path / name).write_text(script.read_text())
        (tmp_path / name).chmod(0o755)
    (git.folder / ".git" / "info").mkdir(exist_ok=True)
    (git.folder / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil\n")
    outcome = await knowledge.ingest_one()
    assert (outcome.mode, outcome.read) == (Mode.WHOLE, 1)
    git.git("-c", "core.fsmonitor=false", "config", "core.fsmonitor", str(script))
    async with opened_repository(git.folder) as opened:
        await opened.remote()
        await note_ingest(opened, outcome, AT)
    assert not marker.exists()


async def test_a_missing_object_of_a_partial_clone_is_not_fetched(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    origin = new_repository(tmp_path / "origin")
    origin.commit({"a.md": "a", "b.md": "b"})
    origin.git("config", "uploadpack.allowFilter", "true")
    marker = tmp_path / "fetched"
    clone = tmp_path / "clone"
    origin.git(
        *("clone", "--quiet", "--no-checkout", "--no-local", "--filter=blob:none"),
        *(f"file://{origin.folder}", str(clone)),
    )
    config = clone / ".git" / "config"
    config.write_text(
        config.read_text().replace(f"file://{origin.folder}", f"ext::touch {marker}")
        + '[protocol "ext"]\n\tallow = always\n'
    )
    await knowledge.register(clone)
    before = sorted(path.name for path in (clone / ".git" / "objects").rglob("*"))
    outcome = await knowledge.ingest_one()
    assert outcome.read == 0
    reason = "object not on this machine"
    assert await knowledge.skipped() == {"a.md": reason, "b.md": reason}
    assert not marker.exists()
    assert sorted(path.name for path in (clone / ".git" / "objects").rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (b"..", "suspicious path"),
        (b"../../../etc/passwd.md", "suspicious path"),
        (b"a/../../b.md", "suspicious path"),
        (b"/etc/passwd.md", "path leaves the repository"),
        (b"--output=x.md", "path begins with a hyphen"),
        (b".git", "suspicious path"),
        (b"a\nb.md", "suspicious path"),
        (b"a\x1b[2Jb.md", "suspicious path"),
        ("a\u202eb.md".encode(), "suspicious path"),
        (b"\xff\xfe.md", "suspicious path"),
        (b"a\\..\\b.md", "suspicious path"),
        (b"./a.md", "suspicious path"),
        (b"x" * 5_000 + b".md", "suspicious path"),
    ],
    ids=repr,
)
async def test_a_crafted_path_is_skipped_with_its_reason(
    knowledge: Knowledge, name: bytes, reason: str
) -> None:
    git = knowledge.git
    blob = git.blob(b"text")
    git.commit_tree(git.raw_tree(("100644", name, blob), ("100644", b"good.md", blob)))
    await knowledge.ingest()
    assert await knowledge.files() == {"good.md": "text"}
    assert list((await knowledge.skipped()).values()) == [reason]
    assert all(path.isprintable() for path in await knowledge.skipped())


async def test_a_tree_with_nul_and_broken_entries_ends_with_an_error(
    knowledge: Knowledge,
) -> None:
    git = knowledge.git
    git.commit({"a.md": "a"})
    await knowledge.ingest()
    git.commit_tree(git.raw_object("tree", b"100644 a.md\0short"))
    with pytest.raises(GitError, match=r"git (?:ls-tree|diff-tree) failed"):
        await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a"}


async def test_links_submodules_and_folders_in_the_place_of_files_are_not_read(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    git = knowledge.git
    (tmp_path / "outside.md").write_text(SECRET)
    blob, target = git.blob(b"text"), git.blob(str(tmp_path / "outside.md").encode())
    inner = git.raw_tree(("100644", b"deep.md", blob))
    git.commit_tree(
        git.raw_tree(
            ("100644", b"blob.md", inner),  # a tree under the mode of a file
            ("120000", b"link.md", target),
            ("160000", b"module.md", "1" * 40),
            ("100755", b"run.md", blob),
            ("100664", b"writable.md", blob),
        )
    )
    await knowledge.ingest()
    assert await knowledge.files() == {"run.md": "text", "writable.md": "text"}
    assert await knowledge.skipped() == {
        "blob.md": "not a file",
        "link.md": "symbolic link",
        "module.md": "submodule",
    }


async def test_a_link_in_the_work_tree_decides_nothing(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    knowledge.git.commit({"docs/a.md": "committed"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text(SECRET)
    (knowledge.git.folder / "docs" / "a.md").unlink()
    (knowledge.git.folder / "docs").rmdir()
    (knowledge.git.folder / "docs").symlink_to(outside)
    await knowledge.ingest()
    assert await knowledge.files() == {"docs/a.md": "committed"}


@pytest.mark.parametrize("force", [False, True])
async def test_a_tree_that_lists_itself_billions_of_times_leaves_the_index_as_it_is(
    knowledge: Knowledge, force: bool
) -> None:
    git = knowledge.git
    git.commit({"README.md": "kept"})
    await knowledge.ingest()
    before = await knowledge.stores.files.branches(knowledge.registered.id)
    tree = git.raw_tree(("100644", b"a.md", git.blob(b"text")))
    for _ in range(7):
        tree = git.raw_tree(*(("40000", b"d%02d" % number, tree) for number in range(60)))
    git.commit_tree(tree)
    began = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"1,000,000 paths \(knowledge.max_paths\)"):
        await knowledge.ingest(force=force)
    assert time.monotonic() - began < 15  # two seconds; the list has 2,799,360,000,000 paths
    assert await knowledge.stores.files.branches(knowledge.registered.id) == before
    assert await knowledge.files() == {"README.md": "kept"}


async def test_files_that_are_too_large_together_leave_the_index_as_it_is(
    knowledge: Knowledge,
) -> None:
    git = knowledge.git
    git.commit({"a.md": "kept"})
    await knowledge.ingest()
    before = await knowledge.stores.files.branches(knowledge.registered.id)
    text = ("a line of text " * 60 + "\n") * 500
    git.commit({f"{number}.md": f"{number} {text}" for number in range(3)})
    with pytest.raises(LimitExceeded, match=r"1 MB together \(knowledge.max_total_mb\)"):
        await knowledge.ingester(megabytes=1).ingest(knowledge.registered, lambda _: None)
    assert await knowledge.stores.files.branches(knowledge.registered.id) == before
    assert await knowledge.files() == {"a.md": "kept"}
    await knowledge.ingester(megabytes=2).ingest(knowledge.registered, lambda _: None)
    assert len(await knowledge.files()) == 4


async def test_an_ingest_that_takes_too_long_is_continued_by_the_next_one(
    knowledge: Knowledge,
) -> None:
    knowledge.git.commit({"a.md": "first", "b.md": "kept"})
    await knowledge.ingest()
    knowledge.git.commit({"a.md": "second"})
    with pytest.raises(LimitExceeded, match=r"knowledge\.max_minutes"):
        await knowledge.ingester(minutes=0.0001).ingest(knowledge.registered, lambda _: None)
    assert await knowledge.files() == {"a.md": "first", "b.md": "kept"}
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "second", "b.md": "kept"}


async def test_branches_that_cannot_be_read_are_not_taken_for_deleted_ones(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = knowledge.git
    git.commit({"a.md": "a"})
    git.git("branch", "other")
    git.git("pack-refs", "--all")
    await knowledge.register(git.folder, branches=("main", "other"))
    await knowledge.ingest()
    git.commit({"b.md": "b"})  # main is a file of its own again
    monkeypatch.setattr(refs, "MAX_PACKED", 10)
    with pytest.raises(NotARepository, match="packed-refs is a link, or larger"):
        await knowledge.ingest()
    assert await knowledge.files("other") == {"a.md": "a"}


async def test_a_large_file_is_skipped_before_it_is_unpacked(knowledge: Knowledge) -> None:
    git = knowledge.git
    size = 200 * 1024 * 1024
    packer = zlib.compressobj(1)
    name = "ab" * 20
    parts = [packer.compress(f"blob {size}".encode() + b"\0")]
    parts += [packer.compress(bytes(1024 * 1024)) for _ in range(size // (1024 * 1024))]
    file = git.folder / ".git" / "objects" / name[:2] / name[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"".join((*parts, packer.flush())))
    good = git.blob(b"text")
    git.commit_tree(git.raw_tree(("100644", b"bomb.md", name), ("100644", b"good.md", good)))
    await knowledge.ingest()
    assert await knowledge.files() == {"good.md": "text"}
    assert await knowledge.skipped() == {"bomb.md": "too large"}


async def test_a_content_under_a_wrong_hash_and_a_damaged_object_are_skipped(
    knowledge: Knowledge,
) -> None:
    git = knowledge.git
    good = git.blob(b"text")
    objects = git.folder / ".git" / "objects"
    for name, data in (
        ("cd" * 20, zlib.compress(b"blob 4\0lies")),
        ("ef" * 20, zlib.compress(b"blob 9\0short")),
        ("12" * 20, b"not compressed"),
    ):
        (objects / name[:2]).mkdir(exist_ok=True)
        (objects / name[:2] / name[2:]).write_bytes(data)
    git.commit_tree(
        git.raw_tree(
            ("100644", b"garbage.md", "12" * 20),
            ("100644", b"good.md", good),
            ("100644", b"lies.md", "cd" * 20),
            ("100644", b"short.md", "ef" * 20),
            ("100644", b"well.md", good),
        )
    )
    await knowledge.ingest()
    assert await knowledge.files() == {"good.md": "text", "well.md": "text"}
    assert set(await knowledge.skipped()) == {"garbage.md", "lies.md", "short.md"}


async def test_replaced_objects_and_grafts_have_no_effect(knowledge: Knowledge) -> None:
    git = knowledge.git
    git.commit({"a.md": "committed"})
    replaced = git.git("rev-parse", "HEAD:a.md")
    git.git("replace", replaced, git.blob(b"replaced"))
    (git.folder / ".git" / "info" / "grafts").write_text("1" * 40 + "\n")
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "committed"}


@pytest.mark.parametrize("place", ["objects", "objects/pack", "objects/ab/" + "c" * 38, ".git"])
async def test_a_link_to_the_objects_of_another_repository_is_refused(
    knowledge: Knowledge, tmp_path: Path, place: str
) -> None:
    other = new_repository(tmp_path / "other")
    other.commit({"a.md": SECRET})
    git = knowledge.git
    git.commit({"a.md": "a"})
    link = git.folder / ".git" if place == ".git" else git.folder / ".git" / place
    source = other.folder / ".git" if place == ".git" else other.folder / ".git" / "objects"
    if link.exists():
        link.rename(link.with_name("away"))
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(source)
    with pytest.raises(NotARepository, match="link"):
        await knowledge.ingest()
    assert await knowledge.files() == {}


@pytest.mark.parametrize("how", ["absolute", "relative", "link", "chain", "quoted", "two lines"])
async def test_alternates_that_lead_out_of_the_repository_are_refused(
    knowledge: Knowledge, tmp_path: Path, how: str
) -> None:
    other = new_repository(tmp_path / "other")
    blob = other.blob(SECRET.encode())
    git = knowledge.git
    git.commit_tree(git.raw_tree(("100644", b"a.md", blob)))
    outside = other.folder / ".git" / "objects"
    objects = git.folder / ".git" / "objects"
    alternates = objects / "info" / "alternates"
    alternates.parent.mkdir(exist_ok=True)
    if how == "absolute":
        alternates.write_text(f"{outside}\n")
    elif how == "relative":
        alternates.write_text("../../../other/.git/objects\n")
    elif how == "link":
        alternates.symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text(f"{outside}\n")
    elif how == "quoted":  # git unquotes it; taken literally, it is a folder inside
        (objects / f'"{outside}"').mkdir(parents=True)
        alternates.write_text(f'"{outside}"\n')
    elif how == "two lines":  # git takes them for one, a link
        (objects / "aa/bb/x").mkdir(parents=True)
        (objects / "y").mkdir()
        (objects / "aa/bb/x\ry").symlink_to(outside)
        alternates.write_bytes(b"aa/bb/x\ry\n")
    else:
        inner = git.folder / ".git" / "inner"
        (inner / "info").mkdir(parents=True)
        (inner / "info" / "alternates").write_text(f"{outside}\n")
        alternates.write_text(f"{inner}\n")
    with pytest.raises(NotARepository, match="alternate"):
        await knowledge.ingest()
    assert await knowledge.files() == {}


async def test_an_index_of_several_packs_that_names_a_pack_elsewhere_has_no_effect(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    other = new_repository(tmp_path / "other")
    other.commit({"a.md": SECRET})
    other.git("repack", "-adq")
    (pack,) = (other.folder / ".git" / "objects" / "pack").glob("*.idx")
    blob = other.git("rev-parse", "HEAD:a.md")
    git = knowledge.git
    git.commit_tree(git.raw_tree(("100644", b"a.md", blob)))
    packs = git.folder / ".git" / "objects" / "pack"
    packs.mkdir(exist_ok=True)
    (packs / "multi-pack-index").write_bytes(index_of_packs(pack, os.path.relpath(pack, packs)))
    assert git.git("cat-file", "-p", blob) == SECRET.strip()  # git itself reads it
    await knowledge.ingest()
    assert await knowledge.files() == {}


def index_of_packs(pack: Path, name: str) -> bytes:
    """A `multi-pack-index` with the objects of one pack, which it names so."""
    index = pack.read_bytes()
    fan = index[8:1032]
    count = int.from_bytes(fan[-4:])
    ids = index[1032 : 1032 + 20 * count]
    places = index[1032 + 24 * count : 1032 + 28 * count]
    offsets = b"".join(bytes(4) + places[4 * n : 4 * n + 4] for n in range(count))
    names = name.encode() + b"\0"
    chunks = {b"PNAM": names + bytes(-len(names) % 4), b"OIDF": fan, b"OIDL": ids, b"OOFF": offsets}
    place, table = 12 + 12 * (len(chunks) + 1), b""
    for kind, chunk in chunks.items():
        table += kind + place.to_bytes(8)
        place += len(chunk)
    table += bytes(4) + place.to_bytes(8)
    head = b"MIDX" + bytes([1, 1, len(chunks), 0]) + (1).to_bytes(4)
    body = head + table + b"".join(chunks.values())
    return body + hashlib.sha1(body).digest()


async def test_more_objects_than_can_be_checked_are_refused(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.git.commit({"a.md": "one"})
    monkeypatch.setattr(location, "MAX_OBJECT_ENTRIES", 3)
    with pytest.raises(NotARepository, match="more than 3 files"):
        await knowledge.ingest()


async def test_git_ends_with_a_list_that_is_given_up(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge.git.commit({"a.md": "a"})
    git = knowledge.git
    older, newer = git.commit({"b.md": "b"}), git.commit({"c.md": "c"})
    begun: list[asyncio.subprocess.Process] = []
    start = Git.started

    @asynccontextmanager
    async def noted(self: Git, *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
        async with start(self, *arguments) as process:
            begun.append(process)
            yield process

    monkeypatch.setattr(Git, "started", noted)
    async with opened_repository(git.folder) as opened:
        for listed in (opened.files(newer, 9), opened.changes(older, newer, 9)):
            async with aclosing(listed):
                await anext(listed)
            assert begun.pop().returncode is not None


async def test_no_object_is_read_that_is_larger_than_any_file(knowledge: Knowledge) -> None:
    """A pack can tell one size first, and another one when the object is read."""
    git = knowledge.git
    large, small = git.blob(bytes(17 * 1024 * 1024)), git.blob(b"small")
    git.commit({"a.md": "a"})
    async with opened_repository(git.folder) as opened, opened.contents() as contents:
        read = dict([pair async for pair in contents.blobs([large, small])])
    assert read == {large: None, small: b"small"}


async def test_a_git_file_that_names_a_foreign_repository_is_refused(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    other = new_repository(tmp_path / "private")
    other.commit({"a.md": SECRET})
    thief = tmp_path / "thief"
    thief.mkdir()
    for target in (other.folder / ".git", "../private/.git"):
        (thief / ".git").write_text(f"gitdir: {target}\n")
        with pytest.raises(NotARepository):
            await knowledge.register(thief)


async def test_a_git_file_cannot_claim_to_be_the_work_tree_of_another(
    knowledge: Knowledge, tmp_path: Path
) -> None:
    other = new_repository(tmp_path / "private")
    other.commit({"a.md": SECRET})
    other.git("worktree", "add", "--quiet", str(tmp_path / "real"), "-b", "topic")
    thief = tmp_path / "thief"
    thief.mkdir()
    (thief / ".git").write_text((tmp_path / "real" / ".git").read_text())
    with pytest.raises(NotARepository, match="does not know this work tree"):
        await knowledge.register(thief)
    await knowledge.register(tmp_path / "real")
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": SECRET}


@pytest.mark.parametrize(
    "head",
    [
        *("ref: ../../../../etc/passwd", "ref: refs/heads/../../x", "x" * 99),
        *("ref: refs/heads/a\x9b31mred", "ref: refs/heads/\u202enimda"),
    ],
)
async def test_a_head_that_names_no_branch_is_refused(knowledge: Knowledge, head: str) -> None:
    knowledge.git.commit({"a.md": "a"})
    (knowledge.git.folder / ".git" / "HEAD").write_text(head)
    with pytest.raises(NotARepository, match="HEAD"):
        await knowledge.ingest()


async def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(knowledge: Knowledge) -> None:
    knowledge.git.commit({"a.md": "a"})
    (knowledge.git.folder / ".git" / "HEAD").unlink()
    os.mkfifo(knowledge.git.folder / ".git" / "HEAD")
    with pytest.raises(NotARepository, match="HEAD"):
        await knowledge.ingest()
    (knowledge.git.folder / ".git" / "HEAD").unlink()
    (knowledge.git.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    os.mkfifo(knowledge.git.folder / ".git" / "objects" / "pack" / "pack-a.pack")
    with pytest.raises(NotARepository, match="neither a file nor a folder"):
        await knowledge.ingest()


async def test_a_secret_in_a_path_is_stored_nowhere(knowledge: Knowledge) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    knowledge.git.commit({"good.md": "text", f"backup/{key[:40]}/notes.md": "notes"})
    await knowledge.ingest()
    assert await knowledge.files() == {"good.md": "text"}
    reason = {"backup/[SECRET_REDACTED].md": "path contains a secret"}
    assert await knowledge.skipped() == reason
    knowledge.git.git("rm", "-r", "-q", "backup")
    knowledge.git.git("commit", "-q", "-m", "Remove the backup")
    await knowledge.ingest()
    assert await knowledge.skipped() == {}


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_path_whose_secret_is_recognised_later_leaves_the_index(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch, deleted: bool
) -> None:
    path = f"backup-ghp_{'a1B2c3D4e5F6g7H8i9J0' * 2}"[:51] + ".md"
    with monkeypatch.context() as before:
        before.setattr("memory.knowledge.ingest.branch.path_without_secrets", str)
        knowledge.git.commit({"good.md": "text", path: "notes"})
        await knowledge.ingest()
        assert set(await knowledge.files()) == {"good.md", path}
    if deleted:
        knowledge.git.git("rm", "-q", path)
        knowledge.git.git("commit", "-q", "-m", "Remove it")
    else:
        knowledge.git.commit({path: "other notes"})
    await knowledge.ingest()
    assert await knowledge.files() == {"good.md": "text"}


async def test_paths_that_differ_in_letter_case_are_different_files(knowledge: Knowledge) -> None:
    git = knowledge.git
    entries = (("100644", b"A.md", git.blob(b"large")), ("100644", b"a.md", git.blob(b"small")))
    git.commit_tree(git.raw_tree(*entries))
    await knowledge.ingest()
    assert await knowledge.files() == {"A.md": "large", "a.md": "small"}


@pytest.mark.parametrize("target", ["rules", "./rules/", "a/../rules"])
async def test_rules_that_are_in_a_linked_folder_end_the_ingest(
    knowledge: Knowledge, target: str
) -> None:
    git = knowledge.git
    (git.folder / ".agent").symlink_to(target)
    git.commit({"a.md": "a", "rules/config.yaml": "ingestion:\n  exclude: ['*.md']\n"})
    with pytest.raises(ConfigurationError, match=r"\.agent in the commit .* is a link"):
        await knowledge.ingest()
    assert await knowledge.files() == {}


@pytest.mark.parametrize("target", [b"docs", b"/etc", b"../..", b"a\0b", b".agent", b"", b"\xff"])
async def test_a_folder_of_rules_that_leads_to_none_is_like_none(
    knowledge: Knowledge, target: bytes
) -> None:
    git = knowledge.git
    link, text = git.blob(target), git.blob(b"a")
    git.commit_tree(git.raw_tree(("120000", b".agent", link), ("100644", b"a.md", text)))
    await knowledge.ingest()
    assert await knowledge.files() == {"a.md": "a"}


@pytest.mark.parametrize("how", ["large", "link", "folder"])
async def test_rules_that_cannot_be_read_end_the_ingest(knowledge: Knowledge, how: str) -> None:
    git = knowledge.git
    place = git.folder / ".agent" / "config.yaml"
    place.parent.mkdir()
    if how == "link":
        place.symlink_to("/etc/passwd")
    elif how == "large":
        place.write_text("#" * 70_000)
    else:
        place.mkdir()
        (place / "a.md").write_text("a")
    git.commit({"a.md": "a"})
    with pytest.raises(ConfigurationError, match="no regular file"):
        await knowledge.ingest()
    assert await knowledge.files() == {}
