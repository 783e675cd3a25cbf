"""The week as text: per day what was kept, replaced, asked, refused and forgotten, and what each
question brought to the model."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from benchmarks.week.checks import wrong
from benchmarks.week.deeds import Asks, Presses, Says, Uses
from benchmarks.week.player import Outcome
from benchmarks.week.world import MONDAY

WIDTH: Final = 160


def day_lines(day: int, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the lines of one day."""
    yield f"{(MONDAY + timedelta(days=day)):%A, %d %B %Y}"
    for one in outcomes:
        yield from (f"  {line}" for line in deed_lines(one))
    yield ""


def deed_lines(one: Outcome) -> Iterator[str]:
    """Yield the lines of one deed."""
    deed = one.deed
    who = f"{deed.who.title()} ({deed.where})"
    match deed:
        case Says():
            yield f"{one.result or '':<10} {who}: {short(_said(deed))}"
            if one.result in ("asked", "refused", "known"):
                yield f"{'':<10}   because: {short(one.reason)}"
            if one.result == "kept both":
                yield f"{'':<10}   beside: {_joined(one.beside)}"
        case Asks():
            yield f"{'question':<10} {who}: {deed.text}"
            yield f"{'':<10}   recalled: {_joined(one.recalled)}"
            known = [line for line in one.brief if any(word in line for word in deed.finds)]
            yield f"{'':<10}   in the brief: {_joined(known)} (of {len(one.brief)} lines)"
        case Uses():
            yield f"{'command':<10} {who}: /{deed.name} {deed.arguments}".rstrip()
            read = (one.answer.text, *(f"file {file.name}" for file in one.answer.files))
            yield f"{'':<10}   {short(' '.join(read))}"
        case Presses():
            yield f"{'press':<10} {who}: [{deed.label}]"
    yield from (f"{'':<10}   replaced: {text}" for text in one.replaced)
    yield from (f"{'':<10}   restored: {text}" for text in one.back)
    if one.gone:
        yield f"{'':<10}   forgotten: {_joined(one.gone)}"
    if one.asked:
        question = one.answer.text.partition("Is this still true?")[2]
        yield f"{'':<10}   asks: Is this still true?{short(question)}"
    if problem := wrong(one):
        yield f"{'':<10}   WRONG: {problem}"


def _said(deed: Says) -> str:
    return f"{deed.text} / pasted: {deed.pasted}" if deed.pasted else deed.text


def _joined(texts: Sequence[str]) -> str:
    return short(" | ".join(" ".join(one.split()) for one in texts)) or "nothing"


def short(text: str) -> str:
    """Return a text in one line of at most `WIDTH` characters."""
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def figures(outcomes: Sequence[Outcome], problems: Sequence[str]) -> str:
    """Return the numbers of the week as JSON."""
    says = [one for one in outcomes if isinstance(one.deed, Says)]
    languages = {one.deed.language for one in says if isinstance(one.deed, Says)}
    questions = [one for one in outcomes if isinstance(one.deed, Asks)]
    counted = {
        "statements": len(says),
        "languages": len(languages),
        **Counter(str(one.result) for one in says),
        "restored": sum(len(one.back) for one in outcomes),
        "forgotten": sum(len(one.gone) for one in outcomes),
        "asked which is true": sum(one.asked for one in outcomes),
        "questions": len(questions),
        "wrong questions": sum(bool(wrong(one)) for one in questions),
        "wrong statements": sum(bool(wrong(one)) for one in says),
        "problems": len(problems),
    }
    return json.dumps(counted)
