"""A word that an error does not know, put right in the same command, is the same intent; another word is not."""

import pytest

from metamem.foundry.failures.intent import same_intent
from metamem.foundry.words import Use

NO_RULE = "make: *** No rule to make target '{}'.  Stop."
NO_SCRIPT = 'npm error Missing script: "{}"'
NO_PATH = "error: pathspec '{}' did not match any file(s) known to git"
NO_FILE = "ERROR: file or directory not found: {}"
OFFERS = (
    "git: 'st' is not a git command. See 'git --help'.\n\nThe most similar command is\n\tstatus"
)

RIGHT = [
    ("git st", OFFERS, "git status"),
    ("git psuh -u origin main", "git: 'psuh' is not a git command.", "git push -u origin main"),
    ("make tests", NO_RULE.format("tests"), "make test"),
    ("make tests", NO_RULE.format("tests"), "make test && git push"),
    ("npm run biuld", NO_SCRIPT.format("biuld"), "npm run build"),
    ("npm run test:unit", NO_SCRIPT.format("test:unit"), "npm run test-unit"),
    ("git checkout mian", NO_PATH.format("mian"), "git checkout main"),
    ("pytest -q test/test_cart.py", NO_FILE.format("test/test_cart.py"), "pytest -q tests/test_cart.py"),
    ("python -m unittest test.cart", "ModuleNotFoundError: No module named 'test.cart'", "python -m unittest tests.cart"),
]  # fmt: skip
OTHER = [
    ("make clean", NO_RULE.format("clean"), "make build"),
    ("make al", NO_RULE.format("al"), "make all"),  # two letters are like any others
    ("npm run lint", NO_SCRIPT.format("lint"), "npm run test"),
    ("npm run lint", "lint failed: 3 problems", "npm run link"),  # known, and it failed
    ("make tests", NO_RULE.format("docs.md"), "make test"),  # something else is missing
    ("git checkout feature-1", NO_PATH.format("feature-1"), "git checkout feature-2"),
    ("docker start web1", "Error: No such container: web1. There are: web2", "docker start web2"),
    ("kubectl get pod api-staging", 'Error: pods "api-staging" not found', "kubectl get pod api-production"),
    ("pytest -q tests/test_a.py", NO_FILE.format("tests/test_a.py"), "pytest -q tests/test_b.py"),
    ("git psuh", "git: 'psuh' is not a git command.", "git push --force"),  # more than the word
]  # fmt: skip


def use(command: str, output: str = "", code: int = 0) -> Use:
    said = f"Exit code {code}\n{output}" if code else "ok"
    return Use(command, "Bash", {"command": command}, said, said if code else "", code != 0, code)


@pytest.mark.parametrize(("failed", "error", "later"), RIGHT)
def test_an_unknown_word_put_right(failed: str, error: str, later: str) -> None:
    assert same_intent(use(failed, error, 1), use(later))


@pytest.mark.parametrize(("failed", "error", "later"), OTHER)
def test_another_word_is_another_intent(failed: str, error: str, later: str) -> None:
    assert not same_intent(use(failed, error, 1), use(later))
