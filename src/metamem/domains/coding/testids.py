"""Names of tests, `path::test` or `path::TestClass::test`, looked up in the files that hold them."""

import ast
from collections.abc import Iterator, Mapping, Sequence


def defined(test: str, files: Mapping[str, str]) -> bool:
    """Whether a file defines the test, as far as its text tells."""
    path, _, name = test.partition("::")
    try:
        tree = ast.parse(files.get(path, ""))
    except SyntaxError:
        return False
    top, _, method = name.partition("[")[0].partition("::")
    for bound, node in _bound(tree):
        if bound not in (top, "*"):
            continue
        if not method or not isinstance(node, ast.ClassDef) or node.bases:
            return True  # what is imported or inherited cannot be seen here
        return any(getattr(inner, "name", "") == method for inner in node.body)
    return False


def first_unknown(tests: Sequence[str], files: Mapping[str, str]) -> str:
    """Why one of the tests cannot be run; empty where all can."""
    for test in tests:
        path = test.partition("::")[0]
        if path not in files:
            return f"the test {test} is in no file of the project: there is no {path}"
        if not defined(test, files):
            return f"the test {test} is not defined in {path}"
    return ""


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name, node) for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from ((t.id, node) for t in node.targets if isinstance(t, ast.Name))
