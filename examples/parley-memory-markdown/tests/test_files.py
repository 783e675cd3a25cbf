"""Memories are files that people edit, and nothing outside their folder is touched."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from parley_memory_markdown import backend, markdown_memory
from parley_memory_markdown.files import MAX_FILE, File, Files, FolderFull
from parley_memory_markdown.markdown_memory import MarkdownMemory
from parley_memory_markdown.names import MAX_NAME, file_name, folder_name
from parley_memory_markdown.notes import Note, Owner, read_note, written

from gateway.immutable import replace
from gateway.ports.memory_backend import MAX_STATEMENTS, BackendAccess, CanBrief, Statement

ADA = "chat:main:ada"
ACCESS = BackendAccess("acme", ADA, (ADA,), private=True)
AT = datetime(2026, 5, 1, 12, tzinfo=UTC)
BRIDGE = Statement(
    "acme", "mem-1", "The red bridge opens at seven.", "fact", AT, ADA, "explicit_save"
)


@pytest.fixture
async def memory(tmp_path: Path) -> MarkdownMemory:
    opened = backend({"folder": str(tmp_path / "notes")})
    await opened.start()
    return opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ada's folder."""
    return tmp_path / "notes" / "acme" / "people" / "chat=3amain=3aada"


async def texts(memory: MarkdownMemory, access: BackendAccess = ACCESS) -> list[str]:
    return [one.text for one in await memory.list_statements(access, None, 200)]


async def recalled(memory: MarkdownMemory, question: str) -> list[str]:
    return [one.statement.text for one in await memory.recall(ACCESS, question, 10)]


