"""What the checks are made of. Plain functions: `assert` could be switched off."""

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from metamem.core.errors import MetamemError
from metamem.core.types import Advice, CaseResult, Design, Episode, Fingerprint, Measurement, Step
from metamem.store.archive import Archive

Opener = Callable[[], Archive]
Check = Callable[[Opener], None]

# NUL, DLE, a lone surrogate, quotes, a newline of each kind, and signs beyond the basic plane.
ODD_TEXT = "a\x00b\x10\x100041 \ud800 'q' \"Q\" \r\n\u2028 ü 記憶 🧠 \\u0000 %s ? {}"


def same(actual: Any, expected: Any, about: str = "") -> None:
    if actual != expected:
        raise AssertionError(f"{about or 'this'} is {actual!r}, and should be {expected!r}")


@contextmanager
def refused(kind: type[MetamemError], *words: str) -> Iterator[None]:
    """Demand an error of exactly that kind whose text has all the words."""
    try:
        yield
    except MetamemError as error:
        if type(error) is not kind:
            raise AssertionError(f"raised {type(error).__name__}, not {kind.__name__}") from error
        for word in words:
            if word not in str(error):
                raise AssertionError(f"{word!r} is not in the message {str(error)!r}") from error
    else:
        raise AssertionError(f"nothing was refused; {kind.__name__} was due")


def in_child(action: Callable[[], None]) -> int:
    """Run in a forked child; its wait status: 0 when the action returned, 9 after a kill -9."""
    return in_children([action])[0]


def in_children(actions: Sequence[Callable[[], None]]) -> list[int]:
    """Run each in a forked child of its own, all at once; their wait statuses."""
    children = []
    for action in actions:
        child = os.fork()
        if child == 0:
            try:
                action()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    return [os.waitpid(child, 0)[1] for child in children]


def design(number: int = 0) -> Design:
    return Design(f"# memory {number}\n", name=f"memory {number}")


def fingerprint(of: Design, *, split: str = "train", seed: int = 0) -> Fingerprint:
    return Fingerprint(
        design=of.id,
        domain="toy",
        data_version="1",
        split=split,
        rules={"repeats": 3, "mode": "frozen", "rate": 0.1},
        agent="reader",
        models={"default": "none"},
        embedder="hashed",
        toolbox="1",
        limits={"calls": 10},
        seed=seed,
    )


def row(task_id: str = "task", repeat: int = 0, reward: float = 0.1) -> CaseResult:
    return CaseResult(
        task_id=task_id,
        repeat=repeat,
        reward=reward,
        steps=7,
        advice_tokens=120,
        advice_truncated=True,
        advice_digest="d1",
        actions_digest="0123456789abcdef",
        model_calls=2,
        tokens=345,
        failure="",
        measured=Measurement(seconds=1.5, retrieve_ms=0.7),
    )


def episode(task_id: str = "task", text: str = "a room") -> Episode:
    steps = (Step("look", text, ("go", "stay"), 0.1, False), Step("go", "", (), 1.0, True))
    advice = (Advice(text, 3, True), Advice())
    return Episode(task_id, "leave", text, ("look", "go"), steps, 1.1, advice)


def with_evaluation(archive: Archive, *, planned: int = 100) -> str:
    """An archive's first design and evaluation."""
    archive.add_design(design())
    return archive.open_evaluation(fingerprint(design()), planned)
