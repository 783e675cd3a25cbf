"""Shows a simple LaTeX formula as a line of Unicode text: its commands and their characters."""

import re
import unicodedata
from typing import Final

from msgspec import Struct

from safety.word_lists import read_word_lists

_LISTS: Final = read_word_lists(__file__)


def _pairs(name: str) -> dict[str, str]:
    words = _LISTS[name].split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _names(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


SYMBOLS: Final = _pairs("symbols")
"""Shown as they stand."""

SPACED: Final = _pairs("spaced")
"""Relations, operators and arrows, shown with space around them."""

FUNCTIONS: Final = _names("functions")
"""Names that LaTeX shows as they are."""

STYLES: Final = _names("styles")
"""Commands whose argument is shown without their style."""

TEXTS: Final = _names("texts")
"""Commands whose argument is text."""

SIZES: Final = _names("sizes")
"""Commands that only change the size of the bracket after them."""

SILENT: Final = _names("silent")
"""Commands without anything to see."""

SPACES: Final = frozenset((",", ";", ":", " ", ">", "\n", "quad", "qquad", "space", "thinspace"))

FRACTIONS: Final = frozenset(("frac", "dfrac", "tfrac", "cfrac"))

ACCENTS: Final = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "tilde": "\u0303",
    "widetilde": "\u0303",
    "bar": "\u0304",
    "overline": "\u0305",
    "dot": "\u0307",
    "ddot": "\u0308",
    "vec": "\u20d7",
    "underline": "\u0332",
}

DOUBLE_STRUCK: Final = dict(zip("CHNPQRZE", "ℂℍℕℙℚℝℤ𝔼", strict=True))

ROOTS: Final = {"": "√", "2": "√", "3": "∛", "4": "∜"}

RAISED: Final = dict(
    zip(
        "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ′∘†°⊤",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ′°†°ᵀ",
        strict=True,
    )
)

