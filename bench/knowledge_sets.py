"""Labelled questions about installed packages, made by rule, and what they are asked of.

bare     a package without docstrings and comments; asked: the first sentence of each docstring
unsaid   a package without the first paragraph of each docstring; asked: the same sentences
whole    a package as it is; asked: the names of its tests, in words

In all of them the tests themselves are left out. The answer is the function (or class) whose docstring it
was, or one that the test calls.
"""

import ast
import io
import random
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Form = Literal["bare", "unsaid", "whole"]
REPORTED = ("networkx", "scipy", "sqlalchemy")  # nothing was chosen by looking at these
TESTED = ("networkx", "scipy")  # of them, those that bring their tests
CHOSEN_ON = ("hypothesis", "numpy", "optuna")  # settings were compared on these
TRAINED_ON = (  # and the ranker learned from these
    *("fastapi", "gymnasium", "huggingface_hub", "langchain_core", "langsmith", "mcp", "mypy"),
    *("pydantic", "pygments", "rich", "schemathesis", "setuptools", "spacy", "textworld", "thinc"),
)
WORDS = (4, 40)  # of a question, at least and at most
SAME = 3  # answers that a question may have
_TESTS = {"tests", "test", "testing", "_vendor", "conftest.py"}
Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the pieces that answer it: by file, and name with what it stands in."""

    text: str
    answers: tuple[tuple[str, str], ...]
    of_class: bool = False


def folder_of(package: str) -> Path:
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: make setup-dev")
    return Path(found.submodule_search_locations[0])


def sources(package: str) -> Iterator[tuple[str, str]]:
    """The Python files of a package but for its tests."""
    root = folder_of(package)
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root)
        if not _TESTS & set(path.parts) and not path.name.startswith("test_"):
            yield path.as_posix(), file.read_text(encoding="utf-8", errors="replace")


def write(package: str, form: Form, folder: Path) -> list[Asked]:
    """Write a package into a folder in one of its forms; what is asked of it."""
    said: dict[str, list[tuple[str, str, bool]]] = {}
    functions: dict[str, list[tuple[str, str]]] = {}
    for path, source in sources(package):
        tree = _parsed(source)
        if tree is None:
            continue
        text = source if form == "whole" else without(source, tree, form)
        if text is None:
            continue
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        for node, name in _defined(tree):
            of_class = isinstance(node, ast.ClassDef)
            if not of_class:
                functions.setdefault(node.name, []).append((path, name))
            sentence = first_sentence(ast.get_docstring(node, clean=False) or "")
            if WORDS[0] <= len(re.findall(r"\w+", sentence)) <= WORDS[1] and sentence.isascii():
                said.setdefault(sentence, []).append((path, name, of_class))
    if form == "whole":
        return _from_tests(package, functions)
    return [
        Asked(text, tuple((path, name) for path, name, _ in found), found[0][2])
        for text, found in said.items()
        if len(found) <= SAME
    ]


def sample(asked: list[Asked], count: int, seed: int = 0) -> list[Asked]:
    return random.Random(seed).sample(asked, min(count, len(asked)))


def first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.strip().split("\n\n")[0].split())
    found = re.match(r"(.+?[.!?])(\s|$)", paragraph)
    return found[1] if found else paragraph


def without(source: str, tree: ast.Module, form: Form) -> str | None:
    """A source without what is asked: bare of all that is said, or only of each first paragraph."""
    lines = [line.encode() for line in source.split("\n")]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | Def):
            continue
        for number, statement in enumerate(node.body):
            told = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not told or not isinstance(statement.value.value, str):
                continue
            if form == "unsaid" and (number or isinstance(node, ast.Module)):
                continue
            _blank(lines, statement, first_only=form == "unsaid", alone=len(node.body) == 1)
    text = b"\n".join(lines).decode()
    return text if form == "unsaid" else _uncommented(text)


def _blank(lines: list[bytes], at: ast.stmt, *, first_only: bool, alone: bool) -> None:
    last = at.end_lineno or at.lineno
    if first_only:
        after = (n for n in range(at.lineno + 1, last) if not lines[n - 1].strip())
        started = [n for n in range(at.lineno, last) if lines[n - 1].strip(b" \t\"'rRuU")]
        blank = next((n for n in after if started and n > started[0]), last)
        if blank < last:  # what follows the first paragraph stays, between quotes
            mark = lines[at.lineno - 1][at.col_offset :].lstrip(b"rRuUbB")[:3]
            lines[at.lineno - 1] = lines[at.lineno - 1][: at.col_offset] + b"r" + mark
            for number in range(at.lineno + 1, blank):
                lines[number - 1] = b""
            return
    for number in range(at.lineno, last + 1):
        begin = at.col_offset if number == at.lineno else 0
        end = (at.end_col_offset or 0) if number == last else len(lines[number - 1])
        stands = b"..." if alone and number == at.lineno else b""
        lines[number - 1] = lines[number - 1][:begin] + stands + lines[number - 1][end:]


def _uncommented(text: str) -> str | None:
    lines = text.split("\n")
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    except (tokenize.TokenError, SyntaxError):
        return None
    return "\n".join(line.rstrip() for line in lines)


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _defined(tree: ast.Module) -> Iterator[tuple[Def, str]]:
    """What has a name and is a piece of its own, with what it stands in."""
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, within = pending.pop()
        for child in getattr(node, "body", ()):
            if isinstance(child, Def):
                name = f"{within}.{child.name}" if within else child.name
                yield child, name
                if isinstance(child, ast.ClassDef):
                    pending.append((child, name))
            elif isinstance(child, ast.If | ast.Try | ast.With):
                pending.append((child, within))


def _from_tests(package: str, functions: dict[str, list[tuple[str, str]]]) -> list[Asked]:
    """Names of tests, with the functions that they call and whose names mean one function only."""
    asked: dict[str, set[tuple[str, str]]] = {}
    for file in sorted(folder_of(package).rglob("test_*.py")):
        tree = _parsed(file.read_text(encoding="utf-8", errors="replace"))
        for node in ast.walk(tree) if tree else ():
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            words = node.name.removeprefix("test_").split("_")
            called = {
                getattr(each.func, "attr", getattr(each.func, "id", ""))
                for each in ast.walk(node)
                if isinstance(each, ast.Call)
            }
            answers = {functions[name][0] for name in called if len(functions.get(name, ())) == 1}
            if len(words) > 1 and 1 <= len(answers) <= SAME:
                asked.setdefault(" ".join(words), set()).update(answers)
    return [
        Asked(text, tuple(sorted(found))) for text, found in asked.items() if len(found) <= SAME
    ]
