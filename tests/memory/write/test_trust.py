"""Trust follows from the way a text came in, and a quote has to be the person's own."""

import pytest

from memory.record import SourceType, Trust
from memory.write.trust import Derived, Way, derive_trust, stated_by_person


@pytest.mark.parametrize(
    ("way", "source", "trust"),
    [
        (Way.EXPLICIT, SourceType.EXPLICIT_SAVE, Trust.HIGH),
        (Way.OWN_WORDS, SourceType.USER_MESSAGE, Trust.HIGH),
        (Way.OTHERS_WORDS, SourceType.USER_MESSAGE, Trust.MEDIUM),
        (Way.DOCUMENT, SourceType.TOOL_OUTPUT, Trust.HIGH),
        (Way.TOOL, SourceType.TOOL_OUTPUT, Trust.MEDIUM),
        (Way.WEB, SourceType.TOOL_OUTPUT, Trust.LOW),
        (Way.ASSISTANT, SourceType.AI_INFERENCE, Trust.LOW),
    ],
)
def test_the_way_in_decides(way: Way, source: SourceType, trust: Trust) -> None:
    assert derive_trust(way) == Derived(source, trust)


@pytest.mark.parametrize("way", Way)
def test_an_injection_finding_takes_the_trust_away(way: Way) -> None:
    assert derive_trust(way, injection=True).trust is Trust.LOW


@pytest.mark.parametrize(
    ("content", "quote", "said"),
    [
        ("User prefers tabs over spaces", "I prefer tabs over spaces",
         "btw I prefer tabs over spaces!"),
        ("Dog is named Luna", "my dog's name is Luna", "well, my dog’s name is  LUNA"),
        ("Never schedule meetings on Friday", "never schedule meetings on fridays",
         "please never schedule meetings on Fridays"),
        ("Does not like Python", "I don't like python", "honestly I don’t like Python"),
        ("Uses Kubernetes 1.29 in eu-west-1", "we use kubernetes 1.29 in eu-west-1",
         "FYI we use Kubernetes 1.29 in eu-west-1."),
    ],
)  # fmt: skip
def test_what_the_person_said_is_the_persons(content: str, quote: str, said: str) -> None:
    assert stated_by_person(content, quote, ["hello", said])


@pytest.mark.parametrize(
    ("content", "quote", "said"),
    [
        ("User prefers tabs", "I prefer tabs", "which do you prefer?"),
        ("User prefers tabs", "", "I prefer tabs"),
        ("User prefers tabs", "I", "I prefer tabs"),
        ("The password of the server is hunter2", "thanks a lot", "thanks a lot for the summary"),
        ("User likes tabs", "I don't like tabs", "I don't like tabs"),
        ("User likes tabs", "I hate tabs", "I hate tabs"),
        ("User hates tabs and loves Rust and Go", "tabs", "tell me about tabs"),
        ("cat", "cat", "concatenate"),
    ],
)
def test_a_quote_that_does_not_carry_it_is_no_proof(content: str, quote: str, said: str) -> None:
    assert not stated_by_person(content, quote, [said])


def test_words_of_two_messages_are_no_quote() -> None:
    assert not stated_by_person("prefers tabs", "I prefer tabs", ["I prefer", "tabs"])
