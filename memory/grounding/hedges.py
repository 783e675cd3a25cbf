"""Recognises hedges: personal speculation, or a fact with its caution.

"I think we should use Redis" is speculation and blocked, even if an assurance follows. "The server
may time out under load" goes to review, as do opinions of third persons ("she thinks …"). A
question and a condition ("if I don't know, ask") state no fact. Quotations and code are mentioned,
not stated, unless a sentence begins with them and continues.

The patterns match a folded text: lower case, no accents, straight apostrophes, one space between
words. Every pattern is tried at the beginning of a word.
"""

import html
import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

_ADVERB: Final = (
    "really|still|just|also|do|did|sort of|kind of|kinda|personally|honestly|actually|frankly|"
    "strongly|firmly|mostly|only|always|often|would|might|could|can|must|for one|truly|sincerely|"
    "definitely|certainly|sometimes|have to|used to|will|tend to|have|'d|'ve|'m|am|was"
)
_I: Final = rf"\b[il]\b,?(?: ?\b(?:{_ADVERB})\b,?| ?'(?:d|ve|m)\b){{0,3}}"
"""The first person and what may stand between it and its verb; "l" passes for it."""
_NEG: Final = r"(?:do not|don't|dont|did not|didn't|cannot|can't|never)"
_VERY: Final = (
    r"(?:(?:quite|entirely|really|completely|100%|totally|too|very|exactly|all that) ){0,2}"
)

_DIGIT: Final = r"[$€£]? ?\d"
_COUNT: Final = (
    r"(?:an? (?:dozen|hundred|thousand|million|hour|week|month|year|day|third|quarter)\b|half\b"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|ninety|hundreds?|thousands?|noon|midnight)\b)"
)

SPECULATION: Final = (
    # "I think of", "I believe in", "I figure out" and "I assume control" are no speculation.
    (
        rf"{_I}(?: {_NEG})?,? (?:think|thought|guess|guessed|believe|believed|assume|assumed"
        r"|suppose|supposed|suspect|suspected|imagine|imagined|reckon|reckoned|presume|presumed|speculate"
        r"|figured?)\b(?! (?:of|in|out|through|it over|twice|responsibility|control)\b)"
    ),
    rf"{_I} (?:thinking|guessing|assuming|speculating|supposing)\b",
    r"\b[il] (?:feel|felt) (?:like|that)\b|\b[il](?:'d| would) (?:say|wager|bet|venture)\b",
    r"\b[il] have (?:a|the) (?:feeling|hunch|suspicion|impression)\b",
    r"\b(?:my|our) (?:best )?(?:guess|hunch|assumption|impression|suspicion|gut feeling)\b",
    r"\bimh?o\b|\bin my (?:humble |honest |personal )?opinion\b|\bmethinks\b|\bto my mind\b",
    r"\b(?:seems?|looks|appears) to me\b",
    r"\bich (?:glaube|denke|vermute|schatze|meine|nehme an)\b(?! an\b)",
    r"\b(?:glaube?|denke?|vermute|schatze) ich\b|\bmeiner (?:meinung|ansicht) nach\b",
    r"\bje (?:ne )?(?:crois|pense|suppose|imagine|presume)\b(?! (?:en|a)\b)",
    r"\ba mon avis\b|\bselon moi\b|\ben mi opinion\b",
    r"\b(?:yo )?(?:creo|pienso|supongo|imagino|opino) que\b",
)

