"""The lines of an ignore file, read as git reads them: byte by byte, the last one that matches counts.

A line says something of a path itself, not of what lies below it: whoever walks does not go into what is
ignored. A line that no path can match (a class that does not end, a bare `!`) leaves the others as they
are.
"""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

FOLDER = b"\0"  # after a path: no name has it, and nothing in a pattern stands for it
_BOM = b"\xef\xbb\xbf"
_EVERY = frozenset(range(1, 256)) - set(b"/")  # no class and no `?` stands for a slash
_CONTROLS = bytes(range(32)) + b"\x7f"
_CLASSES = {
    "alnum": (string.ascii_letters + string.digits).encode(),
    "alpha": string.ascii_letters.encode(),
    "blank": b" \t",
    "cntrl": _CONTROLS,
    "digit": string.digits.encode(),
    "graph": (string.ascii_letters + string.digits + string.punctuation).encode(),
    "lower": string.ascii_lowercase.encode(),
    "print": (string.ascii_letters + string.digits + string.punctuation + " ").encode(),
    "punct": string.punctuation.encode(),
    "space": b" \t\n\v\f\r",
    "upper": string.ascii_uppercase.encode(),
    "xdigit": string.hexdigits.encode(),
}
_STAR = b"*"  # letters, but no slash
_DEEP = b"**/"  # folders, or none
_DEEPER = b"**\\/"  # folders, at least one
_REST = b"**"  # whatever there is
_SPECIAL = (_STAR, _DEEP, _DEEPER, _REST)


@dataclass(frozen=True, slots=True)
class _Line:
    takes_in: bool  # what a line above left out
    whole: bool  # it speaks of a path, not of a name in any folder
    regex: bytes


@dataclass(frozen=True, slots=True)
class _Run:
    """Lines that follow each other and say the same."""

    takes_in: bool
    names: re.Pattern[bytes] | None
    paths: re.Pattern[bytes] | None


@dataclass(frozen=True, slots=True)
class Patterns:
    """What an ignore file says."""

    runs: tuple[_Run, ...]  # the last first
    wrong: tuple[int, ...]  # lines, from 1, that no path can match

    def ignored(self, path: bytes) -> bool | None:
        """What is said of a path below the file's folder; that of a folder ends with FOLDER."""
        name = path[path.rfind(b"/") + 1 :]
        for run in self.runs:
            if (run.names and run.names.fullmatch(name)) or (
                run.paths and run.paths.fullmatch(path)
            ):
                return not run.takes_in
        return None


def parsed(content: bytes) -> Patterns:
    lines: list[_Line] = []
    wrong = []
    for number, raw in enumerate(content.removeprefix(_BOM).split(b"\n"), 1):
        text = _trimmed(raw.removesuffix(b"\r").partition(b"\0")[0])
        if not text or text.startswith(b"#"):
            continue
        line = _line(text)
        if line:
            lines.append(line)
        else:
            wrong.append(number)
    runs = [
        _Run(takes_in, *(_any(x.regex for x in run if x.whole == whole) for whole in (False, True)))
        for takes_in, run in ((key, list(group)) for key, group in groupby(lines, _takes_in))
    ]
    return Patterns(tuple(reversed(runs)), tuple(wrong))


def _takes_in(line: _Line) -> bool:
    return line.takes_in


def _any(regexes: Iterable[bytes]) -> re.Pattern[bytes] | None:
    joined = b"|".join(dict.fromkeys(regexes))
    return re.compile(joined, re.DOTALL) if joined else None


def _trimmed(text: bytes) -> bytes:
    """Without blanks at the end, unless a backslash keeps one."""
    kept = end = 0
    while end < len(text):
        if text[end : end + 1] == b"\\":
            end = kept = end + 2
            continue
        end += 1
        if text[end - 1 : end] != b" ":
            kept = end
    return text[:kept]


