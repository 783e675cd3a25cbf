"""Makes a contract of 80 pages: the clauses that questions ask for, among annexes that use the same
words. The same seed makes the same contract."""

import random
import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from gateway.documents.model import DocumentPage, ReadDocument

PAGES: Final = 80
LANGUAGES: Final = ("english", "german", "japanese")
FOLDER: Final = Path(__file__).parent
_KANJI: Final = "〇一二三四五六七八九"


class Question(Struct, frozen=True):
    """A question and the number of the page that answers it."""

    text: str
    page: int


class Contract(Struct, frozen=True):
    """A contract with its questions."""

    document: ReadDocument
    questions: tuple[Question, ...]


def contract_in(language: str, seed: int) -> Contract:
    """Return the contract in a language of `LANGUAGES`."""
    chance = random.Random(seed)
    clauses = _clauses(FOLDER / f"{language}.txt")
    templates, places, things, general = _annexes(FOLDER / f"{language}_annexes.txt")
    numbers = sorted(chance.sample(range(2, PAGES + 1), len(clauses)))
    chance.shuffle(clauses)
    asked = dict(zip(numbers, clauses, strict=True))
    pages, questions = [], []
    for number in range(1, PAGES + 1):
        if number in asked:
            text, question = asked[number]
            questions.append(Question(question, number))
        else:
            text = _filled(chance, language, templates[number % len(templates)], places, things)
        text = "\n\n".join((text, *chance.sample(general, 2)))
        pages.append(DocumentPage(number, f"page {number}", text))
    return Contract(ReadDocument("pdf", tuple(pages), PAGES), tuple(questions))


def _clauses(file: Path) -> list[tuple[str, str]]:
    blocks = file.read_text(encoding="utf-8").strip().split("\n\n")
    parted = (block.rpartition("\n? ") for block in blocks)
    return [(text, question) for text, _, question in parted]


def _annexes(file: Path) -> tuple[list[str], list[str], list[str], list[str]]:
    parts = re.split(r"\n--- \w+\n", file.read_text(encoding="utf-8").strip())
    templates, places, things, general = parts
    return (
        templates.split("\n\n"),
        re.split(", |、", places.strip()),
        re.split(", |、", things.strip()),
        general.split("\n\n"),
    )


def _filled(
    chance: random.Random, language: str, template: str, places: list[str], things: list[str]
) -> str:
    def number(_: re.Match[str]) -> str:
        value = chance.randint(2, 9)
        return _KANJI[value] if language == "japanese" else str(value)

    text = template.replace("{place}", chance.choice(places))
    text = text.replace("{thing}", chance.choice(things))
    return re.sub(r"\{number\}", number, text)
