"""A project of one task: some functions of the library, one of them with another form of a slot.

Names, forms, order, modules and the functions themselves are drawn for the task. Expected values
of the tests come from the sound sources, so a fault is a fault by the tests alone.
"""

import ast
import random
from collections.abc import Sequence
from dataclasses import dataclass

from metamem.core.ids import content_id
from metamem.domains.coding.projects.bug import Bug, Difficulty
from metamem.domains.coding.projects.habits import Habits
from metamem.domains.coding.projects.library import MAIN, Function
from metamem.domains.coding.projects.symptom import tell
from metamem.domains.coding.projects.variant import (
    NAMES,
    Call,
    Outcome,
    calls_of,
    draw,
    outcomes,
    own_names,
    written,
)

_OTHERS = (3, 5)  # functions beside the faulty one, fewest and most
_TESTED = 3  # calls of those that are tested
_INDIRECT = 0.2  # share of faults that show in another function, which calls the faulty one
_LONG = 9  # lines from which a function counts as more than easy


@dataclass(frozen=True, slots=True)
class _Part:
    """A function as the task has it: sound and, where it is the faulty one, faulty."""

    name: str
    sound: str
    faulty: str
    calls: tuple[Call, ...]
    wanted: tuple[Outcome, ...]
    seen: tuple[Outcome, ...]
    needs: str = ""  # another part that it calls

    @property
    def shows(self) -> bool:
        return self.wanted != self.seen


def compose(
    project: Habits, pool: Sequence[Function], kind: str, time: int, rng: random.Random
) -> Bug | None:
    """A bug of a kind, or None where the fault that was drawn does not show."""
    fitting = [(f, n) for f in pool for n, slot in enumerate(f.slots) if slot.kind == kind]
    function, place = rng.choice(fitting)
    names = _Namer(project, rng)
    parts = [_faulty(function, place, names, rng)]
    if not parts[0].shows:
        return None
    indirect = rng.random() < _INDIRECT
    if indirect and (caller := _caller(parts[0], names)) is not None and caller.shows:
        parts = [_untested(parts[0]), caller]
    others = [other for other in pool if other is not function]
    count = min(rng.randint(*_OTHERS), len(others))
    parts += [_sound(other, names, rng) for other in rng.sample(others, count)]
    return _laid_out(project, parts, function, kind, time, rng)


class _Namer:
    """Names in the words of a project, each given once."""

    def __init__(self, project: Habits, rng: random.Random) -> None:
        self._rng = rng
        self._functions = [f"{verb}_{noun}" for verb in project.verbs for noun in project.nouns]
        self._classes = [
            f"{noun.title()}{end}" for noun in project.nouns for end in ("Book", "Box")
        ]
        self._nouns = project.nouns
        rng.shuffle(self._functions)
        rng.shuffle(self._classes)

    def top(self, function: Function) -> str:
        is_class = function.pieces[0].lstrip().startswith("class ")
        return (self._classes if is_class else self._functions).pop()

    def caller(self) -> str:
        return self._functions.pop()

    def inside(self, function: Function) -> dict[str, str]:
        own = own_names(function)
        return dict(zip(own, self._rng.sample(NAMES, len(own)), strict=True))

    def summary(self, function: Function) -> str:
        noun = self._rng.choice(self._nouns)
        text = function.summary.replace("%s", noun + "s")
        return text[0].upper() + text[1:]


def _sound(function: Function, names: _Namer, rng: random.Random) -> _Part:
    chosen = draw(function, rng)
    return _part(function, chosen, chosen, names, rng, most=_TESTED)


def _faulty(function: Function, place: int, names: _Namer, rng: random.Random) -> _Part:
    chosen = draw(function, rng)
    forms = [n for n in range(len(function.slots[place].forms)) if n != chosen[place]]
    wrong = (*chosen[:place], rng.choice(forms), *chosen[place + 1 :])
    return _part(function, chosen, wrong, names, rng, most=len(function.calls))


def _part(
    function: Function,
    chosen: Sequence[int],
    wrong: Sequence[int],
    names: _Namer,
    rng: random.Random,
    most: int,
) -> _Part:
    top = names.top(function)
    given = {**names.inside(function), MAIN: top}
    summary = names.summary(function)
    sound = faulty = written(function, chosen, given, summary)
    calls = calls_of(function, top)
    wanted = seen = outcomes(sound, calls)
    if wrong != chosen:
        faulty = written(function, wrong, given, summary)
        seen = outcomes(faulty, calls)
    rows = list(zip(calls, wanted, seen, strict=True))
    rows = [row for row in rows if row[1].meant]
    rng.shuffle(rows)
    rows = rows[:most]
    return _Part(
        top,
        sound,
        faulty,
        calls=tuple(call for call, _, _ in rows),
        wanted=tuple(outcome for _, outcome, _ in rows),
        seen=tuple(outcome for _, _, outcome in rows),
    )


