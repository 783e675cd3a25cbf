"""Proves that a regular expression of `re` takes linear time, or names a text that it is slow on.

It knows nothing of the program: `tests/patterns` asks it about every pattern there.

- `ambiguity.analyze` reads a pattern as an automaton and returns its loops that match one text in
  several ways, each with a text to try.
- `pumping.growth` measures a pattern on texts that follow from its automaton.
- `calls` finds the calls of `re` in source files, and how their patterns are used.
"""
