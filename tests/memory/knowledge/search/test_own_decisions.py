"""Parley's search answers a newcomer's questions from Parley's own decision records."""

from pathlib import Path

from memory.knowledge.model import FileKind
from tests.memory.knowledge.search.conftest import Library

FOLDER = Path(__file__).parents[4] / "docs" / "explanation" / "decisions"
IN_REPOSITORY = "docs/explanation/decisions"
RECORDS = {f"{IN_REPOSITORY}/{file.name}": file.read_text("utf-8") for file in FOLDER.glob("*.md")}
QUESTIONS = {
    "why are conversations in the database and not in redis": 1,
    "why not a sqlite file for each group": 2,
    "why is sql written by hand instead of sqlalchemy": 3,
    "why are there two http servers": 4,
    "why does parley read the streams of models itself": 5,
    "when is a platform's webhook acknowledged": 6,
    "who decides the trust of a memory": 7,
    "why are names not allowed in access lists": 8,
    "are messages of one conversation answered side by side": 9,
    "why are answers not converted with regular expressions": 10,
    "why is no embedding model downloaded": 11,
    "where does a route declare who may call it": 12,
    "when does a new statement replace an older one": 13,
}


async def test_each_question_leads_to_its_record(library: Library) -> None:
    await library.add(RECORDS)
    for question, number in QUESTIONS.items():
        hit = (await library.find(question))[0]
        assert hit.path.startswith(f"{IN_REPOSITORY}/{number:04d}-"), question
        assert hit.kind is FileKind.DECISION
        assert hit.status == "accepted"


def test_each_record_is_asked_for_and_listed() -> None:
    names = sorted(Path(path).name for path in RECORDS if not path.endswith("index.md"))
    assert [int(name[:4]) for name in names] == sorted(QUESTIONS.values())
    for name in names:
        assert f"({name})" in RECORDS[f"{IN_REPOSITORY}/index.md"]
