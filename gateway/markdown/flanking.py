"""Decides which runs of `*`, `_`, `~~` and `||` may begin or end emphasis.

CommonMark asks only for a letter beside the run, so that `2*3*4` loses its operators, and bold text
that ends with a full-width colon keeps its marks. Here a run is emphasis where a reader of prose
sees it: it stands at the edge of a word. A run inside a word, a number, a pattern or a path is an
operator or part of a name. Scripts without spaces have no edges of words; there, signs of
arithmetic nearby decide.
"""

import re
from typing import Final

from msgspec import Struct

from gateway.markdown.characters import COMBINING, is_wide, kind

_LONGEST: Final = 3
"""Signs of the longest run that is emphasis; a longer one is a blank or a hidden word."""
_PART: Final = 40
"""Letters of the longest marked part of a word."""
_NEAR: Final = 30
"""Characters to each side that tell an equation."""
_WORDS: Final = ("letter", "digit")
_EQUATION: Final = re.compile(r"[=＝≈×÷+]")
_DUNDER: Final = re.compile(r"(?:[a-z0-9_]{1,60}|[A-Z0-9_]{1,60})__(?!\w)")
_DUNDER_BEGUN: Final = re.compile(r"(?<!\w)__(?:[a-z0-9_]{1,60}|[A-Z0-9_]{1,60})\Z")
_GLOB: Final = re.compile(r"/(?:\*|[^\s*]{0,200}/\*\*)")
_PATH: Final = "/\\"
_BEFORE_NAMES: Final = "/\\@$#."
_SHORT_PAUSES: Final = ".,;"
_LETTER: Final = rf"(?:[^\W\d_]|[{COMBINING}])"
_LETTERS: Final = re.compile(f"{_LETTER}{{2,{_PART}}}")
_TO_COME: Final = {
    sign: re.compile(rf"{_LETTER}{{2,{_PART}}}{re.escape(sign)}{{2}}") for sign in "*~"
}
_INNER: Final = r"|(?<=[^\W\d_])['’-](?=[^\W\d_])"
"""What joins the parts of a word."""
_BEGUN: Final = {
    (sign, length): re.compile(
        rf"(?<!{re.escape(sign)}){re.escape(sign)}{{{length}}}"
        rf"((?:[^\W_]|[{COMBINING}]{'' if length == 1 else _INNER}){{1,{_PART}}})\Z"
    )
    for sign in "*~"
    for length in (1, 2, 3)
}


class SignRun(Struct, frozen=True):
    """A run of one sign, with the text around it."""

    text: str
    start: int
    end: int
    before: str
    after: str
    left: str
    """Kind of the character before."""
    right: str
    """Kind of the character after."""

    @property
    def sign(self) -> str:
        """The sign."""
        return self.text[self.start]

    @property
    def single(self) -> bool:
        """True for one sign, which is an operator more often than two."""
        return self.end - self.start == 1

    @property
    def second(self) -> str:
        """The second character after the run."""
        return self.text[self.end + 1 : self.end + 2]

    @property
    def wide(self) -> bool:
        """True beside a letter or punctuation of a script without spaces."""
        return is_wide(self.before) or is_wide(self.after)


