"""Workflows made by hand, and trees to try tools in."""

import subprocess
from pathlib import Path
from typing import Any

from metamem.foundry.words import Flow, Hole, Occurrence, Parameter, Pieces, Step, Workflow

WHO = "git -c user.name=Dev -c user.email=dev@example.com"


def bash(*parts: str | Hole, **more: Any) -> Step:
    return Step("Bash", {"command": Pieces(parts)}, **more)


def release() -> Workflow:
    """Reads the version, changes it in two files, commits and tags."""
    new, old = Hole("version"), Hole("old")
    return Workflow(
        "Release version and note the change",
        (
            bash("cat VERSION"),
            bash("ls"),
            bash("sed -i 's/", old, "/", new, "/' VERSION pkg/__init__.py"),
            bash("sed -i '2a ## ", new, ": ", Hole("change"), "' CHANGELOG.md"),
            bash(WHO + " commit -qam 'Release ", new, "'"),
            bash("git tag v", new),
        ),
        (
            Parameter("version", examples=("1.2.4", "2.0.0")),
            Parameter("change", examples=("new colours",)),
            Parameter("old", flow=Flow(0)),
        ),
    )


def tree(folder: Path, version: str = "1.2.3") -> Path:
    (folder / "pkg").mkdir(parents=True)
    (folder / "VERSION").write_text(f"{version}\n")
    (folder / "pkg/__init__.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text("# Changes\n\n")
    (folder / "notes.txt").write_text("first\nsecond\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "Begin")
    return folder


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def occurrence(session: str, uses: tuple[str, ...], **values: Any) -> Occurrence:
    return Occurrence(session, uses, values, True)
