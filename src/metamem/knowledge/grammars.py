"""What has a name in a file, as a tree-sitter grammar sees it: broken code included."""

import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import chain
from typing import Any

from metamem.core import extras
from metamem.knowledge.languages import BY_SUFFIX, Language
from metamem.knowledge.pieces import Span

_AROUND = ("decorated_definition", "export_statement", "lexical_declaration", "type_declaration")


@cache
def there(language: Language) -> bool:
    """Whether the grammar of a language is installed."""
    package = language.grammar[0]
    return bool(package) and all(map(find_spec, ("tree_sitter", package)))


def spans(source: bytes, language: Language) -> list[Span] | None:
    """What has a name in a file; None where the grammar makes nothing of it."""
    parser, query, cursor = _opened(language)
    tree = parser.parse(source)
    if _tangled(tree.root_node):
        return None
    if language.around and not tree.root_node.has_error:
        named: Iterable[Any] = _outermost(tree.root_node, language)
    else:
        captured = chain.from_iterable(cursor(query).captures(tree.root_node).values())
        # They come in any order, and on one line all may begin and end.
        named = sorted(captured, key=lambda node: (node.start_byte, -node.end_byte))
    found = []
    kinds = language.nodes or {}
    for node in named:
        (first, _), (last, column) = node.start_point, node.end_point
        first, last = first + 1, last + 1
        if column == 0 and last > first:
            last -= 1
        around = node.parent
        while around is not None and around.type in _AROUND:
            first = min(first, around.start_point[0] + 1)
            around = around.parent
        name, within = _name(node), _receiver(node)
        if name and (node.type not in _BODIED or node.child_by_field_name("body")):
            found.append(Span(kinds.get(node.type, "function"), name, first, last, within))
    return found


_LOOSE = 20_000  # parts under one error: a query takes the square of their number


def _tangled(root: Any) -> bool:
    """Whether errors hold so many loose parts (a file of brackets) that a query would go on for minutes."""
    pending, squares = [root], 0
    while pending:
        node = pending.pop()
        if node.has_error:
            squares += node.child_count**2 if node.is_error else 0
            if squares > _LOOSE**2:
                return True
            pending += node.children
    return False


def _outermost(root: Any, language: Language) -> Iterator[Any]:
    """What has a name and stands in no function: what stands in one belongs to it in any case. Most of
    a file stands in functions and expressions, which the query would go through node by node."""
    kinds = language.nodes or {}
    pending = [root]
    while pending:
        for node in pending.pop().named_children:
            kind = node.type
            if kind in kinds:
                yield node
            if kind in language.around:
                pending.append(node)


_BODIED = ("struct_specifier", "enum_specifier", "union_specifier")  # else only a use of a type


def _name(node: Any) -> str:
    """The name of a definition; of a C function it stands deep in what is declared."""
    at = node.child_by_field_name("name")
    if at is None and node.type == "impl_item":
        at = node.child_by_field_name("type")
    declared = node.child_by_field_name("declarator")
    while at is None and declared is not None:
        at = declared if declared.type.endswith("identifier") else None
        declared = declared.child_by_field_name("declarator")
    return "" if at is None else at.text.decode("utf-8", "replace").split("<")[0]


def _receiver(node: Any) -> str:
    """The type that a method of Go belongs to."""
    at = node.child_by_field_name("receiver")
    if at is None:
        return ""
    words = at.text.decode("utf-8", "replace").strip("()").replace("*", " ").split("[")[0].split()
    return words[-1] if words else ""


@cache
def _opened(language: Language) -> tuple[Any, Any, Any]:
    tree_sitter = importlib.import_module("tree_sitter")
    package, function = language.grammar
    try:
        grammar = tree_sitter.Language(getattr(importlib.import_module(package), function)())
        patterns = " ".join(f"({node}) @node" for node in language.nodes or ())
        query = tree_sitter.Query(grammar, f"{patterns} {language.query}")
    except Exception as error:  # a grammar of another version may fail in any way
        raise extras.broken("knowledge", f"{package}: {extras.reason(error)}") from error
    return tree_sitter.Parser(grammar), query, tree_sitter.QueryCursor


def installed() -> str:
    """The languages whose grammars are here: with others, files are cut otherwise."""
    return " ".join(sorted({each.name for each in BY_SUFFIX.values() if there(each)}))
