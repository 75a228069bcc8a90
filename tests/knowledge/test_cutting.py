"""Files into pieces: what has a name is one, and no line is lost."""

import ast
import textwrap
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.knowledge import grammars, languages
from metamem.knowledge.cutting import cut
from metamem.knowledge.languages import BY_SUFFIX, MARKDOWN, language_of
from metamem.knowledge.pieces import BLOCK_LINES, assembled
from tests.extras import needs
from tests.knowledge.conftest import FILES


def named(path, text):
    return [(p.kind, p.qualified) for p in cut(text, language_of(path)) if p.name]


PYTHON = [
    ("class", "Cart"),
    ("method", "Cart.add_line"),
    ("method", "Cart.total_price"),
    ("function", "retry_payment"),
]


def test_python_with_its_grammar():
    needs("tree_sitter")
    assert named("cart.py", FILES["shop/cart.py"]) == PYTHON


def test_python_without_any_grammar(monkeypatch):
    monkeypatch.setattr(grammars, "there", lambda language: False)
    assert named("cart.py", FILES["shop/cart.py"]) == PYTHON


@pytest.mark.parametrize("grammar", [True, False])
def test_the_two_ways_to_cut_python_agree(monkeypatch, grammar):
    needs("tree_sitter")
    source = textwrap.dedent(
        """
        import functools

        @functools.cache
        def outer():
            class Inner:
                def method(self): ...
            return Inner

        if True:
            async def conditional(): ...

        class A:
            class B:
                @property
                def size(self):
                    return 1
        """
    )
    if not grammar:
        monkeypatch.setattr(grammars, "there", lambda language: False)
    pieces = [p for p in cut(source, language_of("a.py")) if p.name]
    assert [(p.kind, p.qualified) for p in pieces] == [
        ("function", "outer"),
        ("function", "conditional"),
        ("class", "A"),
        ("class", "A.B"),
        ("method", "A.B.size"),
    ]
    assert pieces[0].text.startswith("@functools.cache")
    assert "class Inner" in pieces[0].text
    assert "size" not in pieces[3].text


