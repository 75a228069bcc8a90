"""Every domain runs through the one loop, and the loop knows none of them."""

import ast
import re
from pathlib import Path

import pytest

import metamem
from metamem.core import registry

ROOT = Path(metamem.__file__).parent
LOOP = ("search", "evaluation", "promotion", "runs")
SUITES = ("conformance.py",)  # of tests, for whoever brings an executor: they play the toys
DOMAINS = list(registry.BUILT_IN["domains"])
COMMON = (
    "observation",
)  # what an agent sees is called so everywhere: here the code's names count alone
TABLES = ("parity.py",)  # the settings of published work, by domain: data, and nothing else
# Where domains live, and what is a domain's own wherever it lives. What all have in common is no domain.
FORBIDDEN = ("metamem.domains", "metamem.routing", "metamem.observation", "metamem.knowledge")
ALLOWED = ("metamem.domains.base",)


def files():
    return [
        path
        for folder in LOOP
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in SUITES
    ]


def imported(source: str, package: str) -> set[str]:
    """Every module that some code of a package imports or names in a text, and every name that it takes
    from one, in full."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = ".".join([*above, node.module or ""]).strip(".") if node.level else node.module
            found |= {f"{start}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\bmetamem(?:\.\w+)+", node.value))
    return found


def forbidden(modules: set[str]) -> set[str]:
    def below(module: str, packages: tuple[str, ...]) -> bool:
        return any(module == each or module.startswith(f"{each}.") for each in packages)

    return {each for each in modules if below(each, FORBIDDEN) and not below(each, ALLOWED)}


def named(source: str) -> tuple[set[str], set[str]]:
    """Names and whole texts of some code, and the single words of its texts. What only explains it, its
    docstrings, counts as little as its comments."""
    tree = ast.parse(source)
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    names, words = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            names.add(node.value)
            words |= set(re.findall(r"[a-z]+", node.value))
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return names, words


def test_there_are_domains_of_both_kinds():
    assert {"dials", "routing", "coding", "toy"} <= set(DOMAINS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_the_loop_names_and_imports_no_domain(path):
    source = path.read_text(encoding="utf-8")
    package = ".".join(("metamem", *path.relative_to(ROOT).parent.parts))
    assert not forbidden(imported(source, package))
    names, words = named(source)
    for name in DOMAINS:
        _, _, made = registry.BUILT_IN["domains"][name].partition(":")
        assert made not in names | words
        if path.name not in TABLES and name not in COMMON:
            assert name not in names | words, name


@pytest.mark.parametrize(
    "code",
    [
        "from metamem.domains.dials import DialsDomain",
        "from metamem.domains import dials",
        "import metamem.domains.dials as found",
        "from metamem import routing",
        "from metamem.routing import Router",
        "from metamem.observation.playing import play",
        "from ...domains import toy",
        'import_module("metamem.domains.dials")',
        'load("metamem.routing:SPACE")',
    ],
)
def test_a_domains_code_in_the_loop_would_be_seen(code):
    assert forbidden(imported(code, "metamem.search.learnables"))
    assert not forbidden(imported("from metamem.domains.base import Sizes", "metamem.search"))


@pytest.mark.parametrize(
    "code",
    [
        'if domain.name == "dials":\n    pass',
        'domain.name.startswith("dials-")',
        'told = f"learn dials {n}"',
        "made = DialsDomain()",
        "made = modules.DialsDomain",
    ],
)
def test_a_domains_name_in_the_loop_would_be_seen(code):
    names, words = named(code)
    assert {"dials", "DialsDomain"} & (names | words)
    assert "dials" not in set.union(*named('"""As for dials."""'))
