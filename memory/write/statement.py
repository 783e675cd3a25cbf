"""The origin of what the model stores: the person's own sentence that contains its quote, or an
external text, which the model reads and the person did not write.

The model names words of the person (`quote`); the stored text is the sentence that contains them,
as the person wrote it. The model's wording is never stored as the person's, so a number, a name or
a "not" that it changed cannot be stored either.
"""

import bisect
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Final

from gateway.authorship import Authorship, Material
from memory.model.record import MAX_MEMORY, InputKind, Provenance, Record, Scope, SourceType, Trust
from memory.text.sentences import (
    ITEM,
    LEADS,
    Span,
    asks_unmarked,
    is_unspaced,
    only_asks,
    sentence_ends,
    stands_alone,
)
from memory.text.stop_words import words_of

MIN_QUOTE: Final = 3
"""Letters and digits of the shortest quote; two in a script of syllables or words."""
MAX_RETRACTION: Final = 100
"""Characters in which a retraction is searched."""
MAX_WRITTEN_OUT: Final = 8_000
"""Characters of messages in which contractions are expanded."""
MAX_PLACES: Final = 20
"""Occurrences of a quote in one message that are checked."""

_FENCE: Final = re.compile(r"^[ ]{0,3}(?:```|~~~)", re.MULTILINE)
_CITED: Final = re.compile(r"^[ \t\xa0]{0,8}[>›＞|]", re.MULTILINE)
_TAKES_BACK: Final = frozenset(
    "not jk kidding joke joking sike nicht scherz spaß blague broma scherzo brincadeira".split()  # noqa: SIM905 - reads better
)
"""Words that retract the sentence before, if nearly nothing else follows."""
_STOPS: Final = ".!?…。！？｡।۔؟"
_MENTIONS: Final = ("@", "#")

_REQUESTS: Final = (
    "remember that ", "remember: ", "merk dir: ", "merke dir: ", "retiens que ",
    "souviens-toi que ", "recuerda que ", "ricorda che ", "lembre-se de que ", "onthoud dat ",
    "zapamiętaj, że ",
    "запомни, что ", "запам'ятай, що ",
)  # fmt: skip
"""Requests to store what follows, in the order of words of a statement."""


def find_statement(quote: str, words: Sequence[str]) -> str | None:
    """The sentence of the person that holds the quote, as they wrote it, or several where the quote
    spans them; None where the person has to be asked.

    `words` are the messages that the person wrote in this turn, nobody else's text among them.
    None is returned where no message holds the quote, and where the sentence alone does not state
    anything: "yes, that one", a question, a line that the person cites, more than 1,000 characters.
    """
    statement = _statement(quote, words, full=False)
    if statement is None and sum(map(len, words)) <= MAX_WRITTEN_OUT:
        return _statement(quote, words, full=True)
    return statement


def _statement(quote: str, words: Sequence[str], *, full: bool) -> str | None:
    """The same; `full` writes contractions out in the messages and in the quote."""
    sought = _Plain(quote[: 2 * MAX_MEMORY], full=full)
    if not _long_enough(sought.letters):
        return None
    before = ""
    for text in words:
        led, before = before.rstrip().endswith(LEADS), text
        message = _Message(text, full=full)
        if led and message.holds(sought.letters):
            return None
        for start, end in message.places(sought.letters):
            stated = message.stated(start, end)
            if stated:
                return stated
    return None


def stands_in(quote: str, text: str) -> bool:
    """Return True if a text contains the words of a quote in sequence."""
    sought = _Plain(quote[: 2 * MAX_MEMORY]).letters
    return _long_enough(sought) and _Message(text).holds(sought)


class _Plain:
    """A text's letters and digits alone, without case and marks, and where each came from.

    Matching is lenient (spaces, punctuation, accents, with `full` contractions): what is stored is
    the text itself.
    """

    def __init__(self, text: str, *, full: bool = False) -> None:
        letters: list[str] = []
        self.at: list[int] = []
        place = 0
        for begin, end, meant in contracted(text) if full else ():
            _add_plain(text, place, begin, letters, self.at)
            letters += meant
            self.at += [min(begin + offset, end - 1) for offset in range(len(meant))]
            place = end
        _add_plain(text, place, len(text), letters, self.at)
        self.letters = "".join(letters)


