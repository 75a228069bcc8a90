"""A text into pieces: by its grammar where that is installed, else by what can be seen without.

Nothing here fails: what cannot be read as what it claims to be is cut into blocks of lines.
"""

import ast
import re
import warnings
from collections.abc import Sequence

from metamem.knowledge import grammars
from metamem.knowledge.languages import MARKDOWN, PYTHON, Language
from metamem.knowledge.pieces import BLOCK_LINES, Piece, Span, assembled, blocks

_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")


def cut(text: str, language: Language) -> list[Piece]:
    """The pieces of a text, in their order; none of a blank one."""
    lines = text.split("\n")
    if language is MARKDOWN:
        return _sections(lines)
    found: list[Span] | None = None
    if grammars.there(language):
        found = grammars.spans(text.encode("utf-8", "replace"), language)
    elif language is PYTHON:
        found = _by_ast(text)
    return blocks(lines) if found is None else assembled(lines, found)


def _by_ast(text: str) -> list[Span] | None:
    """What has a name in a Python file; None where Python itself cannot read it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found.append(Span(kind, node.name, first, node.end_lineno or node.lineno))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            pending += ast.iter_child_nodes(node)
    return found


def _sections(lines: Sequence[str]) -> list[Piece]:
    """A piece a heading, with what stands below it; before the first one, blocks."""
    starts: list[tuple[int, int, str]] = []  # line, depth, heading
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (heading := _HEADING.match(line)):
            title = heading[2].rstrip().rstrip("#").rstrip()
            starts.append((number, len(heading[1]), title))
    if not starts:
        return blocks(lines)
    found = blocks(lines[: starts[0][0] - 1])
    above: list[tuple[int, str]] = []
    for place, (number, depth, heading_text) in enumerate(starts):
        end = starts[place + 1][0] - 1 if place + 1 < len(starts) else len(lines)
        while above and above[-1][0] >= depth:
            above.pop()
        within = " > ".join(name for _, name in above)
        above.append((depth, heading_text))
        for first in range(number, end + 1, BLOCK_LINES * 2):
            last = min(end, first + BLOCK_LINES * 2 - 1)
            text = "\n".join(lines[first - 1 : last]).rstrip()
            if text:
                until = first + text.count("\n")
                found.append(Piece("section", heading_text, within, first, until, text))
    return found