def _line(text: bytes) -> _Line | None:
    takes_in = text.startswith(b"!")
    pattern = text[takes_in:]
    folders = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - folders]
    whole = b"/" in pattern
    tokens = _tokens(pattern.removeprefix(b"/"))
    if not tokens:
        return None
    return _Line(takes_in, whole, _joined(tokens) + FOLDER + (b"" if folders else b"?"))


def _tokens(pattern: bytes) -> list[bytes] | None:
    """Regular expressions of a letter each, with what is _SPECIAL between them."""
    tokens = []
    at = 0
    while at < len(pattern):
        letter = pattern[at : at + 1]
        if letter == b"*":
            end = len(pattern) - len(pattern[at:].lstrip(b"*"))
            proper = end > at + 1 and (at == 0 or pattern[at - 1 : at] == b"/")
            after = pattern[end : end + 2]
            if proper and after[:1] == b"/":
                tokens.append(_DEEP)
                end += 1
            elif proper and after == b"\\/":
                tokens.append(_DEEPER)
                end += 2
            else:
                tokens.append(_REST if proper and not after else _STAR)
            at = end
        elif letter == b"[":
            inside, at = _class(pattern, at + 1)
            if not inside:
                return None
            tokens.append(b"[" + b"".join(b"\\x%02x" % each for each in sorted(inside)) + b"]")
        elif letter == b"?":
            tokens.append(b"[^/\0]")
            at += 1
        else:
            at += letter == b"\\"
            if at == len(pattern):
                return None
            tokens.append(re.escape(pattern[at : at + 1]))
            at += 1
    return tokens


def _class(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """What a class stands for, and where it ends; nothing where it has no end."""
    inside: set[int] = set()
    nothing: tuple[frozenset[int], int] = frozenset(), at
    inverted = pattern[at : at + 1] in (b"!", b"^")
    at += inverted
    first, before = True, 0  # before: the letter that a range may begin with
    while first or pattern[at : at + 1] != b"]":
        first = False
        here = pattern[at : at + 1]
        if here == b"-" and before and pattern[at + 1 : at + 2] not in (b"", b"]"):
            at += 1 + (pattern[at + 1 : at + 2] == b"\\")
            if at == len(pattern):
                return nothing
            inside.update(range(before, pattern[at] + 1))
            before = 0
        elif here == b"[" and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                return nothing
            name = pattern[at + 2 : end]
            if name.endswith(b":"):
                named = _CLASSES.get(name[:-1].decode("latin-1"))
                if named is None:
                    return nothing
                inside.update(named)
                at, before = end, 0
            else:
                inside.add(ord("["))
                before = ord("[")
        else:
            at += here == b"\\"
            if at >= len(pattern):
                return nothing
            before = pattern[at]
            inside.add(before)
        at += 1
    return (_EVERY - inside if inverted else _EVERY & inside), at + 1


def _joined(tokens: list[bytes]) -> bytes:
    """One regular expression. All but the last of stars in a row take what is nearest and never look
    back, so that no pattern can take for ever."""
    return b"".join(_parts(tokens))


def _parts(tokens: list[bytes]) -> Iterator[bytes]:
    at = 0
    while at < len(tokens):
        token = tokens[at]
        at += 1
        if token == _REST:
            yield b"[^\0]+"
        elif token == _STAR:
            end = _next(tokens, at, _SPECIAL)
            chunk = b"".join(tokens[at:end])
            yield b"[^/\0]*" + chunk if end == len(tokens) else b"(?>[^/\0]*?" + chunk + b")"
            at = end
        elif token in (_DEEP, _DEEPER):
            end = _next(tokens, at, (_DEEP, _DEEPER, _REST))
            some = b"?" if token == _DEEP else b""
            chunk = _joined(tokens[at:end])
            if end == len(tokens):
                yield b"(?:.*/)" + some + chunk
            else:
                yield b"(?>(?:.*?/)" + some * 2 + chunk + b")"
            at = end
        else:
            yield token


def _next(tokens: list[bytes], at: int, wanted: tuple[bytes, ...]) -> int:
    return next((n for n in range(at, len(tokens)) if tokens[n] in wanted), len(tokens))
