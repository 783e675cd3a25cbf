"""Splits a message into sentences, and decides if one states something without those before it.

A quotation, a struck-through passage and text after a colon are never split, because the text
around a sentence may deny it.

"Yes, that one", "genau das", "はい" and "in Bern" state nothing alone: their meaning stands in
another message. The lists hold frequent words of twenty languages; a word that is missing from them
makes a sentence count as a statement, and what is stored then is still the person's own sentence.

A question without a question mark ("am i allergic to nuts") states nothing either. It is recognised
by its first or last words. A statement that is taken for a question is asked about.
"""

import itertools
import re
import unicodedata
from typing import Final

from memory.text.stop_words import CONSENT, FUNCTION_WORDS, STOP_WORDS, words_of
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
SPEAKER: Final = frozenset(_LISTS["speaker"].split())
"""Words for the speaker: "I", "my", "we"."""
_UNSPACED_SPEAKER: Final = tuple(_LISTS["unspaced speaker"].split())
_BOUND: Final = frozenset(_LISTS["bound"].split())
"""Words that refer to a thing that was named before: "take it"."""
_UNSPACED_AGREES: Final = frozenset(_LISTS["unspaced agreement"].split())
_EMPTY: Final = CONSENT | _REFERENCES | SPEAKER | _BOUND | FUNCTION_WORDS | STOP_WORDS


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
    return any(word in SPEAKER for word in words) and not any(word in _REFERENCES for word in words)


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


Span = tuple[int, int]
"""The first character, and one past the last."""

MAX_GAP: Final = 100
"""Spaces before a list that are skipped."""
_END: Final = re.compile(r"[.!?…][.!?…\"'”’»)\]]{0,8}(?=\s)|[。！？｡।۔؟][”’»」』）]{0,8}|\n(?=\s)")
"""The end of a sentence, or a blank line."""
_SPEECH: Final = {
    "“": "”",
    "„": "“”",
    "”": "”",
    '"': '"',
    "״": "״",
    "`": "`",
    "«": "»",
    "»": "«»",
    "‹": "›",
    "›": "‹›",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "‘": "’",
    "‚": "‘’",
    "'": "'",
}
"""Opening quotation marks, and those that may close them."""
_APOSTROPHES: Final = "'‘‚’"
_STRUCK: Final = "~~"
_SHORT_FORMS: Final = frozenset(
    """
    abb al approx art ave bsp bspw bzw ca capt cf ch co col corp dept dr dvs ed eds ej ené esp est
    etc evtl excl ext exkl fam fig fr gen geb ggf gov hr hrsg inc incl inkl jr kap lt ltd max min
    mme mr mrs ms mt no nr op par pp prof pt rd ref rep resp rev sen sgt sog sr sra srta st str tel
    univ usw vgl vol vs zb zzgl
    """.split()  # noqa: SIM905 - reads better
)
"""Abbreviations before a full stop that does not end a sentence."""
_MAY_END: Final = frozenset("approx co corp est etc evtl inc jr ltd max min univ usw".split())  # noqa: SIM905 - reads better
"""Short forms that are no title and can end a sentence."""
_OPENERS: Final = FUNCTION_WORDS | STOP_WORDS
ITEM: Final = re.compile(r"^[ \t]{0,8}(?:[-*+•–]|\d{1,3}[.)])[ \t]", re.MULTILINE)
"""The beginning of a list's item."""
LEADS: Final = (":", "：")
"""The end of a line that leads to what follows."""
_ASKS: Final = ("?", "？", "؟")
_CLOSERS: Final = "\"'”’»)]」』） \n"


def sentence_ends(text: str) -> list[int]:
    """The places where sentences begin and end, in order, the text's beginning and end included."""
    joined = sorted((*_speeches(text), *_struck(text), *_led(text)))
    kept, spans, within = [], iter(joined), 0
    opened, closed = next(spans, (len(text), 0))
    for end in _ends(text):
        while opened < end:
            within = max(within, closed)
            opened, closed = next(spans, (len(text), 0))
        if end >= within:
            kept.append(end)
    return kept


def only_asks(text: str) -> bool:
    """True when each of the sentences is a question."""
    ends = _ends(text)
    pieces = [text[start:end].rstrip(_CLOSERS) for start, end in itertools.pairwise(ends)]
    return all(piece.endswith(_ASKS) for piece in pieces if piece.strip())


def _ends(message: str) -> list[int]:
    """Return the boundaries of sentences in order, with the beginning and end of the text."""
    places = {0, len(message)}
    capitals = next((c.isupper() for c in message if c.isupper() or c.islower()), True)
    places.update(
        match.end()
        for match in _END.finditer(message)
        if _ends_sentence(message, match) and not _goes_on(message, match, capitals)
    )
    places.update(match.start() for match in ITEM.finditer(message))
    return sorted(places)


