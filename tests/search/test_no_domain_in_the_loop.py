"""Every domain runs through the one loop, and the loop knows none of them."""

import ast
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


def files():
    return [
        path
        for folder in LOOP
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in SUITES
    ]


def named(source: str) -> set[str]:
    """Every module that is imported, every text and every name in some code."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


def test_there_are_domains_of_both_kinds():
    assert {"dials", "routing", "coding", "toy"} <= set(DOMAINS)


@pytest.mark.parametrize("name", DOMAINS)
def test_the_loop_names_no_domain(name):
    module, _, made = registry.BUILT_IN["domains"][name].partition(":")
    for path in files():
        names = named(path.read_text(encoding="utf-8"))
        told = {made, module}
        if path.name not in TABLES and name not in COMMON:
            told.add(name)
        assert not names & told, path
        assert not any(
            each.startswith("metamem.domains.") and each != "metamem.domains.base" for each in names
        ), path


def test_a_domain_in_the_loop_would_be_seen():
    assert "dials" in named('if domain.name == "dials":\n    pass')
    assert "metamem.domains.dials" in named("from metamem.domains.dials import DialsDomain")
