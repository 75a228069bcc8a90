"""What an index is made of: pieces of files that stand for themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

KINDS = ("function", "method", "class", "type", "section", "block")
BLOCK_LINES = 40  # of what has no structure, in one piece
LONGEST_LINES = 400  # of one piece: what is longer goes on in the next


@dataclass(frozen=True, slots=True)
class Piece:
    """A function, a class without its methods, a section, or some lines. Lines count from 1."""

    kind: str
    name: str
    within: str  # what it stands in: classes, or headings above
    line: int
    end: int
    text: str

    @property
    def qualified(self) -> str:
        return qualified(self.kind, self.within, self.name)


def qualified(kind: str, within: str, name: str) -> str:
    """A name with what it stands in."""
    return (" > " if kind == "section" else ".").join(filter(None, (within, name)))


@dataclass(frozen=True, slots=True)
class Span:
    """Something with a name in a file, by its lines: from 1, both ends included."""

    kind: str
    name: str
    line: int
    end: int
    within: str = ""  # said by the code itself, not by where it stands


def assembled(lines: Sequence[str], spans: Iterable[Span]) -> list[Piece]:
    """Pieces that together hold every line that is not blank, each line once.

    What stands in a function belongs to it. A class or type is a piece of what its own pieces leave;
    what stands in no span is cut into blocks.
    """
    found: list[Piece] = []
    open_: list[tuple[Span, str]] = []  # from the outermost inwards, with where each stands
    owner: list[int] = [-1] * (len(lines) + 2)  # which span a line belongs to, the innermost
    kept: list[tuple[Span, str]] = []
    for span in sorted(spans, key=lambda s: (s.line, -s.end, s.kind != "class")):
        while open_ and open_[-1][0].end < span.line:
            open_.pop()
        outer = open_[-1][0] if open_ else None
        if outer is not None and outer.kind in ("function", "method"):
            continue
        within = span.within or ".".join(s.name for s, _ in open_ if s.name)
        if span.kind == "function" and (span.within or (outer and outer.kind == "class")):
            span = replace(span, kind="method")
        owner[span.line : span.end + 1] = [len(kept)] * (span.end + 1 - span.line)
        kept.append((span, within))
        open_.append((span, within))
    own: list[list[int]] = [[] for _ in kept]
    loose: list[int] = []
    for number in range(1, len(lines) + 1):
        (own[owner[number]] if owner[number] >= 0 else loose).append(number)
    for (span, within), numbers in zip(kept, own, strict=True):
        found += _cut(lines, numbers, span.kind, span.name, within, LONGEST_LINES)
    for run in _runs(loose):
        found += _cut(lines, run, "block", "", "", BLOCK_LINES)
    return sorted(found, key=lambda piece: (piece.line, piece.end))


def blocks(lines: Sequence[str]) -> list[Piece]:
    """Pieces of what has no structure that is known."""
    return _cut(lines, range(1, len(lines) + 1), "block", "", "", BLOCK_LINES)


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Numbers that follow one another, together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _cut(
    lines: Sequence[str], numbers: Sequence[int], kind: str, name: str, within: str, most: int
) -> list[Piece]:
    made = []
    for start in range(0, len(numbers), most):
        part = numbers[start : start + most]
        while part and not lines[part[0] - 1].strip():
            part = part[1:]
        while part and not lines[part[-1] - 1].strip():
            part = part[:-1]
        if part:
            text = "\n".join(lines[number - 1] for number in part)
            made.append(Piece(kind, name, within, part[0], part[-1], text))
    return made
