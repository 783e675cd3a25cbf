"""Decides if a sentence states something without the sentences before it.

"Yes, that one", "genau das", "はい" and "in Bern" do not: their meaning stands in another message.
The lists hold frequent words of twenty languages; a word that is missing from them makes a sentence
count as a statement, and what is stored then is still the person's own sentence.

A question without a question mark ("am i allergic to nuts") states nothing either. It is recognised
by its first or last words. A statement that is taken for a question is asked about.
"""

import re
import unicodedata
from typing import Final

from memory.text.courtesies import CONSENT, words_of
from memory.text.function_words import FUNCTION_WORDS, STOP_WORDS
from safety.word_lists import phrases_of, read_word_lists

_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
_NAME: Final = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{0,9}\b")
"""A word with a capital in the middle of a sentence: "Go" in "We use Go"."""
_UNSPACED_SCRIPTS: Final = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
)
_UNSPACED_STATEMENT: Final = 5
"""Letters from which a run of Chinese, Japanese, Thai ... counts as a sentence."""

_LISTS: Final = read_word_lists(__file__)
_REFERENCES: Final = frozenset(_LISTS["references"].split())
"""Words that refer to an earlier text, none of which is also an article."""
_SPEAKER: Final = frozenset(_LISTS["speaker"].split())
"""Words for the speaker: "I", "my", "we"."""
_UNSPACED_SPEAKER: Final = tuple(_LISTS["unspaced speaker"].split())
_BOUND: Final = frozenset(_LISTS["bound"].split())
"""Words that refer to a thing that was named before: "take it"."""
_UNSPACED_AGREES: Final = frozenset(_LISTS["unspaced agreement"].split())
_EMPTY: Final = CONSENT | _REFERENCES | _SPEAKER | _BOUND | FUNCTION_WORDS | STOP_WORDS


def stands_alone(sentence: str) -> bool:
    """Return True if the sentence states a fact by itself.

    At least two of its words carry content, or one beside a word for the speaker ("I'm vegetarian")
    and none that refers back ("I love it").
    """
    words = words_of(sentence)
    names = sum(1 for name in _NAME.findall(sentence) if name.casefold() in _BOUND)
    if _UNSPACED.search(sentence) is not None:
        return _unspaced_stands(words)
    telling = names + sum(1 for word in words if word not in _EMPTY)
    if telling != 1:
        return telling > 1
    return any(word in _SPEAKER for word in words) and not any(
        word in _REFERENCES for word in words
    )


def is_unspaced(letter: str) -> bool:
    """True for a letter that is a syllable or a word, or of a script without spaces."""
    return unicodedata.name(letter, "").startswith(_UNSPACED_SCRIPTS)


def telling_words(sentence: str) -> list[str]:
    """The words of a sentence that carry its subject."""
    return [word for word in words_of(sentence) if word not in _EMPTY]


def _unspaced_stands(words: list[str]) -> bool:
    runs = [word for word in words if word not in _UNSPACED_AGREES]
    letters = "".join(runs)
    if "".join(words) in _UNSPACED_AGREES or not letters:
        return False
    return len(letters) >= _UNSPACED_STATEMENT or any(who in letters for who in _UNSPACED_SPEAKER)


_AUXILIARY: Final = frozenset(_LISTS["auxiliaries"].split())
_SUBJECT: Final = frozenset(_LISTS["subjects"].split())
_OWNER: Final = frozenset(_LISTS["owners"].split())
_TO_BE: Final = frozenset(_LISTS["to be"].split())
_ASKING: Final = frozenset(_LISTS["question words"].split())
_VERB_FIRST: Final = frozenset(_LISTS["verbs before a subject"].split())
_PRONOUN: Final = frozenset(_LISTS["pronouns"].split())
_BEGINNINGS: Final = tuple(phrases_of(_LISTS["beginnings"]))
_WITHIN: Final = tuple(_LISTS["particles"].split())
"""Particles that make a question of the words before them."""
_AT_THE_END: Final = ("mi", "mu")
_TURKISH: Final = frozenset("ığş")
_ENDINGS: Final = tuple(phrases_of(_LISTS["endings"]))
_ENDS_OF_SENTENCE: Final = " \n\t.!…。！।\"'”’»)]」』）"


def asks_unmarked(text: str) -> bool:
    """True for a sentence that begins or ends as only questions do."""
    plain = text.strip().strip(_ENDS_OF_SENTENCE)
    if plain.startswith("¿") or plain.endswith(_ENDINGS):
        return True
    words = words_of(plain)
    joined = f"{' '.join(words)} "
    if any(joined.startswith(f"{beginning} ") for beginning in _BEGINNINGS):
        return True
    if len(words) > 1 and words[-1] in _AT_THE_END and not _TURKISH.isdisjoint(joined):
        return True
    return any(word in _WITHIN for word in words[1:]) or _inverted(words)


def _inverted(words: list[str]) -> bool:
    """True where the verb comes before its subject, or after a question word."""
    if len(words) < 2:
        return False
    first, second = words[0], words[1]
    if first in _AUXILIARY:
        skip = 2 if second == "t" and len(words) > 2 else 1
        return words[skip] in _SUBJECT or (first in _TO_BE and words[skip] in _OWNER)
    if first in _ASKING:
        return second in _AUXILIARY or first in ("whats", "whos")
    return first in _VERB_FIRST and second in _PRONOUN
