"""Small projects as real trees with a history, and a command line in the jail to work on them.

A seed is one project, to which somebody comes back day after day: its name stays, its state (version,
functions, settings, notes) is another one for every task. The same seed and number give the same tree to
the last byte, commits included, so that two arms begin every task alike.
"""

import asyncio
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from metamem.core.ids import derive_seed
from metamem.foundry.words import Snapshot
from metamem.sandbox.workspace import CommandResult, run_command

SECONDS = 30.0  # for a command; none here takes one
STABLE = "stable"  # the branch that fixes are brought back to
BEGAN = 1_760_000_000  # when the first task's tree was committed; seconds since 1970
DAY = 86_400
PACKAGES = ("ledger", "orchard", "beacon", "quarry", "lantern", "harbor", "meadow", "anvil")
VERBS = (
    "load",
    "save",
    "parse",
    "merge",
    "split",
    "count",
    "check",
    "trim",
    "join",
    "scan",
    "pack",
    "sort",
)
NOUNS = (
    "rows",
    "pages",
    "names",
    "units",
    "items",
    "dates",
    "lines",
    "parts",
    "codes",
    "marks",
    "links",
    "terms",
)
WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "islet", "jolly"),
    *("kayak", "lemon", "maple", "north", "olive", "plume", "quill", "raven", "slate", "thorn"),
    *("umber", "vivid", "wheat", "xenon", "yarrow", "zephyr", "acorn", "basil", "coral", "drift"),
)
_MAKEFILE = """\
.PHONY: header table test
header:
\tmkdir -p build && echo '# Commands' > build/header.txt
table: build/header.txt
\t(cat build/header.txt; sed 's/^/- /; s/,/: /' data/commands.csv) > docs/commands.md
test:
\tpython -m unittest -q
"""
_SIZE = """\
import sys
import {package}
from pathlib import Path
folder = Path({package}.__file__).parent
print(len((folder / (sys.argv[1] + ".py")).read_text().splitlines()))
"""
_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


@dataclass(frozen=True, slots=True)
class Project:
    """What a task finds: the files of the branch that is worked on, and how they came to be."""

    package: str
    version: str
    functions: tuple[str, ...]  # in the core module
    modules: tuple[str, ...]
    fixed: str  # the module that was mended on main and not yet on the stable branch
    notes: Mapping[str, tuple[str, ...]]  # lines of the files in notes/
    files: Mapping[str, str]
    at: int


def project(seed: int, number: int) -> Project:
    """The state of a seed's project when its task of that number is given."""
    package = PACKAGES[derive_seed("foundry-project", seed) % len(PACKAGES)]
    random = Random(derive_seed("foundry-world", seed, number))
    functions = tuple(f"{verb}_{random.choice(NOUNS)}" for verb in random.sample(VERBS, 4))
    modules = tuple(random.sample(WORDS, 3))
    notes = {
        name: tuple(
            f"{word} {random.randint(1, 99)}" for word in random.sample(WORDS, random.randint(5, 9))
        )
        for name in random.sample(WORDS, 2)
    }
    version = f"{random.randint(0, 3)}.{random.randint(0, 20)}.{random.randint(0, 9)}"
    files = _files(package, version, functions, modules, notes, random)
    return Project(
        package,
        version,
        functions,
        modules,
        modules[0],
        notes,
        files,
        BEGAN + (seed % 1000) * DAY + number * 60,
    )


def _files(
    package: str,
    version: str,
    functions: tuple[str, ...],
    modules: tuple[str, ...],
    notes: Mapping[str, tuple[str, ...]],
    random: Random,
) -> dict[str, str]:
    bodies = [f"def {name}():\n    return {random.randint(1, 999)}\n" for name in functions]
    random.shuffle(bodies)
    used = random.sample(range(len(modules)), random.randint(1, len(modules)))
    files = {
        ".gitignore": "build/\n__pycache__/\n",
        "VERSION": f"{version}\n",
        "CHANGELOG.md": f"# Changes\n\n## {version}: what was there before\n",
        "README.md": f"# {package}\n\nA small library.\n",
        "Makefile": _MAKEFILE,
        "settings.ini": f"[{package}]\ndebug = no\n",
        "data/commands.csv": "help,shows the commands\n",
        "docs/commands.md": "# Commands\n- help: shows the commands\n",
        "docs/settings.md": "# Settings\n- debug: no by default\n",
        "docs/sizes.md": "# Sizes\n",
        "tools/size.py": _SIZE.format(package=package),
        f"{package}/__init__.py": f'__version__ = "{version}"\n',
        f"{package}/core.py": f'"""The heart of {package}."""\n\n' + "\n\n".join(bodies),
        f"{package}/config.py": 'DEFAULTS = {\n    "debug": "no",\n}\n',
        "tests/__init__.py": "",
        "tests/test_core.py": _test("core", package, functions[:2]),
    }
    for n, module in enumerate(modules):
        lines = [f'"""{module.capitalize()}."""', ""]
        if n in used:  # a renamed function is found in one file more or less each time
            lines += [f"from {package}.core import {functions[n]}", "", f"FIRST = {functions[n]}()"]
        lines += [f"LIMIT = {random.randint(1, 99)}"]
        files[f"{package}/{module}.py"] = "\n".join(lines) + "\n"
    for name, content in notes.items():
        files[f"notes/{name}.txt"] = "\n".join(content) + "\n"
    return files


