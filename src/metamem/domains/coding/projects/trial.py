"""Run a project's tests on a version of its files, each version in a process of its own."""

import ast
import importlib
import multiprocessing
import resource
import signal
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from metamem.core.errors import DataError
from metamem.domains.coding.projects.symptom import Symptom, symptom_of
from metamem.domains.coding.projects.tree import is_test

SECONDS = 1.0  # of CPU time for one test: a version that needs more is not used
MEMORY = 2 << 30


class _TooLong(BaseException):
    pass


def run_tests(files: dict[str, str]) -> dict[str, Symptom | None]:
    """Test id → what went wrong, or None where it passed."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(files, there))
    child.start()
    there.close()
    try:
        outcome: dict[str, Symptom | None] = here.recv()
    except EOFError as error:
        raise DataError("the tests ended without a word") from error
    finally:
        child.join()
    return outcome


def _in_child(files: dict[str, str], answer: Connection) -> None:
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _stop)
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        outcome = {}
        for path in sorted(filter(is_test, files)):
            outcome.update(_run_module(Path(folder), path, files[path]))
    answer.send(outcome)


def _run_module(folder: Path, path: str, text: str) -> dict[str, Symptom | None]:
    names = [
        node.name
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    sys.path.insert(0, str(folder / "tests"))
    try:
        module = importlib.import_module(Path(path).stem)
    except Exception as error:
        return {f"{path}::{name}": Symptom("import", repr(error)) for name in names}
    finally:
        sys.path.pop(0)
    return {f"{path}::{name}": _run_one(module, name, text) for name in names}


def _run_one(module: Any, name: str, text: str) -> Symptom | None:
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        getattr(module, name)()
    except _TooLong:
        return Symptom("hang")
    except BaseException as error:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return symptom_of(error, _frame_of(error.__traceback__, module.__file__), text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def _frame_of(trace: TracebackType | None, file: str) -> tuple[FrameType, int] | None:
    """The frame of the test itself and the line it stopped at."""
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            return trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    return None


def _stop(number: int, frame: FrameType | None) -> None:
    raise _TooLong