UNCERTAINTY: Final = (
    rf"{_I} {_NEG} (?:really |quite |exactly |actually )?(?:know|remember|recall)\b(?! how to\b)",
    r"\b[il] dunno\b|\b[il] wonder\b|\bcorrect me if\b|\bdon't quote me\b|\bwho knows\b",
    (
        rf"\b(?:[il]'m|[il] am|we're|we are),? (?:really |still |honestly )?"
        rf"(?:not {_VERY}(?:sure|certain|positive|confident)|unsure|uncertain)\b"
    ),
    rf"(?<!\w )not {_VERY}(?:sure|certain)\b",
    r"\b[il] (?:could|may|might) (?:well )?be (?:\w+ )?(?:wrong|mistaken|misremembering)\b",
    r"\bif [il](?:'m| am) not mistaken\b|\bif memory serves\b|\bif [il] (?:recall|remember)\b",
    r"\biirc\b|\bafaik\b|\bafaict\b|\bas far as [il] (?:know|can tell|remember|understand)\b",
    r"\bto the best of my knowledge\b|\b(?:[il]|we) have no (?:idea|clue)\b",
    r"(?<!\w )no (?:idea|clue)\b|\bhard to (?:say|tell)\b",
    r"\bich (?:weiss|weiß) (?:es )?nicht\b|\bich bin (?:mir )?nicht (?:ganz )?sicher\b",
    r"\b(?:meines wissens|soweit ich weiss|soweit ich weiß|keine ahnung)\b",
    r"\bje ne sais pas\b|\bje ne suis pas (?:sure?|certaine?)\b|\bautant que je sache\b",
    r"\byo no se\b|\bno se (?:si|cual|cuando|donde|muy bien)\b|\bno (?:estoy|soy) segur[oa]\b",
)

SUGGESTION: Final = (
    # The type Maybe, maybe(...), maybe = ... and Maybe<T> are code.
    r"\bmaybe\b(?! (?:types?|monads?)\b|[<\[({]| ?=|[.:]\w|::)|\bperhaps\b|\bmayhap\b",
    r"(?<!cannot )(?<!can't )\bpossibly\b",
    r"\b(?:how|what) about (?:we|us|if|\w+ing)\b|\bwhat if we\b|\bwhy don't we\b",
    r"\b(?:we|you) (?:could|might) (?:try|consider)\b|\b(?:we|you) (?:might|may) want to\b",
    r"\b(?:might|may|could) be worth\b|\b[il](?: would|'d)? suggest (?:we|to|that we|\w+ing)\b",
    r"\bvielleicht\b|\bwomoe?glich\b|\beventuell\b|\bevtl\b",
    r"\bpeut[- ]etre\b|\bquizas?\b|\btal vez\b|\ba lo mejor\b",
)

TECHNICAL: Final = (
    r"\bmay\b(?!'|-)|\bmight\b|\bcould\b(?! not\b| you\b)",
    r"(?<!how )(?<!as )\boften\b|\b(?:typically|usually|generally|normally|commonly|frequently)\b",
    r"\b(?:sometimes|occasionally|rarely|seldom|mostly|largely|in most cases|in general)\b",
    r"\b(?:probably|presumably|apparently|supposedly|allegedly|reportedly|potentially)\b",
    r"\b(?:arguably|conceivably|hopefully|likely|unlikely|seemingly|evidently)\b|\bin theory\b",
    r"\b(?:seems?|appears?|tends?) (?:to|that|like|as)\b|\bseems \w+|\bpossible that\b",
    r"\bshould (?:probably|likely|perhaps|hopefully|work|suffice)\b",
    r"\bshould be (?:fine|ok|okay|enough|able|safe)\b|\b(?:is|are|was|were) (?:sort|kind) of\b",
    # Opinions of other people.
    r"(?<!it )(?:thinks|believes|guesses|assumes|suspects|reckons|supposes)\b",
    (
        r"\b(?:we|she|he|they|everyone|everybody|people|who) (?:also |still |really )?"
        r"(?:think|thought|believed?|guess|guessed|suppose|supposed|suspect|suspected|reckon)\b"
        r"(?! (?:of|in)\b)"
    ),
    r"\b(?:is|are|he's|she's|they're) (?:not sure|not certain|unsure)\b",
    r"\b(?:wahrscheinlich|vermutlich|moe?glicherweise|normalerweise|meistens|manchmal|oft)\b",
    r"\b(?:ue?blicherweise|gewoe?hnlich|angeblich|anscheinend|offenbar|hae?ufig)\b",
    r"\b(?:probablement|generalement|normalement|souvent|parfois|apparemment|il se peut)\b",
    r"\b(?:probablemente|posiblemente|generalmente|normalmente|a menudo|a veces|al parecer)\b",
)

