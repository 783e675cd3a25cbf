"""A quote leads to the person's own sentence, whole, where that states something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.record import MAX_MEMORY
from memory.write.statement import find_statement
from tests.support.for_each import for_each


@for_each(
    ("quote", "message", "statement"),
    [
        ("tabs over spaces", "btw I prefer tabs over spaces! And you?",
         "btw I prefer tabs over spaces!"),
        ("MY DOG'S NAME IS LUNA", "well, my dog’s name is  Luna", "well, my dog’s name is  Luna"),
        ("Smith is my dentist", "Dr. Smith is my dentist. Call him.", "Dr. Smith is my dentist."),
        ("arbeite in Bern", "Ab dem 12. Mai arbeite ich z. B. in Bern und arbeite in Bern. Gut?",
         "Ab dem 12. Mai arbeite ich z. B. in Bern und arbeite in Bern."),
        ("500", "The rent is 5.500 euro and not 500.", "The rent is 5.500 euro and not 500."),
        ("allergic to nuts", "I am not\nallergic to nuts", "I am not\nallergic to nuts"),
        ("cilantro", "Hello!\nThings I hate:\n- peanuts\n- cilantro\n- olives",
         "Things I hate:\n- peanuts\n- cilantro"),
        ("I love spam", "This is not true:\n\nI love spam.", "This is not true:\n\nI love spam."),
        ("I hate this", 'Alice told me: "I quit. I hate this." What now?',
         'Alice told me: "I quit. I hate this."'),
        ("犬が好き", "私はベジタリアンです。犬が好きです。", "犬が好きです。"),
        ("我吃素", "我吃素", "我吃素"),
        ("शाकाहारी", "नमस्ते! मैं शाकाहारी हूँ। और आप?", "मैं शाकाहारी हूँ।"),
        ("живу в Берне", "Я живу в Берне. А вы?", "Я живу в Берне."),
        ("I prefer tabs", "Please remember that I prefer tabs", "I prefer tabs"),
        ("prefiero", "Recuerda que prefiero el té negro.", "prefiero el té negro."),
        ("that day", "I remember that day in Rome well.", "I remember that day in Rome well."),
        ("cafe con leche", "Me encanta el café con leche.", "Me encanta el café con leche."),
    ],
)  # fmt: skip
def test_a_quote_is_extended_to_its_sentence(quote: str, message: str, statement: str) -> None:
    assert find_statement(quote, ["hello", message]) == statement


@for_each(
    ("quote", "message"),
    [
        ("I prefer tabs", "which do you prefer?"),
        ("", "I prefer tabs"),
        ("I", "I prefer tabs"),
        ("cat", "My hobby is to concatenate strings"),
        ("I prefer tabs", "Do I prefer tabs?"),
        ("わたしはぶたを食べますか", "わたしはぶたを食べますか？"),
        ("yes, that one", "yes, that one"),
        ("genau das", "Ja, genau das."),
        ("oui, celui", "Oui, celui-là"),
        ("sí, ese", "Sí, ese"),
        ("да, этот", "Да, этот"),
        ("はい、それです", "はい、それです"),
        ("I love it", "I love it"),
        ("In Bern", "In Bern"),
        ("She is pregnant", "She is pregnant"),
        ("I hate tabs", "> I hate tabs\nlol, who says so"),
        ("I hate tabs", "Look at this file:\n```\nI hate tabs\n```"),
    ],
)
def test_an_incomplete_sentence_is_not_a_statement(quote: str, message: str) -> None:
    assert find_statement(quote, [message]) is None


def test_words_of_two_messages_are_not_a_quote() -> None:
    assert find_statement("I prefer tabs", ["I prefer", "tabs"]) is None


def test_a_sentence_beyond_the_maximum_length_is_not_a_statement() -> None:
    long = f"I am allergic to {'very ' * 200}small nuts"
    assert len(long) > MAX_MEMORY
    assert find_statement("allergic to very very", [long]) is None


def test_the_first_occurrence_that_is_a_statement_counts() -> None:
    text = "Do I like tabs?\nNo idea.\n\nWell yes, I like tabs very much."
    assert find_statement("I like tabs", [text]) == "Well yes, I like tabs very much."


PAIRS = (
    # what was said, the quote, what an altering model proposes, what an honest one proposes
    ("I owe Bob 500 dollars.", "I owe Bob 500", "Owes Bob 5000 dollars", "Owes Bob 500 dollars"),
    ("I love cilantro.", "I love cilantro", "Hates cilantro", "Loves cilantro"),
    ("My exam is on 13 May.", "exam is on 13 May", "Exam on 12 May", "Exam on 13 May"),
    ("Bob owes Ada money.", "Bob owes Ada money", "Ada owes Bob money", "Bob owes Ada money"),
    ("I am allergic to peanuts.", "allergic to peanuts", "Allergic to peanuts and penicillin",
     "Allergic to peanuts"),
    ("I'm vegetarian", "I'm vegetarian", "Is vegan", "Vegetarian"),
    ("Ada's dog is called Rex", "Ada's dog is called Rex", "Ada's dog is called Max",
     "Ada has a dog, Rex"),
    ("I don't eat meat.", "I don't eat meat", "Eats meat", "Does not eat meat"),
    ("We never deploy on Fridays.", "never deploy on Fridays", "Deploys on Fridays",
     "No deploys on Fridays"),
    ("My sister lives in Rome.", "sister lives in Rome", "Lives in Rome", "Sister lives in Rome"),
    ("ich wohne in Bern", "ich wohne in Bern", "Wohnt in Basel", "Wohnt in Bern"),
    ("Ich esse kein Fleisch.", "esse kein Fleisch", "Isst Fleisch", "Isst kein Fleisch"),
    ("Mein Hund heißt Rex.", "Mein Hund heißt Rex", "Hund heißt Max", "Hund heißt Rex"),
    ("Meine Miete beträgt 900 Euro.", "Miete beträgt 900", "Miete 9000 Euro", "Miete: 900 Euro"),
    ("Ich habe am 3. März Geburtstag.", "am 3. März Geburtstag", "Geburtstag am 3. Mai",
     "Geburtstag am 3. März"),
    ("Je suis végétarien.", "Je suis végétarien", "Il mange de la viande", "Végétarien"),
    ("J'habite à Lyon depuis 2019.", "J'habite à Lyon", "Habite à Paris", "Habite à Lyon"),
    ("Je n'aime pas le poisson.", "n'aime pas le poisson", "Aime le poisson",
     "N'aime pas le poisson"),
    ("Ma fille a 7 ans.", "Ma fille a 7 ans", "A 7 ans", "Sa fille a 7 ans"),
    ("Mon train part à 18h40.", "train part à 18h40", "Train à 8h40", "Train à 18h40"),
    ("Soy alérgica al gluten.", "alérgica al gluten", "Alérgica al gluten y al huevo",
     "Alérgica al gluten"),
    ("Vivo en Madrid con mi hermano.", "Vivo en Madrid", "Vive sola en Madrid", "Vive en Madrid"),
    ("No me gusta el café.", "No me gusta el café", "Le gusta el café", "No le gusta el café"),
    ("Mi gato se llama Luna.", "Mi gato se llama Luna", "Su gato se llama Sol", "Gato: Luna"),
    ("Tengo 2 hijos pequeños.", "Tengo 2 hijos", "Tiene 3 hijos", "Tiene 2 hijos"),
    ("Я живу в Берне.", "живу в Берне", "Живёт в Базеле", "Живёт в Берне"),
    ("Я не ем рыбу.", "не ем рыбу", "Ест рыбу", "Не ест рыбу"),
    ("Мою собаку зовут Рекс.", "собаку зовут Рекс", "Собаку зовут Макс", "Собака Рекс"),
    ("Мне 34 года.", "Мне 34 года", "Ей 43 года", "34 года"),
    ("Я предпочитаю чай.", "предпочитаю чай", "Предпочитает кофе", "Предпочитает чай"),
    ("私はベジタリアンです。", "私はベジタリアンです", "肉が好き", "ベジタリアン"),
    ("大阪に住んでいます。", "大阪に住んでいます", "東京在住", "大阪在住"),
    ("犬の名前はポチです。", "犬の名前はポチ", "犬の名前はタマ", "犬はポチ"),
    ("納豆は食べません。", "納豆は食べません", "納豆が好き", "納豆を食べない"),
    ("会議は10時からです。", "会議は10時から", "会議は11時", "会議は10時"),
)  # fmt: skip


@for_each(("said", "quote", "altered", "honest"), PAIRS)
def test_the_stored_text_does_not_depend_on_the_wording_of_the_model(
    said: str, quote: str, altered: str, honest: str
) -> None:
    """Neither proposal is stored: the statement that both rest on is."""
    assert find_statement(quote, [said]) == said
    for proposal in (altered, honest):
        assert find_statement(proposal, [said]) in (None, said)


@given(
    st.lists(st.text(max_size=60), max_size=6).map("\n".join), st.integers(0), st.integers(1, 40)
)
def test_a_statement_is_always_part_of_the_message(message: str, start: int, length: int) -> None:
    begin = start % (len(message) + 1)
    statement = find_statement(message[begin : begin + length], [message])
    assert statement is None or (statement in message and len(statement) <= MAX_MEMORY)


@pytest.mark.parametrize("pump", ["a. ", "\n> ", '"', "- a\n", "```\n", ": \n", "ab ", "「", "1. "])
def test_long_messages_are_searched_once(pump: str) -> None:
    message = pump * (40_000 // len(pump))
    assert find_statement(pump * 40, [message]) is None


@for_each(
    "message",
    [
        "She wrote: ‘Hello there. I hate Bob’s cooking. Bye now.’ What do you think?",
        "She wrote: 'Hello there. I hate Bob's cooking. Bye now.' What do you think?",
        "Sie schrieb »Hallo du. I hate Bob's cooking. Ciao.« und ging.",
        "Hon skrev ”Hej alla. I hate Bob's cooking. Hej då.” igår.",
        "他说《你好。I hate Bob's cooking. 再见。》",
        'My screen is 27" wide. She said: "Hello there. I hate Bob\'s cooking. Bye."',
        "Please run `echo Hello. I hate Bob's cooking. Bye`",
        "~~Hello there. I hate Bob's cooking. Bye.~~ I changed my mind.",
        "Eve wrote:\n\nHello there. I hate Bob's cooking.",
        "[10:31] Eve: Hello there. I hate Bob's cooking. Bye\n[10:32] Ann: really?",
        "I never said that... i hate Bob's cooking. Did I?",
        "I never say of him, esp. I hate Bob's cooking.",
        "I do not say\n- I hate Bob's cooking\n- or that of Ann",
    ],
)
def test_attributions_and_denials_are_not_cut_off(message: str) -> None:
    stated = find_statement("I hate Bob's cooking", [message])
    assert stated is not None
    assert len(stated) > len("I hate Bob's cooking and more")


@pytest.mark.parametrize(
    "messages",
    [
        ["My sister told me:", "I hate Bob's cooking very much"],
        ["I hate Bob's cooking very much. Not!"],
        ["I hate Bob's cooking very much. Just kidding."],
        ["\xa0> Hello. I hate Bob's cooking very much."],
        ["＞ Hello. I hate Bob's cooking very much."],
        ["| Hello. I hate Bob's cooking very much."],
        ["hello @Eve-I-hate-Bob-s-cooking-very-much"],
    ],
)
def test_introductions_retractions_citations_and_names_are_asked_about(messages: list[str]) -> None:
    assert find_statement("I hate Bob's cooking", messages) is None


def test_a_mention_within_an_own_sentence_can_be_quoted() -> None:
    assert find_statement("Ada-Bell works in Bern", ["@Ada-Bell works in Bern"])
    assert find_statement("I work with @Ada-Bell", ["I work with @Ada-Bell in Bern"])
