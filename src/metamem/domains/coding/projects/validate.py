"""Make the catalogue: try every fault on its project's tests and keep those that can be told.

`python -m metamem.domains.coding.projects.validate` (needs pytest; a minute or two).
"""

import ast
import importlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

from metamem.core.errors import DataError
from metamem.core.ids import derive_seed
from metamem.domains.coding.projects.bug import Difficulty
from metamem.domains.coding.projects.entry import CATALOGUE, Entry, faulty_text, tests_of
from metamem.domains.coding.projects.mutate import Mutation, as_lines, mutations
from metamem.domains.coding.projects.symptom import Symptom, tell
from metamem.domains.coding.projects.tree import PROJECTS, UNSEEN, clean_tree, is_test
from metamem.domains.coding.projects.trial import run_tests

WRITTEN = Path(__file__).with_name("written.toml")
_EASY = ("boundary", "condition", "default", "normalisation", "off_by_one", "operator")
_TELLABLE = ("value", "error", "accepted", "untrue")


def written_entries() -> Iterator[Entry]:
    """The faults written by hand; each must be a fault."""
    for data in tomllib.loads(WRITTEN.read_text(encoding="utf-8"))["bug"]:
        project, path = data["project"], data["path"]
        text = clean_tree(project)[path]
        if text.count(data["clean"]) != 1:
            raise DataError(f"{path}: {data['clean']!r} is not there once")
        change = as_lines(data["family"], path, text, text.replace(data["clean"], data["faulty"]))
        failed = failures(project, change)
        if not failed:
            raise DataError(f"{path}: no test fails, or too much does: {data['faulty']!r}")
        yield _entry(project, change, data["difficulty"], data["statement"], failed, written=True)


def generated_entries(project: str) -> Iterator[Entry]:
    for path, text in clean_tree(project).items():
        if is_test(path):
            continue
        for change in mutations(path, text):
            failed = failures(project, change)
            told = [s for s in failed.values() if s.kind in _TELLABLE]
            if failed and told:
                seed = derive_seed("statement", project, path, change.line, change.faulty)
                words = tell(project, told[0], seed)
                yield _entry(project, change, _difficulty(change, text, told), words, failed)


def failures(project: str, change: Mutation) -> dict[str, Symptom]:
    """What fails with the fault; nothing where it shows too little, too much, or hangs."""
    files = clean_tree(project)
    files[change.path] = faulty_text(files[change.path], change.line, change.clean, change.faulty)
    outcome = run_tests(files)
    failed = {test: symptom for test, symptom in outcome.items() if symptom is not None}
    if any(symptom.kind in ("hang", "import") for symptom in failed.values()):
        return {}
    return failed if len(failed) <= len(tests_of(project)) // 3 else {}


def _difficulty(change: Mutation, text: str, told: list[Symptom]) -> Difficulty:
    """Hard where the function that users call is not the one at fault."""
    function = _function_at(text, change.line)
    if not any(function in symptom.code for symptom in told):
        return "hard"
    return "easy" if change.family in _EASY and len(told) > 1 else "medium"


def _function_at(text: str, line: int) -> str:
    names = [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return names[-1] if names else ""


def _entry(
    project: str,
    change: Mutation,
    difficulty: Difficulty,
    statement: str,
    failed: dict[str, Symptom],
    written: bool = False,
) -> Entry:
    return Entry(
        project=project,
        family=change.family,
        difficulty=difficulty,
        path=change.path,
        line=change.line,
        clean=change.clean,
        faulty=change.faulty,
        statement=statement,
        fails=tuple(failed),
        written=written,
    )


def main() -> None:
    importlib.import_module("pytest")  # once, before the processes are forked
    for project in (*PROJECTS, UNSEEN):
        if broken := [test for test, symptom in run_tests(clean_tree(project)).items() if symptom]:
            raise DataError(f"{project}: the clean sources fail {broken}")
    kept = {entry.id: entry for entry in written_entries()}
    print(f"written by hand: {len(kept)}")
    for project in (*PROJECTS, UNSEEN):
        before = len(kept)
        for entry in generated_entries(project):
            kept.setdefault(entry.id, entry)
        print(f"{project}: {len(kept) - before} more")
    CATALOGUE.write_text("".join(f"{e.to_json()}\n" for e in kept.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
