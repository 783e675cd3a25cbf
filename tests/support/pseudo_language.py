"""A language whose every sentence is marked, so that a page shows what is in no catalogue."""

import gettext
from typing import Final

from gateway.languages.formats import formats_of
from gateway.languages.installed import LanguagePolicy, Languages
from gateway.text import Language


class _Marked(gettext.NullTranslations):
    """Each sentence in marks, and half as long again, as a translation can be."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}{'·' * (len(message) // 2)}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)

    def pgettext(self, context: str, message: str) -> str:
        return f"⟦{message}⟧"


class PseudoLanguages(Languages):
    """Speaks only the marked language, from right to left."""

    def __init__(self) -> None:
        super().__init__(LanguagePolicy())

    def named(self, name: str) -> Language:
        return MARKED


MARKED: Final = Language("ar", _Marked(), formats_of("ar"))
UNMARKED: Final = """(except) => {
  const found = new Set();
  let inside = 0; // sentences around a place: one may go on in another element, and hold others
  const check = (words) => {
    const pieces = words.split(/([⟦⟧])/);
    for (const piece of pieces) {
      if (piece === "⟦") inside += 1;
      else if (piece === "⟧") inside = Math.max(0, inside - 1);
      else if (!inside && /[A-Za-z]{2}/.test(piece)) found.add(piece.trim().slice(0, 80));
    }
  };
  const skipped = `script, style, code, pre, kbd, bdi, [translate="no"], [lang="en"], ${except}`;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    if (!walk.currentNode.parentElement.closest(skipped)) check(walk.currentNode.data);
  }
  if (inside) found.add(`${inside} sentences without an end`);
  const names = ["aria-label", "title", "placeholder", "alt"];
  for (const one of document.querySelectorAll(names.map((name) => `[${name}]`).join())) {
    inside = 0;
    if (!one.closest(skipped)) names.forEach((name) => check(one.getAttribute(name) || ""));
  }
  return [...found];
}"""
"""JavaScript: the words of a page that are in no sentence, but for those in elements that `except`
selects."""
