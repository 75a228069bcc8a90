"""The repairer: an agent without a model that mends Python programs by generate and validate.

It runs the tests, reads the files that failing tests lead to, and tries small changes one by one:
edit, run, undo. What it tries first is decided by where the failures point, by the advice, and by
chance. It knows Python and common slips, nothing of any project, and keeps nothing between tasks.
"""

import ast
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from metamem.agents import repair_observe as observe
from metamem.agents.repair_advice import ReadAdvice, read_advice
from metamem.agents.repair_change import Signature, signature
from metamem.agents.repair_code import Function, Module
from metamem.agents.repair_templates import TEMPLATES, Change, donated, guards, substituted
from metamem.core.ids import content_id, derive_seed
from metamem.core.protocols import Seat
from metamem.core.types import Observation

VERSION = 2
_RUN = json.dumps({"action": "run_command", "command": "python -m pytest -q"})
_UNDO = json.dumps({"action": "undo"})
_SUBMIT = json.dumps({"action": "submit"})
_CRASHES = ("ZeroDivisionError", "IndexError", "KeyError", "ValueError", "TypeError", "Failed")


Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Settings:
    """How much each reason counts: set by hand and not tuned. Part of the fingerprint."""

    place: float = 2.0  # the failing tests lead to the function
    callee: float = 0.4  # of that, for a function that one of those calls
    line: float = 0.7  # the very line where a program stopped
    kind: float = 2.5  # the advice has repairs of this kind, by their share
    alike: float = 2.5  # the advice has the very same change of tokens, by its share
    file: float = 0.5  # the advice names this file or changed it
    name: float = 1.0  # the advice names the function
    guard: float = -0.8  # special cases: there are many of them to try
    taste: float = 1.5  # chance: how far a player's own liking may go
    files: int = 3  # files read before the first try


class Repair:
    """Mends Python programs by generate and validate, in the order the advice suggests; no model.

    A setting of nought takes a reason away: `Repair(kind=0)`.
    """

    def __init__(self, **settings: float) -> None:
        self.settings = Settings(**settings)  # type: ignore[arg-type]
        self._fingerprint = f"repair-{VERSION}/{content_id(asdict(self.settings))[:8]}"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def start(self, seat: Seat) -> "RepairPlayer":
        return RepairPlayer(self.settings, seat.goal, seat.seed)


@dataclass(frozen=True, slots=True)
class Try:
    """One change that might be the repair, as the text to find and to put in its place."""

    path: str
    line: int
    find: str
    replace: str
    place: float
    function: str
    change: Signature

    @property
    def key(self) -> Key:
        return self.path, self.find, self.replace

    def action(self, unique: bool) -> str:
        data: dict[str, object] = {"action": "edit_file", "path": self.path}
        data |= {"find": self.find, "replace": self.replace}
        return json.dumps(data if unique else data | {"line": self.line}, ensure_ascii=False)


