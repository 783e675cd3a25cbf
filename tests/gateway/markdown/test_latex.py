"""LaTeX as Unicode text: what is simple means the same, and the rest is not converted."""

from gateway.markdown.latex import MAX_FORMULA, as_text
from tests.support.for_each import for_each
from tests.support.processor_time import seconds

SHOWN = {
    r"E = mc^2": "E = mc²",
    r"a_1 * b_1": "a₁ * b₁",
    r"\frac{a}{b}": "a/b",
    r"\frac{a+b}{c}": "(a+b)/c",
    r"\frac{a}{2b}": "a/(2b)",
    r"\frac{\frac{a}{b}}{c}": "(a/b)/c",
    r"\frac{a}{b}c": "(a/b)c",
    r"\frac{a}{b}^2": "(a/b)²",
    r"2\frac{1}{2}": "2 1/2",
    r"2\frac{a}{b}": "2a/b",
    r"2\frac{3a}{b}": "2(3a/b)",
    r"\frac12": "1/2",
    r"\dfrac{\Delta y}{\Delta x}": "(Δ y)/(Δ x)",
    r"\frac{\sqrt{\pi}}{2}": "(√π)/2",
    r"\sqrt{x^2+y^2}": "√(x²+y²)",
    r"\sqrt{2}x": "√(2)x",
    r"\sqrt{x}^2": "(√x)²",
    r"\sqrt[3]{8}": "∛8",
    r"\sqrt[n]{x}": "ⁿ√x",
    r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}": "x = (-b ± √(b² - 4ac))/(2a)",
    r"\sum_{i=1}^{n} i^2": "∑ᵢ₌₁ⁿ i²",
    r"\int_0^\infty e^{-x^2} dx": "∫₀^∞ e^(-x²) dx",
    r"\lim_{x \to 0} \frac{\sin x}{x}": "lim_(x → 0) (sin x)/x",
    r"e^{i\pi} + 1 = 0": "e^(iπ) + 1 = 0",
    r"10^{-3}": "10⁻³",
    r"x^{\frac{1}{2}}": "x^(1/2)",
    r"{a+b}^2": "(a+b)²",
    r"F_{grav}": "F_grav",
    r"F_{grav}x": "F_(grav)x",
    r"y_{\max}": "yₘₐₓ",
    r"90^\circ": "90°",
    r"f'(x) = 2x": "f'(x) = 2x",
    r"\hat{y}_i": "ŷᵢ",
    r"\not\in A": "∉ A",
    r"\{x \in \mathbb{R} \mid x > 0\}": "{x ∈ ℝ | x > 0}",
    r"\alpha\beta \leq \gamma": "αβ ≤ γ",
    r"A\cup B \subseteq C": "A ∪ B ⊆ C",
    r"p \implies \neg q": "p ⇒ ¬ q",
    r"\text{speed} = \frac{d}{t}": "speed = d/t",
    r"\left( \frac{a}{b} \right)^2": "(a/b)²",
    r"5\,\% < 10\%, 100\$": "5 % < 10%, 100$",
    r"\mathcal{O}(n \log n)": "O(n log n)",
    r"\boxed{42}": "42",
    r"a \equiv b \pmod{n}": "a ≡ b (mod n)",
    r"\ce{2H2 + O2 -> 2H2O}": "2H₂ + O₂ → 2H₂O",
    r"\ce{SO4^{2-}}": "SO₄²⁻",
    r"速度 = \frac{距離}{時間}": "速度 = 距離/時間",
    r"\|x\|": "‖x‖",
    "\\begin{align*}\na &= b \\\\[4pt]\n&= c\n\\end{align*}": "a = b\n= c",
}
NOT_SIMPLE = [
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"\begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases}",
    r"\unknown{x}",
    r"\binom{n}{k}",
    r"\underbrace{a+b}_{c}",
    r"\vec{AB}",
    r"\text{a $b$}",
    r"a & b",
    r"a \\ b",
    *("", "{", "}", "^", "_", r"\frac", r"\frac{a}", r"\sqrt[", "a^", r"\left"),
]


@for_each(("source", "text"), SHOWN.items())
def test_a_simple_formula_is_shown_as_text(source: str, text: str) -> None:
    assert as_text(source) == text


@for_each("source", NOT_SIMPLE)
def test_a_formula_that_a_line_cannot_show_is_not_converted(source: str) -> None:
    assert as_text(source) is None


def test_lines_are_shown_where_there_is_room_for_them() -> None:
    assert as_text(r"a &= b \\ &= c", lines=True) == "a = b\n= c"


@for_each(
    "source",
    ["{" * 10_000 + "}" * 10_000, r"\frac{" * 300, "x" * 100_000, "^" * 2_000, r"\alpha " * 10_000],
)
def test_a_hostile_formula_takes_no_time(source: str) -> None:
    assert seconds(lambda: (as_text(source), as_text(source[:MAX_FORMULA])), 0.1) < 0.1
