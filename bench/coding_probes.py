"""Memories that cheat in the coding world, and two that do not: what text and what habits are worth.

A cheat is shown more than any memory could see: the whole sound trees of all tasks that were learned
from, tests included, and the whole faulty tree of the task that is asked. It proposes edits, the
likeliest first. Where text of one task answered another, its edits would hold the repair.
"""

import ast
import difflib
import itertools
import json
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from metamem.agents.repair_change import signature, tokens
from metamem.domains.coding.projects import Bug

Files = Mapping[str, str]
MOST = 3  # edits that a cheat may tell: the agent has nine tries, and each wrong edit costs one
_ALIKE = 0.6  # how alike two functions must be to be taken for the same
_CONTEXT = 2  # tokens on either side by which a position is known


@dataclass(frozen=True, slots=True)
class Edit:
    path: str
    find: str
    replace: str

    def mends(self, files: Files, wanted: Files) -> bool:
        """Whether the file is then as it should be, spaces aside."""
        new = files[self.path].replace(self.find, self.replace, 1)
        return tokens(new) == tokens(wanted[self.path]) and new != files[self.path]


Cheat = Callable[[Sequence[Files], Files], list[Edit]]


@dataclass(frozen=True, slots=True)
class _Known:
    """A function of a tree: its text, what names it, and the arguments it is tested with."""

    path: str
    name: str
    doc: str
    text: str
    calls: frozenset[str]


def sound(bug: Bug) -> dict[str, str]:
    return {**bug.files, **bug.fix}


# --- recall of text -----------------------------------------------------------------------------


def line_votes(seen: Sequence[Files], now: Files) -> list[Edit]:
    """Each line as most trees have it after the same line of the same file."""
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for files in seen:
        for path, before, line in _lines(files):
            votes[path, before][line] += 1
    found = []
    for path, before, line in _lines(now):
        most = votes[path, before].most_common(1)
        if most and before.strip() and most[0][0] != line:
            found.append((most[0][1], Edit(path, f"{before}\n{line}", f"{before}\n{most[0][0]}")))
    return _best(found)


def by_name(seen: Sequence[Files], now: Files) -> list[Edit]:
    """The function of the same name as it stood elsewhere."""
    return _recalled(seen, now, lambda here, there: float(here.name == there.name))


def by_docstring(seen: Sequence[Files], now: Files) -> list[Edit]:
    """The function that says the same of itself, whatever it deals with."""
    return _recalled(seen, now, lambda here, there: _near(_words(here.doc), _words(there.doc)))


def by_tests(seen: Sequence[Files], now: Files) -> list[Edit]:
    """The function that was tested with the same arguments."""
    return _recalled(seen, now, lambda here, there: _near(here.calls, there.calls))


def by_structure(seen: Sequence[Files], now: Files) -> list[Edit]:
    """The function that reads alike once all names are made plain."""
    return _recalled(seen, now, lambda here, there: _likeness(here.text, there.text))


def token_votes(seen: Sequence[Files], now: Files) -> list[Edit]:
    """The token that most often stood between the same neighbours, names made plain."""
    votes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for files in seen:
        for known in _functions(files):
            plain = _plain(known.text)[0]
            for place in range(_CONTEXT, len(plain) - _CONTEXT):
                votes[_around(plain, place)][plain[place]] += 1
    found = []
    for known in _functions(now):
        plain, spans = _plain(known.text)[0], [*_spans(known.text)]
        for place in range(_CONTEXT, len(plain) - _CONTEXT):
            counts = votes[_around(plain, place)]
            most = counts.most_common(1)
            if most and most[0][0] != plain[place] and not _is_mark(most[0][0]):
                text = _put(known.text, spans[place][0], spans[place][1], most[0][0])
                if _parses(text):
                    gain = most[0][1] - counts[plain[place]]
                    found.append((gain, Edit(known.path, known.text, text)))
    return _best(found)


CHEATS: dict[str, Cheat] = {
    "lines of the same file": line_votes,
    "function of the same name": by_name,
    "same docstring": by_docstring,
    "same calls in tests": by_tests,
    "same structure": by_structure,
    "token between the same tokens": token_votes,
}


