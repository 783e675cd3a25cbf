"""Raised and lowered characters of Unicode."""

from typing import Final

RAISED: Final = str.maketrans(
    "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW−",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ⁻",
)
LOWERED: Final = str.maketrans(
    "0123456789+-=()aehijklmnoprstuvx−", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₋"
)


def raised(text: str) -> str:
    """Return a text in raised characters, `^(text)` where one has none."""
    return _shifted(text, RAISED, "^")


def lowered(text: str) -> str:
    """Return a text in lowered characters, `_(text)` where one has none."""
    return _shifted(text, LOWERED, "_")


def _shifted(text: str, table: dict[int, int], sign: str) -> str:
    if all(ord(char) in table or char in " ." for char in text):
        return text.translate(table)
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"