def _ends_sentence(message: str, match: re.Match[str]) -> bool:
    """False for "Dr. Ada", "12. Mai" and "z. B.": a sentence that is too long still says what was
    said, one that is too short may not. Where the next word begins sentences, a number, a letter
    and "p.m." may end one."""
    if match.group() != ".":
        return True
    before = message[max(0, match.start() - 40) : match.start()].split()
    word = before[-1].lstrip("(\"'“„«").casefold() if before else ""
    short = word.replace(".", "")
    if word.isdigit() and len(word) > 2:
        return True
    if word.isdigit() or len(short) <= 1 or short in _MAY_END or _is_dotted(word):
        return _opens_sentence(message, match.end())
    return short not in _SHORT_FORMS


def _is_dotted(word: str) -> bool:
    """True for "e.g" and "u.s.a", not for "ada@example.com" and "v1.25"."""
    return "." in word and all(len(part) <= 2 for part in word.split("."))


def _opens_sentence(message: str, place: int) -> bool:
    """True where a word with a capital follows that begins sentences, and is no name or noun."""
    following = message[place : place + 40].split()
    word = following[0].strip("\"'“„«(¿¡,") if following else ""
    return word[:1].isupper() and word.casefold().partition("'")[0] in _OPENERS


def _goes_on(message: str, match: re.Match[str], capitals: bool) -> bool:
    """True where a small letter follows on the same line ("Yahoo! again"), of a person who begins
    sentences with `capitals`; after dots of any person."""
    after = message[match.end() : match.end() + 4].lstrip(" \t")
    dots = match.group().startswith(("..", "…"))
    return after[:1].islower() and (capitals or dots)


def _speeches(message: str) -> list[Span]:
    """Return the spans of quotations with their marks. An unclosed quotation ends with its
    paragraph; a lone apostrophe is none."""
    spans, opened, closers = [], -1, ""
    for place, character in enumerate(message):
        if opened >= 0:
            if character in closers and not _is_apostrophe(message, place):
                spans.append((opened, place + 1))
                opened = -1
        elif character in _SPEECH and _opens(message, place):
            opened, closers = place, _SPEECH[character]
    if opened >= 0 and message[opened] not in _APOSTROPHES:
        paragraph = message.find("\n\n", opened)
        spans.append((opened, len(message) if paragraph < 0 else paragraph))
    return spans


def _opens(message: str, place: int) -> bool:
    """False for an apostrophe, and for the mark of inches: a quotation begins with a word."""
    before, after = message[place - 1 : place], message[place + 1 : place + 2]
    if message[place] in _APOSTROPHES and not after.strip():
        return False
    return not before.isalnum() or is_unspaced(before)


def _is_apostrophe(message: str, place: int) -> bool:
    """True for "Bob's", and for one that opens."""
    before, after = message[place - 1 : place], message[place + 1 : place + 2]
    return message[place] in _APOSTROPHES and (after.isalnum() or not before.strip())


def _struck(message: str) -> list[Span]:
    """Return the spans of struck-through text with their marks."""
    parts = message.split(_STRUCK)
    ends = list(itertools.accumulate(len(part) + len(_STRUCK) for part in parts))
    return [(ends[n] - len(_STRUCK), ends[n + 1]) for n in range(0, len(parts) - 2, 2)]


def _led(message: str) -> list[Span]:
    """Lines with a colon ("Bob: Hi."); one that ends with it, with the paragraph that follows,
    unless that is a list: that may be cited, or denied by the line with the colon."""
    spans: list[Span] = []
    paragraph = high = len(message)
    blank = True
    for line in reversed(message.splitlines(keepends=True)):
        low, stripped = high - len(line), line.strip()
        if not stripped:
            blank = True
        else:
            ends_here, blank = blank, False
            if stripped.endswith(LEADS):
                gap = message[high : high + MAX_GAP]
                below = high + len(gap) - len(gap.lstrip())
                if ITEM.match(message, message.rfind("\n", 0, below) + 1) is None:
                    spans.append((low, paragraph))
            elif _has_lead(stripped):
                spans.append((low, high))
            if ends_here and not stripped.endswith(LEADS):
                paragraph = high
        high = low
    return spans


def _has_lead(line: str) -> bool:
    """Return True for a colon after a word and before a space; ":smile:" has none. For a colon
    after a quotation, the end of the quotation counts."""
    return any(
        word.endswith(LEADS)
        and not word.startswith(LEADS)
        and (after[0] not in _SPEECH or after[0] in _APOSTROPHES)
        for word, after in itertools.pairwise(line.split())
    )
