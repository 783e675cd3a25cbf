"""Results that only repeat the question or another result are removed."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.immutable import replace
from memory.model.record import Record
from memory.ports.recall import Recalled
from memory.recall.repeat_filter import knows_nothing, repeats, silent_in, without_repeats
from memory.text.stop_words import words_of
from tests.memory.recall.making import Asking, talk, turn
from tests.memory.stores.records import AT, record
from tests.support.for_each import for_each

QUESTION = "What do you know about tea?"


def memory(content: str) -> Recalled:
    return Recalled(record(content), 0.9, {}, {})


def result(content: str, minutes: int = 0, role: str = "user") -> Recalled:
    reply: Record = replace(record(content, at=AT + timedelta(minutes=minutes)), role=role)  # type: ignore[arg-type]
    return Recalled(reply, 0.5, {}, {})


def remaining_texts(question: str, *found: Recalled) -> list[str]:
    return [one.record.content for one in without_repeats(question, found)]


def test_a_memory_excludes_the_turns_that_created_or_repeated_it() -> None:
    question = result("Remember that I like green tea", 1)
    answer = result("I remember: “I like green tea” (2026-11-21)", 3, "assistant")
    again = result(QUESTION, 2)
    assert remaining_texts(QUESTION, question, answer, again, memory("I like green tea")) == [
        "I like green tea"
    ]


def test_a_turn_with_new_content_stays() -> None:
    more = "I like green tea, but my doctor allows three cups and no coffee"
    assert remaining_texts(QUESTION, result(more), memory("I like green tea")) == [
        more,
        "I like green tea",
    ]


def test_the_older_of_two_equal_turns_stays() -> None:
    first = result("The cellar key hangs behind the clock", 1)
    later = result("You said: the cellar key hangs behind the clock.", 2, "assistant")
    assert remaining_texts("Where is the key?", later, first) == [first.record.content]


def test_memories_are_never_removed_and_the_order_stays() -> None:
    results = [memory("I like tea"), result("Something else entirely"), memory("I like tea")]
    assert without_repeats("tea", results) == results


@pytest.mark.parametrize(
    "said",
    [
        QUESTION,
        "And what did I tell you about tea?",
        "Was weißt du über tea?",
        "I will remember that.",
        "Noted, thank you!",
        "I remember nothing about that.",
        "Das habe ich mir gemerkt.",
        "I remember:\n\n- “What do you know about tea?” (2026-11-21)",
    ],
)
def test_questions_about_memory_and_acknowledgements_have_no_content(said: str) -> None:
    assert remaining_texts("tea", result(said), result("I drink it at noon", 1)) == [
        "I drink it at noon"
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the code of the door?", "The code of the door is 4711"),
        ("When is the meeting?", "The meeting is at 15:30"),
        ("When is the wedding?", "The wedding is on 2027-05-03"),
        ("What did I say about my wife's birthday?", "What shall I get my wife for her birthday?"),
    ],
)
def test_a_number_and_a_statement_within_a_question_are_content(question: str, said: str) -> None:
    assert remaining_texts(question, result(said)) == [said]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Do I like green tea?", "I like green tea"),
        ("Mag ich grünen Tee?", "ich mag grünen Tee"),
        ("Is the key under the pot?", "The key is under the pot."),
    ],
)
def test_a_statement_in_the_words_of_the_question_is_an_answer(question: str, said: str) -> None:
    assert remaining_texts(question, result(said), result(question, 1)) == [said]


def test_words_without_meaning_are_content_if_they_are_all() -> None:
    assert remaining_texts("x", result("who are you"), result("东京的天气")) == [
        "who are you",
        "东京的天气",
    ]


@given(st.text(), st.lists(st.tuples(st.text(), st.booleans(), st.integers(0, 9)), max_size=8))
def test_the_result_is_an_ordered_subset_and_idempotent(
    question: str, given_: list[tuple[str, bool, int]]
) -> None:
    results = [result(text, at) if reply else memory(text) for text, reply, at in given_]
    left = without_repeats(question, results)
    assert left == [one for one in results if one in left]
    assert without_repeats(question, left) == left
    assert [one for one in left if not one.record.role] == [
        one for one in results if not one.record.role
    ]


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
def test_an_answer_without_knowledge_is_recognised(answer: str) -> None:
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
def test_an_answer_with_content_is_recognised(answer: str) -> None:
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
def test_a_repeated_question_is_recognised(text: str, question: str, again: bool) -> None:
    assert repeats(text, frozenset(words_of(question))) is again


async def test_the_answer_to_the_same_question_is_still_found(here: Asking) -> None:
    """Of the neighbours of a repeated question only the answer is recalled."""
    lines = (
        "It rains.",
        "What wine goes with fish?",
        "A Riesling from the Mosel.",
        "Fine.",
        "Bye.",
    )
    roles = ("user", "user", "assistant", "user", "assistant")
    replies = [
        turn(line, role, id=f"s{n}", at=one.provenance.at)
        for n, (line, role, one) in enumerate(zip(lines, roles, talk(*lines), strict=True))
    ]
    await here.keep(*replies)
    assert await here.texts("What wine goes with fish?", model=False) == [lines[2]]


async def test_an_unanswered_question_does_not_raise_another_turn(here: Asking) -> None:
    lines = (
        "It rains.",
        "Do you know how my sister is called?",
        "I don't know.",
        "Fine, then pizza.",
    )
    roles = ("user", "user", "assistant", "user")
    replies = [
        turn(line, role, id=f"s{n}", at=one.provenance.at)
        for n, (line, role, one) in enumerate(zip(lines, roles, talk(*lines), strict=True))
    ]
    await here.keep(*replies)
    match = await here.texts("What's the name of my sister?", model=False)
    assert "Fine, then pizza." not in match
    assert "It rains." not in match


EMPTY_TURNS = (
    *("I see.", "ok", "Thanks!", "Got it", "will do", "Great!", "👍", "danke", "alles klar"),
    *("D'accord", "Compris", "vale, gracias", "va bene", "Capito!", "Obrigado", "dank je"),
    *("Понятно", "Спасибо", "rozumiem", "teşekkürler", "anladım", "شكرا", "ठीक है"),
    *("好的", "嗯", "知道了", "谢谢", "了解です", "わかりました", "알겠습니다", "네"),
)
TELLING_TURNS = (
    *("Tea.", "42", "In Bern", "ok, at 10:30", "Thanks, the code is blue", "danke, Montag passt"),
    *("merci, mais à Lyon", "好的，星期一", "はい、木曜日です", "Да, в Казани", "네, 서울에서"),
)


@pytest.mark.parametrize("content", EMPTY_TURNS)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_turn_without_content_is_not_recalled(content: str, role: str) -> None:
    said = turn("The boat is in Lugano", at=AT)
    empty = turn(content, role, at=AT + timedelta(minutes=1))
    assert silent_in("Where is the boat?", (said, empty)) == {empty.id}


@pytest.mark.parametrize("content", TELLING_TURNS)
def test_a_short_turn_with_content_is_recalled(content: str) -> None:
    assert silent_in("Where is the boat?", (turn(content),)) == frozenset()


def test_an_answer_of_one_word_to_a_question_is_recalled() -> None:
    asked, answer, thanks = talk("Do you eat meat?", "No", "Thanks")
    asked, thanks = replace(asked, role="assistant"), replace(thanks, role="assistant")
    assert silent_in("vegetarian dinner", (answer, thanks, asked)) == {thanks.id}
    elsewhere = replace(answer, provenance=replace(answer.provenance, conversation="other"))
    assert silent_in("vegetarian dinner", (elsewhere, thanks, asked)) >= {elsewhere.id}
