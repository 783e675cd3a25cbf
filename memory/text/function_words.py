"""Function words, which carry the form of a question and not its subject, in languages other than
English.

The stores omit English ones. The language of a question is the one with most of these words in it.
In scripts without spaces between words they become spaces.
"""

import re
from collections.abc import Sequence
from typing import Final

from safety.word_lists import read_word_lists

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


def unspaced_telling(text: str) -> str:
    """A text in which the function words of Japanese, Chinese and Thai are spaces; the text itself
    where nothing else is there."""
    if text.isascii():
        return text
    left = _UNSPACED.sub(" ", text)
    return left if any(map(str.isalnum, left)) else text
