"""Files into pieces: what has a name is one, and no line is lost."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metamem.knowledge import grammars
from metamem.knowledge.cutting import cut
from metamem.knowledge.languages import BY_SUFFIX, language_of
from metamem.knowledge.pieces import BLOCK_LINES
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
