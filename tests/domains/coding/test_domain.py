"""The domain over generated bugs, over own rows and over rows of SWE-bench's form."""

import json
import pickle
import subprocess

import pytest

from metamem.core.errors import DataError, UsageError
from metamem.core.types import SPLITS
from metamem.domains.coding.actions import show
from metamem.domains.coding.domain import CodingDomain
from metamem.domains.coding.outcomes import Outcomes
from metamem.sandbox import bubblewrap
from tests.domains.coding.shop import (
    FIXED,
    OTHERS,
    PATH,
    SOURCE,
    TARGETS,
    TEST_PATH,
    TESTS,
    task_data,
)

jailed = pytest.mark.skipif(not bubblewrap.works(), reason="the isolation bwrap does not work here")


def git(folder, *words):
    who = ("-c", "user.name=x", "-c", "user.email=x@x")
    done = subprocess.run(["git", "-C", folder, *who, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


NO_PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def swebench(tmp_path):
    """One clone and one row: the tests that matter come with the test patch."""
    clone = tmp_path / "repos" / "acme__shop"
    for path, text in {
        "shop/__init__.py": "",
        PATH: SOURCE,
        TEST_PATH: "def test_old(): pass\n",
    }.items():
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        (clone / path).write_text(text)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "one")
    commit = git(clone, "rev-parse", "HEAD").strip()
    patches = []
    for path, text in ((PATH, FIXED), (TEST_PATH, TESTS)):
        (clone / path).write_text(text)
        patches.append(git(clone, "diff", "--", path))
    row = {
        "instance_id": "acme__shop-1",
        "repo": "acme/shop",
        "base_commit": commit,
        "problem_statement": "The total is wrong.",
        "patch": patches[0],
        "test_patch": patches[1],
        "FAIL_TO_PASS": json.dumps(TARGETS),
        "PASS_TO_PASS": json.dumps(OTHERS),
        "split": "test",
    }
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


@jailed
def test_rows_of_swebench_are_played_from_local_clones(swebench):
    domain = CodingDomain(str(swebench), cache="off")
    (task,) = domain.tasks("test")
    assert not domain.tasks("train") and "shop" not in task.id
    world = domain.world(task, 0)
    seen = world.reset()
    assert (
        "Failing" not in seen.text and "test_total" not in world.step(f"read_file {TEST_PATH}").text
    )
    assert world.step("submit").reward == 0.0
    assert "prices[1:]" in domain.oracle(task) and "in prices:" in domain.oracle(task)
    world.reset()
    world.step(show("edit_file", path=PATH, content=FIXED))
    assert world.step("submit").reward == 1.0
    assert (swebench / "repos/acme__shop" / PATH).read_text() == FIXED  # the clone is left alone


@jailed
def test_bad_rows_are_refused_with_a_reason(swebench):
    file = swebench / "tasks.jsonl"
    row = json.loads(file.read_text())

    def domain(**changes):
        file.write_text(json.dumps({**row, **changes}))
        return CodingDomain(str(file), cache="off")

    with pytest.raises(DataError, match="no clone"):
        domain(repo="acme/none").tasks("test")
    with pytest.raises(DataError, match="path::test"):
        domain(FAIL_TO_PASS="test_total").tasks("test")
    with pytest.raises(DataError, match="line 1: issue or problem_statement is missing"):
        domain(problem_statement=None).tasks("test")
    for changes, message in (
        ({"base_commit": "0" * 40}, "git could not read"),
        ({"base_commit": "--help"}, "not a commit"),
        ({"test_patch": NO_PATCH}, "line 1, task acme__shop-1: test_patch does not apply"),
        ({"FAIL_TO_PASS": [f"{TEST_PATH}::test_none"]}, "acme__shop-1: .*test_none is not defined"),
    ):
        broken = domain(**changes)
        with pytest.raises(DataError, match=message):
            broken.world(broken.tasks("test")[0], 0)
    unpatched = domain(patch=NO_PATCH)
    with pytest.raises(DataError, match="line 1, task acme__shop-1: patch does not apply"):
        unpatched.oracle(unpatched.tasks("test")[0])
    unsolved = domain(patch=None)
    assert unsolved.oracle(unsolved.tasks("test")[0]) == ""
    file.write_text("{")
    with pytest.raises(DataError, match="line 1"):
        CodingDomain(str(file), cache="off").tasks("test")
    with pytest.raises(UsageError, match="no coding tasks"):
        CodingDomain(str(swebench / "none"), cache="off").tasks("test")


def test_rows_without_splits_are_dealt_disjointly_and_shift_has_its_own_projects(tmp_path):
    rows = [
        {"id": f"{p}-{n}", "project": f"p{p}", "issue": "s", **task_data()}
        for p in range(5)
        for n in range(6)
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)))
    domain = CodingDomain(str(tmp_path), cache="off")
    ids = [task.id for split in SPLITS for task in domain.tasks(split)]
    assert len(ids) == len(set(ids)) == 30
    kinds = {split: {task.kind for task in domain.tasks(split)} for split in SPLITS}
    assert not kinds["shift"] & (kinds["train"] | kinds["valid"] | kinds["test"])
    assert len(CodingDomain(str(tmp_path), train=2, cache="off").tasks("train")) == 2


