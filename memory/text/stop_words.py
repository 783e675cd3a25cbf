"""Words without a subject: function words of questions, and greetings, thanks and consent.

The stores omit English function words. The language of a question is the one with most of these
words in it. In scripts without spaces between words they become spaces.

A message of nothing but courtesies recalls no memories, and a question is searched without them:
"Hello!" would find every earlier greeting, and the turns next to it.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from safety.word_lists import phrases_of, read_word_lists

_LISTS: Final = read_word_lists(__file__)
STOP_WORDS: Final = frozenset(_LISTS["stop words"].split())


_OTHERS: Final = tuple(frozenset(_LISTS[one].split()) for one in ("German", "French", "Spanish"))
_OURS: Final = frozenset(_LISTS["English"].split())
FUNCTION_WORDS: Final = _OURS.union(*_OTHERS)
"""Those of English, German, French and Spanish."""
_SEARCHED: Final = (
    *("Italian", "Portuguese", "Dutch", "Polish", "Swedish", "Turkish", "Russian", "Hindi"),
    *("Arabic", "Korean"),
)
"""Languages whose function words are left out of searches only."""
_LANGUAGES: Final = (*_OTHERS, *(frozenset(_LISTS[one].split()) for one in _SEARCHED))
_NAMES: Final = ("English", "German", "French", "Spanish", *_SEARCHED)
_BY_NAME: Final = {name: frozenset(_LISTS[name].split()) for name in _NAMES}
_UNSPACED: Final = re.compile(
    "でしょうか|ですか|でしたか|ましたか|ますか|でした|です|ました|ます|ください|わたし|どんな|どこ|いつ|だれ"
    "|なに|なぜ|どう|どの|[私僕俺何誰]"
    "|(?<![\u3040-\u309f])[はがをのにでともへか](?![\u3040-\u309f])"
    "|什么|怎么|哪里|哪个|多少|几点|请问|为什么|什麼|怎麼|[我你您他她它们的是了吗呢吧嗎们請请谁誰哪]"
    "|อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|ทำไม|อย่างไร|ยังไง|เท่าไหร่|ใคร|ของ|ฉัน|ผม|คือ|ไหม|ครับ|ค่ะ|คะ|เป็น"
)


def telling(words: Sequence[str]) -> tuple[str, ...]:
    """A question's words without the function words of its language; all where only such are
    there, or where it is English."""
    distinct = set(words)
    best = max(_LANGUAGES, key=lambda language: len(distinct & language))
    ours = _OURS if best in _OTHERS else _OURS | STOP_WORDS
    if len(distinct & best) <= len(distinct & ours):
        return tuple(words)
    return tuple(word for word in words if word not in best) or tuple(words)


def language_of(words: Sequence[str]) -> str:
    """The English name of the language with most of its function words among these; empty where
    none has any."""
    distinct = set(words)
    best = max(_NAMES, key=lambda name: len(distinct & _BY_NAME[name]))
    return best if distinct & _BY_NAME[best] else ""


def counts_of(words: Sequence[str]) -> Mapping[str, int]:
    """How many function words of each language are among these, by its English name."""
    distinct = set(words)
    return {name: len(distinct & own) for name, own in _BY_NAME.items()}


def unspaced_telling(text: str) -> str:
    """A text in which the function words of Japanese, Chinese and Thai are spaces; the text itself
    where nothing else is there."""
    if text.isascii():
        return text
    left = _UNSPACED.sub(" ", text)
    return left if any(map(str.isalnum, left)) else text


CONSENT: Final = frozenset(_LISTS["consent"].split())
"""Words of consent, refusal and thanks."""

_GREETINGS: Final = frozenset(_LISTS["greetings"].split())
"""Words that greet, after which a single further word is a name."""
_COURTEOUS: Final = frozenset(_LISTS["thanks and farewells"].split())
"""Words that thank, wish or take leave."""
_FILLERS: Final = frozenset(_LISTS["fillers"].split())
"""Words that add nothing to such a word."""
_PHRASES: Final = frozenset(phrases_of(_LISTS["phrases"]))
_UNSPACED_COURTESIES: Final = frozenset(_LISTS["unspaced courtesies"].split())
_SAYS: Final = CONSENT | _GREETINGS | _COURTEOUS
_NOTHING: Final = _SAYS | _FILLERS | FUNCTION_WORDS | STOP_WORDS
_ENDS: Final = re.compile(r"[.,;:!?…](?=\s|$)|[、。，；：！？؟،।¡¿\n]")
"""The end of a piece; "v1.2" and "10:30" have none inside."""

_WORD: Final = re.compile(r"[a-z0-9]+")


def without_courtesies(text: str) -> str:
    """The text without the pieces, between commas and ends of sentences, that only greet, thank or
    agree; empty where it has no other."""
    kept, begin = [], 0
    for end in (*(match.end() for match in _ENDS.finditer(text)), len(text)):
        piece = text[begin:end]
        begin = end
        if not is_courtesy(piece):
            kept.append(piece)
    left = "".join(kept).strip()
    return left if any(map(str.isalnum, left)) else ""


def is_courtesy(piece: str) -> bool:
    """True for words that begin or end with a greeting, thanks or consent, and have no other
    content."""
    words = words_of(piece)
    if not words:
        return False
    joined = " ".join(words)
    if joined in _PHRASES or joined.replace(" ", "") in _UNSPACED_COURTESIES:
        return True
    if all(word in _NOTHING for word in words):
        return words[0] in _SAYS or words[-1] in _SAYS
    return len(words) == 2 and words[0] in _GREETINGS


def words_of(text: str) -> list[str]:
    r"""Words in order, with the vowel signs of Indic scripts, which `\w` leaves out."""
    if text.isascii():
        return _WORD.findall(text.lower())
    kept = (
        character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        for character in text.casefold()
    )
    return "".join(kept).split()
