"""The benchmark of repositories measures what it says."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.knowledge.baselines import counted_lines, plain_bm25
from benchmarks.knowledge.corpora import OWN, Asked, Corpus, cosqa, read
from benchmarks.knowledge.indexed import answered, index, switched_off
from db.sqlite import SqliteDatabase
from memory.knowledge.model import FileKind
from memory.knowledge.ranking import RankingRules
from memory.knowledge.schema import FILE_SCHEMA

CORPUS = Corpus(
    "toy",
    (
        ("use.py", "load_model()\nload_model()\n"),
        ("model.py", "def load_model():\n    pass\n"),
        ("docs/adr/1-a.md", "# Models\n"),
    ),
    (Asked("load_model", frozenset({"model.py"})),),
)


async def test_questions_go_through_the_search(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "k.db", (FILE_SCHEMA,))
    await database.start()
    await index(database, CORPUS)
    (found,) = await answered(database, CORPUS)
    assert found.ndcg == 1
    nothing = RankingRules(0, 0, 0, 0, 0, 1, 1, False, 1, 0, 0, 0)
    (plain,) = await answered(database, CORPUS, nothing)
    assert plain.ndcg < 1
    await database.stop()


def test_the_baselines_rank_by_words_alone() -> None:
    assert counted_lines(CORPUS)[0].ndcg < 1
    assert plain_bm25(CORPUS)[0].recall == (1, 1, 1)


def test_baselines_search_the_asked_kinds() -> None:
    asked = (Asked("models", frozenset({"docs/adr/1-a.md"})),)
    corpus = Corpus("toy", CORPUS.files, asked, frozenset({FileKind.CODE}))
    assert plain_bm25(corpus)[0].ndcg == 0


def test_each_rule_is_switched_off_once() -> None:
    rules = switched_off()
    assert len({repr(one) for one in rules.values()}) == len(rules)
    assert repr(RankingRules()) not in {repr(one) for one in rules.values()}


def _commit(folder: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = ""
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main")
    for some in ("init", "add ."), ("commit -qm x", "rev-parse HEAD"):
        for arguments in some:
            done = subprocess.run(
                ["git", *who, "-C", str(folder), *arguments.split()],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
    return done.strip()


def test_files_are_read_at_a_commit(tmp_path: Path) -> None:
    commit = _commit(tmp_path / "a+b", {"src/a.py": "one", "b.bin": "x", "c.py": "c"})
    _commit(tmp_path / "a+b", {"src/a.py": "two"})
    assert read(tmp_path, "a/b", commit, "src/") == (("src/a.py", "one"),)
    assert [path for path, _ in read(tmp_path, "a/b", commit, "")] == ["c.py", "src/a.py"]


def test_cosqa_is_one_file_for_each_function(tmp_path: Path) -> None:
    data = {
        "documents": [{"id": 3, "text": "def f(): pass"}],
        "queries": [{"id": 1, "text": "f"}],
        "relevant": {"1": {"3": 1}},
    }
    file = tmp_path / "c.json"
    file.write_text(json.dumps(data))
    (corpus,) = cosqa(file)
    assert corpus.questions[0].relevant == {path for path, _ in corpus.files}


@pytest.mark.parametrize("one", json.loads(OWN.read_text()), ids=lambda one: one["repo"])
def test_our_questions_name_repository_commit_and_paths(one: dict[str, object]) -> None:
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", str(one["repo"]))
    assert re.fullmatch(r"[0-9a-f]{40}", str(one["commit"]))
    queries = one["queries"]
    assert isinstance(queries, list)
    assert all(each["query"] and each["paths"] for each in queries)
