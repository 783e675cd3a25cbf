"""The week of two people: what its rules find, and that nothing breaks them."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Final

import pytest

from benchmarks.week.__main__ import played
from benchmarks.week.checks import (
    left_of_erased,
    losses,
    problems,
    remembered_of_erased,
    too_often,
    wrong,
)
from benchmarks.week.deeds import Asks, Presses, Says, Uses
from benchmarks.week.player import Player
from benchmarks.week.report import day_lines, figures
from benchmarks.week.story import SECRET, WEEK


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Player:
    return asyncio.run(played(tmp_path_factory.mktemp("week")))


def test_no_rule_of_the_week_is_broken(week: Player) -> None:
    assert problems(week) == []


def test_every_deed_does_what_it_should(week: Player) -> None:
    assert [(one.deed, wrong(one)) for one in week.outcomes if wrong(one)] == []


def test_the_week_has_every_sort_of_deed_and_result(week: Player) -> None:
    says = [one for one in week.outcomes if isinstance(one.deed, Says)]
    assert len(says) >= 40
    assert len({one.deed.language for one in says if isinstance(one.deed, Says)}) >= 3
    assert {str(one.result) for one in says} >= {"kept", "replaced", "kept both", "asked", "known"}
    assert {one.deed.where for one in week.outcomes} == {"direct", "room", "web"}
    pressed = {one.deed.label for one in week.outcomes if isinstance(one.deed, Presses)}
    assert pressed >= {"Only the new one", "Only the old one", "Both are true", "Restore", "Undo"}
    assert pressed >= {"Keep", "Forget it", "Forget", "Erase everything"}
    assert sum(one.asked for one in week.outcomes) >= 5
    assert any(one.back for one in week.outcomes)
    exports = [one for one in week.outcomes if one.deed in EXPORTS]
    assert [len(one.answer.files) for one in exports] == [1, 1]
    assert week.first_prompt
    assert "Lea is allergic" in week.left


EXPORTS: Final = (Uses("ada", "privacy", "export"), Uses("ben", "privacy", "export"))


def test_a_secret_is_kept_nowhere(week: Player) -> None:
    assert SECRET not in week.left
    later = [text for _, _, text in week.prompts if "Huber" in text]
    assert later
    assert all(SECRET not in one.answer.text for one in week.outcomes)


def test_the_report_names_every_deed(week: Player) -> None:
    text = "\n".join(
        line
        for day in range(len(WEEK))
        for line in day_lines(day, [one for one in week.outcomes if one.day == day])
    )
    for deed in (deed for day in WEEK for deed in day):
        named = f"/{deed.name}" if isinstance(deed, Uses) else getattr(deed, "text", "")
        assert named in text or f"[{getattr(deed, 'label', '')}]" in text
    assert "because: It is stored already." in text
    assert "recalled: " in text
    assert f'"statements": {sum(isinstance(d, Says) for day in WEEK for d in day)}' in figures(
        week.outcomes, []
    )


@pytest.mark.parametrize("where", ["direct", "room"])
def test_words_of_one_person_before_the_other_are_found(week: Player, where: str) -> None:
    told = Player(week.world, week.outcomes, [*week.prompts, ("ben", where, "… Frey …")])
    told.first_prompt, told.left = week.first_prompt, week.left
    assert [one for one in problems(told) if "frey" in one] != []


def test_words_of_one_person_in_an_export_of_the_other_are_found(week: Player) -> None:
    number = next(n for n, one in enumerate(week.outcomes) if one.deed == EXPORTS[1])
    one = week.outcomes[number]
    file = replace(one.answer.files[0], data=one.answer.files[0].data + b" aisle seats")
    leaky = replace(one, answer=replace(one.answer, files=(file,)))
    outcomes = [*week.outcomes[:number], leaky, *week.outcomes[number + 1 :]]
    told = Player(week.world, outcomes, week.prompts, week.first_prompt, week.left)
    assert any("aisle" in one for one in problems(told))


def test_losses_questions_and_traces_are_found(week: Player) -> None:
    asked = next(one for one in week.outcomes if isinstance(one.deed, Asks))
    assert list(losses([replace(asked, gone=("My cat is Mira",))])) != []
    twice = Counter(too_often([replace(asked, asked=True), replace(asked, asked=True)]))
    assert twice.total() == 1
    kept = next(one for one in week.outcomes if isinstance(one.deed, Says))
    assert list(losses([replace(kept, result="refused", reason="")])) != []
    last = replace(week.outcomes[-1], read="Mr Huber")
    told = Player(
        week.world, [*week.outcomes, last], week.prompts, "", week.left + " Sevilla Granada"
    )
    assert any("Huber" in one for one in remembered_of_erased(told))
    assert any("Granada" in one for one in left_of_erased(told))