SAMPLES = {
    "a.js": ("class A {\n  m() { return 1 }\n}\nconst go = () => 1\n", {"A", "A.m", "go"}),
    "a.ts": ("interface P { x: number }\nexport function f(p: P): void {}\n", {"P", "f"}),
    "a.tsx": ("export const View = () => { return <b/> }\n", {"View"}),
    "a.rs": ("struct P { x: i32 }\nimpl P { fn len(&self) -> i32 { 1 } }\n", {"P", "P.len"}),
    "a.go": ("package a\nfunc (c *Cart) Add(n int) {}\nfunc Free() {}\n", {"Cart.Add", "Free"}),
    "a.sh": ("greet() {\n  echo hi\n}\n", {"greet"}),
    "A.java": ("class A {\n  int size() { return 1; }\n}\n", {"A", "A.size"}),
    "a.c": ("struct p { int x; };\nstatic int *half(int n) { return 0; }\n", {"p", "half"}),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_what_has_a_name_in_other_languages(path):
    needs("tree_sitter")
    source, names = SAMPLES[path]
    assert names <= {name for _, name in named(path, source)}


def test_sections_of_markdown_and_what_stands_above_them():
    assert named("README.md", FILES["README.md"]) == [
        ("section", "Shop"),
        ("section", "Shop > Installing"),
        ("section", "Shop > Installing > On Windows"),
    ]


def test_what_python_cannot_read_is_still_cut_and_whole():
    broken = "def fine():\n    return 1\n\ndef broken(:\n    oops\n"
    for language in {"a.py", "a.xyz"}:
        pieces = cut(broken, language_of(language))
        assert {"oops"} <= {word for p in pieces for word in p.text.split()}


@given(st.text(alphabet="abc(){}:\n\t #\"'\\dxé", max_size=300), st.sampled_from(sorted(BY_SUFFIX)))
def test_every_line_is_in_exactly_one_piece(text, suffix):
    language = BY_SUFFIX[suffix]
    held = "\n".join(piece.text for piece in cut(text, language)).split("\n")
    given_lines = sorted(line for line in text.split("\n") if line.strip())
    if language.name == "markdown":  # which ends a piece without its last blanks
        held, given_lines = [line.rstrip() for line in held], [x.rstrip() for x in given_lines]
    assert sorted(line for line in held if line.strip()) == sorted(given_lines)


def test_blocks_are_not_endless():
    pieces = cut("\n".join(f"line {n}" for n in range(100)), language_of("a.txt"))
    assert [p.line for p in pieces] == [1, BLOCK_LINES + 1, 2 * BLOCK_LINES + 1]


def test_deep_nesting_does_no_harm():
    source = "x = " + "(" * 3000 + ")" * 3000
    with pytest.raises((MemoryError, SyntaxError, RecursionError)):
        ast.parse(source)
    assert cut(source, language_of("a.py"))


@given(
    st.lists(
        st.sampled_from(["class A:", "def f(self):", "@wrapped", "if x:", "else:", "try:", "pass"])
    )
    | st.just(["class A:", "def f(self):", "class B:", "def g(): ...", "if x:", "def h(): ..."]),
    st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_python_is_cut_by_its_outermost_names_as_by_all_of_them(lines, depths) -> None:
    needs("tree_sitter")
    text = "\n".join(f"{'    ' * depth}{line}" for line, depth in zip(lines, depths, strict=False))
    everywhere = replace(languages.PYTHON, around=frozenset())
    found = [grammars.spans(text.encode(), language) for language in (languages.PYTHON, everywhere)]
    assert assembled(text.split("\n"), found[0]) == assembled(text.split("\n"), found[1])


def test_names_in_every_kind_of_statement_are_found() -> None:
    needs("tree_sitter")
    heads = [
        "if a:",
        "elif b:",
        "else:",
        "with c:",
        "for d in e:",
        "while g:",
        "try:",
        "except h:",
        "finally:",
    ]
    lines, names = [], []
    for number, head in enumerate([*heads, "match i:", "class K:", "@j"]):
        names.append(f"f{number}")
        indent = "" if head.startswith("@") else "    "
        inner = [f"{indent}def f{number}():", f"{indent}    return 1"]
        if head.startswith("match"):
            inner = ["    case 1:", *(f"    {line}" for line in inner)]
        lines += [head, *inner]
    found = grammars.spans("\n".join(lines).encode(), languages.PYTHON)
    assert [span.name for span in sorted(found, key=lambda s: s.line) if span.name != "K"] == names


def test_what_stands_on_one_line_is_cut_the_same_each_time() -> None:
    needs("tree_sitter")
    text = "".join(f"function f{n}(){{return {n};function g{n}(){{}}}}" for n in range(50))
    cuts = [[(p.kind, p.qualified) for p in cut(text, language_of("a.js"))] for _ in range(5)]
    assert cuts == [[("function", "f0")]] * 5


@pytest.mark.parametrize("name", ["a.py", "a.js", "a.c"])
def test_what_is_brackets_without_end_is_cut_by_lines(name):
    needs("tree_sitter")
    text = ("(" * 79 + "\n") * 400 + "end of it\n"
    assert grammars.spans(text.encode(), language_of(name)) is None
    pieces = cut(text, language_of(name))
    assert {p.kind for p in pieces} == {"block"} and "end of it" in pieces[-1].text


def test_errors_here_and_there_leave_a_file_its_functions():
    needs("tree_sitter")
    text = "".join(f"def f{n}(:\n    return (({n}\n\ndef g{n}():\n    pass\n" for n in range(200))
    assert grammars.spans(text.encode(), language_of("a.py"))


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Plain", "Plain"),
        ("## Closed ##", "Closed"),
        ("### C#", "C"),
        ("# one # two # ", "one # two"),
        ("# a" + " " * 5000 + "b", "a" + " " * 5000 + "b"),
    ],
)
def test_headings(line, title):
    (piece,) = cut(f"{line}\ntext\n", MARKDOWN)
    assert (piece.kind, piece.name) == ("section", title)
