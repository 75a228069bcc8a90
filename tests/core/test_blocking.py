"""Plain functions over coroutines work wherever they are called."""

import asyncio
import inspect

import pytest

import metamem
from metamem.core.blocking import blocking, finished
from metamem.evaluation.jobs import Spec


async def add_async(a: int, b: int = 1) -> int:
    """Adds, in time."""
    await asyncio.sleep(0)
    return a + b


async def fail() -> None:
    raise ValueError("no")


def test_it_keeps_its_words_and_its_signature():
    add = blocking(add_async)
    assert add(2, b=3) == 5
    assert (add.__name__, add.__doc__) == ("add", "Adds, in time.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]


async def test_it_works_and_fails_inside_a_running_loop():
    assert finished(add_async(1)) == 2
    with pytest.raises(ValueError, match="no"):
        finished(fail())


async def test_designs_are_evaluated_inside_a_running_loop(tmp_path):
    asked = {"home": tmp_path, "executor": Spec("inline")}
    (plain,) = metamem.evaluate("success_retrieval", "toy", **asked)
    (awaited,) = await metamem.evaluate_async("success_retrieval", "toy", **asked)
    assert plain == awaited and plain.complete


async def test_a_run_is_learned_inside_a_running_loop(tmp_path):
    small = {"designs": 2, "batch": 2, "confirm": 1, "confirm_seeds": 0, "shortlist": 1}
    asked = {"home": tmp_path, "executor": Spec("inline"), "control": False, "explain": False}
    plain = metamem.learn("toy", run="one", **asked, **small)
    again = await metamem.learn_async(run="one", home=tmp_path, executor=Spec("inline"))
    assert plain.summary == again.summary
