"""Collections for measurements, read into one form; missing parts of a file are ignored."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

OWN: Final = Path(__file__).with_name("own")
BEGINNING: Final = datetime(2024, 1, 1, 9, tzinfo=UTC)
_FORMATS: Final = ("%I:%M %p on %d %B, %Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Document:
    """Something to be found. `role` is empty for what is no turn of a conversation; `scope`,
    `kind`, `replaces` and `trust` as in `memory/model/record.py`."""

    id: str
    text: str
    at: datetime
    role: str = ""
    scope: str = "user"
    kind: str = "fact"
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question and the ids of what answers it. `unfinished`: as it is being typed."""

    text: str
    relevant: tuple[str, ...]
    kind: str = ""
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Corpus:
    """The memories of one person, and the questions that they ask at the time `now`."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Ask, ...]
    now: datetime


def locomo(path: Path) -> list[Corpus]:
    """Conversations with questions whose `evidence` names turns: one corpus each."""
    data = _read(path)
    conversations = data.get("conversations", [data]) if isinstance(data, dict) else data
    return [_conversation(one, f"conv-{place}") for place, one in enumerate(conversations)]


def cranfield(path: Path) -> list[Corpus]:
    """Documents, queries and, by query, the documents that answer it with their grades."""
    data = _read(path)
    documents = tuple(
        Document(str(one.get("id", place)), _joined(one.get("title"), one.get("text")), BEGINNING)
        for place, one in enumerate(data.get("documents", ()))
    )
    known = {one.id for one in documents}
    relevant = data.get("relevant", {})
    questions = []
    for place, one in enumerate(data.get("queries", ())):
        graded = relevant.get(str(one.get("id", place)), {})
        grades = graded if isinstance(graded, Mapping) else dict.fromkeys(graded, 1)
        expected = tuple(str(id_) for id_, grade in grades.items() if grade > 0)
        if answers := tuple(id_ for id_ in expected if id_ in known):
            questions.append(Ask(str(one.get("text", "")), answers))
    return [Corpus(path.stem, documents, tuple(questions), BEGINNING + timedelta(days=1))]


def own() -> list[Corpus]:
    """The chats that were written for Parley."""
    return [_scene(_read(path), path.stem) for path in sorted(OWN.glob("*.json"))]


def _conversation(data: Mapping[str, Any], name: str) -> Corpus:
    documents = tuple(_turns(data.get("turns", ())))
    known = {one.id for one in documents}
    questions = []
    for one in data.get("questions", ()):
        evidence = tuple(dict.fromkeys(str(id_) for id_ in one.get("evidence") or ()))
        if answers := tuple(id_ for id_ in evidence if id_ in known):
            text = str(one.get("question", one.get("text", "")))
            questions.append(Ask(text, answers, str(one.get("category", ""))))
    last = max((one.at for one in documents), default=BEGINNING)
    now = last + timedelta(days=1)
    return Corpus(str(data.get("id", name)), documents, tuple(questions), now)


def _turns(turns: Iterable[Mapping[str, Any]]) -> Iterator[Document]:
    """Turns a minute apart, from the beginning of their session."""
    session, at = object(), BEGINNING
    for place, turn in enumerate(turns):
        here = (turn.get("session"), turn.get("when"))
        at += timedelta(minutes=1)
        if here != session:
            session, at = here, _time(turn.get("when")) or at + timedelta(days=1)
        speaker = turn.get("speaker")
        spoken = _joined(turn.get("text"), turn.get("image_caption"), gap=" ")
        text = f"{speaker}: {spoken}" if speaker else spoken
        yield Document(str(turn.get("id", place)), text, at, "user")


def _scene(data: Mapping[str, Any], name: str) -> Corpus:
    documents = tuple(
        Document(
            one["id"],
            one["text"],
            _time(one["at"]) or BEGINNING,
            one.get("role", ""),
            one.get("scope", "user"),
            one.get("kind", "fact"),
            one.get("replaces", ""),
        )
        for one in data["documents"]
    )
    questions = tuple(
        Ask(one["text"], tuple(one["relevant"]), one["kind"], one.get("unfinished", False))
        for one in data["questions"]
    )
    return Corpus(name, documents, questions, _time(data["now"]) or BEGINNING)


def _time(text: object) -> datetime | None:
    for form in _FORMATS:
        try:
            return datetime.strptime(str(text), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _joined(*texts: object, gap: str = "\n") -> str:
    return gap.join(str(text) for text in texts if text)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
