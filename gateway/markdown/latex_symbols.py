"""LaTeX commands and the Unicode characters that show them."""

from typing import Final


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYMBOLS: Final = _pairs("""
alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ
lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ
phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ
Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ wp ℘ imath ı jmath ȷ
emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ top ⊤ bot ⊥ angle ∠ triangle △
square □ Box □ blacksquare ■ qed ∎ diamond ⋄ degree ° celsius ℃ circ ∘ bullet • prime ′ dagger †
ddagger ‡ checkmark ✓ sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂
bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ dotsc … dotsb ⋯
langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | vert | lVert ‖ rVert ‖ Vert ‖
lbrace { rbrace } lbrack [ rbrack ] lparen ( rparen ) backslash \\ pounds £ euro € yen ¥ copyright ©
therefore ∴ because ∵ star ⋆ ast * colon : S § P ¶ AA Å natural ♮ sharp ♯ flat ♭ surd √
""")
"""Shown as they stand."""

SPACED: Final = _pairs("""
le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > ll ≪ gg ≫ approx ≈ equiv ≡ sim ∼
simeq ≃ cong ≅ propto ∝ asymp ≍ doteq ≐ triangleq ≜ coloneqq ≔ prec ≺ succ ≻ preceq ⪯ succeq ⪰
in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃ subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ nsubseteq ⊈ cup ∪
cap ∩ setminus ∖ uplus ⊎ sqcup ⊔ sqcap ⊓ land ∧ wedge ∧ lor ∨ vee ∨ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙
times × div ÷ pm ± mp ∓ cdot · mid | nmid ∤ parallel ∥ perp ⊥ vdash ⊢ models ⊨ vDash ⊨ ltimes ⋉
rtimes ⋊ bowtie ⋈ to → gets ← rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐
Leftrightarrow ⇔ implies ⇒ impliedby ⇐ iff ⇔ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹
longleftrightarrow ⟷ Longleftrightarrow ⟺ mapsto ↦ longmapsto ⟼ hookrightarrow ↪ uparrow ↑
downarrow ↓ updownarrow ↕ Uparrow ⇑ Downarrow ⇓ nearrow ↗ searrow ↘ rightleftharpoons ⇌
leftrightarrows ⇆ rightharpoonup ⇀ leadsto ⇝ bmod mod
""")
"""Relations, operators and arrows, shown with space around them."""

FUNCTIONS: Final = _names(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim limsup "
    "liminf max min sup inf arg argmax argmin det dim ker deg gcd lcm hom Pr sgn rank tr"
)
"""Names that LaTeX shows as they are."""

STYLES: Final = _names(
    "mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak mathnormal bm boldsymbol "
    "operatorname boxed"
)
"""Commands whose argument is shown without their style."""

TEXTS: Final = _names("text textbf textit textrm textsf texttt textnormal mbox hbox")
"""Commands whose argument is text."""

SIZES: Final = _names(
    "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr"
)
"""Commands that only change the size of the bracket after them."""

SILENT: Final = _names("displaystyle textstyle scriptstyle limits nolimits nonumber notag rm bf it")
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

ENVIRONMENTS: Final = _names("equation align aligned gather gathered split multline")
"""Environments of lines, which are shown one below the other."""

OTHER_ENVIRONMENTS: Final = _names(
    "cases array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix alignat alignedat "
    "eqnarray flalign subequations math displaymath dcases rcases tikzpicture tabular"
)
"""Environments whose source is shown."""
