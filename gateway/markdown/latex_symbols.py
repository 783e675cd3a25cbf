"""LaTeX commands and the Unicode characters that show them."""

from typing import Final

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
