"""The sentence at the end of a turn that the model did not end itself."""

from typing import Final

from gateway.turn.types import Outcome

UNAVAILABLE: Final = "I can't reach my language model right now. Please try again in a few minutes."
REFUSED: Final = (
    "My language model does not accept this request. Please tell the operator, who can find the "
    "reason in the log."
)
TOO_LONG: Final = "That is too long for me to read at once. Please send a shorter message."
BROKEN: Final = "_(The answer was interrupted here. Ask again if you need the rest.)_"
LENGTH: Final = "_(The answer was cut at its length limit. Ask me to go on.)_"
DECLINED: Final = "I can't help with that."
NO_ANSWER: Final = "I have no answer to that. Please ask in other words."
TIME: Final = "This took too long, so I stopped. Please ask for something smaller."
TIME_PART: Final = "_(I ran out of time here. Ask again if you need the rest.)_"
CAPPED: Final = (
    "I stopped here, because this needed more steps than I may take. Please ask for a smaller part."
)

_WHOLE: Final[dict[Outcome, str]] = {
    "unavailable": UNAVAILABLE,
    "refused": REFUSED,
    "too_long": TOO_LONG,
    "broken": UNAVAILABLE,
    "declined": DECLINED,
    "answered": NO_ANSWER,
    "length": NO_ANSWER,
    "time": TIME,
    "rounds": CAPPED,
    "repeated": CAPPED,
    "cycle": CAPPED,
    "tokens": CAPPED,
}
_AFTER_TEXT: Final[dict[Outcome, str]] = {
    "broken": BROKEN,
    "length": LENGTH,
    "time": TIME_PART,
    "unavailable": BROKEN,
    "refused": BROKEN,
    "too_long": BROKEN,
}
_WITH_REFERENCE: Final = frozenset({"unavailable", "refused", "broken"})


def closing(outcome: Outcome, has_text: bool, reference: str = "") -> str:
    """Return the sentence at the end of a turn, "" if the model's own words are enough."""
    sentence = _AFTER_TEXT.get(outcome, "") if has_text else _WHOLE[outcome]
    if sentence and not has_text and reference and outcome in _WITH_REFERENCE:
        return f"{sentence} (Reference for the operator: {reference})"
    return sentence
