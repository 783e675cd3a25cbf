"""The analysis distinguishes patterns that take linear time from other ones."""

import re
import time

import pytest

from redos.ambiguity import Refusal, analyze
from redos.calls import Use
from tests.support.for_each import for_each

FOUND = Use(searched=True, whole=False)
ONCE = Use(searched=True, whole=False, again=False)
WHOLE = Use(searched=False, whole=True)
BEGINNING = Use(searched=False, whole=False)

_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = rf"(?:[^\W_{_DENSE}]|[\u0900-\u0963\u0966-\u0dff])+"
REMOVED = {
    "words of India's scripts": (
        rf"(?P<whole>{_WORD}(?:[-_./:@+#~=]+{_WORD})+|{_WORD}[+#]+)|{_WORD}",
        FOUND,
        "exponential",
    ),
    "identifiers": (r"\w+(?:_\w+)+", WHOLE, "exponential"),
    "blanks before a mention": (r"[ \t]*\0", FOUND, "rescan"),
    "emphasis": (r"\*+|(?<!\w)_+|_+(?!\w)", FOUND, "rescan"),
    "scripts of a page": (r"<script\b.{0,20000}?</script>", FOUND, "rescan"),
    "an address in brackets": (r"\[[^\[\]]*:[^\[\]]*\]", WHOLE, "polynomial"),
}
"""Patterns that the program had, with their kind."""

REFUSED = [
    (r"(a|a)*b", FOUND, "exponential"),
    (r"(a*)*b", WHOLE, "exponential"),
    (r"(?:\w{1,20}\s?){0,30}x", FOUND, "exponential"),
    (r"a*a*b", WHOLE, "polynomial"),
    (r"[ \t]*+\0", FOUND, "rescan"),
    (r"(?>[ \t]*)\0", FOUND, "rescan"),
    (r"a(.*b)?", FOUND, "rescan"),
    (r"(?=.*x)a", FOUND, "rescan"),
    (r"<[^>]*>", FOUND, "rescan"),
    (r"^\s+|\s+$", FOUND, "rescan"),
    (r"[a-z]{1,900}\d", FOUND, "rescan"),
    (r"é+e", FOUND, "rescan"),
    (r"(?i)ſ+s", FOUND, "rescan"),
]
PASSED = [
    (r"\w+", FOUND),
    (r"(?:a?)*b", WHOLE),
    (r"a*+a*b", WHOLE),
    (r"(?:(?>a+)b?)*c", BEGINNING),
    (r"a(.*b)?", ONCE),
    (r"<[^<>]*>", FOUND),
    (r'"[^"]*"', FOUND),
    (r"(?<!\w)\w+@", FOUND),
    (r"\b\w+\b@", FOUND),
    (r"a.*\Z", Use(searched=True, whole=False)),
    (r"[^\W_]+(?:[.:/@+#-][^\W_]+)*", FOUND),
    (r"[A-Za-z0-9]{40}(?!x)", FOUND),
    (r"[a-z]{1,30}\d", FOUND),
]


def refusal(pattern: str, use: Use, flags: int = re.DOTALL) -> Refusal | None:
    return analyze(pattern, flags, use)


@pytest.mark.parametrize("name", REMOVED)
def test_patterns_of_earlier_versions_are_refused(name: str) -> None:
    pattern, use, kind = REMOVED[name]
    refused = refusal(pattern, use)
    assert refused is not None
    assert refused.reason.startswith(kind)


def test_a_letter_in_two_alternatives_is_in_the_reported_text() -> None:
    pattern, use, _ = REMOVED["words of India's scripts"]
    refused = refusal(pattern, use)
    assert refused is not None
    assert any("\u0900" <= char <= "\u0dff" for char in refused.pump)


@for_each(("pattern", "use", "kind"), REFUSED)
def test_ambiguous_patterns_are_refused_with_their_kind(pattern: str, use: Use, kind: str) -> None:
    refused = refusal(pattern, use)
    assert refused is not None
    assert refused.reason.partition(",")[0] == kind


@for_each(("pattern", "use"), PASSED)
def test_linear_patterns_pass(pattern: str, use: Use) -> None:
    assert refusal(pattern, use) is None


@pytest.mark.parametrize("name", ["blanks before a mention", "an address in brackets"])
def test_the_reported_text_makes_the_pattern_slow(name: str) -> None:
    pattern, use, _ = REMOVED[name]
    refused = refusal(pattern, use)
    assert refused is not None
    compiled = re.compile(pattern, re.DOTALL)
    few, many = (
        min(_seconds(compiled, _hostile(refused, size), use) for _ in range(3))
        for size in (1_000, 8_000)
    )
    assert many > few * 24, "eight times the text takes much more than eight times the time"


def _hostile(refused: Refusal, size: int) -> str:
    return refused.prefix + refused.pump * (size // len(refused.pump)) + refused.suffix


def _seconds(compiled: re.Pattern[str], text: str, use: Use) -> float:
    begun = time.thread_time()
    if use.again and use.searched:
        list(compiled.finditer(text))
    else:
        compiled.fullmatch(text)
    return time.thread_time() - begun
