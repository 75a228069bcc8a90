"""Languages by the endings of files, and what their grammars call what has a name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True, eq=False)  # one of each: they are told apart by identity
class Language:
    name: str
    comments: str = ""  # how they are written: hash, slash, or not told
    grammar: tuple[str, str] = ("", "")  # a package, and its function that gives the grammar
    # Nodes with a name → what kind of piece they are.
    nodes: Mapping[str, str] | None = None
    query: str = ""  # what else has a name, as patterns with @function around it
    # Where alone something with a name may stand that stands in no function; empty: anywhere.
    around: frozenset[str] = frozenset()


_C_FAMILY = {"struct_specifier": "type", "enum_specifier": "type", "union_specifier": "type"}
_SCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "function",
    "class_declaration": "class",
}
_TYPED = {
    **_SCRIPT,
    "abstract_class_declaration": "class",
    "interface_declaration": "type",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
}
_ARROWS = "(variable_declarator value: [(arrow_function) (function_expression)]) @function"

_STATEMENTS = """block class_definition decorated_definition if_statement elif_clause else_clause
    for_statement while_statement try_statement except_clause except_group_clause finally_clause
    with_statement match_statement case_clause"""

PYTHON = Language(
    "python",
    "hash",
    ("tree_sitter_python", "language"),
    {"function_definition": "function", "class_definition": "class"},
    around=frozenset(_STATEMENTS.split()),
)
MARKDOWN = Language("markdown")
PLAIN = Language("text")
_LANGUAGES: Mapping[str, Language] = {
    ".py .pyi .pyx": PYTHON,
    ".js .jsx .mjs .cjs": Language(
        "javascript", "slash", ("tree_sitter_javascript", "language"), _SCRIPT, _ARROWS
    ),
    ".ts .mts .cts": Language(
        "typescript", "slash", ("tree_sitter_typescript", "language_typescript"), _TYPED, _ARROWS
    ),
    ".tsx": Language(
        "typescript", "slash", ("tree_sitter_typescript", "language_tsx"), _TYPED, _ARROWS
    ),
    ".rs": Language(
        "rust",
        "slash",
        ("tree_sitter_rust", "language"),
        {
            "function_item": "function",
            "impl_item": "class",
            "trait_item": "class",
            "struct_item": "type",
            "enum_item": "type",
            "macro_definition": "function",
        },
    ),
    ".go": Language(
        "go",
        "slash",
        ("tree_sitter_go", "language"),
        {
            "function_declaration": "function",
            "method_declaration": "function",
            "type_spec": "type",
        },
    ),
    ".sh .bash": Language(
        "bash", "hash", ("tree_sitter_bash", "language"), {"function_definition": "function"}
    ),
    ".java": Language(
        "java",
        "slash",
        ("tree_sitter_java", "language"),
        {
            "class_declaration": "class",
            "interface_declaration": "class",
            "enum_declaration": "class",
            "record_declaration": "class",
            "method_declaration": "function",
            "constructor_declaration": "function",
        },
    ),
    ".c .h": Language(
        "c",
        "slash",
        ("tree_sitter_c", "language"),
        {"function_definition": "function", **_C_FAMILY},
    ),
    ".md .markdown .mdx": MARKDOWN,
    ".cc .cpp .cxx .hpp .hh": Language("c++", "slash"),
    ".cs .kt .kts .swift .scala .php .dart .proto .zig": Language("other code", "slash"),
    ".rb .pl .r .jl .ex .exs": Language("other code", "hash"),
    ".toml .yaml .yml .cfg .ini .conf": Language("settings", "hash"),
    ".json .jsonl .xml .html .css .scss .sql": Language("data"),
}
BY_SUFFIX: Mapping[str, Language] = {
    suffix: language for suffixes, language in _LANGUAGES.items() for suffix in suffixes.split()
}
NAMES = tuple(sorted({language.name for language in BY_SUFFIX.values()} | {PLAIN.name}))


def language_of(path: str) -> Language:
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), PLAIN)
