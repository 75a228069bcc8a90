"""What a shell was given to do: which command of a line matters, and by what name."""

import re

from metamem.foundry.failures.stages import Stage, failing, stages, weighty
from metamem.foundry.words import Use
from metamem.service.importing.commands import LOOKS, Command, bare, shell_line, shell_text

# Programs whose first word says what they do.
_WITH_VERBS = frozenset(
    [
        "git",
        "gh",
        "hg",
        "svn",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "npx",
        "pip",
        "pip3",
        "uv",
        "uvx",
        "pipx",
        "poetry",
        "pdm",
        "conda",
        "mamba",
        "cargo",
        "rustup",
        "go",
        "docker",
        "podman",
        "docker-compose",
        "kubectl",
        "helm",
        "terraform",
        "aws",
        "gcloud",
        "az",
        "apt",
        "apt-get",
        "brew",
        "dnf",
        "yum",
        "apk",
        "make",
        "just",
        "systemctl",
        "service",
        "dotnet",
        "mvn",
        "gradle",
        "gradlew",
        "bundle",
        "gem",
        "rails",
        "composer",
        "php",
        "artisan",
        "flutter",
        "dart",
        "mix",
        "alembic",
    ]
)
_RUNS = frozenset(["run", "exec", "compose", "-m", "tool"])  # and then another name
_CHECKS = re.compile(
    r"\b(?:py\.?test|unittest|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|ruff|mypy|flake8|pylint|pyright|black"
    r"|eslint|tsc|prettier|clippy|golangci-lint|shellcheck)\b"
    r"|^(?:diff|cmp)\b"
    r"|\b(?:go|cargo|npm|pnpm|yarn|bun|make|just|mvn|gradlew?|dotnet|bazel|rake)\s+(?:run\s+)?[\w:-]*"
    r"(?:test|check|lint|vet|build|compile|typecheck|verify)",
)
_WRITES = re.compile(
    r"\bsed\s+(?:-\w+\s+)*-i|\bperl\s+-\w*i|\bapply_patch\b|\bgit\s+apply\b|\bpatch\s+-"
)


_GOES = re.compile(r"cd\s+([^\s;&|<>`$]+)\s*(?:&&|;)")


def line_of(use: Use) -> str:
    return shell_line(use.tool, use.arguments)


def text_of(use: Use) -> str:
    """All of a shell's line, with the change of folder before it and the cutting of output after it."""
    return shell_text(use.tool, use.arguments)


def folder_of(use: Use) -> str:
    """The folder that a line goes to before all else; empty where it stays."""
    found = _GOES.match(text_of(use))
    return found[1] if found else ""


def main_command(line: str, telling: str = "") -> Command | None:
    """The command of a line that an error is about, or that the rest serves; None where there is none."""
    found = failing(line, telling)
    return found[0].command if found else None


def named(command: Command) -> str:
    """Program and what it is to do: `git push`, `python -m build`, `uv run pytest`."""
    words = command.line.split()
    program = bare(command.program)
    at = next((i for i, word in enumerate(words) if bare(word.strip("'\"")) == program), 0)
    rest = words[at + 1 :]
    name = [program]
    if re.fullmatch(r"python[\d.]*|py", program):
        return " ".join(["python", *rest[:2]]) if rest[:1] == ["-m"] else "python"
    if program in _WITH_VERBS:
        for word in rest:
            if word.startswith("-") and word not in _RUNS:
                continue
            if not re.fullmatch(r"[A-Za-z][\w:.-]*|-m", word) or len(name) > 3:
                break
            name.append(bare(word))
            if word not in _RUNS:
                break
    return " ".join(name)


def is_check(use: Use) -> bool:
    """Whether it runs tests, a linter or a build: what fails there is the work itself."""
    return any(_CHECKS.search(stage.command.line) for stage in weighty(line_of(use)))


def writes_files(use: Use) -> bool:
    """Whether a line of a shell changes files by itself."""
    line = line_of(use)
    return _WRITES.search(line) is not None or any(stage.writes for stage in stages(line))


def writes_in(stage: Stage) -> bool:
    """Whether one program of a line does."""
    return bool(stage.writes) or _WRITES.search(stage.line) is not None


def only_looks(use: Use) -> bool:
    """Whether what it cannot find is its answer and no failure."""
    found = weighty(line_of(use))
    return bool(found) and all(stage.program in LOOKS for stage in found)
