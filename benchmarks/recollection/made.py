"""Many memories of one person, for times only: made by counting, or of whole collections."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count as counting
from itertools import islice
from typing import Final

from benchmarks.recollection.corpora import BEGINNING, Ask, Corpus, Document
from gateway.immutable import replace

QUESTIONS: Final = 200
WHO: Final = ("Ada", "Ben", "Chiara", "Dmitri", "Elif", "Femi")
WHAT: Final = (
    *("invoice", "garden", "server", "recipe", "meeting", "bicycle", "contract", "parcel"),
    *("piano", "passport", "kitchen", "backup", "ticket", "novel", "boiler", "camera", "dentist"),
)
HOW: Final = ("green", "urgent", "weekly", "shared", "broken", "private", "annual", "spare", "late")
DOES: Final = (
    *("repaired", "ordered", "lost", "painted", "sold", "described", "found", "sent", "moved"),
    *("cancelled", "renewed"),
)
WHERE: Final = (
    *("Berlin", "the cellar", "the office", "Lyon", "the attic", "Porto", "room nine"),
    *("Oslo", "the workshop", "the library", "Turin", "the school", "the harbour"),
)


def made(count: int) -> Corpus:
    """Turns of a chat, every tenth a memory that was kept; and questions after some of them."""
    at, documents, questions = BEGINNING, [], []
    every = max(1, count // QUESTIONS)
    for number in range(count):
        at += timedelta(minutes=7 if number % 20 else 600)
        who, what, how = WHO[number % 6], WHAT[number // 3 % 17], HOW[number // 5 % 9]
        does, where = DOES[number // 7 % 11], WHERE[number // 11 % 13]
        text = f"{who} {does} the {how} {what} in {where} and wrote number {number} on it"
        turn = number % 10 != 0
        sentence = f"{WHO[number % 2]}: {text}" if turn else text
        documents.append(Document(str(number), sentence, at, "user" if turn else ""))
        if number % every == 0:
            questions.append(Ask(f"Where was the {how} {what} that {who} {does}?", (str(number),)))
    return Corpus("made", tuple(documents), tuple(questions), at + timedelta(days=1))


def together(corpora: Sequence[Corpus], count: int) -> Corpus:
    """So many documents of collections, again and again with a number behind them, as one person's;
    and questions from all over them. `corpora` must not be empty."""
    documents = (
        replace(one, id=f"{time}-{corpus.name}-{one.id}", text=f"{one.text} ({time})")
        for time in counting()
        for corpus in corpora
        for one in corpus.documents
    )
    questions = [
        replace(ask, relevant=tuple(f"0-{corpus.name}-{id_}" for id_ in ask.relevant))
        for corpus in corpora
        for ask in corpus.questions
    ]
    some = tuple(questions[:: max(1, len(questions) // QUESTIONS)])[:QUESTIONS]
    now = max(corpus.now for corpus in corpora)
    return Corpus("together", tuple(islice(documents, count)), some, now)
