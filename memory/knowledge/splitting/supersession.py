"""The records that a decision record replaces, and those that replace it, by its sentences.

A sentence counts if it speaks of the whole record, as a fact: "superseded by" stands at the begin
of a clause, at most after words for the record itself ("This ADR has been"), its references follow
at once, and nothing limits it to a part, a plan or a condition. "Partially superseded by 4", "may
be superseded by 4" and "Refines 38 (which superseded 32)" replace nothing.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from memory.knowledge.splitting.documents import plain

MAX_SENTENCE: Final = 500
MAX_PHRASES: Final = 5
"""Phrases of one line that are looked at."""
MAX_AFTER: Final = 240
"""Characters after a phrase that are looked at."""
MAX_REFERENCE: Final = 100
MAX_REFERENCES: Final = 20
REPLACED_BY: Final = re.compile(
    r"\b(?:supersede|supercede|replace|obsolete)d[- ]by\b|^\W*super[sc]eded\b"
    r"|\bsuper[sc]eded\b(?=\W*$|\s*[.,;:()*]|\s+(?:see|in|on|partially|partly)\b)"
)
"""Without "by" and after other words, as in "Accepted. Superseded ADR 32", it may say what this
record replaced."""
REPLACES: Final = re.compile(r"\b(?:super[sc]edes|replaces|obsoletes)\b")
"""In a status or a field; in other text these words may describe other things than records."""
SUPERSEDED_BY: Final = re.compile(r"\bsuper[sc]eded[- ]by\b")
SUPERSEDES: Final = re.compile(r"\bsuper[sc]edes\b")
_LEAD: Final = frozenset(
    """
    a accepted adopted adr again already also and approved architecture approach been but by
    caution completely current decision deprecated design doc document entirely explicitly final
    finally formally fully has have historical implemented important in is it its later meanwhile
    note notice now obsolete of officially on rejected record rfc since set spec specification state
    status subsequently the then this to update warning was were wholly
    """.split()  # noqa: SIM905 - reads better
)
"""Words before the phrase that still speak of the record itself."""
_LIMITS: Final = re.compile(
    r"\b(?:partial|partially|partly|mostly|largely|in\s+part|except|only|some|parts?|sections?|"
    r"portions?|paragraphs?|clauses?|points?|items?|steps?|if|once|unless|until|proposed|proposal|"
    r"draft|pending|tbd|none|nothing|n/a)\b|(?<=[\w)])['’]s\b"
)
_CLAUSE: Final = re.compile(r"[;!,:()|—–→]|\.(?=\s)|\s-{1,2}\s")
_SENTENCE: Final = re.compile(r"[;!|]|[.](?=\s|$)")
_AFTERTHOUGHT: Final = re.compile(
    r"\b(?:see|because|since|as|which|who|due|per|after|before|when|while|to|following)\b"
    r"|[:—–]|\s-\s"
)
"""What follows it explains, and may name other records."""
_STRUCK: Final = re.compile(r"~~[^~]{0,300}~~|<!--.{0,300}?(?:-->|$)")
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}+"
_DATE: Final = re.compile(
    r"\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b"
    r"|(?<![-#\w])(?:19|20)\d\d\b(?!-)",
    re.IGNORECASE,
)
_LINK: Final = re.compile(r"\[(?P<text>[^\[\]]{0,200})\]\((?P<target>[^()\s]{1,300})\)")
_NAMED: Final = re.compile(
    r"\b(?:ADR|RFC|DR|PEP|KEP|MADR|DEC?|D)[- _#]?+\d{1,6}+\b|#\d{1,6}+\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"(?<![\w.§#])\d{1,4}+\b(?!\.\d)")
_BETWEEN: Final = re.compile(
    r"(?:[\s,&+/:()\[\]`*_-]|\b(?:and|the|adrs|rfcs|decisions?|records?|no|number)\b\.?)*+",
    re.IGNORECASE,
)
ALTERNATIVES: Final = 3
"""Statuses with "|" between them that are the choice of a template."""
_CHOICES: Final = re.compile(
    r"\b(?:proposed|accepted|rejected|deprecated|superseded|draft)\b", re.IGNORECASE
)
_STOPS: Final = re.compile(r"[.;!|]")
_FILE_ENDS: Final = (".md", ".rst", ".adoc")
_WORD: Final = re.compile(r"[^\W\d_]+")


def cleaned_line(line: str) -> str:
    """A line without what is struck out, comments, and the signs that begin and emphasise it; ""
    for the choice of a template."""
    text = _STRUCK.sub(" ", line[:MAX_SENTENCE])
    if text.count("|") >= ALTERNATIVES - 1 and len(_CHOICES.findall(text)) >= ALTERNATIVES:
        return ""
    return text.strip().lstrip("*-_> |#").replace("**", "").replace("__", "").strip()


def named_after(phrase: re.Pattern[str], lines: Sequence[str], own: str = "") -> tuple[str, ...]:
    """The references of the first sentence in which the phrase speaks of the record itself. `own`
    is the number of this record, which may stand before the phrase."""
    return next(
        (named for one in _told(phrase, lines, own) if (named := _first_references(one))), ()
    )


def says(phrase: re.Pattern[str], lines: Sequence[str], own: str = "") -> bool:
    """True if the phrase speaks of the whole record, with references or without them."""
    return any(not _LIMITS.search(_LINK.sub(" ", one.lower())) for one in _told(phrase, lines, own))


def is_limited(line: str) -> bool:
    """True if a line speaks of a part, a plan or a condition."""
    return bool(_LIMITS.search(line.lower()))


def _told(phrase: re.Pattern[str], lines: Sequence[str], own: str) -> Iterator[str]:
    """The rest of each sentence in which the phrase speaks of the record itself."""
    for said in lines:
        line = _LINK.sub(_without_stops, said)
        lower = line.lower()
        for found in islice(phrase.finditer(lower), MAX_PHRASES):
            if _speaks_of_itself(lower[: found.start()], own):
                yield _SENTENCE.split(line[found.end() :][:MAX_AFTER], maxsplit=1)[0]


def _without_stops(link: re.Match[str]) -> str:
    """A link whose text ends no sentence: "[4. Use a log](0004-use-a-log.md)"."""
    return f"[{_STOPS.sub(' ', link['text'])}]({link['target']})"


def _speaks_of_itself(before: str, own: str) -> bool:
    before = _DATE.sub(" ", _LINK.sub(r"[\g<text>]", before))
    begin = max((found.end() for found in _CLAUSE.finditer(before)), default=0)
    if begin and before[begin - 1] == "(" and _is_reference(before[: begin - 1], own):
        return False
    clause = before[begin:]
    if any(_number(name) != own for name in _references_in(clause)):
        return False
    rest = _NUMBER.sub(" ", _NAMED.sub(" ", clause))
    return all(word in _LEAD for word in _WORD.findall(rest))


def _is_reference(before: str, own: str) -> bool:
    """True if the text ends with the name of another record."""
    last = before.rstrip(" ]`*")[-60:]
    names = (*_NAMED.finditer(last), *_NUMBER.finditer(last))
    return any(one.end() == len(last) and _number(one[0]) != own for one in names) or (
        before.rstrip().endswith("]")
    )


def _number(name: str) -> str:
    digits = re.sub(r"\D", "", name)
    return digits.lstrip("0")


def _first_references(sentence: str) -> tuple[str, ...]:
    """The records that follow a phrase; none if it is about a part, a plan or a condition."""
    text = _DATE.sub(" ", sentence)
    first = next(
        (one for pattern in (_LINK, _NAMED, _NUMBER) if (one := pattern.search(text))), None
    )
    named = _references_in(text)
    if not named:
        return ()
    explained = _AFTERTHOUGHT.search(text, first.end() if first else 0)
    if explained:
        text = text[: explained.start()]
        named = _references_in(text) or named[:1]
    shown = _LINK.sub(" ", text)
    return () if _LIMITS.search(shown.lower()) else named


def references(texts: Sequence[str]) -> tuple[str, ...]:
    """The records that the values of a field name."""
    named: dict[str, None] = {}
    for text in texts:
        named.update(dict.fromkeys(_first_references(text)))
    return tuple(named)[:MAX_REFERENCES]


def _references_in(text: str) -> tuple[str, ...]:
    """File names of linked records, else file names, else the ids that a text has."""
    some = [_file_name(link["target"]) or link["text"] for link in _LINK.finditer(text)]
    some = some or _file_names(text) or [*_NAMED.findall(text), *_listed_numbers(text)]
    named = dict.fromkeys(plain(one)[:MAX_REFERENCE] for one in some if one)
    return tuple(named)[:MAX_REFERENCES]


def _listed_numbers(text: str) -> list[str]:
    """Bare numbers that follow the begin or another reference, such as "4, 5 and 6"."""
    numbers: list[str] = []
    place = 0
    for _ in range(MAX_REFERENCES):
        if between := _BETWEEN.match(text, place):
            place = between.end()
        if named := _NAMED.match(text, place):
            place = named.end()
        elif number := _NUMBER.match(text, place):
            numbers.append(number[0])
            place = number.end()
        else:
            break
    return numbers


def _file_names(text: str) -> list[str]:
    words = (word.strip(".,;:()<>`'\"") for word in text.split())
    return [_file_name(word) for word in words if word.endswith(_FILE_ENDS)]


def _file_name(target: str) -> str:
    return target.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]
