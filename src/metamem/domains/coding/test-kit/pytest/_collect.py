"""From a test file to things that can be run: compiling, finding tests, giving them arguments."""
# ruff: noqa: PTH109, PTH112 (pathlib costs more to import than most tests to run)

import ast
import os
import sys
import types


def compile_tests(source, path):
    """The code of a test file whose asserts say what they compared, and the names of its plain
    tests: top-level functions that need nothing but to be called."""
    tree = ast.parse(source, path)
    names = [node.name for node in tree.body if hasattr(node, "name")]
    plain = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and not node.decorator_list
        and not any(getattr(node.args, kind) for kind in node.args._fields)
        and names.count(node.name) == 1
    }
    ast.fix_missing_locations(_Telling().visit(tree))
    return compile(tree, path, "exec"), plain


class _Telling(ast.NodeTransformer):
    """`assert a == b` keeps both values, so that the failure shows them."""

    def visit_Assert(self, node):
        test = node.test
        if node.msg is not None or not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return node
        left, right = "@left", "@right"  # no program can have such names
        operator = _SIGNS.get(type(test.ops[0]), "?")
        message = ast.JoinedStr(
            [
                ast.FormattedValue(ast.Name(left, ast.Load()), ord("r")),
                ast.Constant(f" {operator} "),
                ast.FormattedValue(ast.Name(right, ast.Load()), ord("r")),
            ]
        )
        compare = ast.Compare(
            ast.NamedExpr(ast.Name(left, ast.Store()), test.left),
            test.ops,
            [ast.NamedExpr(ast.Name(right, ast.Store()), test.comparators[0])],
        )
        return ast.copy_location(ast.Assert(compare, message), node)


_SIGNS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def new_module(path):
    """An empty module for a test file, known under the name that imports would give it."""
    name = path.removesuffix(".py").replace("/", ".")
    module = types.ModuleType(name)
    module.__file__ = path
    return module


def import_paths(path):
    """Where the tests' imports are looked up, after the standard library and this kit."""
    root = os.getcwd()
    folders = [root, f"{root}/src", f"{root}/{path}".rpartition("/")[0]]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def collect(namespace):
    """Every test of a loaded file in its order: name, the function whose code it is, how to call it."""
    found = []
    unittest = sys.modules.get("unittest")  # a file with such cases has imported it
    for name, value in list(namespace.items()):
        if isinstance(value, types.FunctionType) and name.startswith("test"):
            found += _function_items(name, value, namespace, None)
        elif unittest and isinstance(value, type) and issubclass(value, unittest.TestCase):
            found += [
                (f"{name}::{method}", getattr(value, method), value(method).debug)
                for method in unittest.TestLoader().getTestCaseNames(value)
            ]
        elif isinstance(value, type) and name.startswith("Test"):
            for method, function in vars(value).items():
                if method.startswith("test") and isinstance(function, types.FunctionType):
                    found += _function_items(f"{name}::{method}", function, namespace, value)
    return found


def _function_items(name, function, namespace, owner):
    items = []
    for label, given in getattr(function, "_rows", [("", {})]):
        full = f"{name}[{label}]" if label else name
        items.append((full, function, _caller(function, given, namespace, owner)))
    return items


def _caller(function, given, namespace, owner):
    def call():
        if getattr(function, "_skipped", False):
            sys.modules["pytest"].skip("marked so")
        undo = []
        try:
            arguments = _arguments(function, given, namespace, undo, skip_self=owner is not None)
            if owner is None:
                function(**arguments)
            else:
                instance = owner()
                getattr(instance, "setup_method", lambda: None)()
                function(instance, **arguments)
        finally:
            for generator in reversed(undo):
                next(generator, None)

    return call


def _arguments(function, given, namespace, undo, skip_self=False):
    code = function.__code__
    names = code.co_varnames[1 if skip_self else 0 : code.co_argcount]
    optional = len(function.__defaults__ or ())
    return {
        name: given[name] if name in given else _fixture(name, namespace, undo)
        for name in (names[:-optional] if optional else names)
    }


def _fixture(name, namespace, undo):
    made = namespace.get(name)
    if getattr(made, "_is_fixture", False):
        value = made(**_arguments(made, {}, namespace, undo))
        if isinstance(value, types.GeneratorType):
            undo.append(value)
            return next(value)
        return value
    if name == "tmp_path":
        import pathlib
        import tempfile

        return pathlib.Path(tempfile.mkdtemp())
    raise LookupError(f"no fixture called {name!r}")