LOWERED: Final = dict(
    zip(
        "0123456789+-=()aehijklmnoprstuvxβγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)

ENVIRONMENTS: Final = _names("environments")
"""Environments of lines, which are shown one below the other."""

OTHER_ENVIRONMENTS: Final = _names("other environments")
"""Environments whose source is shown."""

MAX_FORMULA: Final = 2_000
"""Characters of a formula that is converted. Ours."""
MAX_DEPTH: Final = 12
"""Levels of braces in a formula that is converted. Ours."""

_PART: Final = re.compile(r"\\[A-Za-z]+\*?|\\[\s\S]|\d+(?:[.,]\d+)*|\s+|[^\W\d_A-Za-z]+|'+|[\s\S]")
_ROWS: Final = re.compile(
    r"\\begin\{(?P<name>[a-z]+)\*?\}(?P<rows>[\s\S]*)\\end\{(?P=name)\*?\}\s*(?P<end>[.,;]?)"
)
_ROW_GAP: Final = re.compile(r"\\\\\[[^\]\n]{0,10}\]")
_SPACES: Final = re.compile(r"[ \t]+")
_INSIDE: Final = re.compile(r"(?<=[(\[{⟨⌊⌈]) | (?=[)\]}⟩⌋⌉])")
_PRODUCT: Final = re.compile(r"[^\s+\-±∓=<>/,;:|√]*")
_CHEMISTRY: Final = re.compile(r"[A-Za-z0-9()\[\]+\-^<>=. {}]*")
_AMOUNT: Final = re.compile(r"(?<=[A-Za-z)\]])\d+")
_CHARGE: Final = re.compile(r"\^(?:\{(\d*[+-])\}|(\d*[+-]))")
_CHEMICAL_ARROWS: Final = (("<=>", " ⇌ "), ("<->", " ↔ "), ("->", " → "))
_LITERAL: Final = frozenset("{}%$&#_|")


class _Converted(Struct, frozen=True):
    """Converted LaTeX; `single` is true where no sign can be taken for a part of its neighbour."""

    text: str
    single: bool


class _NotSimpleError(Exception):
    """The formula has something that a line of text cannot show."""


def as_text(source: str, *, lines: bool = False) -> str | None:
    """Return a formula as Unicode text, None if it is not simple. `lines` allows several lines.

    A fraction is written with a slash, and a raised or lowered part without characters of its own
    with `^` or `_`; parentheses are added where the text would mean something else without them.
    """
    if len(source) > MAX_FORMULA:
        return None
    rows = _ROWS.fullmatch(source.strip())
    if rows and rows["name"] in ENVIRONMENTS:
        source, lines = rows["rows"] + rows["end"], True
    try:
        reader = _LatexReader(_PART.findall(_ROW_GAP.sub(r"\\\\", source)), lines)
        text = reader.sequence(closing="").text
    except _NotSimpleError:
        return None
    shown = (_tidy(line) for line in text.split("\n"))
    return unicodedata.normalize("NFC", "\n".join(filter(None, shown))) or None


def _tidy(line: str) -> str:
    return _INSIDE.sub("", _SPACES.sub(" ", line)).strip()


class _LatexReader:
    """Reads the tokens of a formula from left to right."""

    def __init__(self, parts: list[str], lines: bool) -> None:
        self._parts = parts
        self._lines = lines
        self._position = 0
        self._depth = 0

    def sequence(self, closing: str) -> _Converted:
        """Return all up to the closing part, which is read too."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NotSimpleError
        out: list[str] = []
        elements = 0
        while (part := self._next()) != closing:
            if not part:
                raise _NotSimpleError
            elements += not part.isspace() and part not in ("^", "_", "'")
            self._add(out, part)
        self._depth -= 1
        text = "".join(out)
        return _Converted(text.strip(" "), elements == 1 and "/" not in text)

    def _add(self, out: list[str], part: str) -> None:
        if part[0] == "\\" and part[1:] in FRACTIONS:
            out.append(self._fraction("".join(out[-1:])))
        elif part in ("^", "_"):
            out.append(self._script(part))
        else:
            out.append(self._element(part))

    def _element(self, part: str) -> str:
        if part.startswith("\\"):
            return self._command(part[1:].removesuffix("*") or "\\", part)
        if part.isspace() or part == "~":
            return " "
        if part == "&" and self._lines:
            return ""
        if part == "{":
            inner = self.sequence("}")
            return (
                inner.text if inner.single or self._peek() not in ("^", "_") else f"({inner.text})"
            )
        if part in ("}", "&"):
            raise _NotSimpleError
        return part

    def _command(self, name: str, part: str) -> str:
        if name in SYMBOLS:
            return SYMBOLS[name]
        if name in SPACED:
            return f" {SPACED[name]} "
        if name in FUNCTIONS:
            return f" {name} " if self._peek()[:1].isalnum() else f" {name}"
        if name in SPACES:
            return " "
        if name in SILENT or name == "!":
            return ""
        if name == "\\" and self._lines:
            return "\n"
        if name in _LITERAL:
            return "‖" if name == "|" else name
        return self._structure(name, part)

    def _structure(self, name: str, part: str) -> str:
        """Return a command with arguments."""
        if name in TEXTS:
            return self._text()
        if name in STYLES:
            return self._styled()
        if name in SIZES:
            bracket = self._next()
            return "" if bracket == "." else self._element(bracket)
        if name in ACCENTS:
            return self._accent(ACCENTS[name])
        match name:
            case "sqrt":
                return self._root()
            case "mathbb":
                return "".join(DOUBLE_STRUCK.get(c, c) for c in self._argument().text)
            case "not":
                return f" {self._argument().text.strip()}\u0338 "
            case "pmod":
                return f" (mod {self._argument().text})"
            case "tag":
                return f"  ({self._argument().text})"
            case "ce":
                return self._chemistry()
        raise _NotSimpleError(part)

    def _argument(self, *, digit: bool = False) -> _Converted:
        """Return the next group or part; of a number only its first digit if `digit`."""
        part = self._next()
        while part.isspace():
            part = self._next()
        if part == "{":
            return self.sequence("}")
        if part in ("", "^", "_", "}", "&"):
            raise _NotSimpleError
        if digit and len(part) > 1 and part[0] != "\\":
            self._position -= 1
            self._parts[self._position] = part[1:]
            part = part[0]
        out: list[str] = []
        self._add(out, part)
        return _Converted("".join(out).strip(), True)

    def _fraction(self, before: str) -> str:
        above, below = self._argument(digit=True), self._argument(digit=True)
        upper = above.text if _PRODUCT.fullmatch(above.text) else f"({above.text})"
        lower = below.text if below.single and "√" not in below.text else f"({below.text})"
        whole = f"{upper}/{lower}"
        if before[-1:].isdigit() and whole.replace("/", "").isdigit() and not self._touches():
            return f" {whole}"
        multiplied = before[-1:].isalnum() and not (before[-1:].isdigit() and upper[0].isalpha())
        return f"({whole})" if multiplied or self._touches() else whole

    def _root(self) -> str:
        degree = ""
        if self._peek() == "[":
            self._next()
            degree = self.sequence("]").text
        sign = ROOTS.get(degree)
        if sign is None:
            if any(char not in RAISED for char in degree):
                raise _NotSimpleError
            sign = "".join(RAISED[char] for char in degree) + "√"
        inner = self._argument()
        if self._peek() in ("^", "_"):
            return f"({sign}{inner.text})" if inner.single else f"({sign}({inner.text}))"
        plain = inner.single and not self._touches()
        return f"{sign}{inner.text}" if plain else f"{sign}({inner.text})"

    def _script(self, sign: str) -> str:
        shown = self._argument()
        text = shown.text.replace(" ", "") if len(shown.text) <= 8 else shown.text
        small = RAISED if sign == "^" else LOWERED
        if text and all(char in small for char in text):
            return "".join(small[char] for char in text)
        plain = shown.single or (sign == "_" and shown.text.isalnum())
        if plain and not self._touches() and "^" not in text and "_" not in text:
            return f"{sign}{shown.text}"
        return f"{sign}({shown.text})"

    def _accent(self, accent: str) -> str:
        text = self._argument().text
        if not text or (len(text) > 1 and accent not in ("\u0305", "\u0332")):
            raise _NotSimpleError
        if len(text) == 1 and accent == "\u0305":
            accent = "\u0304"
        return "".join(char + accent for char in text)

    def _styled(self) -> str:
        text = self._argument().text
        return f"{text} " if len(text) > 1 and self._peek()[:1].isalnum() else text

    def _text(self) -> str:
        """Return the argument of a text command as it is written."""
        if self._next() != "{":
            raise _NotSimpleError
        out: list[str] = []
        while (part := self._next()) != "}":
            if part in ("", "{", "$") or (part[0] == "\\" and part[1:] not in _LITERAL | {" "}):
                raise _NotSimpleError
            out.append(part.removeprefix("\\"))
        return "".join(out)

    def _chemistry(self) -> str:
        """Return a chemical formula: amounts lowered, charges raised, arrows."""
        if self._next() != "{":
            raise _NotSimpleError
        out: list[str] = []
        depth = 1
        while depth and (part := self._next()):
            depth += (part == "{") - (part == "}")
            out.append(part)
        text = "".join(out[:-1])
        if depth or not _CHEMISTRY.fullmatch(text):
            raise _NotSimpleError
        for arrow, shown in _CHEMICAL_ARROWS:
            text = text.replace(arrow, shown)
        text = _CHARGE.sub(lambda charge: "".join(RAISED[c] for c in charge[1] or charge[2]), text)
        if any(sign in text for sign in "^{}"):
            raise _NotSimpleError
        return _AMOUNT.sub(lambda n: "".join(LOWERED[digit] for digit in n[0]), text)

    def _touches(self) -> bool:
        """Return True if the next part would be read as a part of a fraction, root or script."""
        following = self._peek()
        if following.startswith("\\"):
            name = following[1:]
            return (
                (name in SYMBOLS and SYMBOLS[name].isalpha())
                or name in FRACTIONS
                or name in ("sqrt", "mathrm", "mathbf", "text", "mathbb")
            )
        return following[:1].isalnum() or following in ("^", "_", "(", "{")

    def _next(self) -> str:
        part = self._peek()
        self._position += 1
        return part

    def _peek(self) -> str:
        return self._parts[self._position] if self._position < len(self._parts) else ""