async def test_a_memory_is_a_readable_file(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    file = folder / "the-red-bridge-opens-at-seven--mem-1.md"
    assert file.read_text() == (
        '---\nid: "mem-1"\nkind: "fact"\ndate: "2026-05-01T12:00:00+00:00"\n'
        'source: "explicit_save"\n---\n\nThe red bridge opens at seven.\n'
    )
    assert file.stat().st_mode & 0o077 == 0


async def test_an_edit_is_seen_at_the_next_question(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (file,) = folder.glob("*.md")
    assert await recalled(memory, "When does the bridge open?") == [BRIDGE.text]
    file.write_text(file.read_text().replace("seven", "eight"))
    assert await recalled(memory, "When does the bridge open?") == [
        "The red bridge opens at eight."
    ]


async def test_an_old_file_is_read_once_until_it_changes(
    memory: MarkdownMemory, folder: Path
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (file,) = folder.glob("*.md")
    long_ago = time.time() - 60
    os.utime(file, (long_ago, long_ago))
    assert await texts(memory) == [BRIDGE.text]
    file.write_text("Edited by hand.")
    assert await texts(memory) == ["Edited by hand."]


async def test_a_full_folder_of_old_files_is_not_parsed_again(
    memory: MarkdownMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    long_ago = time.time() - 60
    for number in range(1_990):
        file = folder / f"note-{number}.md"
        file.write_text(f"Node {number} is in rack {number % 7}.")
        os.utime(file, (long_ago, long_ago))
    parsed: list[str] = []

    def noted(text: str) -> Note:
        parsed.append(text)
        return read_note(text)

    monkeypatch.setattr(markdown_memory, "read_note", noted)
    assert await recalled(memory, "Where is node 1234?") != []
    first = len(parsed)
    assert first >= 1_990
    (folder / "note-3.md").write_text("The lighthouse is red.")
    assert await recalled(memory, "Where is the lighthouse?") == ["The lighthouse is red."]
    assert set(parsed[first:]) <= {"The lighthouse is red.", written(BRIDGE)}


async def test_a_deleted_file_is_forgotten(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (file,) = folder.glob("*.md")
    file.unlink()
    assert await texts(memory) == []
    assert await recalled(memory, "When does the bridge open?") == []


async def test_a_file_that_a_person_wrote_is_a_memory(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (folder / "Lighthouse.md").write_text(
        "---\nkind: preference\ntags: [sea, light]\n---\nI like it."
    )
    (folder / "plain.md").write_text("\ufeffA plain note.\r\nTwo lines.\r\n")
    stored = {one.text: one for one in await memory.list_statements(ACCESS, None, 10)}
    assert stored["I like it."].kind == "preference"
    assert stored["I like it."].tags == ("sea", "light")
    assert stored["A plain note.\nTwo lines."].kind == "fact"
    id_ = stored["I like it."].id
    assert list(await memory.forget(ACCESS, [id_])) == [id_]
    assert not (folder / "Lighthouse.md").exists()


async def test_front_matter_cannot_move_a_memory_to_somebody_else(
    memory: MarkdownMemory, folder: Path
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (folder / "sly.md").write_text(
        "---\nsaid_by: chat:main:bob\nperson: chat:main:bob\nscope: global\n"
        "tenant: globex\n---\nSly."
    )
    bob = replace(ACCESS, person="chat:main:bob", persons=("chat:main:bob",))
    assert await texts(memory, bob) == []
    assert await texts(memory, replace(ACCESS, tenant="globex")) == []
    (sly,) = [one for one in await memory.list_statements(ACCESS, None, 9) if one.text == "Sly."]
    assert (sly.person, sly.scope, sly.tenant) == (ADA, "user", "acme")


async def test_strange_front_matter_stays_within_the_limits_of_parley(
    memory: MarkdownMemory, folder: Path
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (folder / "strange.md").write_text(
        f"---\nid: ../x\nkind: [fact]\ndate: soon\ntags: {['t' * 99] * 99}\nroom: {'r' * 9_999}\n"
        f"messages: 7\nexpires: never\ndetails: {'[' * 5_000}\nconfirmed: 1\n---\nStrange."
    )
    (strange,) = [
        one for one in await memory.list_statements(ACCESS, None, 9) if one.text == "Strange."
    ]
    assert strange.id.startswith("mem-")
    assert len(strange.tags) == 10
    assert max(map(len, (*strange.tags, strange.room[:50]))) <= 50
    assert len(strange.room) <= 1_000
    assert (strange.kind, strange.messages, strange.expires_at) == ("fact", (), None)
    assert (strange.confirmed, strange.details) == (False, {})


async def test_links_are_followed_for_recall(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(
        ACCESS, replace(BRIDGE, text="The red bridge: see [[Gate keeper|keeper]].")
    )
    (folder / "gate-keeper.md").write_text("Marta has the key.")
    (folder / "unrelated.md").write_text("Soup needs salt.")
    results = await memory.recall(ACCESS, "Who helps at the red bridge?", 10)
    assert [one.statement.text for one in results][1:] == ["Marta has the key."]
    assert results[0].score > results[1].score


async def test_a_link_reaches_no_other_person(memory: MarkdownMemory, folder: Path) -> None:
    bob = replace(ACCESS, person="chat:main:bob", persons=("chat:main:bob",))
    diary = replace(BRIDGE, id="mem-2", person="chat:main:bob", text="# Diary\nBob is in love.")
    await memory.remember(bob, diary)
    await memory.remember(ACCESS, replace(BRIDGE, text="The red bridge and [[Diary]] [[mem-2]]."))
    assert len(await recalled(memory, "What about the red bridge?")) == 1


async def test_keys_of_other_programs_survive_a_rewrite(
    memory: MarkdownMemory, folder: Path
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (file,) = folder.glob("*.md")
    file.write_text(file.read_text().replace("---\n\n", "aliases: [gate]\n---\n\n"))
    await memory.remember(ACCESS, replace(BRIDGE, replaced_by="mem-2"))
    assert "aliases: [gate]" in file.read_text()
    assert read_note(file.read_text()).front["replaced_by"] == "mem-2"


@pytest.mark.parametrize("target", ["file", "folder"])
async def test_no_link_of_the_file_system_is_followed(
    memory: MarkdownMemory, folder: Path, tmp_path: Path, target: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret of the machine.")
    await memory.remember(ACCESS, BRIDGE)
    if target == "file":
        (folder / "link.md").symlink_to(outside / "secret.md")
    else:
        (folder.parent / "chat=3amain=3abob").symlink_to(outside)
        bob = replace(ACCESS, person="chat:main:bob", persons=("chat:main:bob",))
        assert await texts(memory, bob) == []
        with pytest.raises(OSError, match=r"chat=3amain=3abob"):
            await memory.remember(bob, replace(BRIDGE, person="chat:main:bob"))
    assert await texts(memory) == [BRIDGE.text]
    await memory.erase("acme", (ADA, "chat:main:bob"))
    assert (outside / "secret.md").exists()


async def test_other_kinds_of_files_are_ignored(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    os.mkfifo(folder / "pipe.md")
    (folder / "sub.md").mkdir()
    (folder / "large.md").write_text("x" * (MAX_FILE + 1))
    (folder / ".hidden.md").write_text("hidden")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "broken.md").write_bytes(b"\xff\xfe broken bytes")
    assert sorted(await texts(memory)) == [BRIDGE.text, "\ufffd\ufffd broken bytes"]


async def test_an_interrupted_write_leaves_the_old_file(
    memory: MarkdownMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.remember(ACCESS, BRIDGE)

    def fail(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        await memory.remember(ACCESS, replace(BRIDGE, text="Half a sent"))
    assert await texts(memory) == [BRIDGE.text]
    assert sorted(file.name for file in folder.iterdir()) == [
        ".owner",
        "the-red-bridge-opens-at-seven--mem-1.md",
    ]


async def test_a_full_folder_refuses_further_files(memory: MarkdownMemory, folder: Path) -> None:
    await memory.remember(ACCESS, BRIDGE)
    for number in range(MAX_STATEMENTS):
        (folder / f"a{number}.md").write_text("x")
    with pytest.raises(FolderFull):
        await memory.remember(ACCESS, replace(BRIDGE, id="mem-2"))


async def test_an_erasure_deletes_every_file_of_the_folder(
    memory: MarkdownMemory, folder: Path
) -> None:
    await memory.remember(ACCESS, BRIDGE)
    (folder / "attachments").mkdir()
    (folder / "attachments" / "photo.jpg").write_bytes(b"jpg")
    await memory.erase("acme", (ADA,))
    assert not folder.exists()


def test_names_are_safe_and_different() -> None:
    ids = (
        *(
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "A",
            "a",
            "a\0",
            "ü",
            "u\u0308",
            "=41",
            "con:",
            "x" * 500,
        ),
        *("x" * 501, "CHAT:MAIN:ADA", "chat:main:ada", "\udc80"),
    )
    names = [folder_name(id_) for id_ in ids]
    assert len({name.casefold() for name in names}) == len(ids)
    for name in names:
        assert len(name) <= MAX_NAME
        assert name == os.path.basename(name)
        assert not name.startswith(".")
    for text in ("", "../../etc/passwd", "私" * 300, "a\0b\n/c", "." * 50, "😀" * 99):
        name = file_name(text, "mem-1")
        assert name == os.path.basename(name)
        assert name.endswith("--mem-1.md")
        assert not name.startswith(".")
        assert len(name.encode()) < 255


def test_only_a_backend_that_is_told_to_writes_the_brief(tmp_path: Path) -> None:
    assert not isinstance(backend({"folder": str(tmp_path)}), CanBrief)
    assert isinstance(backend({"folder": str(tmp_path), "brief": "own"}), CanBrief)


async def test_a_person_writes_the_brief_by_hand(tmp_path: Path, folder: Path) -> None:
    memory = backend({"folder": str(tmp_path / "notes"), "brief": "own"})
    await memory.start()
    assert isinstance(memory, CanBrief)
    await memory.remember(ACCESS, replace(BRIDGE, kind="preference"))
    assert await memory.brief(ACCESS, 500) == (
        "- [preference] The red bridge opens at seven. (2026-05-01)"
    )
    assert len(await memory.brief(ACCESS, 20)) <= 20
    (folder / "brief.md").write_text("Ada builds bridges.")
    assert await memory.brief(ACCESS, 500) == "Ada builds bridges."


@pytest.mark.parametrize("options", [{}, {"folder": ""}, {"folder": "x", "path": "y"}])
def test_unusable_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="option"):
        backend(options)


async def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = backend({"folder": str(tmp_path / "file" / "notes")})
    with pytest.raises(OSError, match="notes"):
        await memory.start()


async def test_further_pages_continue_the_list_of_the_first_one_until_something_changes(
    memory: MarkdownMemory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        at = AT.replace(day=number + 1)
        await memory.remember(ACCESS, replace(BRIDGE, id=f"mem-{number}", at=at))
    reads: list[Owner] = []
    read = Files.read

    def counted(files: Files, owner: Owner) -> list[File]:
        reads.append(owner)
        return read(files, owner)

    monkeypatch.setattr(Files, "read", counted)
    (newest,) = await memory.list_statements(ACCESS, None, 1)
    first = len(reads)
    (second,) = await memory.list_statements(ACCESS, newest, 1)
    assert (newest.id, second.id, len(reads)) == ("mem-2", "mem-1", first)
    await memory.forget(ACCESS, ("mem-0",))
    assert await memory.list_statements(ACCESS, second, 1) == []
    assert [one.id for one in await memory.list_statements(ACCESS, None, 9)] == ["mem-2", "mem-1"]
    elsewhere = replace(ACCESS, person="chat:main:eve", persons=("chat:main:eve",))
    assert await memory.list_statements(elsewhere, newest, 1) == []
