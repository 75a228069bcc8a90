"""Try the library: every form of every slot, every bug of the first seeds.

python -m metamem.domains.coding.projects.validate [SEEDS]
"""

import itertools
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from types import FrameType

from metamem.core.types import SPLITS
from metamem.domains.coding.projects.deal import bugs, dealt
from metamem.domains.coding.projects.library import MAIN, STYLE, Function, functions
from metamem.domains.coding.projects.variant import calls_of, outcomes

SECONDS = 2  # of CPU time for all calls of one version
MOST = 200  # versions of a function that are tried


def complaints(function: Function) -> Iterator[str]:
    """What is wrong with a function of the library: forms that nothing tells apart, endless calls."""
    calls = calls_of(function, MAIN)
    versions = list(itertools.product(*(range(len(slot.forms)) for slot in function.slots)))
    if len(versions) > MOST:
        versions = random.Random(0).sample(versions, MOST)
    apart: Counter[tuple[int, int, int]] = Counter()
    for chosen in versions:
        wanted = outcomes(function.text(chosen), calls)
        if sum(outcome.meant for outcome in wanted) < 2:
            yield f"{function.name} {chosen}: fewer than two calls can be tested"
        for place, slot in enumerate(function.slots):
            for form in range(len(slot.forms)):
                other = (*chosen[:place], form, *chosen[place + 1 :])
                seen = outcomes(function.text(other), calls)
                differs = any(w.meant and w != s for w, s in zip(wanted, seen, strict=True))
                apart[place, chosen[place], form] += differs
                if differs and slot.kind == STYLE:
                    yield f"{function.name}: the style {slot.forms[form]!r} changes what is done"
    for place, slot in enumerate(function.slots):
        for one, two in itertools.combinations(range(len(slot.forms)), 2):
            told = apart[place, one, two] and apart[place, two, one]
            if not told and slot.kind != STYLE:
                yield f"{function.name}: {slot.forms[one]!r} and {slot.forms[two]!r} are not told apart"


def unsound(split: str, seed: int) -> Iterator[str]:
    """Bugs whose tests do not tell the fault from the repair."""
    for bug in bugs(split, seed):
        targets = frozenset(bug.fail_to_pass)
        if failing(bug.files) != targets or failing({**bug.files, **bug.fix}):
            yield f"{split} {seed}: {bug.id} of {bug.source}"


def failing(files: dict[str, str]) -> frozenset[str]:
    """The tests that fail, by running each in this process; all sources are the library's own."""
    modules: dict[str, dict[str, object]] = {}
    for path in sorted(files, key=lambda path: "import" in files[path]):
        if not path.startswith("tests/"):
            modules[path] = {}
            exec(_without_imports(files[path]), _seeing(modules, modules[path]))
    failed = set()
    for path, text in files.items():
        if not path.startswith("tests/"):
            continue
        scope = _seeing(modules, {"pytest": _Raises})
        exec(_without_imports(text), scope)
        for name, test in list(scope.items()):
            if name.startswith("test_") and not _passes(test):
                failed.add(f"{path}::{name}")
    return frozenset(failed)


class _Raises:
    """The one thing that the tests use of pytest."""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error

    @classmethod
    def raises(cls, error: type[Exception]) -> "_Raises":
        return cls(error)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        assert kind is not None
        return issubclass(kind, self._error)


def _seeing(modules: dict[str, dict[str, object]], scope: dict[str, object]) -> dict[str, object]:
    for other in modules.values():
        scope.update({k: v for k, v in other.items() if k not in scope})
    return scope


def _without_imports(text: str) -> str:
    lines = (line for line in text.split("\n") if not line.startswith(("import ", "from ")))
    return "\n".join(lines)


def _passes(test: object) -> bool:
    try:
        test()  # type: ignore[operator]
    except Exception:
        return False
    return True


def main(words: Sequence[str]) -> int:
    began = time.process_time()
    signal.signal(signal.SIGVTALRM, _stop)
    wrong: list[str] = []
    for function in functions():
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS * len(function.slots) * 10)
        try:
            wrong += dict.fromkeys(complaints(function))
        except TimeoutError:
            wrong.append(f"{function.name}: a version does not come to an end")
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    made = 0
    for seed in range(int(words[0]) if words else 3):
        for split in SPLITS:
            wrong += unsound(split, seed)
            made += len(bugs(split, seed))
        sizes = {name: len(pool) for name, pool in dealt(seed).items()}
        print(f"seed {seed}: functions in pools {sizes}")
    for line in wrong:
        print(line)
    print(
        f"{len(functions())} functions and {made} bugs tried, {len(wrong)} complaints,"
        f" {time.process_time() - began:.1f} s of CPU"
    )
    return 1 if wrong else 0


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
