"""Sessions as they would have been recorded in a real repository, and tools to replay in their place."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from metamem.foundry.tools.tool import Case, Tool
from metamem.foundry.words import (
    Flow,
    Hole,
    Occurrence,
    Parameter,
    Snapshot,
    Trace,
    Use,
    Workflow,
    filled,
)
from tests.foundry.tools.made import WHO, bash, git, tree

HOST = "claude-code"
# As little as a release can be: every replay of it costs a few processes only.
BUMP = Workflow(
    "Release version",
    (
        bash("cat VERSION"),
        bash("sed -i 's/", Hole("old"), "/", Hole("version"), "/' VERSION"),
        bash(WHO + " commit -qam 'Release ", Hole("version"), "'"),
    ),
    (Parameter("version", examples=("1.2.4", "2.0.0")), Parameter("old", flow=Flow(0))),
)


def repository(folder: Path) -> Path:
    """A tree with a stable branch, a tag, and a file that git ignores."""
    made = tree(folder)
    (made / ".gitignore").write_text("build/\n")
    git(made, "add", "-A")
    git(made, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "Ignore")
    git(made, "branch", "stable")
    git(made, "tag", "v1.2.3")
    return made


def snapshot(folder: Path, diff: str = "") -> Snapshot:
    at = int(time.time() * 1000)
    return Snapshot(str(folder), git(folder, "rev-parse", "HEAD"), diff, at)


def shell(command: str, exit_code: int = 0, **more: Any) -> Use:
    return Use("", "Bash", {"command": command}, failed=exit_code != 0, exit_code=exit_code, **more)


def write(path: str, content: str, **more: Any) -> Use:
    return Use("", "Write", {"file_path": path, "content": content}, failed=False, **more)


def case(
    given: Snapshot | None,
    own: Sequence[Use],
    before: Sequence[Use] = (),
    *,
    name: str = "s",
    host: str = HOST,
    steps: Sequence[int] | None = None,
    began: int = 0,
    **values: Any,
) -> Case:
    """A session whose last uses are the case; `steps` says which of them are its own."""
    uses = tuple(
        Use(
            f"{name}-{at}", use.tool, use.arguments, use.result, failed=use.failed,
            exit_code=use.exit_code, at=began + at, agent=use.agent, redacted=use.redacted,
        )
        for at, use in enumerate((*before, *own))
    )  # fmt: skip
    chosen = range(len(own)) if steps is None else steps
    wanted = tuple(uses[len(before) + at].id for at in chosen)
    trace = Trace("t/project/p", host, name, uses, snapshot=given)
    return Case(trace, Occurrence(name, wanted, values, True))


def bump(given: Snapshot, number: int, workflow: Workflow = BUMP) -> Case:
    """The workflow `BUMP`, done once."""
    values: dict[str, Any] = {"version": f"2.{number}.0", "old": "1.2.3"}
    commands = [filled(step.arguments, values)["command"] for step in workflow.steps]
    own = [shell(text) for text in commands]
    return case(given, own, name=f"bump{number:02d}", began=100 * number, **values)


def program(source: str, name: str = "by_hand") -> Tool:
    """A tool that takes no values, whatever its program does."""
    return Tool(name, "by hand", source, (), "workflow", "hand")


def script(*commands: str) -> Tool:
    """A tool that runs commands."""
    lines = [f"subprocess.run(['bash', '-c', {text!r}], check=True)" for text in commands]
    return program("import subprocess\n" + "\n".join(lines))
