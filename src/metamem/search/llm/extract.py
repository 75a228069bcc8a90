"""Finding the code in what a model wrote."""

import ast
import re
import warnings
from itertools import islice

_THOUGHTS = re.compile(r"<think>.*?</think>", re.S)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$")
_START = re.compile(r'^(from|import|class)\s|^("""|\'\'\'|#)')
MOST_TRIED = 60  # pairs of fences, longest first


def source_in(reply: str) -> str:
    """The source of a design; empty where nothing in the reply looks like one.

    A fenced block that is Python and defines a class is best, the longest of several; then any
    fenced block, even one that was never closed; then a reply that is bare code. What is not
    Python comes back as it is, so that whoever wrote it can be told what is wrong with it.
    """
    text = _THOUGHTS.sub("", reply).replace("\r\n", "\n")
    blocks = _blocks(text)
    for block in islice(sorted(blocks, key=lambda b: -len(b)), MOST_TRIED):
        if defines_class(block):
            return _tidy(block)
    if blocks:
        return _tidy(blocks[0])
    return _tidy(_bare(text))


def defines_class(source: str) -> bool:
    return bool(class_names(source))


def class_names(source: str) -> list[str]:
    """The classes that a source defines at its top level; none where it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _blocks(text: str) -> list[str]:
    """All that stands between two fences, the nearest pairs first; code may hold fences itself."""
    lines = text.split("\n")
    fences = [(n, found) for n, line in enumerate(lines) if (found := _FENCE.match(line))]
    pairs = []
    for place, (start, opening) in enumerate(fences):
        closings = [n for n, f in fences[place + 1 :] if f[1] == opening[1] and not f[2].strip()]
        pairs += [(start, end) for end in closings or [len(lines)]]
    return [_dedented(lines[start + 1 : end]) for start, end in pairs]


def _dedented(lines: list[str]) -> str:
    """Without the indentation of the first line, where all lines share it: a block in a list."""
    first = next((line for line in lines if line.strip()), "")
    margin = first[: len(first) - len(first.lstrip())]
    if margin and all(line.startswith(margin) or not line.strip() for line in lines):
        lines = [line[len(margin) :] for line in lines]
    return "\n".join(lines)


def _bare(text: str) -> str:
    """A reply without fences, from the first line that looks like code; some class is a must."""
    lines = text.split("\n")
    start = next((n for n, line in enumerate(lines) if _START.match(line)), len(lines))
    code = "\n".join(lines[start:])
    return code if re.search(r"^class\s", code, re.M) else ""


def _tidy(source: str) -> str:
    """Valid Unicode, without empty lines around it."""
    source = source.encode("utf-8", "replace").decode()
    return source.strip("\n").rstrip() + "\n" if source.strip() else ""