APPROXIMATION: Final = (
    r"\bapprox(?:imately)?\b|\broughly\b|\bcirca\b|\bmore or less\b|\bgive or take\b|\bballpark\b",
    rf"\b(?:around|about|nearly|almost|ca\.?|etwa|rund|alrededor de|unos|unas) {_DIGIT}",
    rf"\b(?:around|nearly|almost) {_COUNT}|\b\d+ ?-?ish\b",
    r"\b\d+(?: \w+)? or so\b|\bungefae?hr\b|\benviron\b|\ba peu pres\b",
    r"\baproximadamente\b|\bmas o menos\b",
)

TILDE: Final = r"(?<![\w/])~ ?\d|≈"
"""Approximations that begin with no letter."""

_MONTHS: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_ENDS: Final = (
    r"(?=$|[.,;:!?)/-]| (?:\d|and|or|to|this|next|last|at|on|for|when|because|but|is|was)\b)"
)
_BEFORE: Final = "in|since|until|till|by|during|of|last|next|early|late|mid|before|after|every|from"

NOT_MODAL: Final = (
    r"\bmay (?:\d{1,2}(?:st|nd|rd|th)?\b|(?:19|20)\d\d\b)|\bmay (?:is|was|day)\b",
    rf"\b(?:{_BEFORE}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)?)[ -](?:(?-i:May)\b(?! be\b)|may\b{_ENDS})",
    rf"\b(?:the|this|our|my) (?-i:May)\b|\b(?:{_MONTHS}) ?(?:,|/|-|–|to|and|or) ?may\b",
    rf"\bmay ?(?:,|/|-|–|to|and|or|through|until) ?(?:{_MONTHS})\b",
    r"(?-i:\b[A-Z][a-z]+ May)(?='s|[.,;]|$| (?:said|is|was|has|had)\b)",
    r"\b(?:the|his|her|their|our|its|all|military|full|sheer) might(?= (?:of|and)\b|[.,;:!?)]|$)",
    r"\bmight (?:of|is right|makes right)\b",
)
"""The month or the name May, and might that is strength."""


MAX_WORDS: Final = 10
MAX_WORD: Final = 40
"""Hedges in a result, and characters of each."""


class HedgeAction(StrEnum):
    """The consequence of a hedge."""

    BLOCK = "block"
    REVIEW = "review"
    NONE = "none"


class HedgeResult(Struct, frozen=True):
    """The consequence and up to `MAX_WORDS` words that led to it, folded and in lower case."""

    action: HedgeAction
    words: tuple[str, ...] = ()


def analyze_hedges(text: str) -> HedgeResult:
    """Return the strictest action for any wording of `text`; the time is linear in its length."""
    read = [_without_nouns(_without_mentions(folded)).lower() for folded in _readings(text)]
    for action, pattern in ((HedgeAction.BLOCK, _BLOCK), (HedgeAction.REVIEW, _REVIEW)):
        words = [word for reading in read for word in _hedges(pattern, reading)]
        if words:
            return HedgeResult(action, tuple(dict.fromkeys(words))[:MAX_WORDS])
    return HedgeResult(HedgeAction.NONE)


def _hedges(pattern: re.Pattern[str], text: str) -> list[str]:
    return [
        match[0].strip(" .,;:!?(-")[:MAX_WORD]
        for match in pattern.finditer(text)
        if not (_PERSON.match(match[0]) and _NO_CLAIM.search(_just_before(match)))
    ]


def _without_nouns(text: str) -> str:
    """Return the text without the month of May and without "might" in the sense of strength."""
    return _NOT_MODAL.sub(_GAP, text) if _MAY_BE.search(text) else text


def _just_before(match: re.Match[str]) -> str:
    return match.string[max(match.start() - _NEARBY, 0) : match.start()]


# --- folding: what looks the same reads the same ------------------------------------------------


def _readings(text: str) -> list[str]:
    """Return the folded text; twice if it has invisible characters, which join or separate
    words."""
    plain = html.unescape(text).translate(_APOSTROPHES)
    if plain.isascii() or not any(_invisible(char) for char in plain):
        return [_fold(plain)]
    parted = "".join(" " if _invisible(char) else char for char in plain)
    return [_fold(plain), _fold(parted)]


