"""Tokens of a C++ source, as far as choosing one to change needs them. Client: changes.py.

Comments, literals, preprocessor lines, attributes and static_assert are recognised, so that nothing in them is taken for
code. Names are not looked up: whether `<` compares or opens template arguments is told by the spaces that clang-format
puts around the one and not the other.
"""
import re
from dataclasses import dataclass

PUNCTUATORS = ("<<=", ">>=", "<=>", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
               "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##")

PATTERNS = (
    ("space", r"\s+|\\\n"),
    ("comment", r"//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/"),
    ("text", r'(?:u8|[uUL])?R"(?P<end>[^ ()\\\t\n]{0,16})\(.*?\)(?P=end)"'),
    ("text", r'(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"(?:_?[A-Za-z]\w*)?'),
    ("character", r"(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'"),
    ("number", r"\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z]|[0-9A-Za-z_.])*"),
    ("name", r"[A-Za-z_]\w*"),
    ("punctuator", "|".join(re.escape(text) for text in PUNCTUATORS) + r"|[^\w\s\"']"),
)
TOKEN = re.compile("|".join(f"(?P<kind{number}>{pattern})" for number, (_, pattern) in enumerate(PATTERNS)), re.S)
DIRECTIVE = re.compile(r"[ \t]*#(?:/\*.*?\*/|//[^\n]*|\\\n|[^\n])*", re.S)
INTEGER = re.compile(r"(?P<digits>0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)(?P<suffix>[uU]?(?:ll|LL|[lLzZ])?[uU]?)\Z")


@dataclass(frozen=True)
class Token:
    kind: str  # name, number, text, character, punctuator
    text: str
    begin: int  # in characters from the start of the source
    spaced: bool  # white space on both sides
    mutable: bool  # not within an attribute, a static_assert or an operator's name

    @property
    def end(self):
        return self.begin + len(self.text)


def tokens(source):
    """All tokens but comments and preprocessor lines."""
    found = []
    at, line_begins = 0, True
    while at < len(source):
        if line_begins and (directive := DIRECTIVE.match(source, at)):
            at = directive.end()
            continue
        match = TOKEN.match(source, at)
        if match is None:
            raise ValueError(f"line {source.count(chr(10), 0, at) + 1}: no token begins with {source[at:at + 20]!r}")
        kind = PATTERNS[int(match.lastgroup.removeprefix("kind"))][0]
        if kind not in ("space", "comment"):
            found.append((kind, match[0], at))
        if kind == "space":
            line_begins = line_begins or "\n" in match[0]
        elif kind != "comment":
            line_begins = False
        at = match.end()
    return _with_context(source, found)


def _with_context(source, found):
    excluded = _excluded([text for _, text, _ in found])
    result = []
    for number, (kind, text, begin) in enumerate(found):
        end = begin + len(text)
        spaced = begin > 0 and end < len(source) and source[begin - 1].isspace() and source[end].isspace()
        result.append(Token(kind, text, begin, spaced, number not in excluded))
    return result


def _excluded(texts):
    """Indices of the tokens of attributes, static_assert declarations and the names of operators."""
    excluded = set()
    for number, text in enumerate(texts):
        if number in excluded:
            continue
        if text == "[" and texts[number + 1 : number + 2] == ["["]:
            excluded.update(range(number, _closing(texts, number, "[", "]")))
        elif text == "static_assert":
            excluded.update(range(number, _closing(texts, number + 1, "(", ")")))
        elif text == "operator":
            excluded.update((number, number + 1, number + 2))
    return excluded


def _closing(texts, begin, opening, closing):
    """The index after the bracket that closes the one at `begin`."""
    depth = 0
    for number in range(begin, len(texts)):
        depth += {opening: 1, closing: -1}.get(texts[number], 0)
        if depth == 0:
            return number + 1
    return len(texts)


def integer(text):
    """(value, digits' base, suffix) of an integer literal without a user-defined suffix; None of any other token."""
    match = INTEGER.match(text)
    if match is None:
        return None
    digits = match["digits"].replace("'", "").lower()
    base = 16 if digits.startswith("0x") else 2 if digits.startswith("0b") else 8 if digits[0] == "0" and len(digits) > 1 else 10
    return int(digits, base), base, match["suffix"]
