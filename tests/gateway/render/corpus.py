"""Answers in twelve languages with the text that a reader has to see.

An answer is made of pieces. Each piece is written twice: as Markdown, and as what is seen of it.
What is seen is never computed from the Markdown, so that no parser judges itself.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from tests.gateway.render.corpus_words import LANGUAGES, Words


class Piece(Struct, frozen=True):
    """A block of an answer.

    `seen` is its text; `linked` the same with each address behind its text, for platforms without
    links, None where nothing is linked. `columns` and `rows` are those of a table, whose cells may
    be shown in any order, with the names of the columns once or again in every row. `filled` is the
    number of cells with a text below each name.
    """

    markdown: str
    seen: str
    linked: str | None = None
    columns: tuple[str, ...] = ()
    rows: int = 0
    filled: tuple[int, ...] = ()


class Answer(Struct, frozen=True):
    """One answer; `kind` says what it is about."""

    name: str
    kind: str
    pieces: tuple[Piece, ...]

    @property
    def markdown(self) -> str:
        """The answer as a model writes it."""
        return "\n\n".join(piece.markdown for piece in self.pieces)


ARITHMETIC = (
    ("2*3*4 = 24", "3*x + 4*y", "2**3**2"),
    ("p**2 + q**2", "5 * 6 * 7", "12 % 5 - 3"),
    ("a*b*c < d*e*f", "7 / 2 ≈ 3.5", "x & y | z"),
)
IDENTIFIERS = (
    ("__init__.py", "my_var_name", "qty*price*1.19"),
    ("snake_case_", "_private", "*args"),
    ("a_b * c_d", "f(**kwargs)", "NaN != NaN"),
)
MONEY = (
    ("$5 and $10", "US$20-$30", "$HOME and $PATH"),
    ("$1,000–$2,000", "between $5 and $6.50", "$HOME/bin:$PATH"),
    ("($5)/($10)", "100 US$ or 90 C$", "$i + $j < $n"),
)
SIMPLE = (
    ("$E = mc^2$", "E = mc²"),
    (r"\(\alpha + \beta \leq \gamma\)", "α + β ≤ γ"),
    (r"$\frac{a+b}{c}$", "(a+b)/c"),
    (r"$\sqrt{x^2 + y^2}$", "√(x² + y²)"),
    (r"\(x_1 * x_2 * x_3\)", "x₁ * x₂ * x₃"),
    (r"$\{x \in \mathbb{R} : x > 0\}$", "{x ∈ ℝ : x > 0}"),
    (r"$\text{speed} = \frac{d}{t}$", "speed = d/t"),
    (r"\(10^{-3} \times 2^{n+1}\)", "10⁻³ × 2ⁿ⁺¹"),
    (r"$A \cup B \subseteq C$", "A ∪ B ⊆ C"),
    (r"$f: X \to Y$", "f: X → Y"),
    (r"$e^{-x^2}$", "e^(-x²)"),
    (r"$90^\circ$", "90°"),
    (r"$5\,\% < 10\,\%$", "5 % < 10 %"),
    (r"\(\lfloor n/2 \rfloor\)", "⌊n/2⌋"),
    (r"$\hat{y}_i$", "ŷᵢ"),
    (r"$2*3*4$", "2*3*4"),
)
DISPLAYED = (
    (r"$$\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$$", "∑ᵢ₌₁ⁿ i = (n(n+1))/2"),
    ("$$\n\\int_0^1 x \\, dx = \\frac{1}{2}\n$$", "∫₀¹ x dx = 1/2"),
    ("\\[\na^2 + b^2 = c^2\n\\]", "a² + b² = c²"),
    ("\\[ x_{1} * y_{1}\n- x_{2} * y_{2} \\]", "x₁ * y₁ - x₂ * y₂"),
    ("```math\n\\alpha \\neq \\beta\n```", "α ≠ β"),
    ("\\begin{align}\na &= b + 1 \\\\\n&= c\n\\end{align}", "a = b + 1 = c"),
)
COMPLEX = (
    r"\begin{pmatrix} a_1 & b_1 \\ c_1 & d_1 \end{pmatrix}",
    "\\begin{cases}\n1 & x > 0 \\\\\n0 & x \\le 0\n\\end{cases}",
    r"\unknown_command{a_1}{b_2} * \another_{x}",
    r"\begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}^{-1} \neq A_{*}",
)
CODE = (
    ("python", "def f(a, *b, **c):\n    return a * b[0] ** 2  # __x__ $y$"),
    ("sh", 'echo "$HOME" && ls | grep _a_ > out.txt'),
    ("", "| a | b |\n|---|---|\n**no bold** \\(x\\)"),
)
INLINE_CODE = ("a * b * c", "$HOME", "__x__", "\\frac{a}{b}", "x | y", "<b>&amp;</b>")
ADDRESS = "https://example.com/a_b?c=1&d=2"


def answers() -> list[Answer]:
    """All answers: every kind in every language, three of each."""
    return [
        Answer(f"{language}-{kind}-{turn}", kind, tuple(KINDS[kind](words, turn)))
        for language, words in LANGUAGES.items()
        for kind in KINDS
        for turn in range(3)
    ]


def _text(sentence: str, markdown: str, seen: str | None = None) -> Piece:
    return Piece(sentence.format(markdown), sentence.format(seen or markdown))


def _turned(values: Sequence[str], words: Words) -> Iterator[Piece]:
    for sentence, value in zip(words.sentences, values, strict=False):
        yield _text(sentence, value)


def _title(words: Words) -> Piece:
    return Piece(f"## {words.title}", words.title)


def _arithmetic(words: Words, turn: int) -> Iterator[Piece]:
    yield from _turned(ARITHMETIC[turn], words)
    yield _table(words.columns, [(f"{i}", ARITHMETIC[turn][i], "") for i in range(3)])


def _identifiers(words: Words, turn: int) -> Iterator[Piece]:
    yield from _turned(IDENTIFIERS[turn], words)


def _money(words: Words, turn: int) -> Iterator[Piece]:
    yield from _turned(MONEY[turn], words)


def _formulas(words: Words, turn: int) -> Iterator[Piece]:
    for index in range(5):
        markdown, seen = SIMPLE[(turn * 5 + index) % len(SIMPLE)]
        yield _text(words.sentences[index % 4], markdown, seen)


def _two_formulas(words: Words, turn: int) -> Iterator[Piece]:
    first, second = SIMPLE[turn], SIMPLE[turn + 4]
    sentence = words.sentences[turn]
    yield Piece(
        f"- {sentence.format(first[0])}\n- {sentence.format(second[0])}",
        f"{sentence.format(first[1])}\n{sentence.format(second[1])}",
    )


def _displayed(words: Words, turn: int) -> Iterator[Piece]:
    for markdown, seen in DISPLAYED[turn * 2 : turn * 2 + 2]:
        yield _text(words.sentences[turn], words.items[turn])
        yield Piece(markdown, seen)


def _complex(words: Words, turn: int) -> Iterator[Piece]:
    yield _title(words)
    yield Piece(f"$$\n{COMPLEX[turn]}\n$$", COMPLEX[turn])
    one_line = COMPLEX[3].replace("\n", " ")
    yield _text(words.sentences[turn], f"${one_line}$", one_line)


def _code(words: Words, turn: int) -> Iterator[Piece]:
    language, code = CODE[turn]
    yield _text(words.sentences[turn], words.items[turn])
    yield Piece(f"```{language}\n{code}\n```", code)
    inline = INLINE_CODE[turn * 2]
    yield _text(words.sentences[1], f"`{inline}`", inline)
    inline = INLINE_CODE[turn * 2 + 1]
    yield _text(words.sentences[0], f"`{inline}`", inline)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Piece:
    lines = [columns, ["---"] * len(columns), *rows]
    escaped = [[cell.replace("|", r"\|") for cell in line] for line in lines]
    markdown = "\n".join(f"| {' | '.join(line)} |" for line in escaped)
    seen = "\n".join(" ".join(row) for row in (columns, *rows))
    filled = tuple(sum(map(bool, column)) for column in zip(*rows, strict=True))
    return Piece(markdown, seen, columns=tuple(columns), rows=len(rows), filled=filled)


def _tables(words: Words, turn: int) -> Iterator[Piece]:
    yield _title(words)
    yield _table(words.columns, [words.cells[:3], words.cells[3:]])
    if turn:
        yield _text(words.sentences[1], words.items[turn])
        yield _table(words.columns[:2], [words.cells[:2], words.cells[3:5]] * turn)


def _wide_tables(words: Words, turn: int) -> Iterator[Piece]:
    if turn < 2:
        rows = [(*words.cells[:2], words.long[0]), (*words.cells[3:5], words.long[1])]
        yield _table(words.columns, rows[: 2 - turn])
    else:
        yield _table(words.columns * 3, [words.cells[:3] * 3, words.cells[3:] * 3])


def _lists(words: Words, turn: int) -> Iterator[Piece]:
    one, two, three, four = words.items
    mark = ("-", "1.", "*")[turn]
    pad = " " * (len(mark) + 1)
    yield Piece(
        f"{mark} {one}\n\n{pad}{words.long[0]}\n{mark} {two}\n{pad}- {three}\n{pad}- {four}",
        f"{one}\n{words.long[0]}\n{two}\n{three}\n{four}",
    )
    yield _text(words.sentences[turn], four)


def _quotes(words: Words, turn: int) -> Iterator[Piece]:
    said = words.sentences[turn].format(words.items[turn])
    yield Piece(f"> {said}\n> {words.long[0]}", f"{said}\n{words.long[0]}")
    markdown, seen = SIMPLE[turn]
    yield Piece(f"> {words.sentences[0].format(markdown)}", words.sentences[0].format(seen))


def _links(words: Words, turn: int) -> Iterator[Piece]:
    name = words.items[turn]
    sentence = words.sentences[turn]
    yield Piece(
        sentence.format(f"[{name}]({ADDRESS})"),
        sentence.format(name),
        linked=sentence.format(f"{name} ({ADDRESS})"),
    )
    yield Piece(f"{words.title} {ADDRESS} .", f"{words.title} {ADDRESS} .")


def _emphasis(words: Words, turn: int) -> Iterator[Piece]:
    mark = ("**", "*", "~~")[turn]
    for index, item in enumerate(words.items):
        yield _text(words.sentences[index], f"{mark}{item}{mark}", item)
    inner = words.sentences[3].format(words.items[0])
    yield Piece(f"**{inner}**{words.items[1]}", f"{inner}{words.items[1]}")


def _mixed(words: Words, turn: int) -> Iterator[Piece]:
    yield _title(words)
    yield _text(words.sentences[turn], *SIMPLE[turn + 3])
    yield from _lists(words, turn)
    yield from _quotes(words, turn)
    yield from _wide_tables(words, turn)
    yield _text(words.sentences[0], ARITHMETIC[turn][0])
    yield from _code(words, turn)
    yield Piece(*DISPLAYED[turn])
    yield _text(words.sentences[1], MONEY[turn][0])


KINDS = {
    "arithmetic": _arithmetic,
    "identifiers": _identifiers,
    "money": _money,
    "formulas": _formulas,
    "two formulas": _two_formulas,
    "displayed formulas": _displayed,
    "complex formulas": _complex,
    "code": _code,
    "tables": _tables,
    "wide tables": _wide_tables,
    "lists": _lists,
    "quotes": _quotes,
    "links": _links,
    "emphasis": _emphasis,
    "mixed": _mixed,
}
