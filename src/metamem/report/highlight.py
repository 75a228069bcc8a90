"""Light colours for Python, and for diffs. Everything that comes out is escaped."""

import difflib
from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments.lexers.python import PythonLexer
from pygments.token import Token

# The kinds that are told apart by colour; what is of none of them stays plain.
_KINDS = (
    (Token.Comment, "comment"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Name.Builtin, "builtin"),
    (Token.Name.Exception, "builtin"),
)


def highlight(source: str) -> list[Markup]:
    """The lines of a source, each well-formed by itself."""
    lines = [Markup()]
    # Not its `get_tokens`, which tidies line ends and blank lines away.
    for _, token, text in PythonLexer().get_tokens_unprocessed(source):
        kind = next((name for parent, name in _KINDS if token in parent), "")
        for number, piece in enumerate(text.split("\n")):
            if number:
                lines.append(Markup())
            if piece:
                coloured = Markup('<span class="t-{}">{}</span>').format(kind, piece)
                lines[-1] += coloured if kind else escape(piece)
    return lines if lines[-1] else lines[:-1]


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: str  # added | removed | same | place
    text: str


def diff(old: str, new: str) -> list[DiffLine]:
    """A unified diff without its header."""
    kinds = {"+": "added", "-": "removed", " ": "same", "@": "place"}
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=3, lineterm=""))
    return [DiffLine(kinds.get(line[:1], "same"), line) for line in lines[2:]]