def _recalled(
    seen: Sequence[Files], now: Files, fit: Callable[[_Known, _Known], float]
) -> list[Edit]:
    """For each function the one that fits best, and every place where the two differ as an edit."""
    memory = [known for files in seen for known in _functions(files)]
    found = []
    for here in _functions(now):
        rated = [(fit(here, there), n) for n, there in enumerate(memory)]
        value, best = max(rated, default=(0.0, 0))
        if value >= _ALIKE:
            weight = _likeness(here.text, memory[best].text)
            found += [(weight, edit) for edit in _differences(here, memory[best])]
    return _best(found)


def _best(found: list[tuple[float, Edit]]) -> list[Edit]:
    return [edit for _, edit in sorted(found, key=lambda entry: -entry[0])][:MOST]


def _differences(here: _Known, there: _Known) -> Iterator[Edit]:
    """The other function's tokens where they differ, under the names that are used here."""
    plain, own = _plain(here.text)
    other = _plain(there.text)[0]
    names = {mark: name for name, mark in own.items()}
    spans = [*_spans(here.text), (len(here.text), len(here.text))]
    matcher = difflib.SequenceMatcher(None, plain, other, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            new = " ".join(names.get(token, token) for token in other[c:d])
            end = spans[b - 1][1] if b > a else spans[a][0]
            text = _put(here.text, spans[a][0], end, new)
            if _parses(text):
                yield Edit(here.path, here.text, text)


# --- recall of how ------------------------------------------------------------------------------

WORDS = {"order": "sorted the wrong way", "text": "strip and lower"}


def true_kind(bug: Bug) -> str:
    """What somebody who knew the kind of fault would say."""
    return f"The fault here: {WORDS.get(bug.family, bug.family)}."


def history(seen: Sequence[Bug], bug: Bug, most: int = 12) -> str:
    """How bugs of the same project were mended; of all projects, where it is a new one."""
    own = [other for other in seen if other.project == bug.project] or list(seen)
    return "\n".join(f"Merged: {change}" for other in own[-most:] for change in _changes(other))


def _changes(bug: Bug) -> Iterator[str]:
    for path, text in bug.fix.items():
        old, new = bug.files[path].split("\n"), text.split("\n")
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                change = {"find": "\n".join(old[a:b]), "replace": "\n".join(new[c:d])}
                yield json.dumps({"path": path, **change})


def told(edits: Sequence[Edit]) -> str:
    return "\n".join(
        json.dumps({"path": edit.path, "find": edit.find, "replace": edit.replace})
        for edit in edits
    )


# --- reading trees ------------------------------------------------------------------------------


def _lines(files: Files) -> Iterator[tuple[str, str, str]]:
    for path, text in files.items():
        if not path.startswith("tests/"):
            lines = text.split("\n")
            yield from ((path, a, b) for a, b in itertools.pairwise(lines))


def _functions(files: Files) -> list[_Known]:
    tests = "\n".join(text for path, text in files.items() if path.startswith("tests/"))
    sources = [(path, text) for path, text in files.items() if not path.startswith("tests/")]
    return [known for path, text in sources for known in _read(path, text, tests)]


@cache
def _read(path: str, text: str, tests: str) -> list[_Known]:
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            source = ast.get_source_segment(text, node) or ""
            calls = frozenset(re.findall(rf"\b{node.name}(\(.*\)) ==", tests))
            found.append(_Known(path, node.name, ast.get_docstring(node) or "", source, calls))
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for token in tokens(text):
        at = text.index(token, at)
        yield at, at + len(token)
        at += len(token)


@cache
def _plain(text: str) -> tuple[list[str], dict[str, str]]:
    """The tokens with a program's own names numbered as they come, and the numbers by name."""
    own: dict[str, str] = {}
    plain = []
    for token in tokens(text):
        if signature(token, "").gone == ("_",):
            plain.append(own.setdefault(token, f"v{len(own)}"))
        else:
            plain.append(token)
    return plain, own


def _is_mark(token: str) -> bool:
    return re.fullmatch(r"v\d+", token) is not None


def _around(plain: list[str], place: int) -> tuple[str, ...]:
    sides = plain[place - _CONTEXT : place] + plain[place + 1 : place + 1 + _CONTEXT]
    return tuple("_" if _is_mark(token) else token for token in sides)


@cache
def _likeness(one: str, two: str) -> float:
    a, b = _plain(one)[0], _plain(two)[0]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    close = matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE
    return matcher.ratio() if close else 0.0


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower()))


def _near(one: frozenset[str], two: frozenset[str]) -> float:
    return len(one & two) / max(1, len(one | two))


def _put(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


@cache
def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError:
        return False
    return True