def test_generated_tasks_are_stable_disjoint_and_named_by_a_version():
    domain = CodingDomain(train=4, valid=3, test=2, shift=2, cache="off")
    assert [len(domain.tasks(split)) for split in SPLITS] == [4, 3, 2, 2]
    again = pickle.loads(pickle.dumps(domain))
    assert again.version == domain.version
    assert [again.tasks(s) for s in SPLITS] == [domain.tasks(s) for s in SPLITS]
    versions = {
        domain.version,
        CodingDomain(seed=1, cache="off").version,
        CodingDomain(cache="off").version,
    }
    assert len(versions) == 3
    # Results that are on record name their data so: another name, and none of them counts.
    assert CodingDomain(cache="off").version == "generated-cdbcbc877112248e"
    with pytest.raises(UsageError):
        domain.tasks("exam")
    with pytest.raises(UsageError):
        CodingDomain(train=-1)


@jailed
@pytest.mark.parametrize("split", SPLITS)
def test_the_fix_of_a_generated_task_gets_all_and_the_oracle_names_it(split):
    domain = CodingDomain(train=2, valid=2, test=2, shift=2, cache="off")
    for task in domain.tasks(split):
        world = domain.world(task, 0)
        seen = world.reset()
        fix = task.data["fix"]
        told = domain.oracle(task)
        assert all(path in told for path in fix)
        assert not any(line in seen.text for line in told.splitlines() if len(line.strip()) > 12)
        for path, content in fix.items():
            world.step(show("edit_file", path=path, content=content))
        assert world.step("submit").reward == 1.0
        assert domain.world(task, 0).reset() == seen


def test_the_table_of_outcomes_is_bounded_and_survives_rubbish(tmp_path):
    outcomes = Outcomes(tmp_path, most=10)
    for n in range(600):
        outcomes.put(f"k{n}", {"n": n})
    assert outcomes.get("k599") == {"n": 599}
    assert outcomes.get("k0") is None
    outcomes.put("text", "\udcff")
    assert outcomes.get("text") == "\udcff"
    (tmp_path / "coding.sqlite").write_bytes(b"rubbish" * 1000)
    for name in ("coding.sqlite-wal", "coding.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    broken = Outcomes(tmp_path)
    broken.put("k", 1)
    assert broken.get("k") is None


@jailed
def test_what_was_merged_is_told_when_all_is_over_and_not_before():
    domain = CodingDomain(train=2, cache="off")
    for task in domain.tasks("train"):
        world = domain.world(task, 0)
        merged = task.data["merged"]
        assert merged and merged not in world.reset().text
        assert merged not in world.step("run_command pytest -q").text
        assert merged in world.step("submit").text


def test_tasks_of_a_project_have_an_order_of_time():
    domain = CodingDomain(cache="off")
    times = [
        task.data["time"]
        for split in ("train", "valid", "test")
        for task in domain.tasks(split)
        if task.data["project"] == "bakery"
    ]
    assert times == sorted(set(times)) and len(times) > 30


def test_with_a_memory_for_each_project_tasks_are_streams_in_the_order_of_time():
    shared, own = CodingDomain(shift=20), CodingDomain(shift=20, memory="project")
    assert own.version != shared.version  # what a score depends on differs
    tasks = own.tasks("shift")
    assert sorted(task.id for task in tasks) == sorted(task.id for task in shared.tasks("shift"))
    for group in {task.group for task in tasks}:
        times = [task.data["time"] for task in tasks if task.group == group]
        assert times == sorted(times) and len(times) == 5
    assert own.streams == {"memory": "project"}
    with pytest.raises(UsageError, match="no memory 'alone'"):
        CodingDomain(memory="alone")
