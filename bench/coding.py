"""What one test run costs in the coding world, beside pytest in a bare process.

python -m bench.coding            wall clock, median of several runs in turns
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from metamem.domains.coding.actions import show
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.outcomes import Outcomes
from metamem.domains.coding.tree import write_tree
from metamem.domains.coding.workbench import Workbench

ROUNDS = 5
EPISODES = 6


def milliseconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1e3


def measure_runs(scratch: Path) -> dict[str, float]:
    """The same tests of the same tree in four ways, taking turns so that all meet the same load."""
    task = CodingDomain(train=1, cache="off").tasks("train")[0]
    files = task.data["files"]
    tests = [*task.data["fail_to_pass"], *task.data["pass_to_pass"]]
    tree = scratch / "tree"
    write_tree(files, tree)
    plain, kept = Workbench(Outcomes(None)), Workbench(Outcomes(scratch / "cache"))
    bare = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tree)]
    environment = {"PATH": os.defpath, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ways: dict[str, Callable[[], object]] = {
        "agent_ms": lambda: plain.command(files, "pytest -q"),
        "score_ms": lambda: plain.passed(files, tests),
        "agent_cached_ms": lambda: kept.command(files, "pytest -q"),
        "score_cached_ms": lambda: kept.passed(files, tests),
    }
    if importlib.util.find_spec("pytest"):
        ways["bare_pytest_ms"] = lambda: subprocess.run(
            bare, cwd=tree, env=environment, capture_output=True
        )
    for run in ways.values():
        run()  # bytecode, page cache and our own cache are warm for all
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            times[name].append(milliseconds(run))
    return {name: round(statistics.median(values), 2) for name, values in times.items()}


def measure_episodes(folder: Path) -> dict[str, float]:
    """Episodes that run the tests, mend the fault, run the tests and submit; then once more."""
    domain = CodingDomain(train=EPISODES, cache=str(folder))
    per_second = {}
    for name in ("episodes_per_s", "episodes_again_per_s"):
        began = time.perf_counter()
        for task in domain.tasks("train"):
            world = domain.world(task, 0)
            world.reset()
            world.step("run_command pytest -q")
            for path, content in task.data["fix"].items():
                world.step(show("edit_file", path=path, content=content))
            world.step("run_command pytest -q")
            assert world.step("submit").reward == 1.0
        per_second[name] = round(EPISODES / (time.perf_counter() - began), 1)
    return per_second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = measure_runs(Path(scratch)) | measure_episodes(Path(scratch, "episodes"))
    if chosen.json:
        print(json.dumps(result))
        return 0
    bare = result.get("bare_pytest_ms")
    print(f"pytest in a bare process, no jail: {f'{bare} ms' if bare else 'not installed'}")
    for name, what in (
        ("agent_ms", "an agent's test run, jailed"),
        ("score_ms", "a scoring run, jailed and guarded"),
        ("agent_cached_ms", "an agent's test run, seen before"),
        ("score_cached_ms", "a scoring run, seen before"),
    ):
        ratio = f" = {bare / result[name]:.1f} times as fast" if bare else ""
        print(f"{what}: {result[name]} ms{ratio}")
    print(
        f"episodes/s with two test runs and a score: {result['episodes_per_s']} at first,"
        f" {result['episodes_again_per_s']} when seen before"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
