"""`python -m pytest [path | path::test] ... [-x] [-k WORD]`: what an agent runs by itself."""
# ruff: noqa: PTH113, PTH123 (pathlib costs more to import than most tests to run)

import os
import sys

from pytest import Skipped
from pytest._collect import collect, compile_tests, import_paths, new_module

KIT = "/testkit/"


def main(words):
    word = words[words.index("-k") + 1] if "-k" in words[:-1] else ""
    wanted = [w for w in words if not w.startswith("-") and w != word] or ["."]
    counts = {"failed": 0, "passed": 0, "skipped": 0}
    for path, names in _files(wanted):
        for outcome in _run_file(path, names, word):
            counts[outcome] += 1
            if outcome == "failed" and "-x" in words:
                return _sum_up(counts)
    return _sum_up(counts)


def _sum_up(counts):
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n) or "no tests ran")
    return 1 if counts["failed"] else 0 if counts["passed"] else 5


def _files(wanted):
    """Test files with the tests asked for in each; an empty list stands for all."""
    chosen = {}
    for word in wanted:
        path, _, name = word.partition("::")
        files = [path] if os.path.isfile(path) else list(_under(path))
        if not files:
            print(f"ERROR: no test file found: {path}")
            raise SystemExit(4)
        for file in files:
            names = chosen.setdefault(os.path.relpath(file), [])
            names += [name] if name else []
    return sorted(chosen.items())


def _under(folder):
    for place, _, files in os.walk(folder):
        for file in files:
            if file.endswith("_test.py") or (file.startswith("test_") and file.endswith(".py")):
                yield f"{place}/{file}"


def _run_file(path, names, word):
    sys.path[:] = [p for p in sys.path if p] + import_paths(path)
    try:
        module = new_module(path)
        sys.modules[module.__name__] = module
        with open(path, encoding="utf-8") as source:
            code, _ = compile_tests(source.read(), path)
        exec(code, module.__dict__)
        items = collect(module.__dict__)
    except BaseException as error:
        _report(path, error)
        yield "failed"
        return
    for name, _, call in items:
        if (not names or _named(name, names)) and word in name:
            yield _run(call, f"{path}::{name}")


def _named(name, names):
    return any(name == n or name.startswith((f"{n}[", f"{n}::")) for n in names)


def _run(call, name):
    try:
        call()
    except Skipped:
        print(f"SKIPPED {name}")
        return "skipped"
    except BaseException as error:
        _report(name, error)
        return "failed"
    return "passed"


def _report(name, error):
    import traceback

    print(f"FAILED {name}")
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith((KIT, "<")):
            print(
                f"    {frame.filename.removeprefix('/workspace/')}:{frame.lineno}: in {frame.name}"
            )
            print(f"        {frame.line}")
    said = traceback.format_exception_only(error)[-1].strip()
    print(f"    E   {said[:1000]}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
