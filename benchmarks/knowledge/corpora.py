"""Files of repositories at a commit, and questions with the paths that answer them."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.knowledge.model import FileKind
from memory.knowledge.splitting.kinds import language_of

OWN: Final = Path(__file__).with_name("decisions.json")
MAX_FILE: Final = 500 * 1024
"""Bytes of a file that is indexed, as ingestion's `max_file_size_kb`."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the paths that answer it."""

    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts by path with their questions. Only `kinds` are searched, empty for all."""

    name: str
    files: tuple[tuple[str, str], ...]
    questions: tuple[Asked, ...]
    kinds: frozenset[FileKind] = frozenset()


def semble(file: Path, repositories: Path, *, whole: bool) -> list[Corpus]:
    """The repositories of semble's benchmark: the folder that it indexes, or `whole`."""
    corpora = []
    for one in json.loads(file.read_text()):
        root = "" if whole or not one["root"] else f"{one['root']}/"
        files = read(repositories, one["repo"], one["commit"], root)
        questions = [
            Asked(query["query"], frozenset(_path(each) for each in _answers(query)))
            for query in one["queries"]
        ]
        corpora.append(Corpus(one["repo"], files, tuple(questions)))
    return corpora


def cosqa(file: Path) -> list[Corpus]:
    """CoSQA: one file for each function."""
    data = json.loads(file.read_text())
    files = tuple((f"functions/{one['id']}.py", one["text"]) for one in data["documents"])
    questions = tuple(
        Asked(
            query["text"],
            frozenset(f"functions/{id_}.py" for id_ in data["relevant"][str(query["id"])]),
        )
        for query in data["queries"]
    )
    return [Corpus("cosqa", files, questions)]


def decisions(repositories: Path, file: Path = OWN) -> list[Corpus]:
    """Parley's own questions on decision records and incident reports of public repositories."""
    return [
        Corpus(
            one["repo"],
            read(repositories, one["repo"], one["commit"], ""),
            tuple(Asked(each["query"], frozenset(each["paths"])) for each in one["queries"]),
            frozenset(FileKind(kind) for kind in one["kinds"]),
        )
        for one in json.loads(file.read_text())
    ]


def read(folder: Path, repository: str, commit: str, root: str) -> tuple[tuple[str, str], ...]:
    """The texts below `root` at a commit, of files whose language is known. `folder` holds a bare
    repository `owner+name` or `owner+name/repo` for each."""
    git = folder / repository.replace("/", "+")
    git = git / "repo" if (git / "repo").is_dir() else git
    blobs = []
    for line in _git(git, "ls-tree", "-r", "-l", "-z", commit).split(b"\0")[:-1]:
        fields, _, path = line.partition(b"\t")
        mode, kind, blob, size = fields.split()
        name = path.decode(errors="replace")
        if kind != b"blob" or mode == b"120000":
            continue
        if not size.isdigit() or int(size) > MAX_FILE:  # "BAD": the clone lacks it
            continue
        if name.startswith(root) and language_of(name):
            blobs.append((name, blob))
    texts = _contents(git, [blob for _, blob in blobs])
    return tuple(
        (path, text.decode(errors="replace"))
        for (path, _), text in zip(blobs, texts, strict=True)
        if b"\0" not in text
    )


def _contents(git: Path, blobs: list[bytes]) -> Iterator[bytes]:
    output = _git(git, "cat-file", "--batch", given=b"\n".join(blobs))
    place = 0
    for _ in blobs:
        end = output.index(b"\n", place)
        size = int(output[place:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        place = end + size + 2


def _git(git: Path, *arguments: str, given: bytes = b"") -> bytes:
    return subprocess.run(
        ["git", "-C", str(git), *arguments], input=given, capture_output=True, check=True
    ).stdout


def _answers(query: dict[str, Any]) -> list[Any]:
    return [*query["relevant_files"], *query["secondary_files"]]


def _path(answer: Any) -> str:
    return str(answer["path"] if isinstance(answer, dict) else answer)
