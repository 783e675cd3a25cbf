"""Asks questions about a contract: is the first passage of the page that answers?

    python -m benchmarks.documents --questions
    python -m benchmarks.document_questions --part develop

`develop` are two thirds of the questions, `held-out` the others, which the search was not improved
with. Words alone; the index is an SQLite file. Each line is JSON.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Final

from benchmarks.document_questions.contract import LANGUAGES, Contract, Question, contract_in
from db.sqlite import SqliteDatabase
from gateway.ports.clock import SystemClock
from gateway.ports.long_documents import DocumentPlace, DocumentSource
from memory.knowledge.long_documents.index import SqlLongDocuments
from parley.wiring.storage import SCHEMAS

SEED: Final = 34
ENOUGH: Final = 0.9
PARTS: Final = ("all", "develop", "held-out")


def part_of(questions: tuple[Question, ...], part: str) -> list[Question]:
    """Return a part of the questions; every third one is held out."""
    held = [one for at, one in enumerate(questions) if at % 3 == 2]
    return {
        "all": list(questions),
        "held-out": held,
        "develop": [one for one in questions if one not in held],
    }[part]


async def measured(
    index: SqlLongDocuments, language: str, contract: Contract, part: str, *, shown: bool
) -> bool:
    """Store a contract, ask its questions, and print the result; False if too few are answered."""
    place = DocumentPlace("default", f'["{language}"]', language, ("m1",))
    source = DocumentSource("m1", "contract", "person", "contract.pdf", datetime.now(UTC))
    began = perf_counter()
    await index.keep(place, source, contract.document)
    stored = perf_counter() - began
    first = among = 0
    questions = part_of(contract.questions, part)
    began = perf_counter()
    for question in questions:
        pages = [one.page for one in await index.search(place, question.text)]
        first += pages[:1] == [question.page]
        among += question.page in pages
        if shown and pages[:1] != [question.page]:
            print(f"  {question.text} page {question.page}: {pages}", file=sys.stderr)
    searched = (perf_counter() - began) / len(questions)
    figures: dict[str, object] = {
        "benchmark": "document_questions",
        "language": language,
        "part": part,
        "pages": contract.document.total,
        "characters": contract.document.characters,
        "questions": len(questions),
        "first": first,
        "among_six": among,
        "store_ms": round(stored * 1000),
        "search_ms": round(searched * 1000, 1),
    }
    print(json.dumps(figures), flush=True)
    return first >= ENOUGH * len(questions)


async def main(arguments: Sequence[str]) -> int:
    """Measure every language; 1 if one of them has too few answers."""
    parser = argparse.ArgumentParser(prog="benchmarks.document_questions")
    parser.add_argument("--part", choices=PARTS, default="all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", action="store_true", help="show the questions that fail")
    asked = parser.parse_args(arguments)
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        database = SqliteDatabase(Path(folder) / "documents.db", SCHEMAS)
        await database.start()
        try:
            index = SqlLongDocuments(database, SystemClock())
            for language in LANGUAGES:
                contract = contract_in(language, asked.seed)
                passed &= await measured(index, language, contract, asked.part, shown=asked.show)
        finally:
            await database.stop()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