def _caller(part: _Part, names: _Namer) -> _Part | None:
    """A function that calls the faulty one for many; None where its calls cannot be put so."""
    rows = [_arguments(call) for call, want in zip(part.calls, part.wanted, strict=True)
            if not want.error]  # fmt: skip
    told = [row for row in rows if row is not None]
    if len(told) < 2 or part.sound.startswith("class "):
        return None
    top = names.caller()
    source = f"def {top}(batch):\n    return [{part.name}(*each) for each in batch]\n"
    pairs = [*zip(told[::2], told[1::2], strict=False)]
    calls = tuple(Call((), f"{top}([{one}, {two}])") for one, two in pairs)
    wanted, seen = (tuple(outcomes(text + source, calls)) for text in (part.sound, part.faulty))
    return _Part(top, source, source, calls, wanted, seen, needs=part.name)


def _arguments(call: Call) -> str | None:
    """What is handed over by place, as a tuple."""
    node = ast.parse(call.shown, mode="eval").body
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords
    if call.before or not plain:
        return None
    return ast.unparse(ast.Tuple(node.args, ast.Load()))  # type: ignore[attr-defined]


def _untested(part: _Part) -> _Part:
    return _Part(part.name, part.sound, part.faulty, (), (), ())


def _laid_out(
    project: Habits,
    parts: list[_Part],
    function: Function,
    kind: str,
    time: int,
    rng: random.Random,
) -> Bug | None:
    modules = rng.sample(project.modules, rng.randint(2, len(project.modules)))
    homes = {part.name: modules[n % len(modules)] for n, part in enumerate(parts)}
    rng.shuffle(parts)
    name, fault = project.project, next(part for part in parts if part.sound != part.faulty)
    sound = {f"{name}/__init__.py": f'"""What the {name} needs."""\n'}
    faulty = dict(sound)
    fails: list[str] = []
    passes: list[str] = []
    story = ""
    for module in modules:
        own = [part for part in parts if homes[part.name] == module]
        head = "".join(
            f"from {name}.{homes[part.needs]} import {part.needs}\n"
            for part in own
            if part.needs and homes[part.needs] != module
        )
        head = f'"""Of the {module}."""\n' + (f"\n{head}" if head else "")
        path, test_path = f"{name}/{module}.py", f"tests/test_{module}.py"
        sound[path] = "\n\n".join([head, *(part.sound for part in own)])
        faulty[path] = "\n\n".join([head, *(part.faulty for part in own)])
        tested = [part for part in own if part.calls]
        if not tested:
            continue
        texts = [f"from {name}.{module} import {', '.join(sorted(p.name for p in tested))}\n"]
        if any(wanted.error for part in tested for wanted in part.wanted):
            texts[0] = "import pytest\n" + texts[0]
        for part in tested:
            for n, row in enumerate(zip(part.calls, part.wanted, part.seen, strict=True), 1):
                call, wanted, seen = row
                test = f"test_{part.name.lower()}_{n}"
                texts.append(_test(test, call, wanted))
                (passes if seen == wanted else fails).append(f"{test_path}::{test}")
                if seen != wanted and not story:
                    story = tell(name, call, seen, wanted, rng.randrange(1 << 30))
        sound[test_path] = faulty[test_path] = "\n\n".join(texts)
    if not fails or len(fails) >= len(passes):
        return None
    return Bug(
        id=f"{name}-{content_id(faulty, sound)[:10]}",
        project=name,
        family=kind,
        source=function.name,
        difficulty=_difficulty(fault),
        time=time,
        statement=story,
        files=dict(sorted(faulty.items())),
        fix={path: text for path, text in sound.items() if faulty[path] != text},
        fail_to_pass=tuple(fails),
        pass_to_pass=tuple(passes),
    )


def _test(name: str, call: Call, wanted: Outcome) -> str:
    if wanted.error:  # whichever of the statements raises it
        inside = "".join(f"        {line}\n" for line in (*call.before, call.shown))
        return f"def {name}():\n    with pytest.raises({wanted.error}):\n{inside}"
    before = "".join(f"    {line}\n" for line in call.before)
    return f"def {name}():\n{before}    assert {call.shown} == {wanted.value!r}\n"


def _difficulty(fault: _Part) -> Difficulty:
    if not fault.calls:
        return "hard"
    return "easy" if fault.sound.count("\n") < _LONG else "medium"
