"""python -m benchmarks.safety: how much is let through, and how much is touched that should not be.

Prints one line of JSON per corpus and the worst examples behind `--examples`. Ends with 1 when
less than 99 % of the hostile texts are defused, less than 98 % of the keys removed, or more than
1 % of an ordinary corpus is changed. Texts that hold HTML count apart: taking their tags out is
the task, so that they have no limit.
"""

import json
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable
from typing import Final

from benchmarks.safety import hostile, keys, labelled, lookalikes, ordinary
from memory.write.prepare import sanitize_brain_content
from safety.injection_detection.detect import detect_injection
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

MOST_CHANGED: Final = 1.0
LEAST_DEFUSED: Final = 99.0
LEAST_REMOVED: Final = 98.0
EXAMPLES: Final = 5
LENGTH: Final = 1_000_000
MOST_GROWTH: Final = 24.0
SEEDS: Final = (
    *("<", "<script>", "<a title='", "<!--", "&lt;", "<|", "\nHuman: ", "%253C", "<scr<script>"),
    *("```system", "a\u0301", "\u0315\u0316", "😀\u200d", "](  ", "\\"),
)
"""Texts that are slow for a sanitiser with backtracking, each repeated to a million characters."""
_LIMIT: Final = 20_000
_HTML: Final = re.compile(
    r"</[a-zA-Z][a-zA-Z0-9]*>|<(?:br|hr|img|input|meta|link)\b|<!--|<!DOCTYPE"
)
"""A simple pattern for text that occurs in HTML only."""


def main() -> int:
    """Measure all; 1 when a limit is missed."""
    results = [_hostile(), _keys(), _labelled(), _lookalikes(), *map(_grows, SEEDS)]
    for name, texts in ordinary.corpora():
        marked = [text for text in texts if _HTML.search(text)]
        plain = [text for text in texts if not _HTML.search(text)]
        results.append(_changed(name, plain, len(marked), _is_changed, "sanitised"))
        results.append(_changed(name, texts, 0, _is_touched, "redacted"))
        results.append(_changed(name, plain, len(marked), _is_suspected, "suspected"))
    return 0 if all(results) else 1


def _hostile() -> bool:
    texts = list(hostile.texts())
    begun = time.perf_counter()
    left = [text for text in texts if hostile.survives(sanitize_brain_content(text))]
    return _defused("hostile texts", len(texts), left, LEAST_DEFUSED, begun)


def _keys() -> bool:
    made = list(keys.keys())
    begun = time.perf_counter()
    left = [text for _, key, text in made if _shows(redact_secrets(safe_unicode(text)).text, key)]
    return _defused("keys", len(made), left, LEAST_REMOVED, begun)


def _labelled() -> bool:
    made = list(labelled.labelled())
    begun = time.perf_counter()
    left = [text for _, secret, text in made if _shows(redact_secrets(text).text, secret)]
    return _defused("labelled secrets", len(made), left, LEAST_REMOVED, begun)


def _lookalikes() -> bool:
    texts = list(lookalikes.lookalikes())
    return _changed("look-alikes", texts, 0, _is_touched, "redacted")


def _grows(seed: str) -> bool:
    """Eight times the text may take `MOST_GROWTH` times as long; a square would be 64 times."""
    took: list[float] = []
    for length in (LENGTH // 8, LENGTH):
        text = (seed * length)[:length]
        begun = time.perf_counter()
        sanitize_brain_content(text, LENGTH)
        took.append(time.perf_counter() - begun)
    ratio = took[1] / took[0]
    passed = ratio <= MOST_GROWTH
    _say(growth_of=seed, ratio=ratio, most=MOST_GROWTH, passed=passed, begun=begun)
    return passed


def _shows(text: str, key: str) -> bool:
    """Return True if twelve consecutive characters of a key remain, or all of a shorter one."""
    return any(key[i : i + 12] in text for i in range(max(1, len(key) - 11)))


def _defused(name: str, texts: int, left: list[str], least: float, begun: float) -> bool:
    rate = 100 * (1 - len(left) / texts)
    passed = rate >= least
    _say(corpus=name, texts=texts, defused_percent=rate, least=least, passed=passed, begun=begun)
    _show(left)
    return passed


def _changed(
    name: str, texts: list[str], apart: int, is_so: Callable[[str], bool], what: str
) -> bool:
    begun = time.perf_counter()
    changed = [text for text in texts if is_so(text)]
    rate = 100 * len(changed) / max(1, len(texts))
    passed = rate <= MOST_CHANGED
    _say(
        corpus=name,
        texts=len(texts),
        with_html_apart=apart,
        **{f"{what}_percent": rate},
        most=MOST_CHANGED,
        passed=passed,
        begun=begun,
    )
    _show(changed)
    return passed


def _is_changed(text: str) -> bool:
    return sanitize_brain_content(text, _LIMIT) != unicodedata.normalize("NFC", text).strip()


def _is_touched(text: str) -> bool:
    text = safe_unicode(text)
    return redact_secrets(text).text != text


def _is_suspected(text: str) -> bool:
    return bool(detect_injection(text))


def _say(*, begun: float, **values: object) -> None:
    rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in values.items()}
    print(json.dumps({**rounded, "seconds": round(time.perf_counter() - begun, 1)}), flush=True)


def _show(texts: Iterable[str]) -> None:
    if "--examples" in sys.argv:
        for text in list(texts)[:EXAMPLES]:
            print("   ", ascii(text[:200]))


if __name__ == "__main__":
    sys.exit(main())