class _Message:
    """A message of the person, with the places where its sentences and quotations end."""

    def __init__(self, text: str, *, full: bool = False) -> None:
        self._text = text
        self._plain = _Plain(text, full=full)

    @cached_property
    def _ends(self) -> list[int]:
        return sentence_ends(self._text)

    def holds(self, sought: str) -> bool:
        """Return True if whole words of the message equal the quote."""
        return next(self.places(sought), None) is not None

    def places(self, sought: str) -> Iterator[Span]:
        """Return the spans where whole words of the message equal the quote."""
        plain = self._plain
        spans = plain.letters.find(sought)
        for _ in range(MAX_PLACES):
            if spans < 0:
                return
            start, end = plain.at[spans], self._past(plain.at[spans + len(sought) - 1])
            apart = _parted(self._text, start) and _parted(self._text, end)
            if apart and not _in_mention(self._text, start, end):
                yield start, end
            spans = plain.letters.find(sought, spans + 1)

    def _past(self, letter: int) -> int:
        """Return the position after a letter and its marks."""
        end = letter + 1
        while end < len(self._text) and unicodedata.category(self._text[end])[0] == "M":
            end += 1
        return end

    def stated(self, start: int, end: int) -> str:
        """Return the sentences around a quote if they state a fact, otherwise an empty text."""
        low, high = self._widened(start, end)
        text = self._text[low:high].strip()
        if len(text) > MAX_MEMORY or self._cites(low, high) or only_asks(text):
            return ""
        text = _without_request(text)
        if asks_unmarked(text):
            return ""
        return text if stands_alone(text) and not self._taken_back(high) else ""

    def _taken_back(self, high: int) -> bool:
        """Return True if the following text retracts the sentence: "Not!", "just kidding"."""
        end = self._ends[min(bisect.bisect_right(self._ends, high), len(self._ends) - 1)]
        after = words_of(self._text[high : min(end, high + MAX_RETRACTION)])
        return len(after) <= 3 and not _TAKES_BACK.isdisjoint(after)

    def _widened(self, start: int, end: int) -> Span:
        """Return the span of the sentence; for an item of a list with the line before it."""
        text, ends = self._text, self._ends
        low = ends[bisect.bisect_right(ends, start) - 1]
        high = ends[bisect.bisect_left(ends, end)]
        head = self._lead_in(low)
        if head:
            low = ends[bisect.bisect_right(ends, head - 1) - 1]
        if text[low:high].rstrip().endswith(LEADS) and high < len(text):
            high = ends[min(bisect.bisect_left(ends, high) + 1, len(ends) - 1)]
        return low, high

    def _lead_in(self, low: int) -> int:
        """The end of the line that leads to a sentence ("Allergies:"), or of any line before its
        list that is no sentence of its own; 0 where there is none."""
        begins = max(0, low - MAX_MEMORY)
        before = self._text[begins:low]
        item = ITEM.match(self._text, low) is not None
        lines = before.splitlines(keepends=True) if item else []
        while lines and (not lines[-1].strip() or ITEM.match(lines[-1])):
            before = before[: -len(lines.pop())]
        head = before.rstrip()
        leads = head.endswith(LEADS) or (item and bool(head) and head[-1] not in _STOPS)
        return begins + len(head) if leads else 0

    def _cites(self, low: int, high: int) -> bool:
        """Return True for a quoted line (`>`) or one after a code fence."""
        line = self._text.rfind("\n", 0, low) + 1
        return (
            _CITED.search(self._text, line, high) is not None
            or _FENCE.search(self._text, 0, high) is not None
        )


def _add_plain(text: str, begin: int, end: int, letters: list[str], at: list[int]) -> None:
    for place in range(begin, end):
        character = text[place]
        if character.isascii():
            plain = character.lower()
        else:
            plain = unicodedata.normalize("NFKD", character).casefold()
        for letter in plain:
            if letter.isalnum():
                letters.append(letter)
                at.append(place)


def _without_request(text: str) -> str:
    """Return the statement after "remember that", which is a request to store and states no
    fact."""
    plain = text.casefold()
    if len(plain) != len(text):
        return text
    begins = 7 if plain.startswith("please ") else 0
    request = next((one for one in _REQUESTS if plain.startswith(one, begins)), "")
    return text[begins + len(request) :].lstrip() if request else text


def _parted(text: str, place: int) -> bool:
    """Return True if a word may begin or end between two characters."""
    if place in (0, len(text)):
        return True
    before, after = text[place - 1], text[place]
    return not (before.isalnum() and after.isalnum()) or is_unspaced(before) or is_unspaced(after)


def _in_mention(text: str, start: int, end: int) -> bool:
    """Return True if a quote begins or ends inside the name of a mentioned person or thing: other
    people choose their names."""
    begins = max(text.rfind(blank, 0, start) for blank in " \n\t") + 1
    if text[begins : begins + 1] in _MENTIONS and (
        start > begins + 1 or not any(char.isspace() for char in text[start:end])
    ):
        return True
    last = max(text.rfind(blank, 0, end) for blank in " \n\t") + 1
    inside = end < len(text) and not text[end].isspace() and text[end] in "-_'"
    return last > start and text[last : last + 1] in _MENTIONS and inside


