"""Which tokens of a source can be changed, and into what. Client: choice.py.

A change replaces one token by another of its kind, so that most results compile and all look like a slip of the pen.
"""
from dataclasses import dataclass

from .lexer import integer, tokens

# Only with white space on both sides: else `<` opens template arguments and `&` is part of a type (lexer.py).
BINARY = {
    "<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "&&": ("||",), "||": ("&&",), "&": ("|",), "|": ("&",), "^": ("|",), "<<": (">>",), ">>": ("<<",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",), "|=": ("&=",), "&=": ("|=",),
    "<<=": (">>=",), ">>=": ("<<=",),
}
UNARY = {"!": ("",), "++": ("--",), "--": ("++",)}
WORDS = {"true": ("false",), "false": ("true",), "break": ("continue",), "continue": ("break",)}
FUNCTIONS = {}
for one, other in (("min", "max"), ("fmin", "fmax"), ("min_element", "max_element"), ("floor", "ceil"), ("any_of", "all_of"),
                   ("lower_bound", "upper_bound"), ("front", "back")):
    FUNCTIONS[one], FUNCTIONS[other] = (other,), (one,)


@dataclass(frozen=True)
class Site:
    """A token that can be changed."""
    begin: int
    text: str
    choices: tuple


def sites(source):
    """All tokens of a source that can be changed, in their order."""
    found = []
    stream = tokens(source)
    for number, token in enumerate(stream):
        after = stream[number + 1].text if number + 1 < len(stream) else ""
        choices = _choices(token, after) if token.mutable else ()
        if choices:
            found.append(Site(token.begin, token.text, choices))
    return found


def _choices(token, after):
    if token.kind == "number":
        return _numbers(token.text)
    if token.kind == "name":
        if token.text in FUNCTIONS:
            return FUNCTIONS[token.text] if after in ("(", "<") else ()
        return WORDS.get(token.text, ())
    if token.kind == "punctuator":
        return UNARY.get(token.text) or (BINARY.get(token.text, ()) if token.spaced else ())
    return ()


def _numbers(text):
    """n + 1, n - 1 and 0 of an integer n, written as it was."""
    read = integer(text)
    if read is None:
        return ()
    value, base, suffix = read
    form = {16: "0x{:x}", 2: "0b{:b}", 8: "0{:o}", 10: "{}"}[base]
    changed = {value + 1, value - 1, 0} - {value, -1}
    return tuple((form.format(new) if new else "0") + suffix for new in sorted(changed))
