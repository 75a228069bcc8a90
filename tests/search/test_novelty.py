"""Copies of a design are recognised whatever they are dressed in."""

import pytest

from metamem.core.errors import DataError
from metamem.designs import library
from metamem.search.novelty import syntax_key

PLAIN = """
class Inner:
    SIZE = 3
    def look(self, deep: int) -> str:
        return str(deep)

class Outer(Memory):
    def make(self):
        return Inner().look(Inner.SIZE)
"""
DRESSED = '''"""A file."""
# a comment
class Nested:
    """Something else."""

    SIZE = (3)

    def look(self, deep):
        """Words."""
        return str(deep)


class Whole(Memory):
    def make(self):
        return Nested().look(Nested.SIZE)
'''


def test_cosmetic_copies_have_the_same_key():
    assert syntax_key(PLAIN) == syntax_key(DRESSED)


@pytest.mark.parametrize(
    ("old", "new"),
    [("SIZE = 3", "SIZE = 4"), ("Inner().look", "Outer().look"), ("str(deep)", "repr(deep)")],
)
def test_a_change_of_code_changes_the_key(old, new):
    assert syntax_key(PLAIN) != syntax_key(PLAIN.replace(old, new))


def test_exchanged_class_names_are_still_a_copy():
    swapped = PLAIN.replace("Inner", "X").replace("Outer", "Inner").replace("X", "Outer")
    assert syntax_key(PLAIN) == syntax_key(swapped)


def test_a_body_of_only_a_docstring_is_like_pass():
    assert syntax_key('def f():\n    """Nothing."""') == syntax_key("def f():\n    pass")


def test_the_human_designs_are_all_different():
    keys = {syntax_key(library.load(name).source) for name in library.names()}
    assert len(keys) == len(library.names())


def test_what_is_not_python_is_refused():
    with pytest.raises(DataError):
        syntax_key("class :")
