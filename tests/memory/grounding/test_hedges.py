"""Wordings that are speculation, that are proper caution, and that only look like either."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from memory.grounding.hedges import MAX_WORD, MAX_WORDS, HedgeAction, analyze_hedges
from tests.support.for_each import for_each

SPECULATION = [
    "I think we should use Redis",
    "I guess the API supports this",
    "I believe the port is 8080",
    "I assume they deploy on Fridays",
    "I suppose it is fine",
    "I really do think tabs win",
    "I, for one, think tabs win",
    "I don't think the cache is needed",
    "I'm guessing the limit is 100",
    "I'd say the limit is 100",
    "I have a feeling the limit is 100",
    "My guess is that it runs on port 80",
    "In my humble opinion Rust is nicer",
    "imho Rust is nicer",
    "IMO Rust is nicer",
    "It seems to me that Rust is nicer",
    "What I think is that Redis wins",
    "Ich glaube, wir nutzen Redis",
    "Das ist, denke ich, richtig",
    "Meiner Meinung nach ist es Redis",
    "Je crois que c'est Redis",
    "Je ne pense pas que ce soit Redis",
    "À mon avis, c'est Redis",
    "Creo que usamos Redis",
    "En mi opinión, es Redis",
]
UNCERTAINTY = [
    "I don't know which database they use",
    "I do not know which database they use",
    "I'm not sure about the port",
    "I am not entirely sure about the port",
    "Not 100% sure about the port",
    "The port is 80, not quite sure",
    "I could be wrong, but the port is 80",
    "If I remember correctly the port is 80",
    "iirc the port is 80",
    "As far as I know the port is 80",
    "AFAIK the port is 80",
    "I have no idea where it runs",
    "I can't remember where it runs",
    "I wonder whether it runs",
    "Ich weiß nicht, wo es läuft",
    "Ich bin mir nicht sicher",
    "Je ne sais pas où ça tourne",
    "No estoy seguro del puerto",
]
SUGGESTIONS = [
    "Maybe we could try GraphQL",
    "maybe we should rotate keys",
    "Perhaps we could rotate keys",
    "The service is possibly on port 80",
    "We could try GraphQL",
    "What if we moved to Go",
    "How about using Go",
    "It might be worth a look",
    "Vielleicht nehmen wir Go",
    "On va peut-être prendre Go",
    "Quizás usemos Go",
    "Tal vez usemos Go",
]
CAUTION = [
    "The server may timeout under load",
    "The API may return errors under load",
    "The request might fail",
    "The API could return errors",
    "Connections typically complete in <100ms",
    "The job often takes an hour",
    "Deployments usually happen on Friday",
    "The cache is generally warm",
    "It will probably rain",
    "The disk is likely full",
    "The disk seems to be full",
    "The build should work now",
    "The pool holds approximately 50 connections",
    "The pool holds around 50 connections",
    "The pool holds roughly fifty connections",
    "About 50 users signed up",
    "Almost two hundred people came",
    "The ticket costs ~30 euros",
    "Der Server fällt wahrscheinlich aus",
    "Es sind ungefähr 50 Nutzer",
    "Le serveur tombe souvent",
    "Cuesta aproximadamente 30 euros",
    "She thinks we should use Redis",
    "The vendor believes the fix is out",
    "They are not sure about the port",
]
NONE = [
    "Per ADR-003, we use PostgreSQL",
    "We decided to use PostgreSQL",
    "OAuth2 is required",
    "I prefer tabs over spaces",
    "May 2024",
    "The release is planned for May 2024",
    "We met on 5 May",
    "We met on May 5th",
    "The release ships in May",
    "my birthday is in may",
    "The April and May figures are in",
    "The May release is out",
    "Theresa May was prime minister",
    "The server couldn't start",
    "The server couldn’t start",
    "The server could not start",
    "The timeout should be 5",
    "The team should always use tabs",
    "The bakery is around the corner",
    "He travelled around the world",
    "The dog ran around",
    "The book is about trees",
    "The might of the empire was broken",
    "They pushed with all their might.",
    "Might makes right",
    "Call i_think() before i_guess()",
    "`I think` is the name of a label",
    'The word "maybe" is banned from the style guide',
    "The label “I think” appears on the button",
    "The parser returns a Maybe type",
    "let x = maybe(compute)",
    "Maybe<T> wraps a value",
    "Set maybe_retry to 3",
    "See https://example.org/maybe/i-think",
    "What do I think of it?",
    "Ask me if I don't know the answer",
    "When not sure, ask first",
    "I believe in open source",
    "I don't know how to swim",
    "I figured out the cause",
    "That cannot possibly be true",
    "Could you always answer in German?",
    "How often it runs is written in cron.d",
    "Ich glaube an Magie",
    "No se puede abrir",
    "",
]


@for_each("text", SPECULATION + UNCERTAINTY + SUGGESTIONS)
def test_personal_speculation_is_blocked(text: str) -> None:
    result = analyze_hedges(text)
    assert result.action is HedgeAction.BLOCK
    assert result.words


@for_each("text", CAUTION)
def test_caution_and_opinions_of_others_go_to_review(text: str) -> None:
    result = analyze_hedges(text)
    assert result.action is HedgeAction.REVIEW
    assert result.words


@for_each("text", NONE)
def test_similar_text_is_not_speculation(text: str) -> None:
    assert analyze_hedges(text).action is HedgeAction.NONE


@for_each(
    "text",
    [
        "I think we should use Redis, definitely",
        "Certainly, without any doubt: I think we should use Redis",
        "Per ADR-003, I think we use Redis",
        "I  think\nwe use Redis",
        "I\u00a0think we use Redis",
        "I\u200bthink we use Redis",
        "I th\u200bink we use Redis",
        "I th\u00adink we use Redis",
        "I THINK WE USE REDIS",
        "Ｉ ｔｈｉｎｋ we use Redis",
        "𝐈 𝐭𝐡𝐢𝐧𝐤 we use Redis",
        "І think we use Redis",
        "I th\u0456nk we use Redis",
        "I thi\u0336nk we use Redis",
        "I *think* we use Redis",
        "I _think_ we use Redis",
        "I&nbsp;think we use Redis",
        "l think we use Redis",
        "I’m not sure we use Redis",
        "I don´t know whether we use Redis",
        '"I think" we should use Redis',
        '"I think we should use Redis"',
        "`I think` we should use Redis",
        "```\nI think we should use Redis\n```",
        "It is fast. Maybe. Or not.",
    ],
)
def test_speculation_is_found_despite_disguise_and_assurances(text: str) -> None:
    assert analyze_hedges(text).action is HedgeAction.BLOCK


def test_speculation_overrides_caution() -> None:
    result = analyze_hedges("The API may fail, I think, and usually does")
    assert (result.action, result.words) == (HedgeAction.BLOCK, ("i think",))


def test_findings_are_named_within_limits() -> None:
    many = " ".join(f"I {adverb} think so." for adverb in ("really", "still", "honestly")) * 20
    result = analyze_hedges(many)
    assert result.words == ("i really think", "i still think", "i honestly think")
    every = "may might often usually typically generally commonly rarely seldom mostly likely could"
    assert len(analyze_hedges(every).words) == MAX_WORDS


@given(st.text(max_size=300))
def test_any_text_has_a_result_within_its_limits(text: str) -> None:
    result = analyze_hedges(text)
    assert (result.action is HedgeAction.NONE) == (not result.words)
    assert len(result.words) <= MAX_WORDS
    assert all(len(word) <= MAX_WORD for word in result.words)


@given(
    st.sampled_from(SPECULATION + UNCERTAINTY + SUGGESTIONS),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
    st.sampled_from([str.upper, str.lower, str.title, str.swapcase]),
)
def test_normal_form_and_case_do_not_change_a_block(text: str, form: str, case: object) -> None:
    assert callable(case)
    disguised = unicodedata.normalize(form, case(text))  # type: ignore[arg-type]
    assert analyze_hedges(disguised).action is HedgeAction.BLOCK


@given(st.sampled_from(SPECULATION), st.data())
def test_invisible_characters_do_not_change_a_block(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    char = data.draw(st.sampled_from("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u202e"))
    assert analyze_hedges(text[:at] + char + text[at:]).action is HedgeAction.BLOCK