def _fold(text: str) -> str:
    if not text.isascii():
        latin = unicodedata.normalize("NFKD", text).translate(_LOOKALIKES)
        text = "".join(c for c in latin if c.isascii() or unicodedata.category(c) not in _UNSEEN)
    return " ".join(_EMPHASIS.sub(_emphasis, text).split())


def _emphasis(match: re.Match[str]) -> str:
    """Return the underscores within a name, an empty text for other marks of emphasis."""
    text, start, end = match.string, match.start(), match.end()
    inside = start > 0 and text[start - 1].isalnum() and text[end : end + 1].isalnum()
    return match[0] if text[start] == "_" and inside else ""


def _invisible(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) == "Cf"


_UNSEEN: Final = frozenset({"Mn", "Me", "Cf"})
_APOSTROPHES: Final = str.maketrans(dict.fromkeys("’‘ʼ´＇ʹ′‛", "'"))
_LOOKALIKES: Final = str.maketrans(
    "АВЕІЈКМНОРСТХавеіјкмнорстухһΑΒΕΗΙΚΜΝΟΡΤΧαβεηικνορτυχ",
    "ABEIJKMHOPCTXabeijkmhopctyxhABEHIKMNOPTXabenikvoptux",
)
"""Letters of other scripts that look Latin."""
_EMPHASIS: Final = re.compile(r"\*+|_+")


# --- mentions: what is quoted or is code ---------------------------------------------------------


def _without_mentions(text: str) -> str:
    """Return the text without quotations and code; all of it if it contains nothing else."""
    outside = _MENTION.sub(_GAP, text)
    if not _LETTER.search(outside):
        return _MARKS.sub(" ", text)
    return _MENTION.sub(_mentioned, text)


def _mentioned(match: re.Match[str]) -> str:
    """Return a gap, or the words without their marks if the sentence begins with them and
    continues: `"I think" we should` states the words that it seems to quote."""
    before = _just_before(match).rstrip()
    after = match.string[match.end() : match.end() + _NEARBY]
    begins = not before or before[-1] in ".!?;,"
    if not begins or match[0].startswith("```") or _SPOKEN_OF.match(after):
        return _GAP
    return f" {_MARKS.sub(' ', match[0])} "


_NEARBY: Final = 20
_GAP: Final = " … "
_MENTION: Final = re.compile(
    r'```(?:[^`\n]|`[^`\n]|``[^`\n]){0,4000}```|`[^`]{1,500}`|"[^"]{1,500}"'
    r"|“[^“”]{1,500}”|„[^„“”]{1,500}[“”]|«[^«»]{1,500}»"
    r"|(?<!\w)'[^']{1,200}'(?!\w)|https?://\S+"
)
_MARKS: Final = re.compile(r'[`"“”„«»]|(?<!\w)\'|\'(?!\w)')
_LETTER: Final = re.compile(r"[^\W\d_]")
_SPOKEN_OF: Final = re.compile(
    r" ?(?:$|[.,;:]|(?:is|are|was|were|means|stands|has|appears|in|as|counts|returns|type)\b)"
)

_PERSON: Final = re.compile(r"(?:[il]|ich|je|yo|creo)\b")
_NO_CLAIM: Final = re.compile(
    r"\b(?:if|when|whenever|unless|before|do|did|should|wenn|falls|si|quand|cuando) \Z"
)


def _any_of(*groups: Sequence[str]) -> str:
    """One word boundary before all alternatives, so positions within a word are skipped at once."""
    return rf"\b(?:{'|'.join(pattern for group in groups for pattern in group)})"


_BLOCK: Final = re.compile(_any_of(SPECULATION, UNCERTAINTY, SUGGESTION))
_REVIEW: Final = re.compile(rf"{_any_of(TECHNICAL, APPROXIMATION)}|{TILDE}")
_MAY_BE: Final = re.compile("may|might", re.IGNORECASE)
_NOT_MODAL: Final = re.compile(_any_of(NOT_MODAL), re.IGNORECASE)