class RepairPlayer:
    """The repairer at one task."""

    def __init__(self, settings: Settings, goal: str, seed: int) -> None:
        self._set = settings
        self._rng = random.Random(derive_seed("repair", goal, seed))
        self._advice = ReadAdvice()
        self._advice_text = ""
        self._files = settings.files  # that may be read
        self._made: set[Key] = set()  # tries that were made: later advice does not bring them back
        self._likings: dict[Key, float] = {}  # chance, drawn once for each try
        self._paths: list[str] = []  # source files of the project
        self._modules: dict[str, Module] = {}
        self._asked: set[str] = set()  # files and names already looked up
        self._report: observe.Report | None = None
        self._first: set[tuple[str, str]] = set()  # what failed at the beginning
        self._tries: list[Try] | None = None
        self._last = ""  # the last action

    def advise(self, advice: str) -> None:
        if advice == self._advice_text:
            return  # the same words again: go on
        self._advice_text = advice
        self._advice = read_advice(advice)
        if self._tries is not None:  # what it tells of one more file may be looked at
            self._files = max(self._files, len(self._asked) + 1)
        self._tries = None

    async def act(self, observation: Observation) -> str:
        self._last = self._next(observation.text)
        return self._last

    def _next(self, seen: str) -> str:
        if not self._last:
            self._paths = [p for p in observe.listed(seen) if not observe.is_test(p)]
            return _RUN
        if self._last == _RUN:
            return self._after_run(observe.report(seen))
        if '"edit_file"' in self._last:
            return self._continue() if seen.startswith("Error") else _RUN
        if page := observe.page(seen):
            self._read(*page)
        return self._continue()

    def _after_run(self, report: observe.Report) -> str:
        if report.passed:
            return _SUBMIT
        if self._report is None:
            self._report = report
            return self._continue()
        return _UNDO

    def _read(self, path: str, text: str) -> None:
        try:
            self._modules[path] = Module(path, text)
        except SyntaxError:
            return  # not a program this agent can work on

    def _continue(self) -> str:
        if self._tries is None:
            if wanted := self._to_read():
                self._asked.add(wanted)
                return json.dumps({"action": "read_file", "path": wanted})
            self._tries = [t for t in self._ranked() if t.key not in self._made]
        while self._tries:
            chosen = self._tries.pop()
            self._made.add(chosen.key)
            text = self._modules[chosen.path].text
            count = text.count(chosen.find)
            if count and _parses(text.replace(chosen.find, chosen.replace, 1)):
                return chosen.action(unique=count == 1)
        return _SUBMIT

    # --- where to look ------------------------------------------------------------------------

    def _to_read(self) -> str | None:
        """The next file that the failures lead to, if it may still be read."""
        assert self._report is not None
        if len(self._asked) >= self._files:
            return None
        named = [path for path in self._paths if path in self._advice.names]
        advised = [*named, *(edit.path for edit in self._advice.edits if edit.line)]
        if len(self._asked) >= self._set.files:
            return next((p for p in advised if p in self._paths and p not in self._asked), None)
        stopped = [path for path, _, _ in self._report.places]
        stems = [
            file.rpartition("/")[2].removeprefix("test_") for file, _ in sorted(self._report.failed)
        ]
        alike = [p for stem in stems for p in self._paths if p.rpartition("/")[2] == stem]
        called = set(self._report.calls)
        imported = [
            module.imports[name]
            for module in self._modules.values()
            for function in module.functions
            if function.name in called
            for name in sorted(function.calls)
            if name in module.imports
        ]
        for path in (*advised, *stopped, *alike, *imported):
            if path in self._paths and path not in self._asked:
                return path
        if not self._modules:
            left = [
                p for p in self._paths if p not in self._asked and not p.endswith("__init__.py")
            ]
            return left[0] if left else None
        return None

    def _suspects(self) -> Iterator[tuple[Module, Function, float]]:
        """Functions that failing tests call or came through, and those that these call."""
        assert self._report is not None
        direct = {*self._report.calls, *(name for _, _, name in self._report.places)}
        known = [(m, f) for m in self._modules.values() for f in m.functions]
        through = {
            call
            for _, f in known
            if f.name in direct or _class_name(f) in direct
            for call in f.calls
        }
        for module, function in known:
            if function.name in direct or (
                _class_name(function) in direct and function.name == "__init__"
            ):
                yield module, function, 1.0
            elif function.name in through:
                yield module, function, self._set.callee
            elif function.name in self._advice.names:
                yield module, function, 0.0

    # --- what to try --------------------------------------------------------------------------

    def _ranked(self) -> list[Try]:
        """All tries, the best last. Edits told by the advice come first where they fit exactly."""
        found: dict[Key, tuple[float, Try]] = {}
        liked = dict(self._likings)  # when it ranked for earlier advice
        for module, function, place in self._suspects():
            for start, end, new in self._changes(module, function):
                attempt = _attempt(module, function, place, start, end, new)
                key = attempt.key
                if key not in found or found[key][1].place < place:
                    liking = liked[key] if key in liked else self._rng.random()
                    self._likings[key] = liking
                    found[key] = (self._score(attempt, liking), attempt)
        ranked = [entry[1] for entry in sorted(found.values(), key=lambda entry: entry[0])]
        return [*ranked, *reversed(list(self._told()))]

    def _changes(self, module: Module, function: Function) -> Iterator[Change]:
        parts: list[ast.AST] = [*function.node.body, *function.node.args.defaults]
        if function.owner is not None:  # the values that its class gives to fields
            fields = [part for part in function.owner.body if isinstance(part, ast.AnnAssign)]
            parts += [part.value for part in fields if part.value is not None]
        for node in (node for part in parts for node in ast.walk(part)):
            for template in TEMPLATES:
                yield from template(module, node)
        yield from substituted(module, function, self._advice.substitutions)
        assert self._report is not None
        if any(error in _CRASHES for error in self._report.errors):
            yield from guards(module, function, donated(module, function))

    def _told(self) -> Iterator[Try]:
        """Edits of the advice that can be made here as they stand."""
        placed = [edit for edit in self._advice.edits if edit.line]
        for path, module in self._modules.items():
            lines = module.text.split("\n")
            for edit in reversed([edit for edit in placed if edit.path == path]):
                old = edit.old.split("\n") if edit.old else []
                if lines[edit.line - 1 : edit.line - 1 + len(old)] == old:
                    new = edit.new.split("\n") if edit.new else []
                    lines[edit.line - 1 : edit.line - 1 + len(old)] = new
            if (whole := _as_edit(path, module.text, "\n".join(lines))) is not None:
                yield whole
        for edit in self._advice.edits:
            for path, module in self._modules.items():
                fits = edit.path in (path, "") and module.text.count(edit.old) == 1
                if fits and edit.old.strip() and not edit.line and edit.trust == 1.0:
                    change = signature(edit.old, edit.new)
                    yield Try(path, 0, edit.old, edit.new, 0.0, "", change)

    def _score(self, attempt: Try, liking: float) -> float:
        own, advice = self._set, self._advice
        score = own.place * attempt.place + own.taste * liking
        assert self._report is not None
        if any((attempt.path, attempt.line) == (p, n) for p, n, _ in self._report.places):
            score += own.line
        kind = attempt.change.kind
        total = sum(advice.kinds.values())
        if total:
            score += own.kind * advice.kinds.get(kind, 0.0) / total
            score += own.alike * advice.signatures.get(attempt.change, 0.0) / total
        if kind == "guard":
            score += own.guard
        if attempt.path in advice.names or any(e.path == attempt.path for e in advice.edits):
            score += own.file
        if attempt.function in advice.names:
            score += own.name
        return score


def _class_name(function: Function) -> str:
    return function.owner.name if function.owner is not None else ""


def _as_edit(path: str, before: str, after: str) -> Try | None:
    """Two versions of a file as one edit of the lines in which they differ, and one beside them."""
    old, new = before.split("\n"), after.split("\n")
    if old == new:
        return None
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    first = max(0, head - 1)
    find = "\n".join(old[first : len(old) - tail])
    replace = "\n".join(new[first : len(new) - tail])
    return Try(path, first + 1, find, replace, 0.0, "", signature(find, replace))


def _attempt(
    module: Module, function: Function, place: float, start: int, end: int, new: str
) -> Try:
    """A change as whole lines."""
    first, last = module.lines(start, end)
    find = module.text[first:last]
    replace = module.text[first:start] + new + module.text[end:last]
    change = signature(find, replace)
    return Try(module.path, module.number(first), find, replace, place, function.name, change)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True
