"""The rules of the week: nothing of one person reaches the other, nothing is lost, and nobody is
asked too often. Each check returns what breaks a rule, in words."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from importlib import resources
from typing import Final, get_args

from benchmarks.week.deeds import Asks, Deed, Person, Presses, Says, Uses
from benchmarks.week.player import Outcome, Player
from simulators.base import Shown

WORD: Final = re.compile(r"\w{4,}")
SHORTEST_DENSE: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]+")
OWN_SENTENCES: Final = resources.files("gateway.languages") / "catalogues" / "parley.pot"
"""All sentences of the program, which anybody may read."""
PEOPLE: Final[tuple[Person, ...]] = get_args(Person)


def words_of(text: str) -> frozenset[str]:
    """Return the words of at least four letters, and runs of a script without spaces."""
    return frozenset(WORD.findall(text.casefold())) | frozenset(SHORTEST_DENSE.findall(text))


def told(deed: Deed) -> str:
    """Return everything that a person writes in a deed."""
    match deed:
        case Says():
            return f"{deed.text} {deed.content} {deed.pasted}"
        case Asks():
            return deed.text
        case Uses():
            return deed.arguments
        case Presses():
            return ""


def private_words(deeds: Sequence[Deed], person: Person, known: Collection[str]) -> frozenset[str]:
    """Return the words that only this person stated, and in private only. `known` are the words of
    the program itself."""
    secret, others = set[str](), set[str](known)
    for deed in deeds:
        mine = deed.who == person and deed.where != "room" and isinstance(deed, Says)
        (secret if mine else others).update(words_of(told(deed)))
    return frozenset(secret - others)


def shown_text(answer: Shown) -> str:
    """Return what a person reads in an answer, files included."""
    return "\n".join(
        (answer.text, *(file.data.decode("utf-8", "replace") for file in answer.files))
    )


def leaks(player: Player) -> Iterator[str]:
    """Yield private words of one person in a prompt, an answer or an export of the other, or in
    the room."""
    deeds = [one.deed for one in player.outcomes]
    known = words_of(OWN_SENTENCES.read_text("utf-8")) | words_of(player.first_prompt)
    for person in PEOPLE:
        words = private_words(deeds, person, known)
        assert len(words) > MANY, f"only {len(words)} words show what {person} alone said"
        for who, where, prompt in player.prompts:
            if (who != person or where == "room") and (found := words & words_of(prompt)):
                yield f"a prompt of {who} ({where}) holds words of {person}: {sorted(found)}"
        for one in player.outcomes:
            apart = one.deed.who != person or one.deed.where == "room"
            if apart and (found := words & words_of(shown_text(one.answer))):
                yield f"{one.deed.who} reads words of {person}: {sorted(found)}"


MANY: Final = 20
"""Words that tell one person's statements from the other's, at least."""


def losses(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield memories that are gone although nobody deleted them, and statements without a trace."""
    for one in outcomes:
        deletes = one.deed.deletes if isinstance(one.deed, Presses) else ()
        if one.gone and not deletes:
            yield f"{one.gone} are gone after {one.deed}"
        for word in deletes:
            if not any(word in text for text in one.gone):
                yield f"{word!r} was not deleted by {one.deed}"
        if one.result in ("asked", "refused", "known") and not one.reason:
            yield f"no reason is given for {one.deed}"


def remembered_of_erased(player: Player) -> Iterator[str]:
    """Yield erased words that a later prompt or answer of their person holds."""
    erased: dict[Person, set[str]] = {person: set() for person in PEOPLE}
    for one in player.outcomes:
        who = one.deed.who
        again = {word for word in erased[who] if word in told(one.deed)}
        read = "\n".join((shown_text(one.answer), one.read))
        for word in erased[who] - again:
            if word in read:
                yield f"{word!r} was erased, and {who} or the model reads it in {one.deed}"
        if isinstance(one.deed, Presses) and one.deed.erases:
            erased[who].update(one.deed.deletes)


def left_of_erased(player: Player) -> Iterator[str]:
    """Yield erased words that the stores still hold."""
    presses = [one.deed for one in player.outcomes if isinstance(one.deed, Presses)]
    erased = [word for one in presses if one.erases for word in one.deletes]
    asked = [told(one.deed) for one in player.outcomes if not isinstance(one.deed, Says)]
    return (
        f"{word!r} was erased, and is still stored"
        for word in erased
        if word in player.left and not any(word in text for text in asked)
    )


def too_often(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the days on which somebody is asked twice which of two memories is true."""
    asked = Counter((one.deed.who, one.day) for one in outcomes if one.asked)
    return (f"{who} was asked {n} times on day {day}" for (who, day), n in asked.items() if n > 1)


def wrong(outcome: Outcome) -> str:
    """Return what is wrong with one deed, empty if nothing is."""
    deed, read = outcome.deed, shown_text(outcome.answer)
    match deed:
        case Says():
            right = outcome.result in deed.becomes
            return "" if right else f"{outcome.result}, not {' or '.join(deed.becomes)}"
        case Asks():
            read = outcome.read
            found = "\n".join(outcome.recalled) if deed.by_time else read
            lost = [word for word in deed.finds if word not in found]
        case Uses():
            lost = [word for word in deed.shows if word not in read]
        case Presses():
            return ""
    told_too = [word for word in deed.never if word in read]
    return "; ".join(
        [*(f"{one!r} is missing" for one in lost), *(f"{one!r} is there" for one in told_too)]
    )


def problems(player: Player) -> list[str]:
    """Return everything that breaks a rule of the week."""
    outcomes = player.outcomes
    return [
        *leaks(player),
        *losses(outcomes),
        *remembered_of_erased(player),
        *left_of_erased(player),
        *too_often(outcomes),
    ]