def flanks(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the run of one sign from `start` to `end` may open and may close emphasis."""
    before, after = text[start - 1 : start], text[end : end + 1]
    left, right = kind(before), kind(after)
    if (left == "space" and right == "space") or end - start > _LONGEST:
        return False, False
    run = SignRun(text, start, end, before, after, left, right)
    if run.sign == "_":
        return (
            right != "space" and _underscores_open(run),
            left != "space" and _underscores_close(run),
        )
    return right != "space" and _opens(run), left != "space" and _closes(run)


def _opens(run: SignRun) -> bool:
    if run.left == "space":
        return _opens_after_space(run)
    if run.wide:
        return _opens_between_wide(run)
    if run.left in _WORDS:
        return run.left == run.right == "letter" and _is_part_to_come(run)
    if run.right in ("closing", "space"):
        return False
    if run.right == "sentence" and (run.single or kind(run.second) not in _WORDS):
        return run.after == run.second == "."
    match run.left:
        case "opening":
            return not _begins_pattern(run) and not (run.single and run.after in _PATH)
        case "neutral":
            return run.after != run.before and not _in_name(run)
        case "closing":
            return not run.single and run.right == "letter" and run.before not in ")]}"
        case "sentence":
            return run.right == "letter" and not (run.single and run.before in _SHORT_PAUSES)
        case "code":
            return not run.single and run.right == "letter"
    if run.single:
        marked = run.text[run.start - 2 : run.start - 1] == run.sign
        return run.right == "letter" and (marked or run.before == "-")
    return run.right in (*_WORDS, "opening")


def _opens_after_space(run: SignRun) -> bool:
    if not run.single:
        return not _begins_pattern(run)
    if run.after == ".":
        return run.second == "."
    if run.right == "digit":
        return not _after_operand(run)
    return is_wide(run.after) or not (run.right in ("sentence", "closing") or run.after in "/=")


def _begins_pattern(run: SignRun) -> bool:
    """Return True for the beginning of `**/*.ts` and `**/node_modules/**`."""
    return not run.single and run.after == "/" and bool(_GLOB.match(run.text, run.end))


def _after_operand(run: SignRun) -> bool:
    """Return True after `5 ` and `(a + b) `, so that the sign multiplies."""
    last = run.text[max(run.start - _NEAR, 0) : run.start].rstrip(" ")[-1:]
    return kind(last) == "digit" or last in (")", "]", "=")


def _opens_between_wide(run: SignRun) -> bool:
    if run.right in ("closing", "sentence") or (
        run.left == "closing" and run.before in ")]}" and run.single
    ):
        return False
    if run.right == "digit" or (run.single and run.left == "digit"):
        return not run.single and not _in_equation(run)
    return not run.single or not _in_equation(run)


def _closes(run: SignRun) -> bool:
    if run.left == "opening":
        return False
    if run.right == "space":
        return _closes_before_space(run)
    if run.wide:
        return _closes_between_wide(run)
    if run.right in _WORDS:
        return _closes_before_word(run)
    if run.after == "." and kind(run.second) in _WORDS:
        return not run.single and run.left in (*_WORDS, "closing", "neutral", "code")
    if run.right in ("sentence", "closing", "neutral"):
        same = run.left == "neutral" and run.before == run.after
        return not same and not (run.single and run.before in "/\\=<^-&")
    if run.left in ("operator", "closing") and (run.single or run.right == "opening"):
        return run.left == "closing" and run.right != "opening"
    return not run.single or (run.after != "=" and run.before != "." and run.left != "code")


def _closes_before_space(run: SignRun) -> bool:
    if not run.single:
        return True
    if run.left == "digit":
        return kind(run.text[run.end : run.end + _NEAR].lstrip(" ")[:1]) != "digit"
    return run.before not in "/\\=<^"


def _closes_between_wide(run: SignRun) -> bool:
    if "digit" in (run.left, run.right) and run.single:
        return False
    if run.right == "digit" or run.single:
        return not _in_equation(run)
    return True


def _closes_before_word(run: SignRun) -> bool:
    if run.left in _WORDS:
        return _ends_part(run)
    if run.single:
        said = run.left in ("sentence", "closing") and run.before not in (*_SHORT_PAUSES, *")]}")
        return said and run.right == "letter"
    if run.left == "operator":
        return run.before in "%+#*"
    return not (run.before in ")]}" and run.right == "digit")


def _is_part_to_come(run: SignRun) -> bool:
    """Return True before a marked part of a word that is letters only, as in `com**pu**ter`."""
    pattern = None if run.single else _TO_COME.get(run.sign)
    return bool(pattern and pattern.match(run.text, run.end)) and not _in_equation(run)


def _ends_part(run: SignRun) -> bool:
    """Return True after a marked part of a word, as in `**API**s`, `**5**kg` and `*un*happy`."""
    begun = _BEGUN.get((run.sign, run.end - run.start))
    if begun is None:
        return False
    match = begun.search(run.text, max(run.start - _PART - _LONGEST - 1, 0), run.start)
    if match is None:
        return not run.single and run.left == run.right == "letter" and _is_long_word(run)
    at_edge = kind(run.text[match.start() - 1 : match.start()]) not in _WORDS
    letters = bool(_LETTERS.fullmatch(match[1])) and run.right == "letter"
    if run.single:
        return at_edge and letters
    if at_edge:
        return letters or not run.left == run.right == "digit"
    return letters and not _in_equation(run)


def _is_long_word(run: SignRun) -> bool:
    return bool(_LETTERS.fullmatch(run.text, max(run.start - 2, 0), run.start))


def _in_equation(run: SignRun) -> bool:
    """Return True beside signs of arithmetic in the same line."""
    before = run.text[max(run.start - _NEAR, 0) : run.start].rpartition("\n")[2]
    after = run.text[run.end : run.end + _NEAR].partition("\n")[0]
    return bool(_EQUATION.search(before) or _EQUATION.search(after))


def _in_name(run: SignRun) -> bool:
    return run.before == "_" and kind(run.text[run.start - 2 : run.start - 1]) in _WORDS


def _underscores_open(run: SignRun) -> bool:
    if run.left in _WORDS or (run.single and run.left == "unspaced"):
        return False
    if run.before and run.before in _BEFORE_NAMES:
        return False
    if run.right == "closing" or (run.right == "sentence" and run.second != run.after):
        return False
    return run.single or not _DUNDER.match(run.text, run.end)


def _underscores_close(run: SignRun) -> bool:
    if not run.single and _DUNDER_BEGUN.search(run.text, max(run.start - 64, 0), run.start):
        return False
    if run.left == "opening" or (run.after and run.after in _PATH):
        return False
    if run.right in _WORDS:
        return run.left == "sentence" and run.right == "letter" and run.before not in _SHORT_PAUSES
    return not (run.after == "." and kind(run.second) in _WORDS and run.single)
