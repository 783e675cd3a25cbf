"""Texts that repeat a question, and texts that state ignorance."""

import pytest

from memory.recall.repeated_questions import knows_nothing, repeats
from memory.text.courtesies import words_of
from tests.memory.recall.making import Asking, talk, turn
from tests.support.for_each import for_each


@for_each(
    "answer",
    [
        "I'm sorry, but I don’t know that.",
        "Unfortunately I could not find anything about it. Tell me, and I will keep it!",
        "You haven't told me yet.",
        "Das hast du mir noch nicht gesagt.",
        "Da bin ich überfragt, ich habe dazu keine Angaben.",
        "Je n’ai aucune information à ce sujet.",
        "Lo siento, no me has dicho nada de eso. No lo sé.",
        "Mi dispiace, non ho informazioni su questo.",
        "Извините, у меня нет информации об этом.",
        "申し訳ありませんが、その情報はありません。",
        "我没有关于这个的信息。",
        "죄송합니다, 그 정보가 없습니다.",
        "ขออภัย ฉันไม่มีข้อมูลนั้น",
    ],
)
def test_an_answer_that_knows_nothing(answer: str) -> None:
    assert knows_nothing(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "It is Riesling, from the Mosel.",
        "Make sure that the door is closed.",
        "I do not know the street, but the number is 14.",
        "Die Brücke ist nicht sicher.",
        "Under the blue pot.",
        "There is no idea too small: " + "write it down. I don't know a better advice. " * 20,
    ],
)
def test_an_answer_that_says_something(answer: str) -> None:
    assert not knows_nothing(answer)


@pytest.mark.parametrize(
    ("text", "question", "again"),
    [
        ("What is my blood type?", "what is my blood type", True),
        ("My blood type?", "What is my blood type?", True),
        ("What is my blood type and my weight?", "What is my blood type?", False),
        ("My blood type is rare", "What is my blood type?", False),
        ("Is blood my type?", "Is my type blood?", True),
        ("Tell me a joke", "tell me a joke!", True),
        ("", "What is my blood type?", False),
    ],
)
def test_a_question_is_repeated(text: str, question: str, again: bool) -> None:
    assert repeats(text, frozenset(words_of(question))) is again


async def test_the_answer_to_the_same_question_is_still_found(here: Asking) -> None:
    """Of what stands beside a repeated question only the answer is recalled."""
    lines = (
        "It rains.",
        "What wine goes with fish?",
        "A Riesling from the Mosel.",
        "Fine.",
        "Bye.",
    )
    roles = ("user", "user", "assistant", "user", "assistant")
    said = [
        turn(line, role, id=f"s{n}", at=one.provenance.at)
        for n, (line, role, one) in enumerate(zip(lines, roles, talk(*lines), strict=True))
    ]
    await here.keep(*said)
    assert await here.texts("What wine goes with fish?", model=False) == [lines[2]]


async def test_a_question_that_was_not_answered_lends_nothing_to_another_one(here: Asking) -> None:
    lines = (
        "It rains.",
        "Do you know how my sister is called?",
        "I don't know.",
        "Fine, then pizza.",
    )
    roles = ("user", "user", "assistant", "user")
    said = [
        turn(line, role, id=f"s{n}", at=one.provenance.at)
        for n, (line, role, one) in enumerate(zip(lines, roles, talk(*lines), strict=True))
    ]
    await here.keep(*said)
    found = await here.texts("What's the name of my sister?", model=False)
    assert "Fine, then pizza." not in found
    assert "It rains." not in found
