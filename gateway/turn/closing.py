"""The sentence at the end of a turn that the model did not end itself: what happened, and what the
person can do."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gateway.turn.types import Outcome

UNAVAILABLE: Final = "I can't reach my language model right now. Please try again in a few minutes."
REFUSED: Final = (
    "My language model does not accept this request. Please tell the operator, who can find the "
    "reason in the log."
)
TOO_LONG: Final = "That is too long for me to read at once. Please send a shorter message."
BROKEN: Final = "_(The answer was interrupted here. Ask again if you need the rest.)_"
LENGTH: Final = "_(The answer was cut at its length limit. Ask me to go on.)_"
REASONING: Final = (
    "My language model used up the length limit of an answer before it wrote one. Please ask for "
    "something smaller, or ask the operator to raise the limit (`model.max_tokens`)."
)
DECLINED: Final = "I can't help with that. You can ask in other words, or for something else."
DECLINED_PART: Final = (
    "_(I stopped here, because I can't help with the rest. You can ask in other words.)_"
)
FILTERED: Final = (
    "A content filter stopped the answer before its first word. Please ask in other words."
)
FILTERED_PART: Final = (
    "_(A content filter stopped the answer here. Ask in other words if you need the rest.)_"
)
NO_ANSWER: Final = "I have no answer to that. Please ask in other words."
"""In place of an answer of which nothing can be shown."""
EMPTY: Final = (
    "My language model gave an empty answer, also when I asked it again. Please ask in other words."
)
TIME: Final = "This took too long, so I stopped. Please ask for something smaller."
TIME_PART: Final = "_(I ran out of time here. Ask again if you need the rest.)_"
ROUNDS: Final = (
    "I stopped here, because this needed more steps than I may take. Please ask for a smaller part."
)
ROUNDS_PART: Final = (
    "_(This needed more steps than I may take, so something may be missing. Ask me to go on.)_"
)
REPEATED: Final = (
    "I stopped here, because I took the same steps again without a result. Please ask in other "
    "words, or for a smaller part."
)
REPEATED_PART: Final = (
    "_(I took the same steps again without a result, so something may be missing. Ask in other "
    "words if it is.)_"
)
TOKENS: Final = (
    "I stopped here, because this was more text than I may read and write for one question. Please "
    "ask for a smaller part."
)
TOKENS_PART: Final = (
    "_(This was more text than I may read and write for one question, so something may be missing. "
    "Ask for a smaller part.)_"
)


class Sentences(Struct, frozen=True):
    """The sentences of one way to end: without text before it, and after some."""

    alone: str
    after_text: str


SENTENCES: Final[Mapping[Outcome, Sentences]] = {
    "answered": Sentences(EMPTY, ""),
    "empty": Sentences(EMPTY, ""),
    "unavailable": Sentences(UNAVAILABLE, BROKEN),
    "refused": Sentences(REFUSED, BROKEN),
    "too_long": Sentences(TOO_LONG, BROKEN),
    "broken": Sentences(UNAVAILABLE, BROKEN),
    "declined": Sentences(DECLINED, DECLINED_PART),
    "filtered": Sentences(FILTERED, FILTERED_PART),
    "length": Sentences(REASONING, LENGTH),
    "reasoning": Sentences(REASONING, REASONING),
    "time": Sentences(TIME, TIME_PART),
    "rounds": Sentences(ROUNDS, ROUNDS_PART),
    "repeated": Sentences(REPEATED, REPEATED_PART),
    "cycle": Sentences(REPEATED, REPEATED_PART),
    "tokens": Sentences(TOKENS, TOKENS_PART),
}
_WITH_REFERENCE: Final = frozenset({"unavailable", "refused", "broken", "reasoning", "empty"})


def closing(outcome: Outcome, has_text: bool, reference: str = "") -> str:
    """Return the sentence at the end of a turn, "" if the model's own words are enough."""
    sentences = SENTENCES[outcome]
    sentence = sentences.after_text if has_text else sentences.alone
    if sentence and not has_text and reference and outcome in _WITH_REFERENCE:
        return f"{sentence} (Reference for the operator: {reference})"
    return sentence