def _test(module: str, package: str, functions: tuple[str, ...]) -> str:
    cases = "".join(
        f"\n    def test_{name}(self):\n        self.assertTrue({name}())\n" for name in functions
    )
    named = ", ".join(functions)
    return (
        f"import unittest\n\nfrom {package}.{module} import {named}\n\n\n"
        f"class Core(unittest.TestCase):{cases}"
    )


def mended(given: Project) -> str:
    """The line that the fix on main added."""
    return f"FLOOR = {given.at % 97}"


def fix_title(given: Project) -> str:
    return f"Fix the floor of {given.fixed}"


class Tree:
    """A project's tree, on which commands are run."""

    def __init__(self, folder: Path, given: Project, commit: str) -> None:
        self.folder = folder
        self.project = given
        self.commit = commit

    def snapshot(self) -> Snapshot:
        return Snapshot(str(self.folder), self.commit, at=self.project.at * 1000)

    async def run(self, command: str) -> CommandResult:
        """A command at work. Git's clock is the world's: it goes on after the tree was looked at."""
        now = f"{self.project.at + 1} +0000"
        when = {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}
        return await run_command(["bash", "-c", command], self.folder, SECONDS, environment=when)

    def read(self, path: str) -> str:
        """A file's content; empty where there is none."""
        found = self.folder / path
        return found.read_text() if found.is_file() else ""

    def git(self, *words: str) -> str:
        """What git says, from outside, to look at effects; empty where it refuses."""
        done = subprocess.run(
            ["git", *words],
            cwd=self.folder,
            env=_ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def clean(self) -> bool:
        """Everything is committed, on main."""
        return self.git("status", "--porcelain", "--branch") == "## main"


async def make_tree(given: Project, folder: Path) -> Tree:
    """Write a project with its history into a new folder."""
    return await asyncio.to_thread(_made, given, folder)


def _made(given: Project, folder: Path) -> Tree:
    folder.mkdir(parents=True)

    def git(*words: str, stdin: bytes = b"") -> None:
        subprocess.run(
            ["git", *words],
            cwd=folder,
            env={**_ENVIRONMENT, "GIT_COMMITTER_DATE": f"{given.at - DAY} +0000"},
            input=stdin,
            capture_output=True,
            check=True,
        )

    git("init", "-q", "-b", "main", "--template=")
    with (folder / ".git" / "config").open("a") as config:
        # Nobody needs such a tree after the power failed: waiting for the disk was half of the time.
        # All trees of a project are clones of one: by that it is known.
        config.write(
            "[core]\n\tfsync = none\n"
            f'[remote "origin"]\n\turl = https://example.com/{given.package}.git\n'
        )
    git("fast-import", "--quiet", stdin=_history(given).encode())
    git("reset", "-q", "--hard", "main")
    return Tree(folder, given, (folder / ".git" / "refs" / "heads" / "main").read_text().strip())


def _history(given: Project) -> str:
    """Three commits; the stable branch stands at the first."""
    path = f"{given.package}/{given.fixed}.py"
    after = given.files[path] + mended(given) + "\n"
    readme = given.files["README.md"] + "See docs/ for more.\n"
    return "".join(
        (
            _commit(STABLE, "", "Begin", given.at - 3 * DAY, given.files),
            _commit("main", STABLE, fix_title(given), given.at - 2 * DAY, {path: after}),
            _commit("main", "", "Tell where more is", given.at - DAY, {"README.md": readme}),
        )
    )


def _commit(branch: str, parent: str, title: str, at: int, files: Mapping[str, str]) -> str:
    who = f"Somebody <somebody@example.com> {at} +0000"
    text = f"commit refs/heads/{branch}\nauthor {who}\ncommitter {who}\n{_data(title)}"
    if parent:
        text += f"from refs/heads/{parent}\n"
    return (
        text + "".join(f"M 644 inline {path}\n{_data(body)}" for path, body in files.items()) + "\n"
    )


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"
