"""A line that ends well says nothing of a program whose failing it hides."""

import pytest

from metamem.foundry.failures.intent import came
from metamem.foundry.failures.linking import Resolved, Unresolved, link
from metamem.foundry.words import Trace, Use

DEPLOY = "Error: quota is used up"


def run(command: str, output: str = "", code: int = 0) -> Use:
    return Use(command, "Bash", {"command": command}, output, failed=code != 0, exit_code=code)


def linked(*uses: Use) -> Resolved | Unresolved:
    return link(Trace("t/project/p", "claude", "s", uses))[0]


HIDDEN = [
    ("./deploy.sh || true", DEPLOY),
    ("./deploy.sh || :", ""),
    ("./deploy.sh; true", ""),
    ("./deploy.sh 2>/dev/null; echo done", "done"),
    ("./deploy.sh; echo 'deployed successfully'", "deployed successfully"),
    ("./deploy.sh || echo failed", "failed"),
    ("set +e\n./deploy.sh\necho over", "over"),
    ("set -e; set +e; ./deploy.sh; echo over", "over"),
    ("./deploy.sh 2>&1 | tail -5", "step 1\nstep 2"),
    ("./deploy.sh | head -3", "step 1"),
    ("./deploy.sh | cat", ""),
    ("./deploy.sh 2>&1 | tee log.txt", DEPLOY),
    ("./deploy.sh; echo $?", "1"),
    ("./deploy.sh; echo \"exit: $?\"", DEPLOY + "\nexit: 1"),
    ("if ./deploy.sh; then echo yes; fi", ""),
    ("! ./deploy.sh", DEPLOY),
    ("./deploy.sh; git status", "clean"),
    ("./deploy.sh || ./rollback.sh", "back again"),
    ("./deploy.sh || true && echo passed", "passed"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output"), HIDDEN)
def test_what_hides_a_failure_resolves_none(command: str, output: str) -> None:
    found = linked(run("./deploy.sh", DEPLOY, 1), run(command, output))
    assert isinstance(found, Unresolved)
    assert [attempt.came for attempt in found.trajectory] == ["unknown"]


SHOWN = [
    ("./deploy.sh && echo done", "done"),
    ("cd app && ./deploy.sh", ""),
    ("set -e; ./deploy.sh; echo over", "over"),
    ("set -euo pipefail\n./deploy.sh 2>&1 | tail -5", "step 1"),
    ("set -o pipefail; ./deploy.sh | cat", ""),
    ("./deploy.sh || exit 1", ""),
    ("./deploy.sh || { echo failed; exit 1; }", "step 1"),
    ("./deploy.sh || echo failed", "step 1"),
    ("./deploy.sh; echo $?", "step 1\n0"),
    ("./deploy.sh; echo \"exit: $?\"", "exit: 0"),
    ("./deploy.sh; exit $?", ""),
    ("./deploy.sh 2>&1 | tail -5", "step 2\nDeployed 3 files successfully"),
    ("./deploy.sh || true", "3 passed, 0 failed"),
    ("true; ./deploy.sh", ""),
    ("echo yes | ./deploy.sh", ""),
]  # fmt: skip


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_what_ends_or_says_that_it_worked_does(command: str, output: str) -> None:
    found = linked(run("./deploy.sh", DEPLOY, 1), run(command, output))
    assert isinstance(found, Resolved) and found.by.id == command


def test_a_step_that_hides_its_end_explains_a_success_where_it_shows_no_failure() -> None:
    missing = run("python -m app", "ModuleNotFoundError: No module named 'httpx'", 1)
    found = linked(missing, run("pip install httpx 2>&1 | tail -1", ""), run("python -m app"))
    assert isinstance(found, Resolved) and found.kind == "step"
    failed = run("pip install httpx | tail -1", "ERROR: No matching distribution found")
    found = linked(missing, failed, run("python -m app"))
    assert isinstance(found, Resolved) and found.kind == "again"


@pytest.mark.parametrize(
    ("command", "output", "as_it_came"),
    [
        ("pytest -q | tail -3", "1 failed, 2 passed", "unknown"),
        ("pytest -q | tail -3", "3 passed in 0.1s", "worked"),
        ("cat a.txt | head -3", "text", "worked"),
        ("make; git status", "clean", "worked"),  # of all that it is for, something was seen
        ("serve & echo begun", "begun", "worked"),
        ("grep -c x a.txt || true", "0", "unknown"),
    ],
)
def test_how_a_line_came_out(command: str, output: str, as_it_came: str) -> None:
    assert came(run(command, output)) == as_it_came