def _long_enough(letters: str) -> bool:
    return len(letters) >= MIN_QUOTE or (len(letters) == MIN_QUOTE - 1 and is_unspaced(letters[0]))


_CONTRACTED: Final = {
    "can't": "cannot",
    "cant": "cannot",
    "won't": "willnot",
    "shan't": "shallnot",
    "ain't": "isnot",
    "im": "iam",
    "ive": "ihave",
    "youre": "youare",
    "theyre": "theyare",
    "let's": "letus",
    "gonna": "goingto",
    "wanna": "wantto",
}
_CONTRACTED_ENDS: Final = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_NEGATED: Final = frozenset(
    "do does did is are was were have has had could would should must need".split()  # noqa: SIM905 - reads better
)
_CONTRACTABLE: Final = re.compile(r"[A-Za-z]+(?:['’ʼ][A-Za-z]{1,2}\b)?")


def contracted(text: str) -> Iterator[tuple[int, int, str]]:
    """Return the contractions of a text: the span of each, and the letters that it stands for."""
    for match in _CONTRACTABLE.finditer(text):
        full = _written_out(match[0].casefold().replace("’", "'").replace("ʼ", "'"))
        if full:
            yield match.start(), match.end(), full


def _written_out(word: str) -> str:
    if word in _CONTRACTED:
        return _CONTRACTED[word]
    for end, full in _CONTRACTED_ENDS.items():
        if word.endswith(end):
            return word[: -len(end)] + full
    if word.endswith("nt") and word[:-2] in _NEGATED:
        return f"{word[:-2]}not"
    return ""


MAX_TEXTS: Final = 100
MAX_TEXT: Final = 20_000
"""Texts that are searched, and characters of each; further ones only count."""
INSIDE: Final[frozenset[Authorship]] = frozenset({"your_answer"})
"""Not external: the assistant's own answer, quoted."""
INPUT_KINDS: Final[dict[Authorship, InputKind]] = {
    "file": InputKind.DOCUMENT,
    "heard": InputKind.HEARD,
    "recording": InputKind.HEARD,
    "repository": InputKind.DOCUMENT,
    "tool": InputKind.TOOL,
    "web": InputKind.WEB,
    "preview": InputKind.WEB,
    "advert": InputKind.WEB,
}
"""A file is trusted like the output of a tool, because it may be hostile, and speech less than
written words, because it may be misheard; other authorships are text of other people."""


class ExternalText:
    """The external texts of one turn."""

    def __init__(self, pieces: Sequence[Material] = ()) -> None:
        self._texts: list[tuple[InputKind, str]] = []
        self.any = False
        """True after any external text, whatever its content."""
        self.from_repository = False
        """True after text of a repository that not everybody may read, or after an answer that was
        made from it. A memory is recalled in other places than the repository, so the turn leaves
        none but the person's own sentences."""
        self.from_thread = False
        """True after messages of a thread that were not addressed to the assistant, or after an
        answer that was made from them. Nothing of them is kept, so the turn leaves none but the
        person's own sentences."""
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Material) -> None:
        """Note a text that the model is about to read."""
        if piece.authorship in INSIDE:
            return
        self.any = True
        self.from_repository |= piece.authorship == "repository"
        self.from_thread |= piece.authorship == "thread"
        if len(self._texts) < MAX_TEXTS and piece.text.strip():
            kind = INPUT_KINDS.get(piece.authorship, InputKind.OTHERS_WORDS)
            self._texts.append((kind, piece.text[:MAX_TEXT]))

    def kind_of_input(self, content: str, quote: str) -> InputKind:
        """Return the input kind of what the model stores: that of the external text which contains
        it, or else the assistant's inference."""
        for kind, text in self._texts:
            if stands_in(quote, text) or stands_in(content, text):
                return kind
        return InputKind.ASSISTANT


def shown_before(record: Record, persons: Collection[str]) -> tuple[Material, ...]:
    """Return a recalled memory as external text, if its source is external, another person wrote it
    in this room, or it may contain text of a restricted repository."""
    provenance = record.provenance
    if provenance.from_repository:
        return (Material("repository", record.content),)
    if provenance.external:
        return (Material(_authorship(provenance), record.content),)
    others = record.scope is Scope.USER and provenance.person not in persons
    return (Material("room", record.content),) if others else ()


def _authorship(provenance: Provenance) -> Authorship:
    """Return the authorship of an external memory when it is recalled, never one with more
    trust."""
    if provenance.trust is Trust.LOW:
        return "web"
    if provenance.source is SourceType.HEARD:
        return "recording"
    return "file" if provenance.source is SourceType.TOOL_OUTPUT else "forwarded"
