"""Signs of TeX and the characters that they stand for, with their kinds in TeX's sense."""

from __future__ import annotations

_GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ "
    "pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ "
    "Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ partial ∂ infty ∞ nabla ∇"
).split()
LETTERS = {f"\\{name}": letter for name, letter in zip(_GREEK[::2], _GREEK[1::2], strict=True)}
LETTERS |= {"\\_": "_", "\\%": "%", "\\&": "&amp;", "…": "…"}
FUNCTIONS = {
    f"\\{name}": name for name in "log ln exp sin cos tan tanh sinh cosh max min sup inf lim arg det dim".split()
}
LIMITS = {"max", "min", "sup", "inf", "lim"}
_OF_KIND = {
    "bin": (
        "+ + - − * ∗ \\cdot · \\times × \\pm ± \\odot ⊙ \\oplus ⊕ \\circ ∘ \\cap ∩ \\cup ∪ \\setminus ∖ "
        "\\wedge ∧ \\vee ∨"
    ),
    "rel": (
        "= = < < > > : : \\le ≤ \\leq ≤ \\ge ≥ \\geq ≥ \\ne ≠ \\neq ≠ \\approx ≈ \\sim ∼ \\equiv ≡ "
        "\\propto ∝ \\in ∈ \\notin ∉ \\mid ∣ \\parallel ∥ \\to → \\rightarrow → \\leftarrow ← \\mapsto ↦ "
        "\\Rightarrow ⇒ \\iff ⟺ \\ll ≪ \\gg ≫ \\subset ⊂ \\subseteq ⊆"
    ),
    "open": "( ( [ [ \\{ { \\lfloor ⌊ \\lceil ⌈ \\langle ⟨ \\lvert | \\lVert ‖",
    "close": ") ) ] ] \\} } \\rfloor ⌋ \\rceil ⌉ \\rangle ⟩ \\rvert | \\rVert ‖ ! !",
    "punct": ", , ; ;",
    "inner": "\\dots … \\ldots … \\cdots ⋯",
    "ord": "| | \\| ‖ / / . . \\top ⊤ \\bot ⊥ \\forall ∀ \\exists ∃ \\prime ′",
    "sum": "\\sum ∑ \\prod ∏ \\int ∫",
}
SIGNS = {
    token: (kind, sign)
    for kind, text in _OF_KIND.items()
    for token, sign in zip(text.split()[::2], text.split()[1::2], strict=True)
}
ACCENTS = {"\\hat": "ˆ", "\\bar": "¯", "\\tilde": "˜", "\\vec": "→", "\\dot": "˙", "\\overline": "¯"}
SPACES = {
    **{"\\,": "0.1667em", "\\:": "0.2222em", "\\>": "0.2222em", "\\;": "0.2778em", "\\!": "-0.1667em"},
    **{"\\ ": "0.25em", "~": "0.25em", "\\quad": "1em", "\\qquad": "2em"},
}
BIG = {
    f"\\{size}{side}": times
    for size, times in (("big", 1.2), ("Big", 1.8), ("bigg", 2.4), ("Bigg", 3.0))
    for side in ("", "l", "r", "m")
}
_STARTS = {"bf": (0x1D400, 0x1D41A), "it": (0x1D434, 0x1D44E)}
_DOUBLE = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}


def styled(text: str, style: str) -> str:
    """Letters in bold (`bf`) or slanted (`it`); other characters as they are."""
    upper, lower = _STARTS[style]
    made = []
    for letter in text:
        if "A" <= letter <= "Z":
            made.append(chr(upper + ord(letter) - ord("A")))
        elif letter == "h" and style == "it":
            made.append("ℎ")  # Unicode has this one elsewhere
        elif "a" <= letter <= "z":
            made.append(chr(lower + ord(letter) - ord("a")))
        else:
            made.append(letter)
    return "".join(made)


def double_struck(text: str) -> str:
    """Letters with a double stroke."""
    return "".join(_DOUBLE.get(letter) or chr(0x1D538 + ord(letter) - ord("A")) for letter in text)
