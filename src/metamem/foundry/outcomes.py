"""How a session ended, by a ladder of signs: tests that were run last, the user's correction, a commit
that was kept, exit codes. None of them is certain, and each says how sure it is.

Only what a command is and how it ended counts; words in its output do not.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metamem.foundry.correcting import corrects
from metamem.foundry.words import Outcome, Use

# An order of trust, for those who weigh sessions; measured for corrections alone. Of prompts that were held out when
# their patterns were written 14 of 40 corrections were found, and 2 of 40 others taken for one: where one prompt in
# five corrects, two in three that are taken for one are.
TESTS, TESTS_CORRECTED, CORRECTION, COMMIT, EXIT = 0.9, 0.5, 0.6, 0.7, 0.4

_TEST = re.compile(
    r"(?:^|[;&|(]\s*|\s)(?:pytest|py\.test|tox|nox|jest|vitest|mocha|phpunit|rspec|ctest"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test\b|cargo\s+(?:nextest|test)\b|go\s+test\b"
    r"|(?:make|just|rake|bazel|gradle|\./gradlew|mvn|dotnet|mix|swift)\s+(?:-\S+\s+)*(?:test|check)\b"
    r"|python\S*\s+-m\s+(?:pytest|unittest)\b)"
)
_COMMIT = re.compile(r"\bgit\s+(?:-\S+\s+\S+\s+)*commit\b")
_UNDONE = re.compile(r"\bgit\s+(?:-\S+\s+\S+\s+)*(?:revert\b|reset\s+(?:--hard|--soft|HEAD[~^]))")


def outcome(uses: Sequence[Use], prompts: Mapping[str, str] | None = None) -> Outcome:
    """How a session ended. `prompts` are what the user asked for, in their order."""
    own = [use for use in uses if not use.agent]
    corrected = _corrected(own, prompts or {})
    tests = [
        use for use in own if _TEST.search(command_of(use.arguments)) and _worked(use) is not None
    ]
    if tests:
        passed = _worked(tests[-1])
        if passed and corrected:
            return Outcome("correction", False, TESTS_CORRECTED)
        return Outcome("tests", passed, TESTS)
    if corrected:
        return Outcome("correction", False, CORRECTION)
    commits = [n for n, use in enumerate(own) if _did(use, _COMMIT)]
    if commits:
        kept = not any(_did(use, _UNDONE) for use in own[commits[-1] + 1 :])
        return Outcome("commit", kept, COMMIT)
    ended = [use for use in own if _worked(use) is not None]
    if ended:
        return Outcome("exit", _worked(ended[-1]), EXIT)
    return Outcome()


def command_of(arguments: Mapping[str, Any]) -> str:
    """The shell command of a use; empty where it is none."""
    given = arguments.get("command", arguments.get("cmd"))
    if isinstance(given, list):
        given = " ".join(part for part in given if isinstance(part, str))
    return given if isinstance(given, str) else ""


def _corrected(uses: Sequence[Use], prompts: Mapping[str, str]) -> bool:
    """Whether the last word that followed some use corrects, and nothing was done about it."""
    if not uses or not prompts:
        return False
    order = list(prompts)
    last = uses[-1].prompt
    after = order[order.index(last) + 1 :] if last in order else []
    return any(corrects(prompts[prompt]) for prompt in after)


def _did(use: Use, what: re.Pattern[str]) -> bool:
    return _worked(use) is not False and what.search(command_of(use.arguments)) is not None


def _worked(use: Use) -> bool | None:
    if use.exit_code is not None:
        return use.exit_code == 0
    return None if use.failed is None else not use.failed
