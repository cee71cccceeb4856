"""Formulas as MathML, which browsers draw by themselves: the part of TeX that captions of this project use."""

from __future__ import annotations

import re
from pathlib import Path

from ranking.core.errors import InputError
from ranking.reports.markup import Markup, element

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
LETTERS = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega",
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega",
)  # fmt: skip
GREEK = dict(zip(LETTERS, "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ", strict=True))
NAMES = (
    {name: name for name in ["log", "exp", "max", "min", "argmax", "argmin"]}
    | GREEK
    | {"ell": "ℓ", "top": "⊤"}
)
SIGNS = {
    "cdot": "·",
    "times": "×",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "ne": "≠",
    "neq": "≠",
    "in": "∈",
}
SIGNS |= {
    "notin": "∉",
    "to": "→",
    "pm": "±",
    "infty": "∞",
    "ldots": "…",
    "dots": "…",
    "cdots": "⋯",
    "mid": "|",
}
SIGNS |= {
    "lvert": "|",
    "rvert": "|",
    "vert": "|",
    "lVert": "‖",
    "rVert": "‖",
    "approx": "≈",
    "succ": "≻",
    "ll": "≪",
}
SIGNS |= {
    "#": "#",
    "%": "%",
    "_": "_",
    "{": "{",
    "}": "}",
    "&": "&",
    "$": "$",
    "|": "‖",
    "cup": "∪",
    "setminus": "∖",
}
LARGE = {"sum": "∑", "prod": "∏"}  # whose limits stand above and below
SPACES = {",": "0.17em", ";": "0.28em", ":": "0.22em", " ": "0.33em", "quad": "1em", "!": "-0.17em"}
SIZES = {size + side for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r")} | {
    "left",
    "right",
}
FENCES = set("()[]|‖{}")
ACCENTS = {"hat": "^", "bar": "¯", "tilde": "~"}


def formula(tex: str) -> Markup:
    r"""The formula; ValueError that names the first command that is not known here.

    >>> formula(r"w_2 + \xi")
    '<math><msub><mi>w</mi><mn>2</mn></msub><mo>+</mo><mi>ξ</mi></math>'
    >>> formula(r"\tfrac12 \heart")
    Traceback (most recent call last):
    ranking.core.errors.InputError: formula: expected known commands of LaTeX, got \heart; add it to mathematics.py
    """
    tokens = _Tokens(tex)
    display = "true" if r"\displaystyle" in tex else None
    return element("math", *_row(tokens, ""), displaystyle=display)


class _Tokens:
    """What is still to be read of a formula."""

    def __init__(self, tex: str) -> None:
        self.tex = tex
        self._left: list[str] = TOKEN.findall(tex)[::-1]

    def peek(self) -> str:
        """The next one that is no blank; "" at the end."""
        while self._left and self._left[-1].isspace():
            self._left.pop()
        return self._left[-1] if self._left else ""

    def next(self) -> str:
        self.peek()
        return self.next_letter()

    def next_letter(self) -> str:
        """The next one, a blank too."""
        if not self._left:
            raise InputError("formula", "a complete formula", self.tex)
        return self._left.pop()


def _row(tokens: _Tokens, end: str) -> list[Markup]:
    """The atoms up to `end`, with what stands below and above them."""
    found: list[Markup] = []
    while tokens.peek() != end:
        atom = _atom(tokens)
        if atom is not None:
            found.append(_scripted(atom, tokens))
    if end:
        tokens.next()
    return found


def _scripted(atom: Markup, tokens: _Tokens) -> Markup:
    """An atom with its limits."""
    below = above = None
    while tokens.peek() in ("_", "^", "'"):
        sign = tokens.next()
        if sign == "_":
            below = _argument(tokens)
        else:
            above = _argument(tokens) if sign == "^" else element("mo", "′")
    large = any(atom == element("mo", sign) for sign in LARGE.values())
    if below is not None and above is not None:
        return element("munderover" if large else "msubsup", atom, below, above)
    if below is not None:
        return element("munder" if large else "msub", atom, below)
    return atom if above is None else element("mover" if large else "msup", atom, above)


def _argument(tokens: _Tokens) -> Markup:
    """A group in braces, or one sign."""
    if tokens.peek() == "{":
        tokens.next()
        return element("mrow", *_row(tokens, "}"))
    atom = _atom(tokens, digits=1)
    return element("mrow") if atom is None else atom


def _atom(tokens: _Tokens, digits: int = 99) -> Markup | None:
    """The next sign, number, group or command; None of a command that draws nothing. digits: at most, of a number."""
    token = tokens.next()
    if token == "{":
        return element("mrow", *_row(tokens, "}"))
    if token.startswith("\\"):
        return _command(token[1:], tokens)
    if token.isdigit():
        while len(token) < digits and re.fullmatch(r"[0-9.]", tokens.peek()):
            token += tokens.next()
        return element("mn", token)
    if token in FENCES:
        return _fence(token)
    return element("mi" if token.isalpha() else "mo", token.replace("-", "−").replace("*", "∗"))


def _fence(sign: str) -> Markup:
    r"""A bracket or bar as high as a letter; those that are asked for `\bigl` and the like grow with what they hold."""
    return element("mo", sign, stretchy="false", lspace="0", rspace="0")


def _command(name: str, tokens: _Tokens) -> Markup | None:
    if name in SIZES or name == "displaystyle":
        return element("mo", tokens.next()) if name in SIZES and tokens.peek() in FENCES else None
    if name in ("frac", "tfrac", "dfrac"):
        style = {"frac": None, "tfrac": "false", "dfrac": "true"}[name]
        drawn = element("mfrac", _argument(tokens), _argument(tokens))
        return drawn if style is None else element("mstyle", drawn, displaystyle=style)
    if name == "sqrt":
        return element("msqrt", _argument(tokens))
    if name in ACCENTS:
        return element("mover", _argument(tokens), element("mo", ACCENTS[name]), accent="true")
    if name in ("text", "mathrm", "operatorname", "mathbf", "mathcal"):
        return element("mtext", _plain(tokens))
    if name in SPACES:
        return element("mspace", width=SPACES[name])
    if name in NAMES:
        return element("mi", NAMES[name])
    if SIGNS.get(name) in FENCES:
        return _fence(SIGNS[name])
    if name in LARGE | SIGNS:
        return element("mo", (LARGE | SIGNS)[name])
    remedy = f"add it to {Path(__file__).name}"
    raise InputError("formula", "known commands of LaTeX", f"\\{name}", remedy)


def _plain(tokens: _Tokens) -> str:
    """The letters of a group, as they stand."""
    if tokens.next() != "{":
        raise InputError("formula", "a group in braces", tokens.tex)
    letters = []
    while (token := tokens.next_letter()) != "}":
        letters.append(token.removeprefix("\\"))
    return "".join(letters).replace(" ", "\xa0")  # blanks at its ends would be lost
